//! The C++ library's functions that write text to a stream. They stay calls by name in the canonical host
//! module: what their bodies do to locales and buffers says nothing of the device.

/// Formats a number, a character or a string, or flushes: neither calls what the program passes (as a
/// manipulator would be) nor writes much. Names are the library's to the last letter: a program may add an
/// operator of its own to namespace `std`, which does what it likes.
pub fn is_stream_output(name: &str) -> bool {
    let of_type = |start: &str, end: &str| {
        let kind = name
            .strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end));
        kind.is_some_and(|kind| kind.len() == 1 && BUILT_IN_TYPES.contains(kind))
    };
    let to_characters = || {
        let written = name.strip_prefix(TO_CHARACTERS);
        written.is_some_and(|written| CHARACTERS.contains(&written))
    };
    of_type("_ZNSolsE", "")
        || of_type("_ZNSo9_M_insertI", "EERSoT_")
        || to_characters()
        || FUNCTIONS.contains(&name)
}

/// Hands memory of the program's to a stream, which it reads and writes from then on. Like the output it stays a
/// call by name.
pub fn gives_stream_memory(name: &str) -> bool {
    name.contains("9pubsetbufEP") || name.contains("strstream") || name.contains("spanbuf")
}

/// Types as mangled names have them.
const BUILT_IN_TYPES: &str = "abcdefhijlmstvwxyz";

const TO_CHARACTERS: &str = "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_";
const CHARACTERS: [&str; 6] = ["PKc", "PKa", "PKh", "c", "a", "h"];

const FUNCTIONS: [&str; 7] = [
    "_ZNSo9_M_insertIPKvEERSoT_",
    "_ZNSo3putEc",
    "_ZNSo5flushEv",
    "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
    "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l",
    "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
    "_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
];

#[cfg(test)]
mod tests {
    use super::is_stream_output;

    #[test]
    fn operators_of_a_program_are_none_of_the_library() {
        for own in [
            "_ZNSolsEd",
            "_ZNSolsEPKv",
            "_ZNSo9_M_insertIdEERSoT_",
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
        ] {
            assert!(is_stream_output(own) == (own != "_ZNSolsEPKv"), "{own}");
        }
        for other in [
            "_ZStlsRSoRKSt6vectorIiSaIiEE",
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_RK4Grid",
            "_ZNSo9_M_insertI4GridEERSoT_",
            "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_i",
            "_ZNSolsEPFRSoS_E",
        ] {
            assert!(!is_stream_output(other), "{other}");
        }
    }
}
