//! Folding: the push of a configuration, the call of a stub, its pop and `cudaLaunchKernel` become
//! one call of `sirius.launch.N` by value.
//!
//! A stub stores each argument into a slot and passes the slots' addresses. For each stub a
//! *wrapper* is made: the stub's own stores, followed by a `sirius.launch.N` that is given the
//! slots' contents. A launch then calls the wrapper with the configuration that was pushed, and
//! the wrapper is inlined. The stub itself stays as it was, for launches through function pointers
//! and as the kernel's handle.
//!
//! Invariants: a fold is made only where the push dominates the call of the stub and no other push
//! or stub call can come between; every `sirius.launch.N` has [`UNNUMBERED`] as site until
//! [`number_sites`] has run.

pub(in crate::program) mod graph_nodes;
pub(in crate::program) mod graph_updates;
mod node_sites;

use crate::llvm::{
    self, Block, Builder, FUNCTION_ATTRIBUTES, IntegerPredicate, Linkage, Opcode, Type, TypeKind,
    Value,
};
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Prefix of the functions that stand for launches.
pub(in crate::program) const LAUNCH_PREFIX: &str = "sirius.launch.";
/// Prefix of those that stand for launches by the driver.
pub(in crate::program) const DRIVER_LAUNCH_PREFIX: &str = "sirius.launch.driver.";
/// Prefix of the wrappers; none is left after canonicalisation.
const WRAPPER_PREFIX: &str = "sirius.wrapper.";
/// What launches a kernel by the address of its stub, for both kinds of default stream.
const RUNTIME_LAUNCHES: [&str; 2] = ["cudaLaunchKernel", "cudaLaunchKernel_ptsz"];
/// What hands the configuration of a launch to the kernel's stub.
pub(in crate::program) const PUSH: &str = "__cudaPushCallConfiguration";
/// What a folded push calls while it must remain an invoke.
const PUSHED: &str = "sirius.pushed";
/// The site number of a launch before sites are numbered.
const UNNUMBERED: u64 = u32::MAX as u64;
/// The largest mark of a launch; those that count down from it are marks as well.
pub(in crate::program) const LAST_MARK: u32 = u32::MAX - 1;
/// Number of parameters of `sirius.launch.N` before the kernel's arguments.
pub(in crate::program) const CONFIGURATION_PARAMETERS: u32 = 8;
/// A struct argument with more scalars than this is passed in memory.
const LARGEST_VALUE_SCALARS: u64 = 64;

/// The wrappers of the stubs of a module, by stub.
pub(in crate::program) struct Wrappers<'ctx> {
    by_stub: HashMap<Value<'ctx>, Wrapper<'ctx>>,
}

/// What stands for launches of one kernel.
struct Wrapper<'ctx> {
    /// Takes the configuration and the stub's parameters.
    function: Value<'ctx>,
    /// The `sirius.launch.N` that it calls.
    launch: Value<'ctx>,
    /// The type of each kernel argument; `None` when one is passed in memory.
    arguments: Option<Vec<Type<'ctx>>>,
}

/// Makes a wrapper for every stub whose body is understood. A stub that is not understood keeps
/// its launches unfolded.
pub(in crate::program) fn make_wrappers<'ctx>(
    module: &Module<'ctx>,
    stubs: &BTreeSet<String>,
) -> Wrappers<'ctx> {
    let mut signatures = BTreeMap::new();
    let mut by_stub = HashMap::new();
    for name in stubs {
        let Some(stub) = Value::function(module, name) else {
            continue;
        };
        if let Some(body) = StubBody::read(stub) {
            by_stub.insert(stub, body.wrapper(module, &mut signatures));
        }
    }
    Wrappers { by_stub }
}

/// Folds every launch that is understood; returns how many.
pub(in crate::program) fn fold(module: &Module<'_>, wrappers: &Wrappers) -> usize {
    let mut folded = 0;
    // Only pushes are kept in the list: folding one erases others' neighbours.
    for push in calls_of(module, Value::function(module, PUSH)) {
        if wrappers
            .by_stub
            .contains_key(&push.function_of_instruction())
        {
            continue;
        }
        if let Some(call) = matching_stub_call(push, wrappers) {
            fold_one(module, push, call, wrappers);
            folded += 1;
        }
    }
    folded
}

