//! Templates: their text, what is wrong with some, and random ones.

use super::{MARK, filetests};
use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sirius_rs::tensor::fault::{Fault, Span};
use sirius_rs::tensor::mapping::Mapping;
use sirius_rs::tensor::program::Function;
use sirius_rs::tensor::stitch::parser::parse;
use sirius_rs::tensor::stitch::template::{
    Composition, Item, KernelTemplate, Schedule, Template, ValueTemplate, Word,
};
use sirius_rs::tensor::stitch::{Stitched, chosen};
use sirius_rs::tensor::transform::Reductions;
use sirius_rs::tensor::transform::schedule::schedule_of;
use sirius_rs::tensor::{Options, Translation, check, translate, translate_by};
use std::path::{Path, PathBuf};

/// The mark of lines of templates.
const TEMPLATE: &str = "#!";

/// What becomes of the templates of a case.
///
/// # Errors
/// It is not what the case says.
pub fn case(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case)?;
    let is_source = |line: &&str| !line.starts_with(MARK) && !line.starts_with(TEMPLATE);
    let source: String = text
        .lines()
        .filter(is_source)
        .map(|line| format!("{line}\n"))
        .collect();
    let functions = check(&source).map_err(|_| "it is right")?;
    let lines = text.lines().filter_map(|line| line.strip_prefix(TEMPLATE));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let options = Options {
        reductions: match source.contains("# reductions: ordered") {
            true => Reductions::Ordered,
            false => Reductions::Parallel,
        },
        ..Options::default()
    };
    let mut found = String::new();
    for template in lines.split(|line| line.trim().is_empty()) {
        let template = format!("{}\n", template.join("\n"));
        match schedules(&functions, &template, options) {
            Ok(schedules) => found += &schedules,
            Err(fault) => found += &fault.render("template", &template, false),
        }
    }
    filetests::compare(case, MARK, &found)
}

fn schedules(functions: &[Function], text: &str, options: Options) -> Result<String, Fault> {
    let mut found = String::new();
    for template in parse(text)? {
        let mut functions = functions.iter();
        let function = functions.find(|function| function.name == template.name.text);
        let Some(function) = function else {
            return Err(Fault::new(
                template.name.span,
                "there is no such definition",
            ));
        };
        let stitched = Stitched::new(function, Some(&template), options)?;
        found += &schedule_of(&stitched.function, &stitched.steps()?);
    }
    Ok(found)
}

/// Templates are read as they were written, and make the same.
///
/// # Errors
/// The first one that is not.
pub fn printed(files: &[PathBuf]) -> Result<(), Failed> {
    let options = Options {
        mapping: Mapping::Stitched,
        ..Options::default()
    };
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(file)?;
        let Ok(functions) = check(&text) else {
            continue;
        };
        let templates: Vec<Template> = functions
            .iter()
            .map(|function| chosen(function, options))
            .collect();
        let written: String = templates.iter().map(Template::to_string).collect();
        let read = parse(&written).map_err(|fault| fault.render("template", &written, false))?;
        if read != templates {
            return Err(format!(
                "{}: another template is read than\n{written}",
                file.display()
            )
            .into());
        }
        let again: String = read.iter().map(Template::to_string).collect();
        if again != written {
            return Err(format!("{again} is not\n{written}").into());
        }
        let made = translate_by("f.tc", &text, &mut |_| options, &read)
            .map_err(|wrong| format!("{}: {wrong:?} of\n{written}", file.display()))?;
        if Ok(made) != translate("f.tc", &text, options) {
            return Err(format!("{}: other kernels are made of\n{written}", file.display()).into());
        }
        count += read.len();
    }
    match count > 60 {
        true => Ok(()),
        false => Err(format!("there are only {count} templates").into()),
    }
}

/// What a template makes that is changed at random until it is taken.
pub fn at_random(source: &str, options: Options, seed: u64) -> Option<Translation> {
    let functions = check(source).ok()?;
    let mut random = StdRng::seed_from_u64(seed);
    let mut templates = Vec::new();
    for function in &functions {
        let plain = chosen(function, options);
        let taken = (0..8).find_map(|_| {
            let mut template = plain.clone();
            template.items = changed(template.items, &mut random);
            mended(function, template, options)
        });
        templates.push(taken.unwrap_or(plain));
    }
    translate_by("random.tc", source, &mut |_| options, &templates).ok()
}

