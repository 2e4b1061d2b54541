//! Which part defines what.

use super::globals;
use crate::llvm::{Linkage, SectionGroup, Value};
use inkwell::module::Module;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The part with what is not any function's: variables that several parts use, aliases, and the lists of what runs before
/// and after `main`, whose order lasts so. It comes first.
pub(super) const HEAD: usize = 0;

/// A module that is to be cut.
pub(super) struct Cut<'ctx> {
    /// How many parts there are, with the head.
    pub(super) parts: usize,
    pub(super) owners: Owners<'ctx>,
}

/// The part that defines a function or variable, for all that one part alone defines.
pub(super) type Owners<'ctx> = HashMap<Value<'ctx>, usize>;

/// No part but the last has fewer instructions: another run of clang would cost more.
const FEWEST_INSTRUCTIONS: usize = 1500;

/// From so many on, a part is full.
const MOST_INSTRUCTIONS: usize = 6000;

/// One in so many functions may be the last of a part, which its name alone decides: where a function comes or goes, the
/// other parts stay as they were.
const ONE_IN: u64 = 4;

/// Where a module is to be cut, after which what parts share has names for that; `None` where it stays whole: it is small, or
/// has what cannot be cut (symbols resolved at load time, assembly of its own, addresses of labels).
pub(super) fn cut<'ctx>(module: &Module<'ctx>) -> Option<Cut<'ctx>> {
    if keeps_sections(module) || Value::has_assembly(module) || Value::any_resolver(module) {
        return None;
    }
    let aliases = Value::aliases(module);
    let behind: Option<Vec<Value>> = aliases
        .iter()
        .map(|alias| function_behind(*alias))
        .collect();
    let behind: BTreeSet<Value> = behind?.into_iter().collect();
    // The linker keeps one group of a name, so that no two parts may have members of one.
    let mut groups: HashMap<SectionGroup, usize> = HashMap::new();
    let of_head = behind
        .iter()
        .filter_map(|function| function.section_group());
    groups.extend(of_head.map(|group| (group, HEAD)));
    let mut owners = HashMap::new();
    let (mut number, mut instructions) = (HEAD + 1, 0);
    for function in Value::functions(module) {
        if function.is_declaration() {
            continue;
        }
        if behind.contains(&function) {
            owners.insert(function, HEAD);
            continue;
        }
        if is_copied(function) {
            continue;
        }
        let group = function.section_group();
        let owner = group.map_or(number, |group| *groups.entry(group).or_insert(number));
        owners.insert(function, owner);
        if owner != number {
            continue;
        }
        instructions += function.instructions().len();
        let may_end = instructions >= FEWEST_INSTRUCTIONS && ends_part(&function.name());
        if may_end || instructions >= MOST_INSTRUCTIONS {
            (number, instructions) = (number + 1, 0);
        }
    }
    let parts = number + usize::from(instructions > 0);
    if parts <= HEAD + 2 {
        return None;
    }
    let references = References::of(module)?;
    for alias in &aliases {
        owners.insert(*alias, HEAD);
        // What an alias stands for is needed by name.
        for each in function_behind(*alias).into_iter().chain([*alias]) {
            match each.linkage() {
                Linkage::LLVMLinkOnceAnyLinkage => each.set_linkage(Linkage::LLVMWeakAnyLinkage),
                Linkage::LLVMLinkOnceODRLinkage => each.set_linkage(Linkage::LLVMWeakODRLinkage),
                _ => {}
            }
        }
    }
    give_variables(module, parts, &references, &mut owners);
    share(parts, &references, &owners);
    Some(Cut { parts, owners })
}

/// Whether the linker is to keep a section in any case that only one part would have.
fn keeps_sections(module: &Module<'_>) -> bool {
    let used = Value::globals(module)
        .into_iter()
        .find(|global| global.name() == "llvm.used");
    let kept = used.and_then(Value::initializer).map(Value::operands);
    kept.into_iter().flatten().any(|kept| !is_copied(kept))
}

/// Whether each part that needs it has a copy: the linker would keep one or none.
pub(super) fn is_copied(global: Value) -> bool {
    match global.linkage() {
        Linkage::LLVMLinkOnceAnyLinkage
        | Linkage::LLVMLinkOnceODRLinkage
        | Linkage::LLVMAvailableExternallyLinkage => true,
        Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage => {
            global.is_global_variable()
                && global.is_constant_global()
                && global.is_address_unnamed()
        }
        _ => false,
    }
}

