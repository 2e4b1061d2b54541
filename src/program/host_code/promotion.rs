//! Calls through pointers that few functions of the program can be the target of: virtual methods, functions
//! that a flag chose.
//!
//! `pointer(args)` becomes `if (pointer == f) f(args); else pointer(args);`, for each `f` that could be meant where
//! one of them drives the device. What `f` launches then stands on a path with the caller's launches.
//!
//! Invariant: a function is called directly where the pointer is equal to its address, and the call through the
//! pointer stays for all other values, unless the calling function itself chose among known functions or the
//! analysis of the whole program's pointers knows that there are no others.

use super::super::{HostVisibleMemory, Program, ProgramError, canonicalise_host, launches, names};
use crate::llvm::{
    self, Block, Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, TypeKind, Value,
};
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most functions that one call is tested for: what a few classes or a flag can make it.
pub const MOST_TARGETS: usize = 6;

/// Most calls of a program that are promoted.
const MOST_CALLS: usize = 200;

/// Most choices that one pointer is followed through.
const MOST_CHOICES: usize = 32;

/// A call through a pointer, and what it may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotableCall {
    /// Which of the host module's calls and invokes that name no function it is, in their order.
    pub ordinal: usize,
    /// Names of the functions that it is tested for.
    pub targets: Vec<String>,
    /// It can be of no others.
    pub is_complete: bool,
    /// That it may be of these is only said by a type that many functions have.
    pub is_guess: bool,
}

/// What is known of the functions before calls are promoted.
pub(in crate::program) struct Functions<'ctx> {
    /// What each defined function that is not scaffolding calls directly.
    pub(in crate::program) calls: HashMap<Value<'ctx>, Vec<Value<'ctx>>>,
    /// Those that reach the device interface.
    pub(in crate::program) drivers: BTreeSet<Value<'ctx>>,
    /// Those that launch, by themselves or through others.
    pub(in crate::program) launching: BTreeSet<Value<'ctx>>,
}

impl Program<'_> {
    /// The calls through pointers for which functions that drive the device have the type and stand where such
    /// pointers come from.
    pub fn promotable_calls(&self) -> Vec<PromotableCall> {
        let host = &self.host;
        let stubs = self.stubs();
        let functions = canonicalise_host::functions(host, &stubs);
        let candidates = Candidates::of(host, &functions, &stubs);
        if candidates.is_empty() {
            return Vec::new();
        }
        let calls = unnamed_calls(host).into_iter().enumerate();
        let calls = calls.filter(|(_, (function, _))| functions.calls.contains_key(function));
        let choices = calls.filter_map(|(ordinal, (_, call))| {
            let choice = candidates.choose(host, call)?;
            Some(PromotableCall {
                ordinal,
                targets: choice.targets.into_iter().map(Value::name).collect(),
                is_complete: choice.is_complete,
                is_guess: choice.is_guess,
            })
        });
        choices.collect()
    }

    /// Promotes calls; returns whether there were any. All functions that drive the device are canonical again
    /// afterwards, and all launch sites have new numbers. Of the functions that are called in no other way,
    /// `removable`, nothing is left if they are not called directly.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] when LLVM refuses a pipeline or a step made an invalid module.
    pub fn promote(
        &self,
        chosen: &[PromotableCall],
        removable: &BTreeSet<String>,
    ) -> Result<bool, ProgramError> {
        let host = &self.host;
        let stubs = self.stubs();
        let canonical = canonicalise_host::Simplified::canonical(host, &stubs);
        let mut calls = canonicalise_host::functions(host, &stubs).calls;
        let unnamed = unnamed_calls(host);
        let mut removable = removable.clone();
        let mut promoted = 0;
        for choice in chosen {
            let Some((function, call)) = unnamed.get(choice.ordinal).copied() else {
                continue;
            };
            let targets = choice.targets.iter();
            let mut targets: Vec<Value> = targets
                .filter_map(|name| Value::function(host, name))
                .collect();
            let push = launches::push_before(host, call);
            // A function that calls itself is inlined nowhere. Kernels are what configurations are pushed for.
            targets.retain(|target| {
                call.fits(*target)
                    && !reaches(&calls, *target, function)
                    && stubs.contains(&target.name()) == push.is_some()
            });
            let is_complete = choice.is_complete && targets.len() == choice.targets.len();
            let is_made =
                !targets.is_empty() && targets.len() <= MOST_TARGETS && promoted < MOST_CALLS;
            if !is_made || !is_complete {
                choice.targets.iter().for_each(|name| {
                    removable.remove(name);
                });
            }
            if !is_made {
                continue;
            }
            calls.entry(function).or_default().extend(&targets);
            replace(host, (call, push), &targets, is_complete, promoted);
            promoted += 1;
        }
        if promoted == 0 {
            return Ok(false);
        }
        let unclear = names::unclear_stubs(&self.kernels, &self.variables);
        let sees_device_memory = self.host_visible_memory != HostVisibleMemory::Nothing;
        canonicalise_host::canonicalise_promoted(
            host,
            &stubs,
            &unclear,
            sees_device_memory,
            canonical,
            || {
                remove(host, &removable);
            },
        )?;
        Ok(true)
    }

    pub(in crate::program) fn stubs(&self) -> BTreeSet<String> {
        let stubs = self.kernels.iter().map(|kernel| kernel.stub.clone());
        stubs.collect()
    }
}