/// Other kernels of the same statements.
fn changed(items: Vec<Item>, random: &mut StdRng) -> Vec<Item> {
    let mut made: Vec<Item> = Vec::new();
    for item in items {
        let kernels = match item {
            Item::Kernel(kernel) => vec![kernel],
            Item::Packing(kernels) => kernels,
            Item::Loop(index, body) => {
                made.push(Item::Loop(index, changed(body, random)));
                continue;
            }
        };
        for mut value in kernels.into_iter().flat_map(|kernel| kernel.values) {
            let all = Composition::ALL.map(|(_, composition)| composition);
            value.composition = match random.random_range(0..4) {
                0 => all[random.random_range(0..all.len())],
                1 => Composition::Block,
                _ => Composition::Thread,
            };
            match made.last_mut() {
                Some(Item::Kernel(last)) if random.random_bool(0.7) => last.values.push(value),
                _ => made.push(Item::Kernel(KernelTemplate {
                    span: Span::default(),
                    schedule: schedule(random),
                    inputs: inputs(random),
                    values: vec![value],
                })),
            }
        }
    }
    // Some neighbours are packed.
    let mut packed: Vec<Item> = Vec::new();
    for item in made {
        match (packed.last_mut(), item) {
            (Some(Item::Kernel(last)), Item::Kernel(kernel)) if random.random_bool(0.3) => {
                let both = vec![last.clone(), kernel];
                packed.pop();
                packed.push(Item::Packing(both));
            }
            (_, item) => packed.push(item),
        }
    }
    packed
}

fn schedule(random: &mut StdRng) -> Schedule {
    let dimensions = random.random_range(0..3);
    let lanes = [
        None,
        Some((32, 8)),
        Some((16, 16)),
        Some((4, 8)),
        Some((2, 16)),
    ];
    match random.random_range(0..6) {
        0 => Schedule::Elements,
        1 => Schedule::Tiles,
        2 => Schedule::Column {
            dimensions: dimensions.max(1),
            threads: [1, 3, 8, 16][random.random_range(0..4)],
        },
        _ => Schedule::Row {
            dimensions,
            lanes: lanes[random.random_range(0..lanes.len())],
        },
    }
}

/// Inputs as the generator names them; what is none is taken out again.
fn inputs(random: &mut StdRng) -> Vec<ValueTemplate> {
    let names = ["A", "B", "C", "I", "X", "Y"].into_iter();
    let names = names.filter(|_| random.random_bool(0.5)).map(str::to_owned);
    let names: Vec<String> = names.collect();
    let each = names.into_iter().map(|name| ValueTemplate {
        tensor: Word::new(name),
        number: 1,
        composition: match random.random_bool(0.5) {
            true => Composition::Block,
            false => Composition::Thread,
        },
    });
    each.collect()
}

/// The template, changed where it is refused, as the refusals say; `None` if that leads nowhere.
fn mended(function: &Function, template: Template, options: Options) -> Option<Template> {
    let mut template = template;
    for _ in 0..60 {
        let text = template.to_string();
        // So that names have places.
        let read = parse(&text).ok()?;
        template = read.into_iter().next()?;
        let fault = match Stitched::new(function, Some(&template), options) {
            Ok(stitched) => match stitched.steps() {
                Ok(_) => return Some(template),
                Err(fault) => fault,
            },
            Err(fault) => fault,
        };
        template.items = mend(template.items, &fault);
    }
    None
}

/// Items without what a fault is about.
fn mend(items: Vec<Item>, fault: &Fault) -> Vec<Item> {
    let mut made = Vec::new();
    for item in items {
        match item {
            Item::Kernel(kernel) => made.extend(mend_kernel(kernel, fault).map(Item::Kernel)),
            Item::Packing(kernels) => {
                let is_it = |kernel: &KernelTemplate| kernel.span == fault.span;
                match kernels.iter().any(is_it) {
                    true => made.extend(kernels.into_iter().map(Item::Kernel)),
                    false => {
                        let each = kernels
                            .into_iter()
                            .flat_map(|kernel| mend_kernel(kernel, fault));
                        made.push(Item::Packing(each.collect()));
                    }
                }
            }
            Item::Loop(index, body) => made.push(Item::Loop(index, mend(body, fault))),
        }
    }
    made
}

fn mend_kernel(mut kernel: KernelTemplate, fault: &Fault) -> impl Iterator<Item = KernelTemplate> {
    let mut behind = None;
    kernel
        .inputs
        .retain(|input| input.tensor.span != fault.span);
    for value in &mut kernel.values {
        if value.tensor.span == fault.span {
            let said = Composition::ALL
                .into_iter()
                .find(|(name, _)| fault.message.ends_with(&format!("write '{name}'")));
            value.composition = match said {
                Some((_, composition)) => composition,
                None if fault.message.contains("shared memory for") => Composition::Memory,
                None if fault.message.contains("cannot stay") => Composition::Block,
                None => Composition::Thread,
            };
        }
    }
    if kernel.span == fault.span {
        match kernel.values.len() {
            1 => {
                kernel.schedule = Schedule::Elements;
                kernel.values[0].composition = Composition::Thread;
                kernel.inputs.clear();
            }
            _ => {
                behind = kernel.values.pop().map(|value| KernelTemplate {
                    values: vec![value],
                    ..kernel.clone()
                });
            }
        }
    }
    std::iter::once(kernel).chain(behind)
}
