//! What `--help` says of each option: its group, its values and a line or two. Of our own options their rows say it, of
//! nvcc's a table here.
//!
//! Invariant: every option of the tables has one description, and every description an option; a test compares them.

use super::sirius_options::SIRIUS_OPTIONS;
use std::borrow::Cow;

/// What is said of an option.
#[derive(Clone, Copy)]
pub(super) struct Description {
    /// The option's long name.
    pub(super) option: &'static str,
    /// The values that it takes; empty for flags.
    pub(super) values: &'static str,
    /// What it does.
    pub(super) text: &'static str,
}

/// Options that belong together.
#[derive(Clone)]
pub(super) struct Group {
    /// What they are about.
    pub(super) title: &'static str,
    /// They.
    pub(super) options: Cow<'static, [Description]>,
}

const fn group(title: &'static str, options: &'static [Description]) -> Group {
    Group {
        title,
        options: Cow::Borrowed(options),
    }
}

const fn says(option: &'static str, values: &'static str, text: &'static str) -> Description {
    Description {
        option,
        values,
        text,
    }
}

/// All groups, our own options first.
pub(super) fn groups() -> impl Iterator<Item = Group> {
    own_groups().into_iter().chain(NVCC_GROUPS.iter().cloned())
}

/// Our own options, as their rows describe them.
pub(super) fn own_groups() -> Vec<Group> {
    let mut groups: Vec<(&str, Vec<Description>)> = Vec::new();
    for row in SIRIUS_OPTIONS {
        let Some([title, values, text]) = row.shown else {
            continue;
        };
        let description = says(row.long, values, text);
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, options)) => options.push(description),
            None => groups.push((title, vec![description])),
        }
    }
    let groups = groups.into_iter().map(|(title, options)| Group {
        title,
        options: options.into(),
    });
    groups.collect()
}