/// Puts functions that end the program in the place of these, as far as only their addresses are used: they are kept
/// apart by them.
fn remove(host: &Module<'_>, names: &BTreeSet<String>) {
    let kept = functions_of_the_linker(host);
    for function in names.iter().filter_map(|name| Value::function(host, name)) {
        let mut users = function.users().into_iter();
        let is_called = users.any(|user| user.called_function() == Some(function));
        if is_called || kept.contains(&function) || function.is_declaration() {
            continue;
        }
        let name = function.name();
        let ending = llvm::declare(host, &format!("{name}.removed"), function.value_type());
        ending.set_linkage(Linkage::LLVMInternalLinkage);
        let builder = Builder::at_end(Block::append(ending, ""));
        let trap = llvm::declare(host, "llvm.trap", Type::function(Type::void(host), &[]));
        builder.call_function(trap, &[]);
        builder.unreachable();
        drop(builder);
        function.replace_uses_with(ending);
        function.delete_function();
        ending.set_name(&name);
    }
}

/// What stands in tables that the linker and the loader know.
fn functions_of_the_linker<'ctx>(host: &Module<'ctx>) -> BTreeSet<Value<'ctx>> {
    let globals = Value::globals(host).into_iter();
    let tables = globals.filter(|global| global.name().starts_with("llvm."));
    let mut open: Vec<Value> = tables.filter_map(Value::initializer).collect();
    let mut seen = BTreeSet::new();
    while let Some(value) = open.pop() {
        if seen.insert(value) && !value.is_function() && !value.is_global_variable() {
            open.extend(value.operands());
        }
    }
    seen
}

/// Functions whose addresses are somewhere in the program and that are worth a test.
struct Candidates<'ctx> {
    /// By entry of a virtual table, in bytes behind where objects point to: virtual methods that drive the device.
    methods: BTreeMap<i64, Vec<Value<'ctx>>>,
    /// Functions that launch whose addresses stand elsewhere.
    others: Vec<Value<'ctx>>,
    /// What stands for kernels, where some are called through pointers.
    kernels: Vec<Value<'ctx>>,
}

/// What a call may call, as far as it is worth a test.
struct Choice<'ctx> {
    targets: Vec<Value<'ctx>>,
    /// It can be nothing else.
    is_complete: bool,
    /// Only a common type says so.
    is_guess: bool,
}

