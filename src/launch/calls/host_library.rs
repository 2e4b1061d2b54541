//! The C and C++ libraries.

use super::super::host_ir::Function;
use super::standard_library;
use crate::program::is_stream_output;

/// What a library function does to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LibraryCall {
    /// It reads input, handles files, reads a clock or leaves: a fence for the device's sake.
    pub fence: bool,
    /// All that it does is to write text to a stream or a file: then it is no fence.
    pub output: bool,
    /// Arguments that it writes through, any number of bytes.
    pub writes: &'static [usize],
    /// Arguments from this one on are written through (`scanf`).
    pub writes_from: Option<usize>,
    /// What it writes holds no pointers.
    pub numbers: bool,
    /// It makes new memory: its result, or the text of its string.
    pub allocates: bool,
    /// The new memory has what this argument points to.
    pub copies: Option<usize>,
    /// The argument is a `std::string` that gets another text.
    pub string: Option<usize>,
    /// The argument is a `std::string` that gets the old text of the other.
    pub other_string: Option<usize>,
    /// Its arguments are nodes, and nodes that these lead to; their links, which stand at these
    /// offsets, may lead to any of them afterwards.
    pub relinks: &'static [i64],
    /// Its result is a node that its arguments lead to by the links at these offsets.
    pub walks: &'static [i64],
    /// Its result points where this argument points.
    pub returns_argument: Option<usize>,
    /// It throws or ends the program: always, or where memory is short.
    pub throws: bool,
    /// What its arguments point to is in anyone's reach from then on.
    pub gives_away: bool,
    /// Its result is the address of `errno`.
    pub error_number: bool,
    /// It works on a stream, and so on memory that the program may have given to that.
    pub stream: bool,
    /// It works on what the program may have given to the library before, and does not name it.
    pub hidden: bool,
    /// It may call a function that the program gave to it.
    pub calls_back: bool,
    /// The argument is a text with conversions, as `printf` has it: with `%n` it writes through those behind it.
    pub format: Option<usize>,
    /// The arguments of the text are in a list, which stands behind it.
    pub format_list: bool,
}

/// A variable that is, or leads to, a standard stream.
pub fn is_stream(variable: &str) -> bool {
    const STREAMS: [&str; 7] = [
        "stdin",
        "stdout",
        "stderr",
        "_ZSt3cin",
        "_ZSt4cout",
        "_ZSt4cerr",
        "_ZSt4clog",
    ];
    STREAMS.contains(&variable)
}

/// The effect of a function as one of a library; `None` when it is none or the table does not have
/// it. Names of the standard library are its own, so that what a header defines counts too (the table has
/// the operators of that namespace by their whole names, since programs add some); a program may define any
/// other name.
pub fn library_call(function: &Function) -> Option<LibraryCall> {
    let name = function.name.as_str();
    let reserved = [
        "_ZSt",
        "_ZNSt",
        "_ZNKSt",
        // clang defines it itself, in each module that needs it.
        "__clang_call_terminate",
    ];
    let counts = function.blocks.is_empty() || reserved.iter().any(|start| name.starts_with(start));
    counts.then(|| call(name)).flatten()
}

/// Whether the table has the name; the function may be another one all the same.
pub fn is_library_name(name: &str) -> bool {
    call(name).is_some()
}