/// Folds direct calls of `cudaLaunchKernel` that name a kernel; returns how many. The runtime would
/// read the arguments during the call, through the array of their addresses; they are loaded right
/// before it instead.
pub(in crate::program) fn fold_direct(module: &Module<'_>, wrappers: &Wrappers) -> usize {
    let mut folded = 0;
    let launches = RUNTIME_LAUNCHES.map(|name| Value::function(module, name));
    for call in calls_of(module, launches.into_iter().flatten()) {
        let function = call.function_of_instruction();
        if !is_runtime_launch(call) || wrappers.by_stub.contains_key(&function) {
            continue;
        }
        let operands = call.call_arguments();
        let Some(wrapper) = wrappers.by_stub.get(&operands[0]) else {
            continue;
        };
        let Some(types) = &wrapper.arguments else {
            continue;
        };
        let (array, shared_bytes, stream) = (operands[5], operands[6], operands[7]);
        let builder = Builder::before(call);
        let mut values = vec![Type::integer(module, 32).constant(UNNUMBERED)];
        values.extend(&operands[..5]);
        values.extend([shared_bytes, stream]);
        for (index, contents) in types.iter().enumerate() {
            let pointer = Type::pointer(module, 0);
            let entry = builder.element(pointer, array, index as u64);
            let address = builder.load(pointer, entry);
            values.push(builder.load_aligned(*contents, address, 1));
        }
        let new = match call.invoke_destinations() {
            Some(destinations) => builder.invoke(wrapper.launch, &values, destinations),
            None => builder.call_function(wrapper.launch, &values),
        };
        new.copy_place(call);
        call.replace_uses_with(new);
        call.erase();
        folded += 1;
    }
    folded
}

/// Deletes the wrappers, once they are inlined everywhere.
pub(in crate::program) fn remove_wrappers(module: &Module<'_>) {
    for function in Value::functions(module) {
        let name = function.name();
        if (name.starts_with(WRAPPER_PREFIX) || name == PUSHED) && function.users().is_empty() {
            function.delete_function();
        }
    }
}

/// Gives each launch site of the module its own number, in the order of functions, blocks and
/// instructions.
pub(in crate::program) fn number_sites(module: &Module<'_>) {
    let integer = Type::integer(module, 32);
    for (site, launch) in (0..).zip(sites(module)) {
        launch.set_operand(0, integer.constant(site));
    }
}

/// All launches of a module, in the order of functions, blocks and instructions.
pub(in crate::program) fn sites<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    calls_of(module, launch_functions(module))
}

/// The calls of these functions, in the order of functions, blocks and instructions.
pub(in crate::program) fn calls_of<'ctx>(
    module: &Module<'ctx>,
    called: impl IntoIterator<Item = Value<'ctx>>,
) -> Vec<Value<'ctx>> {
    // Host modules are large, and few of their functions have such calls.
    let calls = called.into_iter().flat_map(Value::direct_calls);
    let calls: HashSet<Value> = calls.collect();
    let in_functions = calls.iter().map(|call| call.function_of_instruction());
    let in_functions: HashSet<Value> = in_functions.collect();
    let functions = Value::functions(module).into_iter();
    functions
        .filter(|function| in_functions.contains(function))
        .flat_map(Value::instructions)
        .filter(|each| calls.contains(each))
        .collect()
}

/// Marks a launch until sites are numbered, by what stands for its number.
pub(in crate::program) fn mark(module: &Module<'_>, launch: Value, mark: u32) {
    let mark = Type::integer(module, 32).constant(u64::from(mark));
    launch.set_operand(0, mark);
}

/// Whether a launch has such a mark.
pub(in crate::program) fn has_mark(launch: Value, mark: u32) -> bool {
    let site = launch.operands()[0].signed_integer();
    // The constant is read with its sign.
    site.is_some_and(|site| site as u32 == mark)
}

/// True for a call of a `sirius.launch.N`.
pub(in crate::program) fn is_launch(instruction: Value) -> bool {
    instruction
        .called_name()
        .is_some_and(|name| name.starts_with(LAUNCH_PREFIX))
}

/// The launch functions of a module.
pub(in crate::program) fn launch_functions<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    Value::functions(module)
        .into_iter()
        .filter(|function| function.name().starts_with(LAUNCH_PREFIX))
        .collect()
}