/// nvcc's options.
pub(super) static NVCC_GROUPS: &[Group] = &[
    group(
        "What is made",
        &[
            says("link", "", "compile and link all inputs (the default)"),
            says("compile", "", "an object of each input"),
            says("device-c", "", "as -rdc=true -c"),
            says("device-w", "", "as -rdc=false -c"),
            says(
                "device-link",
                "",
                "one object with the linked device code of all inputs",
            ),
            says("lib", "", "an archive of the objects of all inputs"),
            says("shared", "", "a shared library"),
            says("ptx", "", "PTX of each input"),
            says("cubin", "", "machine code of a GPU, of each input"),
            says("fatbin", "", "a fat binary of each input"),
            says("cuda", "", "a C++ file of each input, x.cu.cpp.ii"),
            says("preprocess", "", "preprocessed text"),
            says("run", "", "run what was linked"),
            says(
                "run-args",
                "ARGUMENT,...",
                "arguments for -run, and for programs that are measured",
            ),
            says(
                "clean-targets",
                "",
                "remove what the same command would make",
            ),
            says("optix-ir", "", "OptiX IR"),
            says("ltoir", "", "NVIDIA's LTO IR"),
            says("enable-tile", "", "CUDA Tile"),
            says("tile-preview", "MODE", "CUDA Tile"),
            says("tile-only", "", "CUDA Tile"),
            says("tilebc", "", "CUDA Tile"),
            says("tilecubin", "", "CUDA Tile"),
            says("tilefatbin", "", "CUDA Tile"),
            says("tileiras-options", "OPTION,...", "CUDA Tile"),
            says("simt-only", "", "no CUDA Tile"),
            says("relocatable-link", "", "an object of objects"),
        ],
    ),
    group(
        "Files and folders",
        &[
            says("output-file", "FILE", "the output"),
            says("output-directory", "DIR", "the folder of the outputs"),
            says("keep", "", "keep intermediate files"),
            says("save-temps", "", "as -keep"),
            says("keep-dir", "DIR", "the folder for those"),
            says("pre-include", "FILE,...", "include these headers first"),
            says("define-macro", "NAME[=VALUE],...", "define macros"),
            says("undefine-macro", "NAME,...", "undefine macros"),
            says("include-path", "DIR,...", "search headers there"),
            says(
                "system-include",
                "DIR,...",
                "search headers there, as those of the system",
            ),
            says("library", "NAME,...", "link these libraries"),
            says("library-path", "DIR,...", "search libraries there"),
            says("compiler-bindir", "PATH", "the host compiler"),
            says(
                "cudart",
                "static|shared|none",
                "which CUDA runtime is linked (default: static)",
            ),
            says("cudadevrt", "none|static", "the device's runtime"),
            says("libdevice-directory", "DIR", "the folder of libdevice"),
            says(
                "target-directory",
                "NAME",
                "the toolkit's folder of a target",
            ),
            says("objdir-as-tempdir", "", "intermediate files beside objects"),
            says("archiver-binary", "PATH", "the program that makes archives"),
        ],
    ),
    group(
        "Dependency files",
        &[
            says(
                "generate-dependencies",
                "",
                "write a rule for make, and nothing else",
            ),
            says(
                "generate-nonsystem-dependencies",
                "",
                "as -M, without headers of the system",
            ),
            says(
                "generate-dependencies-with-compile",
                "",
                "write a rule for make beside the output",
            ),
            says(
                "generate-nonsystem-dependencies-with-compile",
                "",
                "as -MD, without headers of the system",
            ),
            says("dependency-output", "FILE", "the file for the rule"),
            says("dependency-target-name", "NAME", "the target of the rule"),
            says(
                "generate-dependency-targets",
                "",
                "a rule without commands for each header",
            ),
        ],
    ),
    group(
        "Debugging and optimisation",
        &[
            says("optimize", "0|1|2|3|s|g|fast", "optimisation of host code"),
            says("debug", "", "debug information of host code"),
            says(
                "device-debug",
                "",
                "debug information of device code; nothing is fused or optimised",
            ),
            says("generate-line-info", "", "source lines of device code"),
            says("profile", "", "instrument host code for gprof"),
            says(
                "Ofast-compile",
                "LEVEL",
                "with max, nothing is fused or optimised; else no different",
            ),
            says("dopt", "KIND", "optimise device code with -G"),
            says("optimization-info", "KIND,...", "tell what is optimised"),
            says("dlink-time-opt", "", "optimise device code at the link"),
            says("lto", "", "as -dlto"),
            says("gen-opt-lto", "", "optimise before LTO IR is written"),
            says(
                "extra-device-vectorization",
                "",
                "vectorise device code more",
            ),
            says("restrict", "", "pointers of kernels are restrict"),
            says(
                "jump-table-density",
                "PERCENT",
                "when a switch becomes a table",
            ),
            says(
                "device-stack-protector",
                "true|false",
                "guard device stacks",
            ),
        ],
    ),
    group(
        "Language",
        &[
            says("x", "cu|c++|c", "the language of all inputs"),
            says(
                "std",
                "c++03|...|c++26",
                "the C++ standard; gnu++NN as well",
            ),
            says("stdlib", "NAME", "the C++ library"),
            says("ftemplate-depth", "N", "how deep templates may nest"),
            says(
                "ftemplate-backtrace-limit",
                "N",
                "how many instantiations a message lists",
            ),
            says("fmax-errors", "N", "end after so many errors"),
            says("no-exceptions", "", "host code without exceptions"),
            says(
                "expt-relaxed-constexpr",
                "",
                "constexpr functions are for both sides (always so, sets the macro)",
            ),
            says(
                "extended-lambda",
                "",
                "__device__ lambdas (always there, sets the macro)",
            ),
            says("expt-extended-lambda", "", "as --extended-lambda"),
            says(
                "no-host-device-initializer-list",
                "",
                "std::initializer_list for the host only",
            ),
            says(
                "no-host-device-move-forward",
                "",
                "std::move and std::forward for the host only",
            ),
            says(
                "default-stream",
                "legacy|null|per-thread",
                "the stream of calls that name none (default: legacy)",
            ),
            says("machine", "64", "64-bit programs"),
            says("m64", "", "64-bit programs"),
            says("m32", "", "32-bit programs"),
            says("device-emulation", "", "device code on the host"),
        ],
    ),
    group(
        "Architectures",
        &[
            says(
                "gpu-architecture",
                "sm_NN|compute_NN|native|all|all-major",
                "what device code is compiled for",
            ),
            says("gpu-code", "sm_NN|compute_NN,...", "what is made of it"),
            says(
                "generate-code",
                "arch=compute_NN,code=[sm_NN,...]",
                "both, for one architecture of several",
            ),
            says(
                "relocatable-device-code",
                "true|false",
                "device code of several sources is linked together (default: false)",
            ),
            says("no-device-link", "", "no link of device code"),
            says("entries", "NAME,...", "only these kernels"),
            says("maxrregcount", "N", "at most N registers a thread"),
            says("list-gpu-arch", "", "print the virtual architectures"),
            says("list-gpu-code", "", "print the real architectures"),
            says("prune", "", "leave out device code of other GPUs"),
            says(
                "extensible-whole-program",
                "",
                "device code that can be extended",
            ),
        ],
    ),
    group(
        "Numbers",
        &[
            says(
                "use_fast_math",
                "",
                "as -ftz=true -prec-div=false -prec-sqrt=false -fmad=true, and fast functions",
            ),
            says(
                "ftz",
                "true|false",
                "subnormal floats become zero (default: false)",
            ),
            says("prec-div", "true|false", "exact division (default: true)"),
            says(
                "prec-sqrt",
                "true|false",
                "exact square roots (default: true)",
            ),
            says(
                "fmad",
                "true|false",
                "multiply and add contract (default: true)",
            ),
        ],
    ),
    group(
        "Warnings and messages",
        &[
            says("disable-warnings", "", "no warnings"),
            says(
                "Werror",
                "KIND,...",
                "make warnings errors: all-warnings, reorder, deprecated-declarations, cross-execution-space-call, \
                 default-stream-launch, ext-lambda-captures-this, missing-launch-bounds",
            ),
            says(
                "Wreorder",
                "",
                "warn of members that are initialised in another order",
            ),
            says("Wconversion", "", "warn of conversions that lose values"),
            says(
                "Wno-deprecated-declarations",
                "",
                "no warning of deprecated names",
            ),
            says(
                "Wno-deprecated-gpu-targets",
                "",
                "no warning of deprecated architectures",
            ),
            says(
                "Wdefault-stream-launch",
                "",
                "warn of launches without a stream",
            ),
            says(
                "Wmissing-launch-bounds",
                "",
                "warn of kernels without launch bounds",
            ),
            says(
                "Wext-lambda-captures-this",
                "",
                "warn of lambdas that capture this",
            ),
            says(
                "resource-usage",
                "",
                "print registers and memory of kernels",
            ),
            says("display-error-number", "", "messages have numbers"),
            says("no-display-error-number", "", "messages have no numbers"),
            says("diag-error", "NUMBER,...", "make these messages errors"),
            says("diag-suppress", "NUMBER,...", "leave these messages out"),
            says("diag-warn", "NUMBER,...", "make these messages warnings"),
            says("brief-diagnostics", "true|false", "short messages"),
            says(
                "time",
                "FILE",
                "a table of the time of each phase is added to FILE",
            ),
            says(
                "fdevice-time-trace",
                "FILE",
                "a trace of the compiler's times",
            ),
            says(
                "fdevice-time-trace-granularity",
                "MICROSECONDS",
                "leave shorter times out of it",
            ),
        ],
    ),
    group(
        "Other tools",
        &[
            says("compiler-options", "OPTION,...", "for the host compiler"),
            says("linker-options", "OPTION,...", "for the linker"),
            says("ptxas-options", "OPTION,...", "for ptxas"),
            says("archive-options", "OPTION,...", "for the archiver"),
            says("nvlink-options", "OPTION,...", "for nvlink"),
            says("nvprune-options", "OPTION,...", "for nvprune"),
            says("fatbinary-options", "OPTION,...", "for fatbinary"),
            says("cudafe-options", "OPTION,...", "for nvcc's front end"),
            says(
                "forward-unknown-to-host-compiler",
                "",
                "unknown options are for the host compiler",
            ),
            says(
                "forward-unknown-to-host-linker",
                "",
                "unknown options are for the linker",
            ),
            says("forward-unknown-opts", "", "both"),
            says(
                "threads",
                "N",
                "read N sources of the command at once; 0: as many as there are processors (default: that, but 1 below make -j)",
            ),
            says("split-compile", "N", "optimise in several threads"),
            says("split-compile-extended", "N", "as -split-compile"),
            says("jobserver", "", "take part in make's job server"),
            says("dryrun", "", "show the commands, and run nothing"),
            says("verbose", "", "show the commands"),
            says("verbose2", "", "as -v"),
            says("allow-unsupported-compiler", "", "take any host compiler"),
            says("use-local-env", "", "the environment of cl.exe is set up"),
            says("force-cl-env-setup", "", "set up the environment of cl.exe"),
            says("dont-use-profile", "", "no nvcc.profile"),
            says("qpp-config", "NAME", "configuration of q++"),
            says("input-drive-prefix", "PREFIX", "file names on Windows"),
            says("dependency-drive-prefix", "PREFIX", "file names on Windows"),
            says("drive-prefix", "PREFIX", "file names on Windows"),
            says("utf-8", "", "sources are UTF-8"),
            says("no-align-double", "", "no -malign-double"),
            says("frandom-seed", "WORD", "names of internal symbols"),
            says(
                "static-global-template-stub",
                "true|false",
                "host functions of kernel templates are static",
            ),
            says(
                "device-entity-has-hidden-visibility",
                "true|false",
                "kernels and variables are hidden",
            ),
            says("keep-device-functions", "", "device functions stay in PTX"),
            says("source-in-ptx", "", "source lines in PTX"),
            says("relocatable-ptx", "", "PTX that can be linked"),
            says("skip-ptx-semantics-check", "", "trust PTX"),
            says("no-compress", "", "fat binaries are not compressed"),
            says("compress-mode", "MODE", "how fat binaries are compressed"),
            says("concat", "", "fat binaries behind each other"),
            says(
                "safety-compatibility",
                "",
                "code for safety-critical systems",
            ),
            says("host-linker-script", "use-lcs|gen-lcs", "a linker script"),
            says("augment-host-linker-script", "", "add to a linker script"),
            says("apply-controls", "FILE", "controls of the compiler"),
            says("compile-as-tools-patch", "", "code for NVIDIA's tools"),
            says("fdevice-sanitize", "KIND", "code for compute-sanitizer"),
            says("fdevice-syntax-only", "", "check device code's syntax"),
        ],
    ),
    group(
        "Asking",
        &[
            says("help", "", "this text"),
            says("version", "", "the version"),
        ],
    ),
];