impl<'ctx> Candidates<'ctx> {
    fn of(host: &Module<'ctx>, functions: &Functions<'ctx>, stubs: &BTreeSet<String>) -> Self {
        let is_candidate = |function: &Value| {
            !function.is_interposable() && functions.calls.contains_key(function)
        };
        let mut methods = BTreeMap::<i64, Vec<Value>>::new();
        let mut tables = BTreeSet::new();
        for table in Value::globals(host) {
            let (true, Some(contents)) = (is_virtual_table(&table.name()), table.initializer())
            else {
                continue;
            };
            tables.insert(contents);
            for part in contents.operands() {
                tables.insert(part);
                for (offset_bytes, entry) in virtual_functions(part) {
                    let is_method = functions.drivers.contains(&entry)
                        && is_candidate(&entry)
                        && !is_destructor(&entry.name());
                    let known = methods.entry(offset_bytes).or_default();
                    if is_method && !known.contains(&entry) {
                        known.push(entry);
                    }
                }
            }
        }
        let stands_elsewhere = |function: &Value| {
            let users = function.users().into_iter();
            let mut users = users.filter(|user| !tables.contains(user));
            users.any(|user| {
                user.called_function() != Some(*function)
                    || user.call_arguments().contains(function)
            })
        };
        let others = Value::functions(host).into_iter();
        let others = others
            .filter(|function| functions.launching.contains(function) && is_candidate(function))
            .filter(stands_elsewhere);
        // Pushes of configurations that no launch was made of.
        let is_pushed = functions
            .calls
            .values()
            .flatten()
            .any(|called| called.name() == launches::PUSH);
        let kernels = stubs.iter().filter(|_| is_pushed);
        let kernels = kernels.filter_map(|stub| Value::function(host, stub));
        Self {
            methods,
            others: others.collect(),
            kernels: kernels.collect(),
        }
    }

    fn is_empty(&self) -> bool {
        let has_methods = self.methods.values().any(|methods| !methods.is_empty());
        !has_methods && self.others.is_empty() && self.kernels.is_empty()
    }

    /// The targets of a call that can be promoted.
    fn choose(&self, host: &Module<'ctx>, call: Value<'ctx>) -> Option<Choice<'ctx>> {
        if !is_promotable(call) {
            return None;
        }
        let through = *call.operands().last()?;
        let fits = |function: &&Value<'ctx>| call.fits(**function);
        let fitting = |functions: &[Value<'ctx>]| -> Vec<Value<'ctx>> {
            functions.iter().filter(fits).copied().collect()
        };
        if let Some(chosen) = chosen(through) {
            let targets = fitting(&chosen);
            let is_worth = |function: &Value| {
                let methods = self.methods.values().flatten();
                let mut all = self.others.iter().chain(methods).chain(&self.kernels);
                all.any(|each| each == function)
            };
            let is_worth_it = targets.iter().any(is_worth);
            let is_complete = targets.len() == chosen.len();
            return is_worth_it.then_some(Choice {
                targets,
                is_complete,
                is_guess: false,
            });
        }
        let methods = table_entry(call, through)
            .and_then(|offset_bytes| self.methods.get(&offset_bytes))
            .map(|methods| fitting(methods))
            .unwrap_or_default();
        let is_method = !methods.is_empty();
        let is_kernels = launches::push_before(host, call).is_some();
        let targets = match (is_kernels, is_method) {
            (true, _) => fitting(&self.kernels),
            (false, true) => methods,
            (false, false) => fitting(&self.others),
        };
        (!targets.is_empty()).then_some(Choice {
            targets,
            is_complete: false,
            is_guess: is_kernels || !is_method && call.call_arguments().len() < 2,
        })
    }
}

/// All calls and invokes that name no function, with the functions that they are in.
fn unnamed_calls<'ctx>(host: &Module<'ctx>) -> Vec<(Value<'ctx>, Value<'ctx>)> {
    let mut found = Vec::new();
    for function in Value::functions(host) {
        for call in function.instructions() {
            let is_call = call.is_call() && call.opcode() != Some(Opcode::LLVMCallBr);
            if is_call && call.called_function().is_none() {
                found.push((function, call));
            }
        }
    }
    found
}

