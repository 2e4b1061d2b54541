//! The C and C++ libraries.

/// What a library function does to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryCall {
    /// It does I/O, reads a clock or leaves: a fence for the device's sake.
    pub fence: bool,
    /// Arguments that it writes through, any number of bytes.
    pub writes: &'static [usize],
    /// Arguments from this one on are written through (`scanf`).
    pub writes_from: Option<usize>,
    /// Its result is new memory.
    pub allocates: bool,
    /// Its result points where this argument points.
    pub returns_argument: Option<usize>,
    /// It throws or ends the program: always, or where memory is short.
    pub throws: bool,
    /// What its arguments point to is in anyone's reach from then on.
    pub gives_away: bool,
}

/// The effect of a library function; `None` when the table does not have it.
pub fn library_call(name: &str) -> Option<LibraryCall> {
    let plain = LibraryCall {
        fence: false,
        writes: &[],
        writes_from: None,
        allocates: false,
        returns_argument: None,
        throws: false,
        gives_away: false,
    };
    let fence = LibraryCall {
        fence: true,
        ..plain
    };
    if name == "llvm.trap" || name == "llvm.debugtrap" || name == "llvm.readcyclecounter" {
        return Some(fence);
    }
    if ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."]
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
    if [
        "_ZNSo",
        "_ZNSi",
        "_ZStls",
        "_ZStrs",
        "_ZSt16__ostream_insert",
        "_ZSt4endl",
        "_ZSt5flush",
        "_ZNSt8ios_base",
        "_ZNSt9basic_ios",
    ]
    .iter()
    .any(|start| name.starts_with(start))
    {
        return Some(LibraryCall {
            writes_from: Some(0),
            returns_argument: Some(0),
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
        "__cxa_allocate_exception" => LibraryCall {
            allocates: true,
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
        "memcpy" | "memmove" | "memset" | "strcpy" | "strncpy" | "strcat" | "strncat"
        | "sprintf" | "snprintf" => LibraryCall {
            writes: &[0],
            returns_argument: Some(0),
            ..plain
        },
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" | "__isoc23_strtol"
        | "__isoc23_strtoul" | "__isoc23_strtoll" | "__isoc23_strtoull" => LibraryCall {
            writes: &[1],
            ..plain
        },
        "strlen" | "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "memcmp" | "bcmp"
        | "atoi" | "atol" | "atoll" | "atof" | "abs" | "labs" | "rand" | "srand" | "random"
        | "srandom" | "drand48" | "srand48" | "lrand48" | "mrand48" | "getenv" => plain,
        "strchr" | "strrchr" | "strstr" | "memchr" => LibraryCall {
            returns_argument: Some(0),
            ..plain
        },
        "sin" | "cos" | "tan" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10" | "log1p"
        | "pow" | "sqrt" | "cbrt" | "fabs" | "floor" | "ceil" | "round" | "lround" | "fmod"
        | "fmin" | "fmax" | "sinh" | "cosh" | "tanh" | "asin" | "acos" | "atan" | "atan2"
        | "erf" | "erfc" | "hypot" | "tgamma" | "lgamma" | "fma" | "ldexp" | "sinf" | "cosf"
        | "tanf" | "expf" | "exp2f" | "expm1f" | "logf" | "log2f" | "log10f" | "log1pf"
        | "powf" | "sqrtf" | "cbrtf" | "fabsf" | "floorf" | "ceilf" | "roundf" | "lroundf"
        | "fmodf" | "fminf" | "fmaxf" | "sinhf" | "coshf" | "tanhf" | "asinf" | "acosf"
        | "atanf" | "atan2f" | "erff" | "erfcf" | "hypotf" | "tgammaf" | "lgammaf" | "fmaf"
        | "ldexpf" => plain,
        "frexp" | "modf" | "frexpf" | "modff" => LibraryCall {
            writes: &[1],
            ..plain
        },
        "sincos" | "sincosf" => LibraryCall {
            writes: &[1, 2],
            ..plain
        },
        "posix_memalign" => LibraryCall {
            writes: &[0],
            ..fence
        },
        "printf"
        | "puts"
        | "putchar"
        | "fprintf"
        | "vprintf"
        | "vfprintf"
        | "fputs"
        | "fputc"
        | "putc"
        | "fwrite"
        | "fflush"
        | "fclose"
        | "perror"
        | "exit"
        | "_exit"
        | "abort"
        | "__assert_fail"
        | "clock"
        | "sleep"
        | "usleep"
        | "omp_get_wtime"
        | "__cxa_begin_catch"
        | "__cxa_rethrow"
        | "_Unwind_Resume"
        | "fopen"
        | "_ZNSt6chrono3_V212system_clock3nowEv"
        | "_ZNSt6chrono3_V212steady_clock3nowEv" => fence,
        "time" | "gettimeofday" | "fread" | "fgets" => LibraryCall {
            writes: if name == "gettimeofday" {
                &[0, 1]
            } else {
                &[0]
            },
            ..fence
        },
        "clock_gettime" => LibraryCall {
            writes: &[1],
            ..fence
        },
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => LibraryCall {
            writes_from: Some(1),
            ..fence
        },
        "fscanf" | "sscanf" | "__isoc99_fscanf" | "__isoc99_sscanf" | "__isoc23_fscanf"
        | "__isoc23_sscanf" => LibraryCall {
            writes_from: Some(2),
            ..fence
        },
        _ => return None,
    })
}