/// Variables of the environment that the compiler reads, and what for.
pub(super) static VARIABLES: &[(&str, &str)] = &[
    (
        "SIRIUS_DEVICE",
        "cuda or cpu, where --sirius-device is not given",
    ),
    ("SIRIUS_FLAGS", "options for every run"),
    (
        "SIRIUS_CACHE",
        "folder of what links and measurements made, or off",
    ),
    (
        "SIRIUS_FRONT_END_CACHE",
        "folder of what clang made of sources",
    ),
    (
        "SIRIUS_PRECOMPILED_HEADERS",
        "folder of precompiled headers, or off",
    ),
    (
        "SIRIUS_REFERENCE",
        "1: the program compares itself with what it is without fusion",
    ),
    (
        "SIRIUS_SAVE_DIR",
        "folder for all that a report of a bug needs",
    ),
    ("SIRIUS_STRICT", "1: a failed check of ours ends the run"),
    ("SIRIUS_CLANG", "another clang 22"),
    ("SIRIUS_RUNTIME", "the CPU device's library"),
    ("CUDA_PATH, CUDA_HOME", "the CUDA toolkit"),
    ("NO_COLOR", "anything: messages are not coloured"),
    (
        "NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS, NVCC_CCBIN",
        "as for nvcc",
    ),
];
