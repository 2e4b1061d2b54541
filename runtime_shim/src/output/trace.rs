//! `SIRIUS_TRACE`: a binary stream of every access of kernels to global and shared memory, and of
//! what the host copied and set.
//!
//! The file begins with the 8 bytes `SIRTRACE` and a 32-bit version, [`VERSION`]. Records follow, all
//! integers little endian, each begun by one byte that tells its kind:
//!
//! | byte | record | fields |
//! |---|---|---|
//! | 1 | allocation | u32 ordinal, u64 bytes, u8 kind (as [`MemoryKind`] lists them), u32 length, name |
//! | 2 | freed | u32 ordinal |
//! | 3 | launch | u32 launch, u32 site, 3 × u32 grid, 3 × u32 block, u32 dynamic shared bytes, u32 length, mangled kernel name, u32 arguments, for each u32 length, its bytes |
//! | 4 | accesses | u32 launch, 3 × u32 block index, u32 count, count × access |
//! | 5 | copy | u32 destination ordinal, u64 offset, u32 source ordinal, u64 offset, u64 bytes |
//! | 6 | set | u32 ordinal, u64 offset, u64 bytes |
//!
//! An access is u32 linear thread, u32 barrier interval, u32 ordinal, u64 offset, u32 size in bytes,
//! u8 kind ([`crate::abi::access`]), u8 space (0 global, 1 shared). The barrier interval is the number of block
//! barriers that the block had passed. The ordinal of shared memory is [`NO_ORDINAL`] and its offset
//! counts from the start of the block's static shared memory. The ordinal of memory that no
//! allocation of the runtime holds (the host's own, constants of the executable, the device heap) is
//! [`NO_ORDINAL`] as well, with the address as offset. `__constant__` variables are global reads of
//! their own ordinal; a thread's own stack is left out. A site is what `__sirius_launch_site` gave
//! before the launch, or [`NO_SITE`].
//!
//! With `SIRIUS_CPU_THREADS=1` the order is that of execution; else records of blocks interleave.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Mutex;

use crate::allocations::{AllocationView, MemoryKind, place};
use crate::environment::settings;
use crate::termination;

/// Version of the format.
pub const VERSION: u32 = 2;

/// Site of a launch that has none.
pub const NO_SITE: u32 = u32::MAX;

/// The site of a launch that host code shows as a call and a fence: of a graph that runs again, or of
/// blocks that wait for each other.
pub const REPLAYED: u32 = u32::MAX - 1;

/// Ordinal of what is no allocation.
pub const NO_ORDINAL: u32 = u32::MAX;

/// A trace that was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// All records, in the order of the file.
    pub records: Vec<Record>,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Memory became known.
    Allocation {
        /// Its ordinal.
        ordinal: u32,
        /// Its size.
        bytes: u64,
        /// Kind, as [`MemoryKind`] lists them, from 0.
        kind: u8,
        /// Name of a variable, else empty.
        name: String,
    },
    /// An allocation is gone.
    Freed {
        /// Its ordinal.
        ordinal: u32,
    },
    /// A kernel was launched.
    Launch {
        /// Number of the launch, from 0.
        launch: u32,
        /// The compiler's id of the launch site, or [`NO_SITE`].
        site: u32,
        /// Blocks in x, y and z.
        grid: [u32; 3],
        /// Threads in x, y and z.
        block: [u32; 3],
        /// Dynamic shared memory in bytes.
        shared_bytes: u32,
        /// Mangled name.
        kernel: String,
        /// The bytes of each argument.
        arguments: Vec<Vec<u8>>,
    },
    /// A block accessed memory.
    Accesses {
        /// Number of the launch.
        launch: u32,
        /// `blockIdx`.
        block: [u32; 3],
        /// In order of execution.
        accesses: Vec<Access>,
    },
    /// The host copied.
    Copy {
        /// Where to.
        destination: HostOperand,
        /// Where from.
        source: HostOperand,
        /// How much.
        bytes: u64,
    },
    /// The host set memory to a value.
    Set {
        /// Where.
        destination: HostOperand,
        /// How much.
        bytes: u64,
    },
}

