//! What a block does is within what its effects say.

use super::{Event, Launch, Point, evaluate, target_matches};
use crate::kernel::{BlockSymbol, KernelModel};
use crate::math::affine::Axis;
use crate::math::expression::Expression;
use crate::math::isl::Set;
use std::collections::{BTreeMap, HashMap};

/// Bytes that are looked up in sets, for each kernel.
const LOOKED_UP: usize = 60;

/// Checks for one kernel.
pub(super) struct BlockChecks<'a> {
    model: &'a KernelModel,
    /// By effect, as far as they were asked for.
    sets: HashMap<usize, Option<String>>,
    looked_up: usize,
}

impl<'a> BlockChecks<'a> {
    pub(super) fn new(model: &'a KernelModel) -> Self {
        Self {
            model,
            sets: HashMap::new(),
            looked_up: 0,
        }
    }

    /// Some effect that reads or writes as the event does has all of its bytes.
    pub(super) fn check(&mut self, event: &Event, launch: &Launch, block: [i64; 3]) {
        let model = self.model;
        let (start, bytes) = (event.offset, i64::from(event.bytes.unwrap_or(0)));
        let bound = |bound: &Expression<BlockSymbol>| {
            let named = bound.substitute(&mut |symbol| {
                Some(match symbol {
                    BlockSymbol::Index(axis) => Expression::Constant(block[axis.index()]),
                    BlockSymbol::Launch(symbol) => Expression::Leaf(symbol.clone()),
                })
            });
            evaluate(&named.expect("every symbol has a value"), launch)
        };
        let within: Vec<usize> = (0..model.block_effects.len())
            .filter(|index| {
                let effect = &model.block_effects[*index];
                let (low, high) = (&effect.low_bytes, &effect.high_bytes);
                target_matches(&effect.target, &event.root)
                    && effect.writes == event.writes
                    && low.as_ref().is_none_or(|low| bound(low) <= start.into())
                    && high
                        .as_ref()
                        .is_none_or(|high| i128::from(start + bytes) <= bound(high))
            })
            .collect();
        assert!(
            !within.is_empty(),
            "{event:?} is outside the effects of block {block:?} for {:?}, grid {:?}, block {:?}\n{}",
            launch.scalars,
            launch.grid,
            launch.block,
            model.block_effects_text()
        );
        if self.looked_up < LOOKED_UP && bytes > 0 {
            self.looked_up += 1;
            let held = within.iter().any(|index| {
                let set = self.sets.entry(*index).or_insert_with(|| {
                    let set = model.block_set(&model.block_effects[*index]);
                    set.and_then(|set| set.text())
                });
                set.as_ref()
                    .is_none_or(|set| holds_byte(model, set, launch, block, start))
            });
            assert!(
                held,
                "{event:?} is in no set of block {block:?} for {:?}, grid {:?}, block {:?}\n{}",
                launch.scalars,
                launch.grid,
                launch.block,
                model.block_effects_text()
            );
        }
    }
}

/// Whether a set has a byte, when the values of the launch are put in for its parameters.
fn holds_byte(model: &KernelModel, set: &str, launch: &Launch, block: [i64; 3], byte: i64) -> bool {
    let point = Point {
        model,
        launch,
        at: (block, [0; 3]),
        loops: &[],
        counters: &[],
        unknowns: &BTreeMap::new(),
    };
    let names = set.trim_start_matches('[').split(']').next().unwrap_or("");
    let values = names
        .split(", ")
        .filter(|name| !name.is_empty())
        .map(|name| {
            let index = || name[1..].parse::<usize>().expect("a number follows");
            let value = match (&name[..1], name) {
                ("p", _) => evaluate(&model.parameters[index()], launch),
                ("q", _) => {
                    let product = &model.products[index()];
                    let factor = i128::from(point.value(&product.factor));
                    factor * evaluate(&model.parameters[product.parameter], launch)
                }
                _ => {
                    let mut axes = Axis::ALL.into_iter();
                    let axis = axes.find(|axis| name.ends_with(axis.name()));
                    let axis = axis.expect("an axis").index();
                    match &name[..1] {
                        "b" => block[axis].into(),
                        _ => launch.block[axis].into(),
                    }
                }
            };
            format!("{name} = {value}")
        });
    let conditions: Vec<_> = values.chain([format!("byte = {byte}")]).collect();
    let text = format!("[{names}] -> {{ [byte] : {} }}", conditions.join(" and "));
    let (set, one) = (Set::parse(set).unwrap(), Set::parse(&text).unwrap());
    !set.intersect(&one).unwrap().is_empty().unwrap()
}