/// What a launch of a known kernel is given in place of its call.
pub(in crate::program) struct KnownLaunch<'a, 'ctx> {
    /// The call that goes.
    pub(in crate::program) call: Value<'ctx>,
    /// The kernel's stub.
    pub(in crate::program) stub: Value<'ctx>,
    /// Grid x and y, grid z, block x and y, block z, shared bytes, stream.
    pub(in crate::program) configuration: [Value<'ctx>; 6],
    /// The kernel's arguments.
    pub(in crate::program) arguments: &'a [Value<'ctx>],
    /// It must fail as the driver's launches do, not as the runtime's.
    pub(in crate::program) by_driver: bool,
}

/// Builds a launch: grid x and y, grid z, block x and y, block z, shared bytes, stream, and the kernel's arguments.
pub(in crate::program) fn build<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    stub: Value<'ctx>,
    (configuration, arguments): ([Value<'ctx>; 6], &[Value<'ctx>]),
) -> Value<'ctx> {
    let (launch, values) = launch_of(module, stub, (configuration, arguments), false);
    builder.call_function(launch, &values)
}

/// The launch function for these values, and all that it is given.
fn launch_of<'ctx>(
    module: &Module<'ctx>,
    stub: Value<'ctx>,
    (configuration, arguments): ([Value<'ctx>; 6], &[Value<'ctx>]),
    by_driver: bool,
) -> (Value<'ctx>, Vec<Value<'ctx>>) {
    let site = Type::integer(module, 32).constant(UNNUMBERED);
    let mut values = vec![site, stub];
    values.extend(configuration);
    values.extend(arguments);
    let parameters: Vec<_> = values.iter().map(|value| value.ty()).collect();
    (late_launch_function(module, &parameters, by_driver), values)
}

/// Puts a launch in the place of a call.
pub(in crate::program) fn replace<'ctx>(module: &Module<'ctx>, known: &KnownLaunch<'_, 'ctx>) {
    let given = (known.configuration, known.arguments);
    let (launch, values) = launch_of(module, known.stub, given, known.by_driver);
    let builder = Builder::before(known.call);
    let new = match known.call.invoke_destinations() {
        Some(destinations) => builder.invoke(launch, &values, destinations),
        None => builder.call_function(launch, &values),
    };
    new.copy_place(known.call);
    known.call.replace_uses_with(new);
    known.call.erase();
}

/// The type and alignment in bytes of each argument of a stub's kernel; `None` when the stub is not
/// understood or passes an argument in memory.
pub(in crate::program) fn argument_types(stub: Value) -> Option<Vec<(Type, u64)>> {
    let body = StubBody::read(stub)?;
    let types = body.slots.iter().map(|slot| {
        let (contents, _) = slot.allocated()?;
        passes_by_value(contents).then(|| (contents, u64::from(slot.alignment())))
    });
    types.collect()
}

/// A launch function of these parameters that is made after the first ones.
fn late_launch_function<'ctx>(
    module: &Module<'ctx>,
    parameters: &[Type<'ctx>],
    by_driver: bool,
) -> Value<'ctx> {
    let type_ = Type::function(Type::integer(module, 32), parameters);
    let prefix = if by_driver {
        DRIVER_LAUNCH_PREFIX
    } else {
        LAUNCH_PREFIX
    };
    let mut number = 0;
    loop {
        let name = format!("{prefix}{number}");
        match Value::function(module, &name) {
            Some(found) if found.value_type() == type_ && !has_by_value(found) => {
                return found;
            }
            Some(_) => number += 1,
            None => {
                let launch = llvm::declare(module, &name, type_);
                promise(launch);
                return launch;
            }
        }
    }
}

fn has_by_value(function: Value) -> bool {
    (0..function.parameters().len() as u32).any(|index| function.by_value(index).is_some())
}

/// A stub, understood.
struct StubBody<'ctx> {
    stub: Value<'ctx>,
    /// The instructions before the pop: they fill the slots.
    fill: Vec<Value<'ctx>>,
    /// The slot of each kernel argument: an alloca of `fill` or a parameter passed in memory.
    slots: Vec<Value<'ctx>>,
}