/// A place that a copy or set refers to: an allocation and a byte offset, or [`NO_ORDINAL`] and the
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOperand {
    /// Ordinal of the allocation.
    pub ordinal: u32,
    /// Offset in bytes.
    pub offset: u64,
}

/// One access of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Linear index of the thread in its block.
    pub thread: u32,
    /// Block barriers that the block had passed.
    pub interval: u32,
    /// Ordinal of the allocation, or [`NO_ORDINAL`].
    pub ordinal: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
    /// One of [`crate::abi::access`].
    pub kind: u8,
    /// 0 global, 1 shared.
    pub space: u8,
}

/// `Access::space` of global memory.
pub const SPACE_GLOBAL: u8 = 0;
/// `Access::space` of shared memory.
pub const SPACE_SHARED: u8 = 1;

/// Reads a trace. Errors: the file cannot be read, is no trace, or ends within a record.
pub fn read_trace(path: &Path) -> std::io::Result<Trace> {
    let records = TraceReader::new(BufReader::new(File::open(path)?))?;
    Ok(Trace {
        records: records.collect::<Result<_, _>>()?,
    })
}

/// Whether a trace is written.
pub fn enabled() -> bool {
    settings().trace.is_some()
}

/// Writes that memory became known.
pub fn allocation(view: &AllocationView) {
    emit(|| Record::Allocation {
        ordinal: view.ordinal,
        bytes: view.bytes as u64,
        kind: view.kind as u8,
        name: view.name.clone().unwrap_or_default(),
    });
}

/// Writes that an allocation is gone.
pub fn freed(view: &AllocationView) {
    emit(|| Record::Freed {
        ordinal: view.ordinal,
    });
}

/// Writes a launch that is a [`Record::Launch`].
pub fn launch(record: impl FnOnce() -> Record) {
    emit(record);
}

/// Writes a part of a block's accesses.
pub fn accesses(launch: u32, block: [u32; 3], accesses: &[Access]) {
    if !accesses.is_empty() {
        emit(|| Record::Accesses {
            launch,
            block,
            accesses: accesses.to_vec(),
        });
    }
}

/// Writes a copy by the host.
pub fn copy(destination: usize, source: usize, bytes: usize) {
    emit(|| Record::Copy {
        destination: operand(destination),
        source: operand(source),
        bytes: bytes as u64,
    });
}

/// Writes a set by the host.
pub fn set(destination: usize, bytes: usize) {
    emit(|| Record::Set {
        destination: operand(destination),
        bytes: bytes as u64,
    });
}

/// Writes what is buffered.
pub fn at_exit() {
    let mut writer = WRITER
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let (Some(path), None) = (&settings().trace, &*writer) {
        // A program that launched nothing leaves a trace without records, not a missing file.
        *writer = Some(create(path));
    }
    if let Some(writer) = &mut *writer {
        check(writer.flush());
    }
}

/// Writes what is buffered, when nobody is writing, for a program that is about to be ended.
fn before_failure() {
    if let Ok(mut writer) = WRITER.try_lock()
        && let Some(writer) = &mut *writer
    {
        // The program already fails with a reason of its own.
        let _ = writer.flush();
    }
}

static WRITER: Mutex<Option<BufWriter<File>>> = Mutex::new(None);

fn emit(record: impl FnOnce() -> Record) {
    let Some(path) = &settings().trace else {
        return;
    };
    let mut bytes = Vec::new();
    encode(&record(), &mut bytes);
    let mut writer = WRITER
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let writer = writer.get_or_insert_with(|| {
        termination::before_failure(before_failure);
        create(path)
    });
    check(writer.write_all(&bytes));
}

fn create(path: &Path) -> BufWriter<File> {
    match File::create(path) {
        Ok(file) => {
            let mut writer = BufWriter::with_capacity(1 << 20, file);
            let mut header = b"SIRTRACE".to_vec();
            header.extend(VERSION.to_le_bytes());
            check(writer.write_all(&header));
            writer
        }
        Err(error) => termination::fail(&format!("cannot write {}: {error}", path.display())),
    }
}

fn check(result: std::io::Result<()>) {
    if let Err(error) = result {
        termination::fail(&format!("cannot write the trace: {error}"));
    }
}