/// Whether one function reaches the other by direct calls, or is it.
fn reaches(calls: &HashMap<Value, Vec<Value>>, from: Value, to: Value) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(function) = open.pop() {
        if function == to {
            return true;
        }
        let called = calls.get(&function).into_iter().flatten();
        open.extend(called.filter(|called| seen.insert(**called)));
    }
    false
}

/// A class's table, and those that stand for it while its bases are made.
fn is_virtual_table(name: &str) -> bool {
    name.starts_with("_ZTV") || name.starts_with("_ZTC")
}

/// A destructor, of which a class has up to three.
fn is_destructor(name: &str) -> bool {
    ["D0Ev", "D1Ev", "D2Ev"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// The functions in one part of a virtual table, each with its distance from where objects point to, in bytes. That is
/// behind the description of the type, or, without one, behind the two entries that always stand in front.
fn virtual_functions(part: Value) -> Vec<(i64, Value)> {
    const POINTER_BYTES: i64 = 8;
    let entries = part.operands();
    let describes_type = |entry: &Value| entry.name().starts_with("_ZTI");
    let begin = entries.iter().position(describes_type).unwrap_or(1) as i64 + 1;
    let entries = entries.into_iter().zip(0..);
    let functions = entries.filter(|(entry, _)| entry.is_function());
    functions
        .map(|(entry, index)| (POINTER_BYTES * (index - begin), entry))
        .collect()
}

/// Of a call of a virtual method: how far behind the begin of its object's table the method stands, in bytes.
fn table_entry<'ctx>(call: Value<'ctx>, through: Value<'ctx>) -> Option<i64> {
    let loaded_from = |value: Value<'ctx>| {
        (value.opcode() == Some(Opcode::LLVMLoad)).then(|| value.operands()[0])
    };
    let mut entry = loaded_from(through)?;
    let mut offset_bytes = 0;
    if entry.opcode() == Some(Opcode::LLVMGetElementPtr) {
        let &[table, index] = entry.operands().as_slice() else {
            return None;
        };
        let element_bytes = entry.element_pointer_source_type().word_bytes()?;
        offset_bytes = index.signed_integer()?.checked_mul(element_bytes)?;
        entry = table;
    }
    let object = loaded_from(entry)?;
    // The result's place may stand in front of the object.
    let is_receiver = call
        .call_arguments()
        .iter()
        .take(2)
        .any(|each| *each == object);
    is_receiver.then_some(offset_bytes)
}

/// The functions that this function itself chose a pointer from, if it can be no other one.
fn chosen(pointer: Value) -> Option<Vec<Value>> {
    let mut seen = BTreeSet::from([pointer]);
    let mut open = vec![pointer];
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        if seen.len() > MOST_CHOICES {
            return None;
        }
        if value.is_function() {
            found.push(value);
            continue;
        }
        let choices = match value.opcode() {
            Some(Opcode::LLVMPHI) => value.operands(),
            Some(Opcode::LLVMSelect) => value.operands()[1..].to_vec(),
            // What is called is not null.
            None if value.is_null_constant() => Vec::new(),
            _ => return None,
        };
        open.extend(choices.into_iter().filter(|choice| seen.insert(*choice)));
    }
    found.sort_by_key(|function| function.name());
    (!found.is_empty()).then_some(found)
}

/// A call through a pointer that another call can stand for.
fn is_promotable(call: Value) -> bool {
    let is_call = matches!(call.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke));
    if !is_call || call.called_function().is_some() || call.called_assembly().is_some() {
        return false;
    }
    let through = call.operands().last().copied();
    let is_alias = through.is_some_and(Value::is_alias);
    call.is_plain_call() && !call.called_type().is_variadic() && !is_alias
}