impl<'ctx> StubBody<'ctx> {
    fn read(stub: Value<'ctx>) -> Option<Self> {
        if stub.is_declaration() {
            return None;
        }
        let entry = *stub.blocks().first()?;
        let instructions = entry.instructions();
        let pop = instructions
            .iter()
            .position(|call| call.called_name().as_deref() == Some("__cudaPopCallConfiguration"))?;
        let fill = instructions[..pop].to_vec();
        // Only what fills slots may be repeated in the wrapper.
        let plain = fill.iter().all(|instruction| {
            !instruction.is_call()
                || instruction
                    .called_name()
                    .is_some_and(|name| name.starts_with("llvm."))
        });
        let mut launches = stub
            .instructions()
            .into_iter()
            .filter(|call| is_runtime_launch(*call));
        let launch = launches.next()?;
        if !plain || launches.next().is_some() {
            return None;
        }
        let arguments = launch.call_arguments();
        if arguments.first() != Some(&stub) {
            return None;
        }
        let array = *arguments.get(5)?;
        let slots = slots_of(array, &fill)?;
        let understood = slots.iter().all(|slot| {
            (slot.is_parameter() && by_value_of(stub, *slot).is_some())
                || slot
                    .allocated()
                    .is_some_and(|(_, count)| count.signed_integer() == Some(1))
        });
        understood.then_some(Self { stub, fill, slots })
    }

    /// The wrapper: `void (i64 grid_xy, i32 grid_z, i64 block_xy, i32 block_z, i64 shared_bytes,
    /// ptr stream, …the stub's parameters)`.
    fn wrapper(
        &self,
        module: &Module<'ctx>,
        signatures: &mut BTreeMap<String, Value<'ctx>>,
    ) -> Wrapper<'ctx> {
        let stub_parameters = self.stub.value_type().parameters();
        let configuration = configuration_types(module);
        let mut parameters = configuration.to_vec();
        parameters.extend(&stub_parameters);
        let wrapper = llvm::declare(
            module,
            &format!("{WRAPPER_PREFIX}{}", self.stub.name()),
            Type::function(Type::void(module), &parameters),
        );
        // It stays external until it is removed: the inliner deletes internal functions that it has
        // inlined everywhere, and there is a second round of folding.
        wrapper.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        wrapper.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
        for index in 0..stub_parameters.len() as u32 {
            if let Some((pointee, align_bytes)) = self.stub.by_value(index) {
                wrapper.add_by_value(index + configuration.len() as u32, pointee, align_bytes);
            }
        }
        let formals = wrapper.parameters();
        let mut images: HashMap<Value, Value> = self
            .stub
            .parameters()
            .into_iter()
            .zip(formals[configuration.len()..].iter().copied())
            .collect();
        let builder = Builder::at_end(Block::append(wrapper, ""));
        for instruction in &self.fill {
            let copy = instruction.copy_instruction();
            copy.clear_place();
            builder.put(copy);
            for (index, operand) in copy.operands().into_iter().enumerate() {
                if let Some(image) = images.get(&operand) {
                    copy.set_operand(index as u32, *image);
                }
            }
            images.insert(*instruction, copy);
        }
        let mut values = vec![Type::integer(module, 32).constant(UNNUMBERED), self.stub];
        values.extend(&formals[..configuration.len()]);
        let mut in_memory = Vec::new();
        for slot in &self.slots {
            let image = images.get(slot).copied().unwrap_or(*slot);
            let contents = match slot.allocated() {
                Some((contents, _)) => Some((contents, u64::from(slot.alignment()))),
                None => by_value_of(self.stub, *slot),
            };
            match contents {
                Some((contents, _)) if passes_by_value(contents) => {
                    values.push(builder.load(contents, image));
                    continue;
                }
                Some((contents, align_bytes)) => {
                    in_memory.push((values.len() as u32, contents, align_bytes));
                }
                None => {}
            }
            values.push(image);
        }
        let launch = launch_function(module, signatures, &values, &in_memory);
        let call = builder.call_function(launch, &values);
        let arguments = in_memory.is_empty().then(|| {
            values[CONFIGURATION_PARAMETERS as usize..]
                .iter()
                .map(|value| value.ty())
                .collect()
        });
        for (parameter, pointee, align_bytes) in in_memory {
            call.add_by_value(parameter, pointee, align_bytes);
        }
        builder.ret(None);
        Wrapper {
            function: wrapper,
            launch,
            arguments,
        }
    }
}

fn is_runtime_launch(instruction: Value) -> bool {
    instruction.called_name().is_some_and(|name| {
        RUNTIME_LAUNCHES.contains(&name.as_str()) && instruction.call_arguments().len() == 8
    })
}

fn configuration_types<'ctx>(module: &Module<'ctx>) -> [Type<'ctx>; 6] {
    let (long, int) = (Type::integer(module, 64), Type::integer(module, 32));
    [long, int, long, int, long, Type::pointer(module, 0)]
}