fn operand(address: usize) -> HostOperand {
    match place(address) {
        Some(place) => HostOperand {
            ordinal: place.ordinal,
            offset: (address - place.base) as u64,
        },
        None => HostOperand {
            ordinal: NO_ORDINAL,
            offset: address as u64,
        },
    }
}

fn encode(record: &Record, out: &mut Vec<u8>) {
    fn words(out: &mut Vec<u8>, words: &[u32]) {
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
    }
    fn text(out: &mut Vec<u8>, text: &str) {
        words(out, &[text.len() as u32]);
        out.extend(text.as_bytes());
    }
    match record {
        Record::Allocation {
            ordinal,
            bytes,
            kind,
            name,
        } => {
            out.push(1);
            words(out, &[*ordinal]);
            out.extend(bytes.to_le_bytes());
            out.push(*kind);
            text(out, name);
        }
        Record::Freed { ordinal } => {
            out.push(2);
            words(out, &[*ordinal]);
        }
        Record::Launch {
            launch,
            site,
            grid,
            block,
            shared_bytes,
            kernel,
            arguments,
        } => {
            out.push(3);
            words(out, &[*launch, *site]);
            words(out, grid);
            words(out, block);
            words(out, &[*shared_bytes]);
            text(out, kernel);
            words(out, &[arguments.len() as u32]);
            for argument in arguments {
                words(out, &[argument.len() as u32]);
                out.extend(argument);
            }
        }
        Record::Accesses {
            launch,
            block,
            accesses,
        } => {
            out.push(4);
            words(out, &[*launch]);
            words(out, block);
            words(out, &[accesses.len() as u32]);
            for access in accesses {
                words(out, &[access.thread, access.interval, access.ordinal]);
                out.extend(access.offset.to_le_bytes());
                words(out, &[access.size]);
                out.extend([access.kind, access.space]);
            }
        }
        Record::Copy {
            destination,
            source,
            bytes,
        } => {
            out.push(5);
            for operand in [destination, source] {
                words(out, &[operand.ordinal]);
                out.extend(operand.offset.to_le_bytes());
            }
            out.extend(bytes.to_le_bytes());
        }
        Record::Set { destination, bytes } => {
            out.push(6);
            words(out, &[destination.ordinal]);
            out.extend(destination.offset.to_le_bytes());
            out.extend(bytes.to_le_bytes());
        }
    }
}

/// Reads a trace record by record, for traces that do not fit in memory or are still being written.
/// An item is an error when the trace cannot be read or ends within a record; nothing follows one.
pub struct TraceReader<R> {
    source: R,
    failed: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads the header. Errors: the source cannot be read, or is no trace of this version.
    pub fn new(source: R) -> std::io::Result<Self> {
        let mut reader = Self {
            source,
            failed: false,
        };
        if reader.array::<8>()? != *b"SIRTRACE" {
            return Err(malformed("this is no sirius trace"));
        }
        match reader.word()? {
            VERSION => Ok(reader),
            version => Err(malformed(&format!(
                "a trace of version {version}, but this reads version {VERSION}"
            ))),
        }
    }

