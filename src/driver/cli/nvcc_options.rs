//! The table of nvcc's options, in the order of nvcc's own help.

use super::draft::{Draft, Information};
use super::host_compiler::host_compiler;
use super::options::{
    Arity, OptionRow, boolean, hidden_device_entities, honour, ignore, inform, integer, joined,
    reject, sources_at_once, static_template_stubs,
};
use super::parse::UsageError;
use super::spelling::split_words;
use super::values::{one_of, undefined};
use crate::build::Times;
use crate::build::{Language, Phase};
use std::path::Path;

/// nvcc's options.
pub(super) static NVCC_OPTIONS: &[OptionRow] = &[
    // Phases.
    honour("cuda", &["cuda"], Arity::Flag, |draft, _| {
        draft.build.cxx_form = true;
        phase(draft, Phase::Compile, "-cuda")
    }),
    honour("cubin", &["cubin"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Cubin, "-cubin")
    }),
    honour("fatbin", &["fatbin"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Fatbin, "-fatbin")
    }),
    honour("ptx", &["ptx"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Ptx, "-ptx")
    }),
    reject(
        "optix-ir",
        &["optix-ir"],
        Arity::Flag,
        "OptiX IR is not supported",
    ),
    reject(
        "ltoir",
        &["ltoir"],
        Arity::Flag,
        "NVIDIA's LTO IR is not supported, sirius-rs optimises at link time from LLVM IR",
    ),
    reject("enable-tile", &["enable-tile"], Arity::Flag, TILE),
    reject("tile-preview", &["tile-preview"], Arity::Scalar, TILE),
    reject("tile-only", &["tile-only"], Arity::Flag, TILE),
    reject("tilebc", &["tilebc"], Arity::Flag, TILE),
    reject("tilecubin", &["tilecubin"], Arity::Flag, TILE),
    reject("tilefatbin", &["tilefatbin"], Arity::Flag, TILE),
    reject("tileiras-options", &["Xtileiras"], Arity::List, TILE),
    ignore("simt-only", &["simt-only"], Arity::Flag),
    honour("preprocess", &["E"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Preprocess, "-E")
    }),
    honour("compile", &["c"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Compile, "-c")
    }),
    honour("link", &["link"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Link, "-link")
    }),
    honour("device-c", &["dc"], Arity::Flag, |draft, _| {
        draft.build.relocatable = true;
        phase(draft, Phase::Compile, "-dc")
    }),
    honour("device-w", &["dw"], Arity::Flag, |draft, _| {
        draft.build.relocatable = false;
        phase(draft, Phase::Compile, "-dw")
    }),
    honour("device-link", &["dlink"], Arity::Flag, |draft, _| {
        phase(draft, Phase::DeviceLink, "-dlink")
    }),
    honour("lib", &["lib"], Arity::Flag, |draft, _| {
        phase(draft, Phase::Library, "-lib")
    }),
    honour("run", &["run"], Arity::Flag, |draft, _| {
        draft.build.run.get_or_insert_default();
        phase(draft, Phase::Link, "-run")
    }),
    honour("run-args", &["run-args"], Arity::List, |draft, value| {
        draft.run_arguments.push(value.to_owned());
        Ok(())
    }),
    honour("clean-targets", &["clean"], Arity::Flag, |draft, _| {
        draft.build.clean = true;
        Ok(())
    }),
    // Dependency files.
    honour("generate-dependencies", &["M"], Arity::Flag, |draft, _| {
        draft.dependencies.only = Some("-M");
        Ok(())
    }),
    honour(
        "generate-nonsystem-dependencies",
        &["MM"],
        Arity::Flag,
        |draft, _| {
            draft.dependencies.only = Some("-MM");
            Ok(())
        },
    ),
    honour(
        "generate-dependencies-with-compile",
        &["MD"],
        Arity::Flag,
        |draft, _| {
            draft.dependencies.beside = Some("-MD");
            Ok(())
        },
    ),
    honour(
        "generate-nonsystem-dependencies-with-compile",
        &["MMD"],
        Arity::Flag,
        |draft, _| {
            draft.dependencies.beside = Some("-MMD");
            Ok(())
        },
    ),
    honour(
        "dependency-output",
        &["MF"],
        Arity::Scalar,
        |draft, value| {
            draft.dependencies.file = Some(value.to_owned());
            Ok(())
        },
    ),
    honour(
        "dependency-target-name",
        &["MT"],
        Arity::Scalar,
        |draft, value| {
            draft.dependencies.target = Some(value.to_owned());
            Ok(())
        },
    ),
    honour(
        "generate-dependency-targets",
        &["MP"],
        Arity::Flag,
        |draft, _| {
            draft.dependencies.phony = true;
            Ok(())
        },
    ),
    // Files and folders.
    honour("output-file", &["o"], Arity::Scalar, |draft, value| {
        draft.build.output = Some(value.into());
        Ok(())
    }),
    honour(
        "output-directory",
        &["odir"],
        Arity::Scalar,
        |draft, value| {
            draft.output_directory = Some(value.into());
            Ok(())
        },
    ),
    honour("pre-include", &["include"], Arity::List, |draft, value| {
        front_end(draft, &["-include", value])
    }),
    joined(honour("library", &["l"], Arity::List, |draft, value| {
        link(draft, &format!("-l{value}"))
    })),
    joined(honour(
        "define-macro",
        &["D"],
        Arity::List,
        |draft, value| front_end(draft, &[&format!("-D{value}")]),
    )),
    joined(honour(
        "undefine-macro",
        &["U"],
        Arity::List,
        |draft, value| front_end(draft, &[&format!("-U{value}")]),
    )),
    joined(honour(
        "include-path",
        &["I"],
        Arity::List,
        |draft, value| front_end(draft, &[&format!("-I{value}")]),
    )),
    joined(honour(
        "system-include",
        &["isystem"],
        Arity::List,
        |draft, value| front_end(draft, &["-isystem", value]),
    )),
    joined(honour(
        "library-path",
        &["L"],
        Arity::List,
        |draft, value| link(draft, &format!("-L{value}")),
    )),
    honour(
        "compiler-bindir",
        &["ccbin"],
        Arity::Scalar,
        |draft, value| {
            draft.build.host_compiler = Some(host_compiler(Path::new(value)));
            Ok(())
        },
    ),
    honour("cudart", &["cudart"], Arity::Scalar, |draft, value| {
        draft.asks_for_static_cudart = value == "static";
        draft.build.shared_cudart = match value {
            "static" => false,
            "shared" => true,
            "none" => {
                return Err(UsageError::Refused(
                    "A link without the CUDA runtime (-cudart none) is not available in this \
                     version"
                        .to_owned(),
                ));
            }
            _ => return Err(undefined("cudart", value, ["static", "shared", "none"])),
        };
        Ok(())
    }),
    ignore("cudadevrt", &["cudadevrt"], Arity::Scalar),
    ignore("libdevice-directory", &["ldir"], Arity::Scalar),
    ignore("target-directory", &["target-dir"], Arity::Scalar),
    ignore("objdir-as-tempdir", &["objtemp"], Arity::Flag),
    ignore(
        "allow-unsupported-compiler",
        &["allow-unsupported-compiler"],
        Arity::Flag,
    ),
    ignore("archiver-binary", &["arbin"], Arity::Scalar),
    ignore("use-local-env", &["use-local-env"], Arity::Flag),
    ignore("dont-use-profile", &["noprof"], Arity::Flag),
    ignore("qpp-config", &["qpp-config"], Arity::Scalar),
    honour("keep", &["keep"], Arity::Flag, |draft, _| {
        draft.keep = true;
        Ok(())
    }),
    honour("save-temps", &["save-temps"], Arity::Flag, |draft, _| {
        draft.keep = true;
        Ok(())
    }),
    honour("keep-dir", &["keep-dir"], Arity::Scalar, |draft, value| {
        draft.keep_directory = Some(value.into());
        Ok(())
    }),
    // Debugging and optimisation.
    honour("profile", &["pg"], Arity::Flag, |draft, _| {
        draft.host_argument("-pg");
        Ok(())
    }),
    honour("debug", &["g"], Arity::Flag, |draft, _| {
        draft.build.host_debug = true;
        Ok(())
    }),
    honour("device-debug", &["G"], Arity::Flag, |draft, _| {
        draft.build.device_debug = true;
        draft.build.device_optimised = false;
        Ok(())
    }),
    honour(
        "generate-line-info",
        &["lineinfo"],
        Arity::Flag,
        |draft, _| {
            draft.build.line_info = true;
            Ok(())
        },
    ),
    joined(honour("optimize", &["O"], Arity::Scalar, |draft, value| {
        draft.build.optimisation = match value {
            "fast" => 3,
            "s" | "g" => 2,
            _ => u8::try_from(integer("optimize", value)?.min(3)).unwrap_or(3),
        };
        draft.build.host_overflow_wraps = draft.build.optimisation == 0;
        Ok(())
    })),
    honour("Ofast-compile", &["Ofc"], Arity::Scalar, |draft, value| {
        let levels = [("0", true), ("min", true), ("mid", true), ("max", false)];
        draft.build.device_optimised &= one_of("Ofast-compile", value, &levels)?;
        Ok(())
    }),
    ignore("dopt", &["dopt"], Arity::Scalar),
    ignore("optimization-info", &["opt-info"], Arity::List),
    // What is linked is LLVM IR, which is always optimised afterwards.
    ignore("dlink-time-opt", &["dlto"], Arity::Flag),
    ignore("lto", &["lto"], Arity::Flag),
    ignore(
        "extra-device-vectorization",
        &["extra-device-vectorization"],
        Arity::Flag,
    ),
    ignore("restrict", &["restrict"], Arity::Flag),
    ignore("jump-table-density", &["jtd"], Arity::Scalar),
    // Language.
    joined(honour("x", &["x"], Arity::Scalar, |draft, value| {
        let languages = [
            ("cu", Language::Cuda),
            ("c++", Language::Cxx),
            ("c", Language::C),
        ];
        draft.language = Some(one_of("x", value, &languages)?);
        Ok(())
    })),
    honour("std", &["std"], Arity::Scalar, |draft, value| {
        const STANDARDS: [&str; 7] = [
            "c++03", "c++11", "c++14", "c++17", "c++20", "c++23", "c++26",
        ];
        if !STANDARDS.contains(&value.replacen("gnu++", "c++", 1).as_str()) {
            return Err(undefined("std", value, STANDARDS));
        }
        draft
            .build
            .front_end_arguments
            .retain(|argument| !argument.starts_with("-std="));
        front_end(draft, &[&format!("-std={value}")])
    }),
    honour("stdlib", &["stdlib"], Arity::Scalar, |draft, value| {
        link(draft, &format!("-stdlib={value}"))?;
        front_end(draft, &[&format!("-stdlib={value}")])
    }),
    honour(
        "ftemplate-depth",
        &["ftemplate-depth"],
        Arity::Scalar,
        |draft, value| front_end(draft, &[&format!("-ftemplate-depth={value}")]),
    ),
    honour(
        "ftemplate-backtrace-limit",
        &["ftemplate-backtrace-limit"],
        Arity::Scalar,
        |draft, value| front_end(draft, &[&format!("-ftemplate-backtrace-limit={value}")]),
    ),
    honour(
        "fmax-errors",
        &["fmax-errors"],
        Arity::Scalar,
        |draft, value| front_end(draft, &[&format!("-ferror-limit={value}")]),
    ),
    honour("no-exceptions", &["noeh"], Arity::Flag, |draft, _| {
        draft.host_argument("-fno-exceptions");
        Ok(())
    }),
    ignore(
        "no-host-device-initializer-list",
        &["nohdinitlist"],
        Arity::Flag,
    ),
    ignore(
        "no-host-device-move-forward",
        &["nohdmoveforward"],
        Arity::Flag,
    ),
    // clang allows both always; programs ask whether they were given.
    honour(
        "expt-relaxed-constexpr",
        &["expt-relaxed-constexpr"],
        Arity::Flag,
        |draft, _| {
            draft.build.relaxed_constexpr = true;
            Ok(())
        },
    ),
    honour(
        "extended-lambda",
        &["extended-lambda"],
        Arity::Flag,
        extended_lambda,
    ),
    honour(
        "expt-extended-lambda",
        &["expt-extended-lambda"],
        Arity::Flag,
        extended_lambda,
    ),
    honour("machine", &["m"], Arity::Scalar, |_, value| {
        one_of("machine", value, &[("64", ())])
    }),
    ignore("m64", &["m64"], Arity::Flag),
    reject(
        "m32",
        &["m32"],
        Arity::Flag,
        "32-bit programs are not supported by CUDA any more",
    ),
    reject(
        "device-emulation",
        &["deviceemu"],
        Arity::Flag,
        "Device emulation is gone from CUDA, use --sirius-device=cpu",
    ),
    honour("shared", &["shared"], Arity::Flag, |draft, _| {
        draft.build.shared = true;
        Ok(())
    }),
    // For other tools.
    honour(
        "compiler-options",
        &["Xcompiler"],
        Arity::List,
        |draft, value| {
            for word in split_words(value) {
                draft.host_argument(&word);
            }
            Ok(())
        },
    ),
    honour(
        "linker-options",
        &["Xlinker"],
        Arity::List,
        |draft, value| {
            for word in split_words(value) {
                link(draft, "-Xlinker")?;
                link(draft, &word)?;
            }
            Ok(())
        },
    ),
    honour("ptxas-options", &["Xptxas"], Arity::List, |draft, value| {
        draft.build.ptxas_arguments.extend(split_words(value));
        Ok(())
    }),
    ignore("archive-options", &["Xarchive"], Arity::List),
    ignore("nvlink-options", &["Xnvlink"], Arity::List),
    ignore("nvprune-options", &["Xnvprune"], Arity::List),
    ignore("fatbinary-options", &["Xfatbin"], Arity::List),
    ignore("cudafe-options", &["Xcudafe"], Arity::List),
    honour(
        "forward-unknown-to-host-compiler",
        &["forward-unknown-to-host-compiler"],
        Arity::Flag,
        |draft, _| {
            draft.forward_to_compiler = true;
            Ok(())
        },
    ),
    honour(
        "forward-unknown-to-host-linker",
        &["forward-unknown-to-host-linker"],
        Arity::Flag,
        |draft, _| {
            draft.forward_to_linker = true;
            Ok(())
        },
    ),
    honour(
        "forward-unknown-opts",
        &["forward-unknown-opts"],
        Arity::Flag,
        |draft, _| {
            draft.forward_to_compiler = true;
            draft.forward_to_linker = true;
            Ok(())
        },
    ),
    // Running the tools.
    honour("dryrun", &["dryrun"], Arity::Flag, |draft, _| {
        draft.build.dry_run = true;
        Ok(())
    }),
    honour("verbose", &["v"], Arity::Flag, |draft, _| {
        draft.build.verbose = true;
        Ok(())
    }),
    honour("verbose2", &["v2"], Arity::Flag, |draft, _| {
        draft.build.verbose = true;
        Ok(())
    }),
    joined(honour("threads", &["t"], Arity::Scalar, sources_at_once)),
    ignore("split-compile", &["split-compile"], Arity::Scalar),
    ignore(
        "split-compile-extended",
        &["split-compile-extended"],
        Arity::Scalar,
    ),
    ignore("jobserver", &["jobserver"], Arity::Flag),
    // Architectures.
    honour(
        "gpu-architecture",
        &["arch"],
        Arity::Scalar,
        |draft, value| {
            draft.architecture.architecture = Some(value.to_owned());
            Ok(())
        },
    ),
    honour("gpu-code", &["code"], Arity::List, |draft, value| {
        let name = value.trim_matches(['[', ']', '"']);
        draft.architecture.code.push(name.to_owned());
        Ok(())
    }),
    honour(
        "generate-code",
        &["gencode"],
        Arity::Repeated,
        |draft, value| {
            draft.architecture.generate_code.push(value.to_owned());
            Ok(())
        },
    ),
    honour(
        "relocatable-device-code",
        &["rdc"],
        Arity::Scalar,
        |draft, value| {
            draft.build.relocatable = boolean(value)?;
            Ok(())
        },
    ),
    ignore("no-device-link", &["nodlink"], Arity::Flag),
    ignore("entries", &["e"], Arity::List),
    honour(
        "maxrregcount",
        &["maxrregcount"],
        Arity::Scalar,
        |draft, value| {
            // 0 stands for no limit.
            let limit = integer("maxrregcount", value)?;
            draft.build.maximum_registers = Some(limit).filter(|limit| *limit > 0);
            Ok(())
        },
    ),
    // Numbers.
    honour(
        "use_fast_math",
        &["use_fast_math"],
        Arity::Flag,
        |draft, _| {
            let numerics = &mut draft.build.numerics;
            numerics.fast_math = true;
            numerics.flush_to_zero = true;
            numerics.precise_division = false;
            numerics.precise_square_root = false;
            numerics.contract = true;
            Ok(())
        },
    ),
    honour("ftz", &["ftz"], Arity::Scalar, |draft, value| {
        draft.build.numerics.flush_to_zero = boolean(value)?;
        Ok(())
    }),
    honour("prec-div", &["prec-div"], Arity::Scalar, |draft, value| {
        draft.build.numerics.precise_division = boolean(value)?;
        Ok(())
    }),
    honour(
        "prec-sqrt",
        &["prec-sqrt"],
        Arity::Scalar,
        |draft, value| {
            draft.build.numerics.precise_square_root = boolean(value)?;
            Ok(())
        },
    ),
    honour("fmad", &["fmad"], Arity::Scalar, |draft, value| {
        draft.build.numerics.contract = boolean(value)?;
        Ok(())
    }),
    honour(
        "default-stream",
        &["default-stream"],
        Arity::Scalar,
        |draft, value| {
            if value == "null" {
                draft.warnings.push(
                    "'null' is a deprecated value for option '--default-stream (-default-stream)'. Use 'legacy' \
                     instead."
                        .to_owned(),
                );
            }
            let streams = [("legacy", false), ("null", false), ("per-thread", true)];
            draft.build.per_thread_default_stream = one_of("default-stream", value, &streams)?;
            Ok(())
        },
    ),
    // Warnings.
    honour("disable-warnings", &["w"], Arity::Flag, |draft, _| {
        front_end(draft, &["-w"])
    }),
    // Most warnings that these make errors, or number, are those of nvcc's front end, not clang's.
    honour(
        "Werror",
        &["Werror"],
        Arity::List,
        |draft, value| match value {
            "deprecated-declarations" => front_end(draft, &["-Werror=deprecated-declarations"]),
            "reorder" => front_end(draft, &["-Werror=reorder"]),
            // Those of both compilers, which clang would make more of than g++ does.
            "all-warnings" => front_end(
                draft,
                &["-Werror=#warnings", "-Werror=deprecated-declarations"],
            ),
            _ => one_of(
                "Werror",
                value,
                &[
                    "all-warnings",
                    "cross-execution-space-call",
                    "default-stream-launch",
                    "deprecated-declarations",
                    "ext-lambda-captures-this",
                    "missing-launch-bounds",
                    "reorder",
                ]
                .map(|kind| (kind, ())),
            ),
        },
    ),
    ignore("display-error-number", &["err-no"], Arity::Flag),
    ignore("no-display-error-number", &["no-err-no"], Arity::Flag),
    ignore("diag-error", &["diag-error"], Arity::List),
    ignore("diag-suppress", &["diag-suppress"], Arity::List),
    ignore("diag-warn", &["diag-warn"], Arity::List),
    ignore(
        "Wno-deprecated-gpu-targets",
        &["Wno-deprecated-gpu-targets"],
        Arity::Flag,
    ),
    honour(
        "Wno-deprecated-declarations",
        &["Wno-deprecated-declarations"],
        Arity::Flag,
        |draft, _| front_end(draft, &["-Wno-deprecated-declarations"]),
    ),
    honour("Wreorder", &["Wreorder"], Arity::Flag, |draft, _| {
        draft.host_argument("-Wreorder");
        Ok(())
    }),
    honour("Wconversion", &["Wconversion"], Arity::Flag, |draft, _| {
        draft.host_argument("-Wconversion");
        Ok(())
    }),
    ignore(
        "Wdefault-stream-launch",
        &["Wdefault-stream-launch"],
        Arity::Flag,
    ),
    ignore(
        "Wmissing-launch-bounds",
        &["Wmissing-launch-bounds"],
        Arity::Flag,
    ),
    ignore(
        "Wext-lambda-captures-this",
        &["Wext-lambda-captures-this"],
        Arity::Flag,
    ),
    honour("resource-usage", &["res-usage"], Arity::Flag, |draft, _| {
        draft.build.ptxas_arguments.push("-v".to_owned());
        Ok(())
    }),
    ignore("source-in-ptx", &["src-in-ptx"], Arity::Flag),
    honour(
        "keep-device-functions",
        &["keep-device-functions"],
        Arity::Flag,
        |draft, _| {
            draft.build.keep_device_functions = true;
            Ok(())
        },
    ),
    ignore("brief-diagnostics", &["brief-diag"], Arity::Scalar),
    ignore("no-compress", &["no-compress"], Arity::Flag),
    ignore("compress-mode", &["compress-mode"], Arity::Scalar),
    ignore("frandom-seed", &["frandom-seed"], Arity::Scalar),
    honour(
        "static-global-template-stub",
        &["static-global-template-stub"],
        Arity::Scalar,
        static_template_stubs,
    ),
    honour(
        "device-entity-has-hidden-visibility",
        &["device-entity-has-hidden-visibility"],
        Arity::Scalar,
        hidden_device_entities,
    ),
    reject(
        "host-linker-script",
        &["hls"],
        Arity::Scalar,
        "Linker scripts for device code are not available in this version",
    ),
    reject(
        "augment-host-linker-script",
        &["aug-hls"],
        Arity::Flag,
        "Linker scripts for device code are not available in this version",
    ),
    reject(
        "relocatable-link",
        &["r"],
        Arity::Flag,
        "A relocatable link is not available in this version, use ld -r on the objects",
    ),
    ignore("extensible-whole-program", &["ewp"], Arity::Flag),
    reject(
        "apply-controls",
        &["apply-controls"],
        Arity::Scalar,
        "Controls for NVIDIA's compilers are not those of LLVM",
    ),
    reject(
        "compile-as-tools-patch",
        &["astoolspatch"],
        Arity::Flag,
        "Code for NVIDIA's patching tools is not available in this version",
    ),
    reject(
        "fdevice-sanitize",
        &["fdevice-sanitize"],
        Arity::Scalar,
        "Code for NVIDIA's compute-sanitizer is not available in this version, SIRIUS_CHECK=memory looks at each access",
    ),
    reject(
        "fdevice-syntax-only",
        &["fdevice-syntax-only"],
        Arity::Flag,
        "A check of the syntax alone is not available in this version, use -ptx -o /dev/null",
    ),
    ignore("fdevice-time-trace", &["fdevice-time-trace"], Arity::Scalar),
    ignore(
        "fdevice-time-trace-granularity",
        &["fdevice-time-trace-granularity"],
        Arity::Scalar,
    ),
    ignore("gen-opt-lto", &["gen-opt-lto"], Arity::Flag),
    ignore("prune", &["prune"], Arity::Flag),
    ignore("concat", &["concat"], Arity::Flag),
    ignore("relocatable-ptx", &["reloc-ptx"], Arity::Flag),
    ignore(
        "device-stack-protector",
        &["device-stack-protector"],
        Arity::Scalar,
    ),
    ignore(
        "skip-ptx-semantics-check",
        &["skip-ptx-semantics-check"],
        Arity::Flag,
    ),
    ignore("safety-compatibility", &["safety-compat"], Arity::Flag),
    // For other systems, or what is so here in any case.
    ignore("utf-8", &["utf-8"], Arity::Flag),
    ignore("force-cl-env-setup", &["force-cl-env-setup"], Arity::Flag),
    ignore("input-drive-prefix", &["idp"], Arity::Scalar),
    ignore("dependency-drive-prefix", &["ddp"], Arity::Scalar),
    ignore("drive-prefix", &["dp"], Arity::Scalar),
    ignore("no-align-double", &[], Arity::Flag),
    honour("time", &["time"], Arity::Scalar, |draft, value| {
        draft.build.times = Some(Times::new(Path::new(value)));
        Ok(())
    }),
    // Asking.
    honour("help", &["h"], Arity::Flag, |draft, _| {
        inform(draft, Information::Help)
    }),
    honour("version", &["V"], Arity::Flag, |draft, _| {
        inform(draft, Information::Version)
    }),
    honour("list-gpu-arch", &["arch-ls"], Arity::Flag, |draft, _| {
        inform(draft, Information::VirtualArchitectures)
    }),
    honour("list-gpu-code", &["code-ls"], Arity::Flag, |draft, _| {
        inform(draft, Information::RealArchitectures)
    }),
];

/// Why tile options are refused.
const TILE: &str = "CUDA Tile is not supported";

fn phase(draft: &mut Draft, phase: Phase, spelled: &'static str) -> Result<(), UsageError> {
    draft.phases.push((phase, spelled));
    Ok(())
}

fn front_end(draft: &mut Draft, arguments: &[&str]) -> Result<(), UsageError> {
    draft
        .build
        .front_end_arguments
        .extend(arguments.iter().map(|text| (*text).to_owned()));
    Ok(())
}

fn extended_lambda(draft: &mut Draft, _: &str) -> Result<(), UsageError> {
    draft.build.extended_lambda = true;
    Ok(())
}

fn link(draft: &mut Draft, argument: &str) -> Result<(), UsageError> {
    draft.build.link_arguments.push(argument.to_owned());
    Ok(())
}
