//! The template that the model finds best.
//!
//! Statements keep their order. Those that go on in each other's threads are one unit; a kernel has some units that follow
//! each other, under one of the schedules that keep all dependences in a row, and the kernels that cost least together are
//! taken. Then kernels that follow each other and need nothing of each other are packed.

use super::again::{can_be, without};
use super::build::{Builder, build, can_pack, composition};
use super::consistency::Consistency;
use super::cost::cost;
use super::statements::{Named, Piece, are_independent, pieces};
use super::template::{Composition, Item, KernelTemplate, Schedule, Template, ValueTemplate, Word};
use crate::tensor::Options;
use crate::tensor::fault::Span;
use crate::tensor::mapping::{Kernel, Plan, Step};
use crate::tensor::program::Function;
use crate::tensor::transform::rows::{RowPart, RowPlace, Wish, planned, rows_fit};
use crate::tensor::transform::tiles::{Shape, tiles};

/// Threads of a row and rows of a block that are tried; none: a row by a block.
const LANES: &[Option<(usize, usize)>] = &[None, Some((32, 8)), Some((16, 16)), Some((8, 32))];
/// The same where there is one row.
const ONE_ROW: &[Option<(usize, usize)>] = &[None, Some((32, 1))];
/// Statements of a kernel of rows at most.
const MOST_STATEMENTS: usize = 48;
/// Threads for a column that are tried.
const COLUMN_THREADS: [usize; 2] = [8, 16];
/// Dimensions of rows at most.
const MOST_DIMENSIONS: usize = 4;

/// The best template of a definition, with values that are computed again where what is kept is too large otherwise.
pub(super) fn with_again(function: &Function, options: Options) -> Template {
    let (mut template, mut cost) = choose(function, options);
    let mut function = function.clone();
    let mut shrunk: Vec<ValueTemplate> = Vec::new();
    loop {
        // The value whose loss saves the most.
        let mut best: Option<(f64, Template, Function, ValueTemplate)> = None;
        for value in too_large(&function, &template, options) {
            let mut one = template.clone();
            mark(&mut one.items, &value);
            let Ok((smaller, _)) = without(&function, &one) else {
                continue;
            };
            let (chosen, sum) = choose(&smaller, options);
            if sum < best.as_ref().map_or(cost, |(best, ..)| *best) {
                best = Some((sum, chosen, smaller, value));
            }
        }
        let Some((sum, chosen, smaller, value)) = best else {
            break;
        };
        (template, cost, function) = (chosen, sum, smaller);
        shrunk.push(value);
    }
    add_again(&mut template.items, shrunk);
    template
}

/// Values in shared memory that do not fit into it, and that can be computed again.
fn too_large(function: &Function, template: &Template, options: Options) -> Vec<ValueTemplate> {
    fn kernels<'s, 'f>(steps: &'s [Step<'f>], found: &mut Vec<&'s Kernel<'f>>) {
        for step in steps {
            match step {
                Step::Kernel(kernel) => match &kernel.plan {
                    Plan::Packed(parts) => found.extend(parts),
                    _ => found.push(kernel),
                },
                Step::Loop { body, .. } => kernels(body, found),
                Step::Either { .. } => {}
            }
        }
    }
    let steps = build(function, template, options).unwrap_or_default();
    let mut all = Vec::new();
    kernels(&steps, &mut all);
    let mut found = Vec::new();
    for kernel in all {
        let Plan::Rows(rows) = &kernel.plan else {
            continue;
        };
        if rows_fit(function, kernel, &rows.arrays) {
            continue;
        }
        for array in rows.shared() {
            let value = ValueTemplate {
                tensor: Word::new(function.tensors[array.tensor].name.clone()),
                number: 1,
                composition: Composition::Again,
            };
            if !array.is_copied && can_be(function, &value) {
                found.push(value);
            }
        }
    }
    found
}

/// Says of a value that it is computed again.
fn mark(items: &mut [Item], value: &ValueTemplate) {
    for item in items {
        let kernels = match item {
            Item::Kernel(kernel) => std::slice::from_mut(kernel),
            Item::Packing(kernels) => kernels.as_mut_slice(),
            Item::Loop(_, body) => {
                mark(body, value);
                continue;
            }
        };
        let values = kernels.iter_mut().flat_map(|kernel| &mut kernel.values);
        for one in values {
            if one.tensor == value.tensor && one.number == value.number {
                one.composition = Composition::Again;
            }
        }
    }
}

/// Adds values that are computed again, which may stand in any kernel.
fn add_again(items: &mut [Item], values: Vec<ValueTemplate>) {
    for item in items {
        match item {
            Item::Kernel(kernel) => return drop(kernel.values.splice(0..0, values)),
            Item::Packing(kernels) => return drop(kernels[0].values.splice(0..0, values)),
            Item::Loop(_, body) if !body.is_empty() => return add_again(body, values),
            Item::Loop(..) => {}
        }
    }
}