    fn array<const COUNT: usize>(&mut self) -> std::io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        match self.source.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(malformed("the trace ends within a record"))
            }
            Err(error) => Err(error),
        }
    }

    fn byte(&mut self) -> std::io::Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn word(&mut self) -> std::io::Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> std::io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn triple(&mut self) -> std::io::Result<[u32; 3]> {
        Ok([self.word()?, self.word()?, self.word()?])
    }

    fn bytes(&mut self) -> std::io::Result<Vec<u8>> {
        let length = u64::from(self.word()?);
        let mut bytes = Vec::new();
        if self.source.by_ref().take(length).read_to_end(&mut bytes)? as u64 != length {
            return Err(malformed("the trace ends within a record"));
        }
        Ok(bytes)
    }

    fn text(&mut self) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    fn operand(&mut self) -> std::io::Result<HostOperand> {
        Ok(HostOperand {
            ordinal: self.word()?,
            offset: self.long()?,
        })
    }

    fn record(&mut self, kind: u8) -> std::io::Result<Record> {
        Ok(match kind {
            1 => Record::Allocation {
                ordinal: self.word()?,
                bytes: self.long()?,
                kind: self.byte()?,
                name: self.text()?,
            },
            2 => Record::Freed {
                ordinal: self.word()?,
            },
            3 => Record::Launch {
                launch: self.word()?,
                site: self.word()?,
                grid: self.triple()?,
                block: self.triple()?,
                shared_bytes: self.word()?,
                kernel: self.text()?,
                arguments: {
                    let count = self.word()?;
                    (0..count).map(|_| self.bytes()).collect::<Result<_, _>>()?
                },
            },
            4 => {
                let launch = self.word()?;
                let block = self.triple()?;
                let count = self.word()?;
                let accesses = (0..count)
                    .map(|_| self.access())
                    .collect::<Result<Vec<_>, _>>()?;
                Record::Accesses {
                    launch,
                    block,
                    accesses,
                }
            }
            5 => Record::Copy {
                destination: self.operand()?,
                source: self.operand()?,
                bytes: self.long()?,
            },
            6 => Record::Set {
                destination: self.operand()?,
                bytes: self.long()?,
            },
            other => {
                return Err(malformed(&format!(
                    "the trace has a record of unknown kind {other}"
                )));
            }
        })
    }

    fn access(&mut self) -> std::io::Result<Access> {
        Ok(Access {
            thread: self.word()?,
            interval: self.word()?,
            ordinal: self.word()?,
            offset: self.long()?,
            size: self.word()?,
            kind: self.byte()?,
            space: self.byte()?,
        })
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = std::io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut kind = [0];
        if self.failed {
            return None;
        }
        let record = match self.source.read(&mut kind) {
            Ok(0) => return None,
            Ok(_) => self.record(kind[0]),
            Err(error) => Err(error),
        };
        self.failed = record.is_err();
        Some(record)
    }
}

fn malformed(reason: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, reason)
}

/// The kind of memory that an [`Record::Allocation`] names, if there is one of that number.
pub fn memory_kind(kind: u8) -> Option<MemoryKind> {
    const KINDS: [MemoryKind; 8] = [
        MemoryKind::Device,
        MemoryKind::Managed,
        MemoryKind::Pinned,
        MemoryKind::Registered,
        MemoryKind::Variable,
        MemoryKind::Constant,
        MemoryKind::ManagedVariable,
        MemoryKind::Mapped,
    ];
    KINDS.get(usize::from(kind)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let operand = HostOperand {
            ordinal: 4,
            offset: 1 << 40,
        };
        let records = vec![
            Record::Allocation {
                ordinal: 1,
                bytes: 2,
                kind: 5,
                name: "weights".into(),
            },
            Record::Launch {
                launch: 0,
                site: NO_SITE,
                grid: [1, 2, 3],
                block: [4, 5, 6],
                shared_bytes: 7,
                kernel: "_Z1kv".into(),
                arguments: vec![vec![1, 2, 3, 4], Vec::new(), vec![5]],
            },
            Record::Accesses {
                launch: 0,
                block: [0, 1, 2],
                accesses: vec![Access {
                    thread: 9,
                    interval: 1,
                    ordinal: 1,
                    offset: 8,
                    size: 4,
                    kind: 2,
                    space: 1,
                }],
            },
            Record::Copy {
                destination: operand,
                source: operand,
                bytes: 77,
            },
            Record::Set {
                destination: operand,
                bytes: 78,
            },
            Record::Freed { ordinal: 1 },
        ];
        let mut bytes = b"SIRTRACE".to_vec();
        bytes.extend(VERSION.to_le_bytes());
        records.iter().for_each(|record| encode(record, &mut bytes));
        let parse =
            |bytes: &[u8]| -> std::io::Result<Vec<Record>> { TraceReader::new(bytes)?.collect() };
        assert_eq!(parse(&bytes).unwrap(), records);
        assert!(parse(&bytes[..bytes.len() - 1]).is_err());
        assert!(parse(b"SIRTRACK\x01\0\0\0").is_err());
    }

    #[test]
    fn kinds_are_numbered_as_listed() {
        for number in 0..8 {
            assert_eq!(memory_kind(number).unwrap() as u8, number);
        }
        assert!(memory_kind(8).is_none());
    }
}
