//! Whether nothing but the host module itself reaches a program's functions and variables by their names.
//!
//! Invariant: a name is called the program's own only where every file of the link is known: the sources are all
//! in the module, and the libraries are of the system's or of CUDA, which know no name that a user gives.

/// Libraries of the system, of compilers and of CUDA: they call what a program hands them, and functions of C and
/// of C++ that a program may replace, no other ones by name.
const LIBRARIES: [&str; 45] = [
    "c",
    "m",
    "dl",
    "rt",
    "util",
    "pthread",
    "resolv",
    "stdc++",
    "stdc++fs",
    "supc++",
    "gcc",
    "gcc_s",
    "gcc_eh",
    "atomic",
    "gomp",
    "omp",
    "iomp5",
    "quadmath",
    "cudart",
    "cudart_static",
    "cudadevrt",
    "cuda",
    "cublas",
    "cublas_static",
    "cublasLt",
    "cublasLt_static",
    "curand",
    "curand_static",
    "cufft",
    "cufft_static",
    "cufftw",
    "culibos",
    "cusolver",
    "cusolver_static",
    "cusparse",
    "cusparse_static",
    "cudnn",
    "nvrtc",
    "nvrtc_static",
    "nvrtc-builtins_static",
    "nvJitLink",
    "nvToolsExt",
    "nvidia-ml",
    "cupti",
    "z",
];

/// Arguments of a link that name no file, or only say where the libraries are.
const HARMLESS: [&str; 8] = [
    "-L",
    "-pthread",
    "-fopenmp",
    "-Wl,-rpath",
    "-Wl,--as-needed",
    "-Wl,--no-as-needed",
    "-Wl,-O",
    "-g",
];

/// Variables of the C library that a program may define itself.
const VARIABLES_OF_C: [&str; 22] = [
    "environ",
    "stdin",
    "stdout",
    "stderr",
    "optarg",
    "optind",
    "opterr",
    "optopt",
    "signgam",
    "timezone",
    "daylight",
    "tzname",
    "h_errno",
    "program_invocation_name",
    "program_invocation_short_name",
    "error_print_progname",
    "error_message_count",
    "error_one_per_line",
    "sys_errlist",
    "sys_nerr",
    "getdate_err",
    "rpc_createerr",
];

/// Widely used libraries that allocate nothing by CUDA; the program gives them its own memory at most.
const LIBRARIES_OF_THE_HOST: [&str; 38] = [
    "GL",
    "GLU",
    "GLEW",
    "glut",
    "glfw",
    "EGL",
    "X11",
    "Xext",
    "Xi",
    "Xmu",
    "SDL2",
    "png",
    "jpeg",
    "tiff",
    "freeimage",
    "hdf5",
    "hdf5_cpp",
    "hdf5_hl",
    "netcdf",
    "blas",
    "cblas",
    "openblas",
    "lapack",
    "lapacke",
    "gsl",
    "gslcblas",
    "fftw3",
    "fftw3f",
    "gfortran",
    "gtest",
    "gtest_main",
    "glog",
    "gflags",
    "yaml-cpp",
    "ncurses",
    "bz2",
    "lz4",
    "zstd",
];

/// Whether no file that `link_arguments` name can allocate memory that both kernels and the host see.
pub(in crate::program) fn make_no_shared_memory(link_arguments: &[String]) -> bool {
    let arguments = link_arguments.iter();
    let mut parts = arguments.flat_map(|argument| argument.split(','));
    parts.all(|part| match part.strip_prefix("-l") {
        Some(library) => {
            LIBRARIES.contains(&library)
                || LIBRARIES_OF_THE_HOST.contains(&library)
                || library.starts_with("boost_")
        }
        None => part.starts_with('-') || !(part.contains(".so") || part.ends_with(".a")),
    })
}

/// Whether all files that `link_arguments` name are such libraries.
pub(in crate::program) fn links_known_libraries_only(link_arguments: &[String]) -> bool {
    link_arguments
        .iter()
        .all(|argument| match argument.strip_prefix("-l") {
            Some(library) => is_known_library(library),
            None => HARMLESS.iter().any(|start| argument.starts_with(start)),
        })
}

/// Whether `-lNAME` is such a library.
pub fn is_known_library(name: &str) -> bool {
    LIBRARIES.contains(&name)
}

/// Whether no library can know a symbol: a mangled name that names something of a user's, or a variable as C has it.
pub fn is_users(symbol: &str, is_function: bool) -> bool {
    match symbol.strip_prefix("_Z") {
        Some(mangled) => names_something_of_users(mangled),
        None => {
            let is_plain = symbol.starts_with(|first: char| first.is_ascii_alphabetic())
                && symbol
                    .chars()
                    .all(|each| each.is_ascii_alphanumeric() || each == '_');
            !is_function && is_plain && !VARIABLES_OF_C.contains(&symbol)
        }
    }
}