/// The function that an alias stands for; `None` where it is something else.
pub(super) fn function_behind(alias: Value) -> Option<Value> {
    let aliasee = alias.aliasee();
    aliasee.is_function().then_some(aliasee)
}

/// A name without the number by which LLVM told it from another of the same module.
pub(super) fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((before, number))
            if !before.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            before
        }
        _ => name,
    }
}

fn ends_part(name: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    without_number(name).hash(&mut hasher);
    hasher.finish().is_multiple_of(ONE_IN)
}

/// What each definition refers to.
struct References<'ctx>(HashMap<Value<'ctx>, Vec<Value<'ctx>>>);

impl<'ctx> References<'ctx> {
    /// `None` where something refers to a label.
    fn of(module: &Module<'ctx>) -> Option<Self> {
        let mut all = HashMap::new();
        for global in globals(module) {
            if global.is_declaration() {
                continue;
            }
            let mut found = Found::default();
            for operand in global.operands() {
                found.look_at(operand);
            }
            if global.is_function() {
                for instruction in global.instructions() {
                    for operand in instruction.operands() {
                        found.look_at(operand);
                    }
                }
            }
            if found.label {
                return None;
            }
            all.insert(global, found.globals.into_iter().collect());
        }
        Some(Self(all))
    }

    /// What is reached from these, through copies.
    fn reached(&self, roots: impl Iterator<Item = Value<'ctx>>) -> HashSet<Value<'ctx>> {
        let mut reached = HashSet::new();
        let mut waiting: Vec<Value> = roots.collect();
        while let Some(global) = waiting.pop() {
            for next in self.0.get(&global).into_iter().flatten() {
                if reached.insert(*next) && is_copied(*next) {
                    waiting.push(*next);
                }
            }
        }
        reached
    }
}

#[derive(Default)]
struct Found<'ctx> {
    seen: HashSet<Value<'ctx>>,
    globals: BTreeSet<Value<'ctx>>,
    label: bool,
}

impl<'ctx> Found<'ctx> {
    fn look_at(&mut self, value: Value<'ctx>) {
        if value.is_null() || !value.is_constant() || !self.seen.insert(value) {
            return;
        }
        if value.is_global() {
            self.globals.insert(value);
        } else if value.is_block_address() {
            self.label = true;
        } else {
            for operand in value.operands() {
                self.look_at(operand);
            }
        }
    }
}

/// A variable that only the module sees belongs to the part whose functions alone use it, any other to the head.
fn give_variables<'ctx>(
    module: &Module<'ctx>,
    parts: usize,
    references: &References<'ctx>,
    owners: &mut Owners<'ctx>,
) {
    let mut users: HashMap<Value, Vec<usize>> = HashMap::new();
    for number in HEAD + 1..parts {
        for reached in references.reached(owned_by(number, owners)) {
            users.entry(reached).or_default().push(number);
        }
    }
    for variable in Value::globals(module) {
        if variable.is_declaration() || is_copied(variable) {
            continue;
        }
        let owner = match users.get(&variable).map(Vec::as_slice) {
            Some([only]) if variable.is_local() => *only,
            _ => HEAD,
        };
        owners.insert(variable, owner);
    }
}

fn owned_by<'ctx>(number: usize, owners: &Owners<'ctx>) -> impl Iterator<Item = Value<'ctx>> {
    let owned = owners.iter().filter(move |(_, owner)| **owner == number);
    owned.map(|(global, _)| *global)
}

/// Lets the linker find what one part has and another one uses.
fn share(parts: usize, references: &References, owners: &Owners) {
    let mut shared = BTreeSet::new();
    for number in HEAD..parts {
        let reached = references.reached(owned_by(number, owners));
        let elsewhere = |global: &Value| owners.get(global).is_some_and(|owner| *owner != number);
        let reached = reached.into_iter();
        shared.extend(reached.filter(|global| elsewhere(global) && global.is_local()));
    }
    for global in shared {
        // A static variable's initialiser belongs to that variable's sections, which another part may bring without it.
        global.leave_section_group();
        let name = format!("{}.sirius_host", global.name());
        global.set_linkage(Linkage::LLVMExternalLinkage);
        global.set_hidden();
        global.set_name(&name);
    }
}