/// Puts a function that tests the pointer for `targets` in the place of a call. Where the call `is_complete`, the last
/// target is not tested for. What is called are kernels where a configuration is pushed for it.
fn replace<'ctx>(
    host: &Module<'ctx>,
    (call, push): (Value<'ctx>, Option<Value<'ctx>>),
    targets: &[Value<'ctx>],
    is_complete: bool,
    number: usize,
) {
    let Some(&through) = call.operands().last() else {
        return;
    };
    let ty = call.called_type();
    let (result, parameters) = (ty.result(), ty.parameters());
    let pushed = push.map(Value::call_arguments).unwrap_or_default();
    let types: Vec<Type> = [Type::pointer(host, 0)]
        .into_iter()
        .chain(pushed.iter().map(|value| value.ty()))
        .chain(parameters)
        .collect();
    let name = format!("sirius.promoted.{number}");
    let chooser = llvm::declare(host, &name, Type::function(result, &types));
    chooser.set_linkage(Linkage::LLVMInternalLinkage);
    chooser.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    let parameters = chooser.parameters();
    let (configuration, arguments) = parameters[1..].split_at(pushed.len());
    let body = Body {
        host,
        chooser,
        call,
        pointer: parameters[0],
        configuration: push.map(|_| configuration),
        arguments,
        returns: result.kind() != TypeKind::LLVMVoidTypeKind,
    };
    let mut block = Block::append(chooser, "");
    for (index, target) in targets.iter().enumerate() {
        let direct = if is_complete && index + 1 == targets.len() {
            block
        } else {
            let (direct, next) = (Block::append(chooser, ""), Block::append(chooser, ""));
            let builder = Builder::at_end(block);
            builder.branch_if_equal(body.pointer, *target, direct, next);
            block = next;
            direct
        };
        body.end_with_call(direct, Some(*target));
    }
    if !is_complete {
        body.end_with_call(block, None);
    }
    let mut given = vec![through];
    given.extend(&pushed);
    given.extend(call.call_arguments());
    let builder = Builder::before(call);
    let chosen = match call.invoke_destinations() {
        Some(destinations) => builder.invoke(chooser, &given, destinations),
        None => builder.call_function(chooser, &given),
    };
    drop(builder);
    chosen.copy_place(call);
    call.replace_uses_with(chosen);
    call.erase();
    if let Some(push) = push {
        launches::remove_push(host, push);
    }
}

/// A function that stands for a call.
struct Body<'a, 'ctx> {
    host: &'a Module<'ctx>,
    chooser: Value<'ctx>,
    /// The call that it stands for.
    call: Value<'ctx>,
    pointer: Value<'ctx>,
    /// What is pushed before a kernel is called.
    configuration: Option<&'a [Value<'ctx>]>,
    arguments: &'a [Value<'ctx>],
    returns: bool,
}

impl<'ctx> Body<'_, 'ctx> {
    /// Ends a block with a call of a target, or of what the pointer leads to.
    fn end_with_call(&self, mut block: Block<'ctx>, target: Option<Value<'ctx>>) {
        let mut behind = None;
        if let (Some(configuration), Some(push)) = (
            self.configuration,
            Value::function(self.host, launches::PUSH),
        ) {
            // As it is written where one kernel is launched.
            let (launch, end) = (
                Block::append(self.chooser, ""),
                Block::append(self.chooser, ""),
            );
            let builder = Builder::at_end(block);
            let error = builder.call_function(push, configuration);
            let none = Type::integer(self.host, 32).zero();
            builder.branch_if_equal(error, none, launch, end);
            Builder::at_end(end).ret(None);
            (block, behind) = (launch, Some(end));
        }
        let builder = Builder::at_end(block);
        let made = match target {
            Some(target) => builder.call_function(target, self.arguments),
            None => builder.call(self.call.called_type(), self.pointer, self.arguments),
        };
        made.make_like(self.call);
        match behind {
            Some(end) => builder.branch(end),
            None => builder.ret(self.returns.then_some(made)),
        }
    }
}