/// Whether some name within a mangled one begins with a scope that is not the standard library's. Where that cannot be told
/// from what stands in front of a name, it is not counted. Demangled text would not do: it has words of its own
/// (`vtable for`, `decltype`), and one that nobody thought of would be taken for a user's.
fn names_something_of_users(mangled: &str) -> bool {
    let bytes = mangled.as_bytes();
    let (mut at, mut begins_a_name) = (0, true);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                let digits = bytes[at..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                let end = |length: usize| at.checked_add(digits)?.checked_add(length);
                let length = mangled[at..at + digits].parse().ok();
                let Some(name) = length
                    .and_then(end)
                    .and_then(|end| mangled.get(at + digits..end))
                else {
                    return false;
                };
                if begins_a_name && !name.starts_with('_') && !STRUCTS_OF_C.contains(&name) {
                    return true;
                }
                at += digits + name.len();
                begins_a_name = false;
            }
            // A literal (`Lj1E`), a substitution (`S0_`) and a parameter of a template (`T_`) hold digits that are
            // no lengths.
            b'L' if bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase) => {
                at += 2 + bytes[at + 2..]
                    .iter()
                    .take_while(|byte| **byte != b'E')
                    .count();
                begins_a_name = false;
            }
            b'S' | b'T' => {
                let digits = bytes[at + 1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
                let end = at + 1 + digits.count();
                let is_one = bytes.get(end) == Some(&b'_');
                at = if is_one { end + 1 } else { at + 1 };
                begins_a_name = false;
            }
            // What begins a scope, a list of arguments or the type that a pointer leads to.
            b'N' | b'I' | b'P' | b'R' | b'K' | b'O' | b'V' | b'L' => {
                (at, begins_a_name) = (at + 1, true)
            }
            b'Z' if begins_a_name => at += 1,
            _ => (at, begins_a_name) = (at + 1, false),
        }
    }
    false
}

/// Types of the C library that functions of the standard library take.
const STRUCTS_OF_C: [&str; 8] = [
    "tm", "timespec", "timeval", "stat", "lconv", "div_t", "ldiv_t", "lldiv_t",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_are_told_from_those_of_libraries() {
        for function in [
            "_Z3runv",
            "_ZN3net4initERKSt6vectorIfSaIfEE",
            "_ZNK3net4sizeEv",
            "_ZL4stepPf",
            "_ZNSt10unique_ptrIN3net5ModelILj1ELj75EEESt14default_deleteIS2_EED2Ev",
            "_ZSt4sortIP4BodyEvT_S2_",
            "_ZplRK1AS1_",
            "_ZTV5Model",
            "_ZZN3net3runEvENKUlRT_E_clIfEEDaS1_",
        ] {
            assert!(is_users(function, true), "{function}");
        }
        for function in [
            "main",
            "qsort",
            "_Znwm",
            "_ZdlPv",
            "_ZNSt6vectorIfSaIfEEC2Ev",
            "_ZSt4sortIPfEvT_S1_",
            "_ZNKSt6vectorIfSaIfEE4sizeEv",
            "_ZN9__gnu_cxx13new_allocatorIfE8allocateEmPKv",
            "_ZNSt5arrayIiLm16EE4fillERKi",
            "_ZNKSt8time_putIcSt19ostreambuf_iteratorIcSt11char_traitsIcEEE3putES3_RSt8ios_basecPK2tmcc",
            "_ZNSt8__detail9_MakeUniqIfEE",
            "_ZN9__gnu_cxxmiIPKSt17basic_string_viewIcSt11char_traitsIcEESt6vectorIS4_SaIS4_EEEENS_17__normal_iteratorIT_T0_E15difference_typeERKSD_SG_",
        ] {
            assert!(!is_users(function, true), "{function}");
        }
        assert!(is_users("d_input", false) && is_users("_ZN3net6bufferE", false));
        assert!(!is_users("environ", false) && !is_users("__progname", false));
        assert!(!is_users("llvm.global_ctors", false));
    }

    #[test]
    fn one_library_of_a_users_may_call_anything() {
        let arguments = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(links_known_libraries_only(&arguments(
            "-L/usr/local/lib -lcudart -lm -pthread"
        )));
        assert!(!links_known_libraries_only(&arguments("-lm -lsolver")));
        assert!(!links_known_libraries_only(&arguments(
            "-lm ./libsolver.so"
        )));
        assert!(make_no_shared_memory(&arguments(
            "-lpng -lboost_system -lm"
        )));
        assert!(make_no_shared_memory(&arguments(
            "-Wl,--gc-sections,-rpath,/opt/lib -static"
        )));
        assert!(!make_no_shared_memory(&arguments("-lpng -lsolver")));
        assert!(!make_no_shared_memory(&arguments(
            "-Wl,--whole-archive,libsolver.a"
        )));
    }
}