/// The `sirius.launch.N` for these operands: one function a signature.
fn launch_function<'ctx>(
    module: &Module<'ctx>,
    signatures: &mut BTreeMap<String, Value<'ctx>>,
    values: &[Value<'ctx>],
    in_memory: &[(u32, Type<'ctx>, u64)],
) -> Value<'ctx> {
    let parameters: Vec<_> = values.iter().map(|value| value.ty()).collect();
    let mut key: String = parameters.iter().map(|part| part.text() + ",").collect();
    for (parameter, pointee, align_bytes) in in_memory {
        key += &format!("{parameter}:{}:{align_bytes},", pointee.text());
    }
    let number = signatures.len();
    *signatures.entry(key).or_insert_with(|| {
        let launch = llvm::declare(
            module,
            &format!("{LAUNCH_PREFIX}{number}"),
            Type::function(Type::integer(module, 32), &parameters),
        );
        for (parameter, pointee, align_bytes) in in_memory {
            launch.add_by_value(*parameter, *pointee, *align_bytes);
        }
        promise(launch);
        launch
    })
}

fn promise(launch: Value) {
    launch.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
    launch.add_attribute(FUNCTION_ATTRIBUTES, "willreturn", 0);
    // No pass may copy a launch into several places or make it depend on more control flow.
    launch.add_attribute(FUNCTION_ATTRIBUTES, "convergent", 0);
}

fn by_value_of<'ctx>(function: Value<'ctx>, parameter: Value<'ctx>) -> Option<(Type<'ctx>, u64)> {
    let index = function
        .parameters()
        .iter()
        .position(|formal| *formal == parameter)?;
    function.by_value(index as u32)
}

/// The slots whose addresses are stored to elements 0, 1, … of `array`.
fn slots_of<'ctx>(array: Value<'ctx>, fill: &[Value<'ctx>]) -> Option<Vec<Value<'ctx>>> {
    array.allocated()?;
    let mut slots = BTreeMap::new();
    for store in fill {
        if store.opcode() != Some(Opcode::LLVMStore) {
            continue;
        }
        let operands = store.operands();
        let (stored, pointer) = (operands[0], operands[1]);
        let element = if pointer == array {
            Some(0)
        } else if pointer.opcode() == Some(Opcode::LLVMGetElementPtr) {
            let parts = pointer.operands();
            if parts[0] != array {
                continue;
            }
            if parts.len() != 2 {
                return None;
            }
            Some(parts[1].signed_integer()?)
        } else {
            None
        };
        if let Some(element) = element
            && slots.insert(element, stored).is_some()
        {
            return None;
        }
    }
    let complete = slots.keys().copied().eq(0..slots.len() as i64);
    complete.then(|| slots.into_values().collect())
}

/// Whether an argument of this type travels as an SSA value. Unions stay in memory: the type that
/// clang gives them may leave out bytes that a member uses.
fn passes_by_value(contents: Type) -> bool {
    fn scalars(part: Type) -> Option<u64> {
        match part.kind() {
            TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind => {
                if part
                    .struct_name()
                    .is_some_and(|name| name.starts_with("union."))
                {
                    return None;
                }
                part.elements()
                    .into_iter()
                    .try_fold(0, |sum: u64, (element, count)| {
                        sum.checked_add(scalars(element)?.checked_mul(count)?)
                    })
            }
            _ => Some(1),
        }
    }
    scalars(contents).is_some_and(|count| count <= LARGEST_VALUE_SCALARS)
}

/// The call of a stub that takes the configuration pushed by `push`: clang branches on the push's
/// result, and the stub call is the only one of the region that runs when it is zero.
fn matching_stub_call<'ctx>(push: Value<'ctx>, wrappers: &Wrappers<'ctx>) -> Option<Value<'ctx>> {
    let is_stubs = |call: Value| {
        let called = call.called_function();
        called.is_some_and(|called| wrappers.by_stub.contains_key(&called))
    };
    matching_call(push, &is_stubs)
}

/// The push whose configuration a call through a pointer to a kernel takes.
pub(in crate::program) fn push_before<'ctx>(
    host: &Module<'ctx>,
    call: Value<'ctx>,
) -> Option<Value<'ctx>> {
    let function = call.function_of_instruction();
    let pushes = Value::function(host, PUSH)?.direct_calls().into_iter();
    let mut pushes = pushes.filter(|push| push.function_of_instruction() == function);
    pushes
        .find(|push| matching_call(*push, &|other| other.called_function().is_none()) == Some(call))
}

