//! Command lines -> what they mean, as lines of text.

use sirius_rs::build::Build;
use sirius_rs::driver::cli::{Invocation, Surroundings, parse_command_line};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

/// What a command line means, one indented line a fact.
pub fn meaning(command: &str) -> String {
    let mut words: Vec<String> = shell_words(command);
    let mut environment = BTreeMap::new();
    while let Some((name, value)) = words.first().and_then(|word| word.split_once('='))
        && name
            .chars()
            .all(|character| character.is_ascii_uppercase() || character == '_')
    {
        environment.insert(name.to_owned(), value.to_owned());
        words.remove(0);
    }
    let (build, mut facts) = match parse(&words, &environment) {
        Err(error) => return format!("  error: {error}\n"),
        Ok((Invocation::Build(build), facts)) => (build, facts),
        Ok((
            Invocation::Analyze {
                build,
                format,
                dependences,
                why,
                statistics,
                output,
            },
            mut facts,
        )) => {
            let with = if dependences {
                ", with dependences"
            } else {
                ""
            };
            facts.push(format!("analyze: {format:?} to {output:?}{with}"));
            facts.extend(why.map(|place| format!("why: {place}")));
            facts.extend(statistics.map(|files| format!("statistics: {files:?}")));
            (build, facts)
        }
        Ok((
            Invocation::Tune {
                build,
                pack,
                output,
            },
            mut facts,
        )) => {
            facts.insert(0, format!("tune, pack: {pack}, to {}", output.display()));
            (build, facts)
        }
        Ok((
            Invocation::Translate {
                build,
                emit,
                tuning,
                output,
            },
            mut facts,
        )) => {
            facts.insert(0, format!("translate to {emit:?}, into {output:?}"));
            if let Some(tuning) = tuning {
                facts.insert(1, format!("{tuning:?}"));
            }
            (build, facts)
        }
        Ok((
            Invocation::Plan {
                problem,
                planning,
                walks,
            },
            _,
        )) => {
            return format!(
                "  plan {}, {walks} walks: {planning:?}\n",
                problem.display()
            );
        }
        Ok((Invocation::Train { arguments }, _)) => {
            return format!("  train: {arguments:?}\n");
        }
        Ok((Invocation::LayOut { folder, device }, _)) => {
            return format!("  toolkit for {device:?}: {}\n", folder.display());
        }
        Ok((
            Invocation::AskHostCompiler {
                compiler,
                arguments,
            },
            _,
        )) => {
            return format!("  ask {compiler:?}: {}\n", arguments.join(" "));
        }
        Ok((Invocation::Print(text), _)) => {
            let lines: Vec<_> = text.lines().take(2).collect();
            return format!("  print: {}\n", lines.join(" | "));
        }
    };
    let (Invocation::Build(plain), _) =
        parse(&["a.cu".to_owned()], &BTreeMap::new()).expect("the plain command line is right")
    else {
        panic!("a file is a build")
    };
    let plain = fields(&plain);
    facts.extend(
        fields(&build)
            .into_iter()
            .filter(|field| !plain.contains(field)),
    );
    facts.iter().map(|fact| format!("  {fact}\n")).collect()
}

/// Parses in surroundings that are the same on every machine; warnings become facts.
pub fn parse(
    words: &[String],
    environment: &BTreeMap<String, String>,
) -> Result<(Invocation, Vec<String>), String> {
    let surroundings = Surroundings {
        environment: &|name| environment.get(name).cloned(),
        toolkit_version: Some((13, 5)),
        installed_gpus: &|| vec![89],
        default_device: sirius_rs::build::Device::Cuda,
        exists: &|path| !path.ends_with("missing.cu"),
    };
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let (invocation, diagnostics) =
        parse_command_line(&words, &surroundings).map_err(|error| error.to_string())?;
    let warnings = diagnostics
        .iter()
        .map(|found| format!("warning: {}", found.message))
        .collect();
    Ok((invocation, warnings))
}

/// The fields of a build, one line each.
fn fields(build: &Build) -> Vec<String> {
    let inputs: Vec<_> = build
        .inputs
        .iter()
        .map(|input| format!("{} ({:?})", input.path.display(), input.language))
        .collect();
    let architectures: Vec<_> = build
        .architectures
        .iter()
        .map(|architecture| {
            let machine_code = if architecture.machine_code { "+sm" } else { "" };
            let ptx = if architecture.ptx { "+ptx" } else { "" };
            format!("{}{machine_code}{ptx}", architecture.target())
        })
        .collect();
    let mut facts = vec![
        format!("phase: {:?}", build.phase),
        format!("inputs: {}", inputs.join(", ")),
        format!("output: {:?}", build.output),
        format!("output folder: {:?}", build.output_directory),
        format!("dependencies: {:?}", build.dependencies),
        format!("device: {:?}", build.device),
        format!("optimisation: {}", build.optimisation),
        format!("host overflow wraps: {}", build.lets_host_overflow_wrap()),
        format!("host debug: {}", build.host_debug),
        format!("device debug: {}", build.device_debug),
        format!("device optimised: {}", build.device_optimised),
        format!("line info: {}", build.line_info),
        format!("shared: {}", build.shared),
        format!("front end: {}", build.front_end_arguments[2..].join(" ")),
        format!("host: {}", build.host_arguments.join(" ")),
        format!("link: {}", build.link_arguments.join(" ")),
        format!("ptxas: {}", build.ptxas_arguments.join(" ")),
        format!("architectures: {}", architectures.join(" ")),
        format!("numerics: {:?}", build.numerics),
        format!("per-thread stream: {}", build.per_thread_default_stream),
        format!("extended lambda: {}", build.extended_lambda),
        format!("relaxed constexpr: {}", build.relaxed_constexpr),
        format!("registers: {:?}", build.maximum_registers),
        format!("shared cudart: {}", build.shared_cudart),
        format!("host compiler: {:?}", build.host_compiler),
        format!("verbose: {}", build.verbose),
        format!("dry run: {}", build.dry_run),
        format!("keep: {:?}", build.keep_directory),
    ];
    let options = format!("{:?}", build.sirius);
    facts.extend(parts(&options).map(|part| format!("sirius {part}")));
    facts
}

/// The fields of a structure as it is shown in one line, a text each.
fn parts(shown: &str) -> impl Iterator<Item = &str> {
    let begin = shown.find('{').map_or(0, |at| at + 1);
    let inside = &shown[begin..shown.rfind('}').unwrap_or(shown.len())];
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let parts = inside.split(move |character: char| {
        match (quoted, character) {
            (true, '"') if !escaped => quoted = false,
            (true, _) => escaped = character == '\\' && !escaped,
            (false, '"') => quoted = true,
            (false, '{' | '[' | '(') => depth += 1,
            (false, '}' | ']' | ')') => depth -= 1,
            (false, ',') => return depth == 0,
            (false, _) => {}
        }
        false
    });
    parts.map(str::trim)
}

/// Words as `sh` makes them, by asking it.
pub fn shell_words(command: &str) -> Vec<String> {
    let script = format!("for word in {command}; do printf '%s\\0' \"$word\"; done");
    let output = Command::new("sh").arg("-fc").arg(script).output().unwrap();
    assert!(output.status.success(), "{command}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}
