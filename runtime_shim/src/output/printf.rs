//! Device `printf`: CUDA's formats, with arguments packed into a buffer.
//!
//! Each argument lies at the next multiple of its size: 4 bytes for `int` and smaller, 8 for `long`,
//! `double` and pointers. Each conversion is done by the C library, so that a number looks as the
//! host's `printf` prints it, and the text goes to the C library's `stdout`, so that it mixes with the
//! host's in order.

use std::ffi::{c_char, c_int};

/// Formats; returns the text and the number of arguments. A conversion that CUDA does not know is
/// printed as it stands.
///
/// # Safety
/// `arguments` holds what the format asks for; `%s` arguments are strings.
pub unsafe fn format(format: &[u8], arguments: *const u8) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(format.len() + 32);
    let mut buffer = Packed {
        start: arguments,
        offset: 0,
    };
    let mut count = 0;
    let mut rest = format;
    while let Some(percent) = rest.iter().position(|byte| *byte == b'%') {
        out.extend_from_slice(&rest[..percent]);
        rest = &rest[percent..];
        if rest.get(1) == Some(&b'%') {
            out.push(b'%');
            rest = &rest[2..];
            continue;
        }
        let Some(specification) = Specification::parse(rest) else {
            out.push(b'%');
            rest = &rest[1..];
            continue;
        };
        let mut c_format = rest[..specification.length].to_vec();
        // SAFETY: the buffer holds what the format asks for, as the caller promises.
        unsafe {
            // Widths and precisions given as arguments become digits, which leaves one argument.
            while let Some(star) = c_format.iter().position(|byte| *byte == b'*') {
                let value = buffer.take::<c_int>();
                count += 1;
                let digits = match c_format[star - 1] {
                    b'.' if value < 0 => {
                        // A negative precision counts as none.
                        c_format.remove(star - 1);
                        c_format.remove(star - 1);
                        continue;
                    }
                    _ => value.to_string(),
                };
                c_format.splice(star..=star, digits.bytes());
            }
            c_format.push(0);
            count += 1;
            match specification.kind {
                ArgumentKind::Int => print(&mut out, &c_format, buffer.take::<c_int>()),
                ArgumentKind::Long => print(&mut out, &c_format, buffer.take::<i64>()),
                ArgumentKind::Double => print(&mut out, &c_format, buffer.take::<f64>()),
                ArgumentKind::Pointer => print(&mut out, &c_format, buffer.take::<*const u8>()),
                ArgumentKind::Text => {
                    let mut text = buffer.take::<*const c_char>();
                    if text.is_null() {
                        text = c"(null)".as_ptr();
                    }
                    print(&mut out, &c_format, text);
                }
            }
        }
        rest = &rest[specification.length..];
    }
    out.extend_from_slice(rest);
    (out, count)
}

/// Writes to the C library's `stdout`, in one piece.
pub fn write(text: &[u8]) {
    unsafe extern "C" {
        #[link_name = "stdout"]
        static STDOUT: *mut libc::FILE;
    }
    // SAFETY: the C library initialises stdout before any of the program's code runs.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), STDOUT) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentKind {
    Int,
    Long,
    Double,
    Pointer,
    Text,
}

#[derive(Debug, PartialEq, Eq)]
struct Specification {
    /// From the percent sign to the conversion.
    length: usize,
    kind: ArgumentKind,
}

impl Specification {
    /// Reads `%[flags][width][.precision][size]conversion`.
    fn parse(text: &[u8]) -> Option<Self> {
        let span = |from: usize, accepted: &[u8]| {
            from + text[from..]
                .iter()
                .take_while(|byte| accepted.contains(byte))
                .count()
        };
        let mut at = span(1, b"-+ #0");
        at = span(at, b"0123456789*");
        if text.get(at) == Some(&b'.') {
            at = span(at + 1, b"0123456789*");
        }
        let size = at;
        at = span(at, b"hljztL");
        // In the LP64 model all of these but h are 8 bytes.
        let long = text[size..at].iter().any(|byte| b"ljzt".contains(byte));
        let kind = match text.get(at)? {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' if long => ArgumentKind::Long,
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' => ArgumentKind::Int,
            // `long double` is `double` on the device.
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' if text[size..at] != *b"L" => {
                ArgumentKind::Double
            }
            b'p' => ArgumentKind::Pointer,
            b's' => ArgumentKind::Text,
            _ => return None,
        };
        Some(Self {
            length: at + 1,
            kind,
        })
    }
}

struct Packed {
    start: *const u8,
    offset: usize,
}

impl Packed {
    /// # Safety
    /// The next argument in the buffer is a `T`.
    unsafe fn take<T: Copy>(&mut self) -> T {
        self.offset = self.offset.next_multiple_of(size_of::<T>());
        // SAFETY: as the caller promises.
        let value = unsafe { self.start.add(self.offset).cast::<T>().read_unaligned() };
        self.offset += size_of::<T>();
        value
    }
}

/// # Safety
/// `format` ends with a zero byte and asks for one argument of the type `T`.
unsafe fn print<T: Copy>(out: &mut Vec<u8>, format: &[u8], value: T) {
    let mut buffer = [0_u8; 256];
    // SAFETY: as the caller promises; the C library writes no more than it is allowed to.
    let needed = unsafe {
        libc::snprintf(
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            format.as_ptr().cast(),
            value,
        )
    };
    let needed = usize::try_from(needed).unwrap_or(0);
    if needed < buffer.len() {
        out.extend_from_slice(&buffer[..needed]);
        return;
    }
    let mut large = vec![0_u8; needed + 1];
    // SAFETY: as above.
    unsafe {
        libc::snprintf(
            large.as_mut_ptr().cast(),
            large.len(),
            format.as_ptr().cast(),
            value,
        )
    };
    out.extend_from_slice(&large[..needed]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.resize(bytes.len().next_multiple_of(part.len()), 0);
            bytes.extend_from_slice(part);
        }
        bytes
    }

    fn run(text: &str, parts: &[&[u8]]) -> (String, usize) {
        let buffer = packed(parts);
        // SAFETY: each test packs what its format asks for.
        let (text, count) = unsafe { format(text.as_bytes(), buffer.as_ptr()) };
        (String::from_utf8(text).unwrap(), count)
    }

    #[test]
    fn arguments_are_aligned_to_their_size() {
        let parts: &[&[u8]] = &[
            &7_i32.to_le_bytes(),
            &1.5_f64.to_le_bytes(),
            &(-1_i32).to_le_bytes(),
        ];
        assert_eq!(
            run("a %d b %.2f c %u\n", parts),
            ("a 7 b 1.50 c 4294967295\n".into(), 3)
        );
        let parts: &[&[u8]] = &[&(-5_i64).to_le_bytes(), &65_i32.to_le_bytes()];
        assert_eq!(run("%lld%%%c", parts), ("-5%A".into(), 2));
    }

    #[test]
    fn widths_may_be_arguments() {
        let parts: &[&[u8]] = &[
            &6_i32.to_le_bytes(),
            &2_i32.to_le_bytes(),
            &2.71428_f64.to_le_bytes(),
        ];
        assert_eq!(run("[%*.*f]", parts), ("[  2.71]".into(), 3));
    }

    #[test]
    fn strings_of_any_length() {
        let long = std::ffi::CString::new("x".repeat(1000)).unwrap();
        let address = (long.as_ptr() as usize).to_le_bytes();
        assert_eq!(run("<%s>", &[&address]).0.len(), 1002);
    }

    #[test]
    fn unknown_conversions_stay() {
        assert_eq!(run("100%! sure %", &[]), ("100%! sure %".into(), 0));
    }
}