/// Takes away a push whose configuration nobody takes any more.
pub(in crate::program) fn remove_push(module: &Module<'_>, push: Value) {
    if push.opcode() == Some(Opcode::LLVMInvoke) {
        let called = push.operands().len() as u32 - 1;
        push.set_operand(called, pushed(module));
    } else {
        push.replace_uses_with(push.ty().zero());
        push.erase();
    }
}

/// The only call that `is_stubs` of those that run when a push has succeeded.
fn matching_call<'ctx>(
    push: Value<'ctx>,
    is_stubs: &dyn Fn(Value<'ctx>) -> bool,
) -> Option<Value<'ctx>> {
    let [compare] = push.users()[..] else {
        return None;
    };
    let predicate = compare.integer_predicate()?;
    if compare.operands().get(1)?.signed_integer() != Some(0) {
        return None;
    }
    let [branch] = compare.users()[..] else {
        return None;
    };
    if branch.opcode()? != Opcode::LLVMBr {
        return None;
    }
    let [when_true, when_false] = branch.successors()[..] else {
        return None;
    };
    let (start, end) = match predicate {
        IntegerPredicate::LLVMIntNE => (when_false, when_true),
        IntegerPredicate::LLVMIntEQ => (when_true, when_false),
        _ => return None,
    };
    // The branch follows the push at once.
    let deciding = branch.parent_block()?;
    let push_block = push.parent_block()?;
    let direct = deciding == push_block
        || push.invoke_destinations().is_some_and(|(normal, _)| {
            normal == deciding && deciding.predecessors() == [push_block]
        });
    if !direct || start == end || start.predecessors() != [deciding] {
        return None;
    }
    let after_push = deciding
        .instructions()
        .into_iter()
        .skip_while(|instruction| deciding == push_block && *instruction != push)
        .filter(|instruction| *instruction != push && instruction.is_call());
    if after_push.into_iter().any(|call| {
        !call
            .called_name()
            .is_some_and(|name| name.starts_with("llvm."))
    }) {
        return None;
    }
    // All that runs before `end`, exceptions left aside.
    let mut region = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(block) = open.pop() {
        let terminator = block.terminator()?;
        let unwind = terminator.invoke_destinations().map(|(_, unwind)| unwind);
        for successor in terminator.successors() {
            if successor == end || Some(successor) == unwind {
                continue;
            }
            if successor == deciding || region.len() > 1000 {
                return None;
            }
            if region.insert(successor) {
                open.push(successor);
            }
        }
    }
    let mut found = None;
    for block in &region {
        // Entered through the push only.
        if *block != start
            && !block
                .predecessors()
                .iter()
                .all(|from| region.contains(from))
        {
            return None;
        }
        for instruction in block.instructions() {
            if !instruction.is_call() {
                continue;
            }
            let name = instruction.called_name();
            if matches!(name.as_deref(), Some(PUSH | "__cudaPopCallConfiguration")) {
                return None;
            }
            if is_stubs(instruction) && found.replace(instruction).is_some() {
                return None;
            }
        }
    }
    found
}

fn fold_one(module: &Module<'_>, push: Value, call: Value, wrappers: &Wrappers) {
    let Some(wrapper) = call
        .called_function()
        .and_then(|stub| wrappers.by_stub.get(&stub))
        .map(|wrapper| wrapper.function)
    else {
        return;
    };
    let mut arguments = push.call_arguments();
    let shift = arguments.len() as u32;
    arguments.extend(call.call_arguments());
    let builder = Builder::before(call);
    let new = match call.invoke_destinations() {
        Some(destinations) => builder.invoke(wrapper, &arguments, destinations),
        None => builder.call_function(wrapper, &arguments),
    };
    new.copy_place(call);
    new.copy_parameter_attributes(call, shift);
    call.erase();
    remove_push(module, push);
}

/// A function with the push's signature that returns success.
fn pushed<'ctx>(module: &Module<'ctx>) -> Value<'ctx> {
    if let Some(found) = Value::function(module, PUSHED) {
        return found;
    }
    let result = Type::integer(module, 32);
    let function = llvm::declare(
        module,
        PUSHED,
        Type::function(result, &configuration_types(module)),
    );
    function.set_linkage(Linkage::LLVMInternalLinkage);
    function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    function.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
    Builder::at_end(Block::append(function, "")).ret(Some(result.zero()));
    function
}