fn call(name: &str) -> Option<LibraryCall> {
    if let Some(call) = standard_library::call(name) {
        return Some(call);
    }
    let plain = LibraryCall::default();
    let fence = LibraryCall {
        fence: true,
        ..plain
    };
    let output = LibraryCall {
        output: true,
        stream: true,
        ..plain
    };
    let of_stream = LibraryCall {
        stream: true,
        ..fence
    };
    if name == "llvm.trap" || name == "llvm.debugtrap" || name == "llvm.readcyclecounter" {
        return Some(fence);
    }
    if name.starts_with("llvm.memset.") {
        return Some(LibraryCall {
            writes: &[0],
            numbers: true,
            ..plain
        });
    }
    if ["llvm.memcpy.", "llvm.memmove."]
        .iter()
        .any(|start| name.starts_with(start))
    {
        return Some(LibraryCall {
            writes: &[0],
            ..plain
        });
    }
    if [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.assume",
        "llvm.experimental.noalias",
        "llvm.invariant.",
        "llvm.donothing",
    ]
    .iter()
    .any(|start| name.starts_with(start))
    {
        return Some(plain);
    }
    if is_stream_output(name) {
        return Some(LibraryCall {
            writes_from: Some(0),
            returns_argument: Some(0),
            // A stream can be told to throw where it fails.
            throws: true,
            ..output
        });
    }
    let of_streams = ["_ZNSo", "_ZNSi", "_ZNSt8ios_base", "_ZNSt9basic_ios"];
    if of_streams.iter().any(|start| name.starts_with(start)) || is_stream_operator(name) {
        return Some(LibraryCall {
            writes_from: Some(0),
            returns_argument: Some(0),
            // A manipulator, or what is told when a stream changes.
            calls_back: name.contains("PF"),
            stream: true,
            ..fence
        });
    }
    let terminates = name == "__clang_call_terminate" || name == "_ZSt9terminatev";
    if terminates || (name.starts_with("_ZSt") && name.contains("__throw_")) {
        return Some(LibraryCall {
            throws: true,
            ..plain
        });
    }
    Some(match name {
        "malloc"
        | "calloc"
        | "aligned_alloc"
        | "memalign"
        | "valloc"
        | "strdup"
        | "_ZnwmRKSt9nothrow_t"
        | "_ZnamRKSt9nothrow_t" => LibraryCall {
            allocates: true,
            ..plain
        },
        "_Znwm" | "_Znam" | "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => LibraryCall {
            allocates: true,
            throws: true,
            ..plain
        },
        "realloc" | "reallocarray" => LibraryCall {
            allocates: true,
            copies: Some(0),
            ..plain
        },
        "__cxa_allocate_exception" => LibraryCall {
            allocates: true,
            ..plain
        },
        // The handler's frame takes the exception, which everyone may reach.
        "__cxa_begin_catch" | "__cxa_get_exception_ptr" => plain,
        "__errno_location" => LibraryCall {
            error_number: true,
            ..plain
        },
        "__cxa_rethrow" => LibraryCall {
            throws: true,
            ..plain
        },
        // Whoever catches it has it. `__cxa_end_catch` is in no table: it runs a destructor.
        "__cxa_throw" => LibraryCall {
            throws: true,
            gives_away: true,
            ..plain
        },
        "free"
        | "__cxa_free_exception"
        | "_ZdlPv"
        | "_ZdaPv"
        | "_ZdlPvm"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "_ZdlPvmSt11align_val_t"
        | "_ZdaPvSt11align_val_t" => plain,
        "memcpy" | "memmove" => LibraryCall {
            writes: &[0],
            returns_argument: Some(0),
            ..plain
        },
        "memset" | "strcpy" | "strncpy" | "strcat" | "strncat" => LibraryCall {
            writes: &[0],
            numbers: true,
            returns_argument: Some(0),
            ..plain
        },
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" | "__isoc23_strtol"
        | "__isoc23_strtoul" | "__isoc23_strtoll" | "__isoc23_strtoull" => LibraryCall {
            writes: &[1],
            ..plain
        },
        "strlen" | "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "memcmp" | "bcmp"
        | "atoi" | "atol" | "atoll" | "atof" | "abs" | "labs" | "llabs" | "div" | "ldiv"
        | "toupper" | "tolower" | "isalpha" | "isdigit" | "isspace" | "isalnum" | "isupper"
        | "islower" | "ispunct" | "isprint" | "strspn" | "strcspn" | "strnlen" | "wcslen"
        | "drand48" | "srand48" | "lrand48" | "mrand48" => plain,
        // The state of the one may be memory that `initstate` took, the other's that of `putenv`.
        "rand" | "srand" | "random" | "srandom" | "getenv" => LibraryCall {
            hidden: true,
            ..plain
        },
        "strchr" | "strrchr" | "strstr" | "memchr" => LibraryCall {
            returns_argument: Some(0),
            ..plain
        },
        "sin" | "cos" | "tan" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10" | "log1p"
        | "pow" | "sqrt" | "cbrt" | "fabs" | "floor" | "ceil" | "round" | "lround" | "fmod"
        | "fmin" | "fmax" | "sinh" | "cosh" | "tanh" | "asin" | "acos" | "atan" | "atan2"
        | "erf" | "erfc" | "hypot" | "tgamma" | "fma" | "ldexp" | "sinf" | "cosf" | "tanf"
        | "expf" | "exp2f" | "expm1f" | "logf" | "log2f" | "log10f" | "log1pf" | "powf"
        | "sqrtf" | "cbrtf" | "fabsf" | "floorf" | "ceilf" | "roundf" | "lroundf" | "fmodf"
        | "nextafter" | "nextafterf" | "logl" | "sqrtl" | "expl" | "powl" | "fabsl" | "rint"
        | "rintf" | "nearbyint" | "nearbyintf" | "trunc" | "truncf" | "llround" | "llroundf"
        | "lroundl" | "lrint" | "lrintf" | "llrint" | "llrintf" | "copysign" | "copysignf"
        | "remainder" | "remainderf" | "fdim" | "fdimf" | "exp10" | "exp10f" | "j0" | "j1"
        | "y0" | "y1" | "log1pl" | "logb" | "logbf" | "ilogb" | "ilogbf" | "asinh" | "acosh"
        | "atanh" | "asinhf" | "acoshf" | "atanhf" | "scalbn" | "scalbnf" | "fminf" | "fmaxf"
        | "sinhf" | "coshf" | "tanhf" | "asinf" | "acosf" | "atanf" | "atan2f" | "erff"
        | "erfcf" | "hypotf" | "tgammaf" | "fmaf" | "ldexpf" => plain,
        "sprintf" | "snprintf" | "vsprintf" | "vsnprintf" => LibraryCall {
            writes: &[0],
            numbers: true,
            format: Some(if name.contains("snprintf") { 2 } else { 1 }),
            format_list: name.starts_with('v'),
            ..plain
        },
        "erand48" | "nrand48" | "jrand48" | "rand_r" => LibraryCall {
            writes: &[0],
            numbers: true,
            ..plain
        },
        "frexp" | "modf" | "frexpf" | "modff" => LibraryCall {
            writes: &[1],
            numbers: true,
            ..plain
        },
        "sincos" | "sincosf" => LibraryCall {
            writes: &[1, 2],
            numbers: true,
            ..plain
        },
        "posix_memalign" => LibraryCall {
            writes: &[0],
            ..fence
        },
        "printf" | "fprintf" | "vprintf" | "vfprintf" => LibraryCall {
            format: Some(usize::from(name.ends_with("fprintf"))),
            format_list: name.starts_with('v'),
            ..output
        },
        "puts" | "putchar" | "fputs" | "fputc" | "putc" | "fwrite" | "fflush" | "perror" => output,
        "fclose" | "fopen" => of_stream,
        "exit"
        | "_exit"
        | "abort"
        | "__assert_fail"
        | "clock"
        | "sleep"
        | "usleep"
        | "omp_get_wtime"
        | "_Unwind_Resume"
        | "_ZNSt6chrono3_V212system_clock3nowEv"
        | "_ZNSt6chrono3_V212steady_clock3nowEv" => fence,
        "time" | "gettimeofday" => LibraryCall {
            writes: if name == "gettimeofday" {
                &[0, 1]
            } else {
                &[0]
            },
            ..fence
        },
        "fread" | "fgets" => LibraryCall {
            writes: &[0],
            ..of_stream
        },
        "clock_gettime" => LibraryCall {
            writes: &[1],
            ..fence
        },
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => LibraryCall {
            writes_from: Some(1),
            ..of_stream
        },
        "fscanf" | "sscanf" | "__isoc99_fscanf" | "__isoc99_sscanf" | "__isoc23_fscanf"
        | "__isoc23_sscanf" => LibraryCall {
            writes_from: Some(2),
            ..of_stream
        },
        _ => return None,
    })
}

/// Operators of the library's own that read from and write to streams.
fn is_stream_operator(name: &str) -> bool {
    const STARTS: [&str; 2] = [
        "_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
        "_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_",
    ];
    const ENDS: [&str; 10] = [
        "St5_Setw",
        "St13_Setprecision",
        "St8_Setbase",
        "St8_SetfillIS3_E",
        "St12_Setiosflags",
        "St14_Resetiosflags",
        "St17basic_string_viewIS3_S4_E",
        "c",
        "RS3_",
        "PS3_",
    ];
    const TO_STRING: &str = "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE";
    let ends = |start: &&str| {
        let end = name.strip_prefix(*start);
        end.is_some_and(|end| ENDS.contains(&end))
    };
    name == TO_STRING || STARTS.iter().any(ends)
}
