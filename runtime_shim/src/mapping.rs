//! Memory of the process between two pages that nobody may touch.
//!
//! Invariant: a mapping is its value's own from its making until it is dropped.

/// A mapping of at least so many zero bytes between two inaccessible pages.
#[derive(Debug)]
pub struct GuardedMapping {
    mapping: usize,
    mapping_bytes: usize,
    start: usize,
    end: usize,
}

impl GuardedMapping {
    /// Maps it; `None` when the system refuses.
    pub fn new(bytes: usize) -> Option<Self> {
        // On failure the value is dropped here, which unmaps it.
        Self::closed(bytes).filter(Self::open)
    }

    /// As [`GuardedMapping::new`], and what is behind its last accessible byte begins at a multiple of `alignment`, a power of two.
    pub fn aligned(bytes: usize, alignment: usize) -> Option<Self> {
        Self::reserved(bytes, alignment).filter(Self::open)
    }

    /// As [`GuardedMapping::new`], but all of it is inaccessible, and takes no memory.
    pub fn closed(bytes: usize) -> Option<Self> {
        Self::reserved(bytes, 1)
    }

    fn reserved(bytes: usize, alignment: usize) -> Option<Self> {
        let page = page_bytes();
        let alignment = alignment.max(page);
        let inner = bytes.max(1).checked_next_multiple_of(page)?;
        let mapping_bytes = inner.checked_add(page + alignment)?;
        // SAFETY: a new private mapping at an address of the system's choice.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapping_bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            return None;
        }
        let end = (mapping as usize + page + inner).next_multiple_of(alignment);
        Some(Self {
            mapping: mapping as usize,
            mapping_bytes,
            start: end - inner,
            end,
        })
    }

    /// Makes what lies between the two pages accessible; false when the system refuses.
    pub fn open(&self) -> bool {
        // SAFETY: the range lies within this value's own mapping.
        let protected = unsafe {
            libc::mprotect(
                self.start as *mut libc::c_void,
                self.end - self.start,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        protected == 0
    }

    /// Takes its contents away and makes all of it inaccessible, while no other mapping can take its
    /// place yet.
    pub fn seal(&self) {
        // SAFETY: replaces this value's own mapping; on failure the old one just stays.
        unsafe {
            libc::mmap(
                self.mapping as *mut libc::c_void,
                self.mapping_bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            )
        };
    }

    /// First accessible address.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Address behind the last accessible byte, where the second inaccessible page begins.
    pub fn end(&self) -> usize {
        self.end
    }

    /// First address of the inaccessible page below [`GuardedMapping::start`].
    pub fn lower_guard(&self) -> usize {
        self.mapping
    }
}

impl Drop for GuardedMapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own and nothing refers to it any more.
        unsafe { libc::munmap(self.mapping as *mut libc::c_void, self.mapping_bytes) };
    }
}

/// Size of a page, in bytes.
pub fn page_bytes() -> usize {
    // SAFETY: sysconf has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
