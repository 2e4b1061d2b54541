//! `SIRIUS_DUMP_MEMORY`: the final contents of device memory, so that two runs can be compared.
//!
//! One JSON object a line: an allocation when it is freed, what is left and all device variables at
//! exit, by ordinal: `{"ordinal": 0, "kind": "device", "name": null, "bytes": 64, "hash": "…",
//! "contents": "…"}`. The hash is 64-bit FNV-1a; contents are hexadecimal, present up to
//! [`CONTENTS_LIMIT`] bytes or with `SIRIUS_DUMP_WHOLE` set, else null. With that set, words that are
//! addresses are written as what they lead to, so that runs compare equal wherever their memory lies.
//! Pinned and registered host memory is the host's and left out.

mod addresses;

use addresses::Addresses;
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

use crate::abi::FUSED_KERNEL;
use crate::allocations::{AllocationView, is_version, live};
use crate::environment::settings;
use crate::error::{description, device_failure};
use crate::termination;

/// Largest allocation whose contents are written out, in bytes.
pub const CONTENTS_LIMIT: usize = 4096;

/// Writes an allocation that is about to be freed. The table of allocations is locked then, so that the
/// others are handed over.
pub fn freed<'a>(view: &'a AllocationView, others: impl Iterator<Item = &'a AllocationView>) {
    append(std::slice::from_ref(view), others);
    if settings().memory_dump.is_some() && settings().whole_dump {
        let mut gone = GONE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        gone.push(view.clone());
    }
}

/// Allocations that were freed: tables of addresses often outlive what they lead to.
static GONE: Mutex<Vec<AllocationView>> = Mutex::new(Vec::new());

/// Writes everything that is still there.
pub fn at_exit() {
    if settings().memory_dump.is_some() {
        append(&live(), std::iter::empty());
        if settings().whole_dump {
            append_failure();
        }
    }
}

/// Writes which way a kernel failed, if one did: what memory holds then says nothing.
fn append_failure() {
    let Some(failure) = device_failure() else {
        return;
    };
    let words = description(failure.0).to_string_lossy();
    write(&format!("{{\"failure\":\"{words}\"}}\n"));
}

/// 64-bit FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

static FILE: Mutex<Option<File>> = Mutex::new(None);

fn append<'a>(views: &'a [AllocationView], others: impl Iterator<Item = &'a AllocationView>) {
    if settings().memory_dump.is_none() {
        return;
    }
    let mut text = String::new();
    let addresses = settings().whole_dump.then(|| {
        let gone = GONE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Addresses::of_process(views.iter().chain(others), gone.iter())
    });
    let is_dumped = |view: &&AllocationView| {
        view.kind.on_device() && !is_version(view.ordinal) && !is_copied_constant(view)
    };
    for view in views.iter().filter(is_dumped) {
        // Memory that was never needed is as it would be if nobody had written it.
        let nothing = if view.has_memory { 0 } else { view.bytes };
        let nothing = vec![0; nothing];
        let contents = match view.has_memory {
            // SAFETY: the view is of a live allocation, which is readable for all its bytes.
            true => unsafe { std::slice::from_raw_parts(view.base as *const u8, view.bytes) },
            false => nothing.as_slice(),
        };
        text += &line(view, contents, addresses.as_ref());
        text.push('\n');
    }
    write(&text);
}

fn write(text: &str) {
    let Some(path) = &settings().memory_dump else {
        return;
    };
    let mut file = FILE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let written = match &mut *file {
        Some(file) => file.write_all(text.as_bytes()),
        none => File::create(path).and_then(|file| none.insert(file).write_all(text.as_bytes())),
    };
    if let Err(error) = written {
        termination::fail(&format!("cannot write {}: {error}", path.display()));
    }
}

/// Whether it is a constant table that a fused kernel has of its own, which the program knows nothing of.
fn is_copied_constant(view: &AllocationView) -> bool {
    is_name_of_copy(view.name.as_deref().unwrap_or_default())
}

/// `sirius_fused_0_scale_add_m1_table`: what the compiler calls the copy of `table` that `add` has in this kernel.
fn is_name_of_copy(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(FUSED_KERNEL) else {
        return false;
    };
    let is_member = |part: &str| {
        let digits = part.strip_prefix('m').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    rest.split('_').any(is_member)
}

fn line(view: &AllocationView, contents: &[u8], addresses: Option<&Addresses>) -> String {
    let plain = || {
        let bytes = contents.iter().map(|byte| format!("{byte:02x}"));
        bytes.collect::<String>()
    };
    let (hash, hexadecimal) = match addresses {
        Some(addresses) => {
            let text = addresses.hexadecimal(contents, view.base);
            (hash(text.as_bytes()), Some(text))
        }
        None => (
            hash(contents),
            (contents.len() <= CONTENTS_LIMIT).then(plain),
        ),
    };
    serde_json::json!({
        "ordinal": view.ordinal,
        "kind": view.kind.name(),
        "name": view.name,
        "bytes": view.bytes,
        "hash": format!("{hash:016x}"),
        "contents": hexadecimal,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocations::MemoryKind;

    #[test]
    fn only_copies_of_the_compiler_are_left_out() {
        assert!(is_name_of_copy("sirius_fused_12_scale_add_m0_table"));
        for of_user in [
            "sirius_fused_",
            "sirius_fused_table",
            "sirius_fused_0_scale_mx_table",
            "scale_m0_table",
            "",
        ] {
            assert!(!is_name_of_copy(of_user), "{of_user}");
        }
    }

    #[test]
    fn a_line_has_hash_and_contents() {
        let view = AllocationView {
            base: 0,
            bytes: 1,
            ordinal: 7,
            kind: MemoryKind::Device,
            name: None,
            flags: 0,
            has_memory: true,
        };
        let value: serde_json::Value = serde_json::from_str(&line(&view, b"a", None)).unwrap();
        // FNV-1a's published value for "a".
        assert_eq!(value["hash"], "af63dc4c8601ec8c");
        assert_eq!(value["contents"], "61");
        assert_eq!(value["ordinal"], 7);
    }
}