/// The best template of a definition that keeps all values, and what it costs.
pub(super) fn choose(function: &Function, options: Options) -> (Template, f64) {
    let consistency = Consistency::new(function, options);
    let chooser = Chooser {
        builder: Builder {
            function,
            options,
            consistency: &consistency,
        },
    };
    let mut cost = 0.0;
    let items = chooser.items(&pieces(function), &mut cost);
    let template = Template {
        name: Word::new(function.name.clone()),
        items,
    };
    (template, cost)
}

struct Chooser<'b, 'f> {
    builder: Builder<'b, 'f>,
}

/// A kernel that may be taken.
struct Candidate<'f> {
    template: KernelTemplate,
    kernel: Option<Kernel<'f>>,
    cost: f64,
}

impl<'f> Chooser<'_, 'f> {
    /// The items of pieces, of which `cost` becomes the sum.
    fn items(&self, pieces: &[Piece<'f>], cost: &mut f64) -> Vec<Item> {
        let mut items = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Statements(all) => items.extend(self.statements(all, cost)),
                Piece::Loop(time_loop, inner) => {
                    let symbols = &self.builder.function.symbols;
                    let name = symbols[time_loop.symbol].name.clone();
                    items.push(Item::Loop(Word::new(name), self.items(inner, cost)));
                }
            }
        }
        items
    }

    fn statements(&self, all: &[Named<'f>], cost: &mut f64) -> Vec<Item> {
        let units = self.units(all);
        // The best kernels of the units from each one on: the cost, the first kernel, and how many units it has.
        let mut best: Vec<Option<(f64, Candidate<'f>, usize)>> =
            units.iter().map(|_| None).collect();
        for start in (0..units.len()).rev() {
            let behind = |count: usize, best: &[Option<(f64, Candidate<'f>, usize)>]| {
                let next = best.get(start + count).and_then(Option::as_ref);
                next.map_or(0.0, |(cost, ..)| *cost)
            };
            let alone = self.alone(&units[start]);
            let mut found = (alone.cost + behind(1, &best), alone, 1);
            for (candidate, count) in self.rows(&units[start..]) {
                let sum = candidate.cost + behind(count, &best);
                // Of what costs the same, the kernel of elements, or the shorter one.
                if sum < found.0 {
                    found = (sum, candidate, count);
                }
            }
            best[start] = Some(found);
        }
        *cost += best
            .first()
            .and_then(Option::as_ref)
            .map_or(0.0, |(sum, ..)| *sum);
        let mut chosen = Vec::new();
        let mut at = 0;
        while let Some((_, candidate, count)) = best.get_mut(at).and_then(Option::take) {
            chosen.push((candidate, units[at..at + count].concat()));
            at += count;
        }
        self.packed(chosen)
    }

    /// Statements that go on in each other's threads.
    fn units(&self, all: &[Named<'f>]) -> Vec<Vec<Named<'f>>> {
        let mut units: Vec<Vec<Named<'f>>> = Vec::new();
        for named in all {
            if let Some(last) = units.last_mut() {
                last.push(*named);
                if self.builder.consistency.elements(last).is_ok() {
                    continue;
                }
                last.pop();
            }
            units.push(vec![*named]);
        }
        units
    }

    /// A unit as a kernel of elements, or of tiles.
    fn alone(&self, unit: &[Named<'f>]) -> Candidate<'f> {
        let function = self.builder.function;
        let kernels = self.builder.consistency.elements(unit).unwrap_or_default();
        let mut schedule = Schedule::Elements;
        let mut kernel = match <[Kernel<'f>; 1]>::try_from(kernels.clone()) {
            Ok([kernel]) => Some(kernel),
            Err(_) => None,
        };
        if let Some(kernel) = &mut kernel {
            let tile = self.builder.options.tile;
            let plan = tiles(function, kernel, Shape::Plane, tile);
            if let Some(plan) = plan.or_else(|| tiles(function, kernel, Shape::Any, tile)) {
                kernel.plan = Plan::Tiles(plan);
                schedule = Schedule::Tiles;
            }
        }
        let of_all = kernels.iter().map(|kernel| cost(function, kernel));
        Candidate {
            cost: kernel
                .as_ref()
                .map_or(of_all.sum(), |kernel| cost(function, kernel)),
            template: KernelTemplate {
                span: Span::default(),
                schedule,
                inputs: Vec::new(),
                values: self.values(unit, |_| Composition::Thread),
            },
            kernel,
        }
    }

    /// Kernels of rows that begin with the first unit, and how many units each has.
    fn rows(&self, units: &[Vec<Named<'f>>]) -> Vec<(Candidate<'f>, usize)> {
        let mut found = Vec::new();
        let rows = (0..=MOST_DIMENSIONS).flat_map(|dimensions| {
            let lanes = match dimensions {
                0 => ONE_ROW,
                _ => LANES,
            };
            lanes.iter().map(move |lanes| Schedule::Row {
                dimensions,
                lanes: *lanes,
            })
        });
        let columns = (1..=2).flat_map(|dimensions| {
            COLUMN_THREADS.map(|threads| Schedule::Column {
                dimensions,
                threads,
            })
        });
        let teams = self.builder.options.teams;
        for schedule in rows.chain(columns).filter(|one| teams.has(*one)) {
            let mut all: Vec<Named<'f>> = Vec::new();
            let mut joined: Option<Kernel<'f>> = None;
            for (position, unit) in units.iter().enumerate() {
                let fits = unit.iter().all(|named| {
                    all.push(*named);
                    let consistency = self.builder.consistency;
                    consistency.add_row(&mut joined, &all, schedule).is_ok()
                });
                let Some(kernel) = joined.clone().filter(|_| fits) else {
                    break;
                };
                if all.len() > MOST_STATEMENTS {
                    break;
                }
                // One unit that no team reduces is one of elements.
                let candidate = self.row(&all, schedule, kernel).filter(|candidate| {
                    let mut values = candidate.template.values.iter();
                    let joins = |value: &ValueTemplate| {
                        matches!(value.composition, Composition::Warp | Composition::Block)
                    };
                    position > 0 || values.any(joins)
                });
                if let Some(candidate) = candidate {
                    found.push((candidate, position + 1));
                }
            }
        }
        found
    }

    fn row(
        &self,
        all: &[Named<'f>],
        schedule: Schedule,
        kernel: Kernel<'f>,
    ) -> Option<Candidate<'f>> {
        let function = self.builder.function;
        let (team, _) = schedule.team()?;
        let kernel = planned(function, kernel, team, &|_| Wish::Best);
        let Plan::Rows(rows) = &kernel.plan else {
            return None;
        };
        // Where nothing is shared out, all threads would do the same; and a block alone is slow.
        let mut parts = rows.parts.iter();
        let reduces = |row: &RowPart| row.is_held && !row.shared_out.is_empty();
        let is_worth_it = match kernel.threads.is_empty() {
            true => parts.any(reduces),
            false => parts.any(|row| !row.shared_out.is_empty()),
        };
        if !is_worth_it {
            return None;
        }
        let copied = rows.arrays.iter().filter(|array| array.is_copied);
        let inputs = copied.map(|array| ValueTemplate {
            tensor: Word::new(function.tensors[array.tensor].name.clone()),
            number: 1,
            composition: match array.place {
                RowPlace::Registers => Composition::Thread,
                RowPlace::Shared { .. } => Composition::Block,
            },
        });
        let template = KernelTemplate {
            span: Span::default(),
            schedule,
            inputs: inputs.collect(),
            values: self.values(all, |number| composition((&kernel, rows), number)),
        };
        Some(Candidate {
            cost: cost(function, &kernel),
            template,
            kernel: Some(kernel),
        })
    }

    fn values(
        &self,
        all: &[Named<'f>],
        composition: impl Fn(usize) -> Composition,
    ) -> Vec<ValueTemplate> {
        let each = all.iter().enumerate().map(|(number, named)| ValueTemplate {
            tensor: named.word(self.builder.function),
            number: named.number,
            composition: composition(number),
        });
        each.collect()
    }

    /// Kernels that follow each other and need nothing of each other side by side.
    fn packed(&self, chosen: Vec<(Candidate<'f>, Vec<Named<'f>>)>) -> Vec<Item> {
        let can = |candidate: &Candidate<'f>| candidate.kernel.as_ref().is_some_and(can_pack);
        let mut groups: Vec<(Vec<KernelTemplate>, Vec<Named<'f>>, bool)> = Vec::new();
        for (candidate, own) in chosen {
            let can = can(&candidate);
            let needs_nothing = |others: &[Named<'f>]| {
                others.iter().all(|other| {
                    own.iter()
                        .all(|named| are_independent(other.statement, named.statement))
                })
            };
            match groups.last_mut() {
                Some((templates, others, packs)) if *packs && can && needs_nothing(others) => {
                    templates.push(candidate.template);
                    others.extend(own);
                }
                _ => groups.push((vec![candidate.template], own, can)),
            }
        }
        let items = groups
            .into_iter()
            .map(|(mut templates, ..)| match templates.len() {
                1 => Item::Kernel(templates.remove(0)),
                _ => Item::Packing(templates),
            });
        items.collect()
    }
}
