//! The C++ library's functions that write text to a stream. They stay calls by name in the canonical host
//! module: what their bodies do to locales and buffers says nothing of the device.

/// Formats a number, a character or a string, or flushes: neither calls what the program passes (as a
/// manipulator would be) nor writes much.
pub fn is_stream_output(name: &str) -> bool {
    let number = name.strip_prefix("_ZNSolsE");
    number.is_some_and(|of| of.len() == 1 && of != "P")
        || [
            "_ZNSo9_M_insertI",
            "_ZNSo3putE",
            "_ZNSo5flushEv",
            "_ZStlsISt11char_traitsIcEE",
            "_ZStlsIcSt11char_traitsIcESaIcEE",
            "_ZSt16__ostream_insertIcSt11char_traitsIcEE",
            "_ZSt4endlIcSt11char_traitsIcEE",
            "_ZSt5flushIcSt11char_traitsIcEE",
        ]
        .iter()
        .any(|start| name.starts_with(start))
}
