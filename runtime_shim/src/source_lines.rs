//! Where an instruction of the program stands in its sources.

use std::ffi::c_void;

/// File and line of the innermost function that an instruction belongs to and that is the program's own, else of
/// the innermost one.
pub fn source_line(instruction: usize) -> Option<String> {
    let mut place: Option<String> = None;
    if instruction == 0 {
        return None;
    }
    backtrace::resolve(instruction as *mut c_void, |symbol| {
        if place.as_ref().is_none_or(|place| is_of_compiler(place))
            && let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno())
        {
            let found = format!("{}:{line}", file.display());
            if place.is_none() || !is_of_compiler(&found) {
                place = Some(found);
            }
        }
    });
    place
}

/// Whether a file is one of the headers that come with the compiler or the toolkit.
fn is_of_compiler(path: &str) -> bool {
    let folders = [
        "/lib/clang/",
        "/nvidia/cu",
        "/targets/x86_64-linux/include/",
    ];
    folders.iter().any(|folder| path.contains(folder))
}

/// Names of the functions that an instruction belongs to by inlining, the innermost first.
pub fn inlined_functions(instruction: usize) -> Vec<String> {
    let mut names = Vec::new();
    backtrace::resolve(instruction as *mut c_void, |symbol| {
        names.extend(symbol.name().map(|name| name.to_string()));
    });
    names
}
