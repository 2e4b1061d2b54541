//! Kernels that are one loop from the thread's number by the number of all threads ("grid-stride loops") -> kernels of which
//! a thread runs one iteration.
//!
//! `for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)` runs each `i` from 0 to `n - 1`
//! once, whatever grid and block it is launched with. The kernel made here runs one of them, `i = blockIdx.x`, so that a launch
//! of `n` blocks of one thread runs them all. It is part of no image: fused kernels run its body.
//!
//! Invariant: in a launch of the original along x alone, whose number of threads plus `n` an `i32` holds, and in one of `n`
//! blocks of one thread of what is made of it, the same iterations are run, each once, and nothing else is done but loads.
//! Whether iterations touch what others write is for the stages behind to find out: here is asked that a
//! thread hands nothing to its next iteration *in registers or memory of its own*, that an iteration knows of its thread and of
//! the launch's shape no more than `i`, and that no iteration ends the loop.

use super::super::loops::{Loop, loops};
use super::super::{Kernel, KernelId, ProgramError, Unit, canonicalise_device, passes};
use crate::llvm::IntegerPredicate::{LLVMIntSGT, LLVMIntSLT, LLVMIntUGT, LLVMIntULT};
use crate::llvm::{self, Block, Builder, ControlFlow, Linkage, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, HashSet};

/// What a kernel's name in the copy for analysis has behind it where the kernel runs one iteration of another.
const SUFFIX: &str = ".iteration";

/// The kernels of one iteration for all units, and their entries after those that there are; by unit, its module in
/// which they stand under the names of the kernels that they are made from.
///
/// # Errors
/// [`ProgramError::Pass`] when what was made is no valid module: a bug of ours.
pub(in crate::program) fn kernels<'ctx>(
    units: &[Unit<'ctx>],
    kernels: &mut Vec<Kernel>,
) -> Result<BTreeMap<usize, Module<'ctx>>, ProgramError> {
    let mut modules = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        let Some((module, names)) = of_unit(&unit.device)? else {
            continue;
        };
        let originals = kernels.iter().filter(|kernel| {
            kernel.unit == index
                && names.contains(&kernel.name)
                && !unit.differing.contains_key(&kernel.name)
        });
        let made: Vec<Kernel> = originals.cloned().collect();
        if made.is_empty() {
            continue;
        }
        for original in made {
            kernels.push(Kernel {
                id: KernelId(kernels.len()),
                unique_name: format!("{}{SUFFIX}", original.unique_name),
                stub: String::new(),
                iteration_of: Some(original.id),
                ended_threads_wait: false,
                ..original
            });
        }
        modules.insert(index, module);
    }
    Ok(modules)
}

/// Makes the modules of [`kernels`] once more, after the units have changed.
///
/// # Errors
/// As [`kernels`].
pub(in crate::program) fn renew<'ctx>(
    units: &[Unit<'ctx>],
    modules: &mut BTreeMap<usize, Module<'ctx>>,
) -> Result<(), ProgramError> {
    for (index, module) in modules.iter_mut() {
        if let Some((renewed, _)) = of_unit(&units[*index].device)? {
            *module = renewed;
        }
    }
    Ok(())
}

/// The kernels of one iteration of a unit by themselves, under their names in the copy for analysis, to be linked to the
/// unit's own copy, whose symbols have been renamed in the same way.
pub(in crate::program) fn alone<'ctx>(
    module: &Module<'ctx>,
    unit: usize,
    kernels: &[Kernel],
) -> Module<'ctx> {
    let copy = module.clone();
    let of_unit = |kernel: &&Kernel| kernel.unit == unit && kernel.iteration_of.is_some();
    let made: Vec<&Kernel> = kernels.iter().filter(of_unit).collect();
    let is_made = |function: &Value| {
        let name = function.name();
        made.iter().any(|kernel| {
            let original = kernel.iteration_of.map(|of| &kernels[of.0].unique_name);
            original == Some(&name)
        })
    };
    for function in Value::functions(&copy) {
        if function.is_declaration() {
            continue;
        }
        if is_made(&function) {
            function.set_name(&format!("{}{SUFFIX}", function.name()));
        } else if function.call_convention() == canonicalise_device::PTX_KERNEL
            && function.users().is_empty()
        {
            function.delete_function();
        } else if !function.is_local() {
            function.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
        }
    }
    for global in Value::globals(&copy) {
        if global.name().starts_with("llvm.") {
            if global.users().is_empty() {
                global.delete_global();
            }
        } else if !global.is_local() && global.initializer().is_some() {
            global.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
        }
    }
    copy
}

/// A copy of a unit's device module in which kernels with such a loop run one iteration, and their names.
fn of_unit<'ctx>(
    device: &Module<'ctx>,
) -> Result<Option<(Module<'ctx>, HashSet<String>)>, ProgramError> {
    let is_kernel = |function: &Value| {
        !function.is_declaration()
            && function.call_convention() == canonicalise_device::PTX_KERNEL
            && function.users().is_empty()
    };
    let functions = || Value::functions(device).into_iter().filter(is_kernel);
    if !functions().any(|function| GridStride::find(function).is_some()) {
        return Ok(None);
    }
    let copy = device.clone();
    let mut names = HashSet::new();
    for function in Value::functions(&copy).into_iter().filter(is_kernel) {
        if let Some(found) = GridStride::find(function)
            && found.reduce(&copy, function)
        {
            names.insert(function.name());
        }
    }
    passes::verify(&copy, "taking grid-stride loops apart")?;
    Ok((!names.is_empty()).then_some((copy, names)))
}

/// The loop of a kernel that is one.
struct GridStride<'ctx> {
    of: Loop<'ctx>,
    counter: Value<'ctx>,
}

impl<'ctx> GridStride<'ctx> {
    /// Finds it; `None` for a kernel that does anything else but loads outside of it, or in which an iteration may see what
    /// another one left in memory of the thread, or end the loop.
    fn find(function: Value<'ctx>) -> Option<Self> {
        let flow = ControlFlow::of(function)?;
        let found = loops(&flow).into_iter().find_map(|of| {
            let counter = counter(&of)?;
            Some(Self { of, counter })
        })?;
        let outside = found.exit(function)?;
        let sound = found.is_left_at_head_alone()
            && found.ends_the_kernel(outside)
            && found.only_loads_outside(function)
            && found.keeps_nothing(function)
            && has_known_calls_only(function, &mut HashSet::new());
        sound.then_some(found)
    }

    /// Where it goes on behind the loop, if its head tests the counter against a value that is the same in all iterations
    /// of all threads.
    fn exit(&self, function: Value) -> Option<Block<'ctx>> {
        let end = self.of.header.terminator()?;
        let [inside, outside] = end.successors()[..] else {
            return None;
        };
        let test = *end.operands().first()?;
        let predicate = test.integer_predicate()?;
        let [left, right] = test.operands()[..] else {
            return None;
        };
        let (counter, bound) = match predicate {
            LLVMIntSLT | LLVMIntULT => (left, right),
            LLVMIntSGT | LLVMIntUGT => (right, left),
            _ => return None,
        };
        let stays = self.of.blocks.contains(&inside) && !self.of.blocks.contains(&outside);
        (stays && widened(counter) == self.counter && is_uniform(function, bound))
            .then_some(outside)
    }

    fn is_left_at_head_alone(&self) -> bool {
        let others = self
            .of
            .blocks
            .iter()
            .filter(|block| **block != self.of.header);
        let mut ends = others.map(|block| block.terminator());
        ends.all(|end| {
            end.is_some_and(|end| {
                let next = end.successors();
                !next.is_empty() && next.iter().all(|next| self.of.blocks.contains(next))
            })
        })
    }

    /// Whether nothing of note comes behind the loop, neither another round of it.
    fn ends_the_kernel(&self, outside: Block) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![outside];
        while let Some(block) = work.pop() {
            if !seen.insert(block) {
                continue;
            }
            let instructions = block.instructions();
            let phi = |at: &Value| at.opcode() == Some(Opcode::LLVMPHI);
            let Some(end) = block.terminator() else {
                return false;
            };
            let leaves = matches!(end.opcode(), Some(Opcode::LLVMRet | Opcode::LLVMBr));
            if self.of.blocks.contains(&block) || instructions.iter().any(phi) || !leaves {
                return false;
            }
            work.extend(end.successors());
        }
        true
    }

    /// Whether the kernel only computes and loads outside of the loop.
    fn only_loads_outside(&self, function: Value) -> bool {
        let blocks = function.blocks().into_iter();
        let outside = blocks.filter(|block| !self.of.blocks.contains(block));
        let mut instructions = outside.flat_map(|block| block.instructions());
        instructions.all(|at| match at.opcode() {
            Some(Opcode::LLVMLoad) => !at.is_volatile(),
            Some(Opcode::LLVMCall) => at.called_name().is_some_and(|name| {
                let mut known = HARMLESS.iter();
                known.any(|prefix| name.starts_with(prefix))
            }),
            Some(
                Opcode::LLVMStore
                | Opcode::LLVMAtomicRMW
                | Opcode::LLVMAtomicCmpXchg
                | Opcode::LLVMFence
                | Opcode::LLVMInvoke
                | Opcode::LLVMCallBr
                | Opcode::LLVMUnreachable,
            ) => false,
            _ => true,
        })
    }

    /// Whether each iteration begins with nothing in memory of the thread: there is none, its life begins in the loop, or it holds
    /// arguments that nobody writes to.
    fn keeps_nothing(&self, function: Value) -> bool {
        let parameters = function.parameters().into_iter().enumerate();
        let mut passed = parameters.filter(|(at, _)| function.by_value(*at as u32).is_some());
        if !passed.all(|(_, parameter)| is_only_read(parameter)) {
            return false;
        }
        let inside = |user: &Value| {
            user.parent_block()
                .is_some_and(|block| self.of.blocks.contains(&block))
        };
        let mut variables = function.instructions().into_iter();
        let own = |at: &Value| at.opcode() == Some(Opcode::LLVMAlloca);
        let begins = |user: &Value| {
            let name = user.called_name();
            name.is_some_and(|name| name.starts_with("llvm.lifetime.start"))
        };
        variables.all(|at| {
            let users = at.users();
            !own(&at) || users.iter().all(inside) && users.iter().any(begins)
        })
    }

    /// Makes the kernel run one iteration, `blockIdx.x`. False where it still asks for anything else of its place then: what
    /// it is now, it is not.
    fn reduce(self, module: &Module<'_>, function: Value) -> bool {
        let Some(first) = function.blocks().first().and_then(|entry| {
            let instructions = entry.instructions().into_iter();
            instructions
                .into_iter()
                .find(|at| at.opcode() != Some(Opcode::LLVMAlloca))
        }) else {
            return false;
        };
        let int = Type::integer(module, 32);
        let read = Value::function(module, OWN_PLACE)
            .unwrap_or_else(|| llvm::declare(module, OWN_PLACE, Type::function(int, &[])));
        let builder = Builder::before(first);
        let place = builder.call_function(read, &[]);
        let wide = self.counter.ty();
        let index = match wide == int {
            true => place,
            false => builder.cast(Opcode::LLVMZExt, place, wide),
        };
        let done = Block::append(function, "");
        Builder::at_end(done).ret(None);
        let Some(end) = self.of.latch.terminator() else {
            return false;
        };
        end.remove_metadata("llvm.loop");
        self.of.latch.redirect(self.of.header, done);
        self.counter.replace_uses_with(index);
        self.counter.erase();
        remove_unused(function);
        let mut reads = function.instructions().into_iter().filter(|at| {
            let name = at.called_name();
            *at != place && name.is_some_and(|name| name.contains(".sreg."))
        });
        reads.next().is_none()
    }
}

/// The one value that a loop hands on, where it counts from the thread's number by the number of all threads.
fn counter<'ctx>(of: &Loop<'ctx>) -> Option<Value<'ctx>> {
    let instructions = of.header.instructions().into_iter();
    let phis: Vec<Value> = instructions
        .filter(|at| at.opcode() == Some(Opcode::LLVMPHI))
        .collect();
    let [counter] = phis[..] else {
        return None;
    };
    let text = counter.ty().text();
    if !["i32", "i64"].contains(&text.as_str()) {
        return None;
    }
    let (first, next) = of.incoming(counter)?;
    let [one, other] = next.operands()[..] else {
        return None;
    };
    let step = match (one == counter, other == counter) {
        (true, false) => other,
        (false, true) => one,
        _ => return None,
    };
    let is = |value: Value, terms: &[&[&str]]| {
        let expected = terms
            .iter()
            .map(|term| (term.iter().map(|&name| name.to_owned()).collect(), 1));
        sum_of(value) == Some(expected.collect())
    };
    let counts = next.opcode() == Some(Opcode::LLVMAdd)
        && is(first, &[&["ctaid", "ntid"], &["tid"]])
        && is(step, &[&["nctaid", "ntid"]]);
    counts.then_some(counter)
}

/// Products of what a launch tells along x, with how often each is added. None of the values that occur wraps around in
/// a launch that the module's invariant speaks of.
type Sum = BTreeMap<Vec<String>, i64>;

fn sum_of(value: Value) -> Option<Sum> {
    if let Some(constant) = value.signed_integer() {
        return Some(Sum::from([(Vec::new(), constant)]));
    }
    let both = || match value.operands()[..] {
        [one, other] => Some((sum_of(one)?, sum_of(other)?)),
        _ => None,
    };
    match value.opcode()? {
        Opcode::LLVMCall => {
            let name = value.called_name()?;
            let register = name.strip_prefix("llvm.nvvm.read.ptx.sreg.")?;
            let register = register.strip_suffix(".x")?;
            let known = ["tid", "ntid", "ctaid", "nctaid"].contains(&register);
            known.then(|| Sum::from([(vec![register.to_owned()], 1)]))
        }
        Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc => {
            sum_of(*value.operands().first()?)
        }
        Opcode::LLVMAdd => {
            let (mut sum, other) = both()?;
            for (product, count) in other {
                *sum.entry(product).or_insert(0) += count;
            }
            Some(sum)
        }
        Opcode::LLVMMul => {
            let (one, other) = both()?;
            let mut all = Sum::new();
            for (left, times) in &one {
                for (right, count) in &other {
                    let mut product = [left.as_slice(), right.as_slice()].concat();
                    product.sort();
                    *all.entry(product).or_insert(0) += times.checked_mul(*count)?;
                }
            }
            Some(all)
        }
        _ => None,
    }
}

/// A value before it was extended.
fn widened(value: Value) -> Value {
    match value.opcode() {
        Some(Opcode::LLVMZExt | Opcode::LLVMSExt) => value.operands()[0],
        _ => value,
    }
}

/// Whether a value is computed of arguments and constants alone.
fn is_uniform(function: Value, value: Value) -> bool {
    if value.is_parameter() || value.signed_integer().is_some() {
        return true;
    }
    if value.opcode() == Some(Opcode::LLVMLoad) {
        return value
            .operands()
            .first()
            .is_some_and(|from| is_passed(function, *from));
    }
    let computes = matches!(
        value.opcode(),
        Some(
            Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMMul
                | Opcode::LLVMUDiv
                | Opcode::LLVMSDiv
                | Opcode::LLVMShl
                | Opcode::LLVMLShr
                | Opcode::LLVMAShr
                | Opcode::LLVMZExt
                | Opcode::LLVMSExt
                | Opcode::LLVMTrunc
        )
    );
    let mut operands = value.operands().into_iter();
    computes && operands.all(|operand| is_uniform(function, operand))
}

/// Whether an address is in an argument that is passed in memory, and that nobody writes to.
fn is_passed(function: Value, address: Value) -> bool {
    match address.opcode() {
        Some(Opcode::LLVMGetElementPtr) => {
            let operands = address.operands();
            let mut indices = operands[1..].iter();
            indices.all(|index| index.signed_integer().is_some())
                && is_passed(function, operands[0])
        }
        _ => {
            let mut parameters = function.parameters().into_iter();
            let position = parameters.position(|parameter| parameter == address);
            let by_value = |position| function.by_value(position as u32).is_some();
            position.is_some_and(by_value)
        }
    }
}

fn is_only_read(address: Value) -> bool {
    address.users().iter().all(|user| match user.opcode() {
        Some(Opcode::LLVMLoad) => !user.is_volatile(),
        Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast) => is_only_read(*user),
        Some(Opcode::LLVMCall) => {
            let name = user.called_name();
            let copies = name.is_some_and(|name| name.starts_with("llvm.memcpy."));
            copies && user.call_arguments()[0] != address
        }
        _ => false,
    })
}

/// Whether no code that is called is unknown, or asks for the thread's place, and no assembly does.
fn has_known_calls_only<'ctx>(function: Value<'ctx>, seen: &mut HashSet<Value<'ctx>>) -> bool {
    if !seen.insert(function) {
        return true;
    }
    let inner = seen.len() > 1;
    function.instructions().into_iter().all(|at| {
        if !at.is_call() {
            return true;
        }
        let Some(called) = at.called_function() else {
            return false;
        };
        let name = called.name();
        match called.is_declaration() {
            true if name.starts_with("llvm.") => !inner || !name.contains(".sreg."),
            true => name.starts_with("__nv_"),
            false => has_known_calls_only(called, seen),
        }
    })
}

/// Removes what computes values that nobody uses.
fn remove_unused(function: Value) {
    loop {
        let unused = function.instructions().into_iter().find(|at| {
            let pure = match at.opcode() {
                Some(Opcode::LLVMCall) => at
                    .called_name()
                    .is_some_and(|name| name.starts_with("llvm.nvvm.read.ptx.sreg.")),
                Some(
                    Opcode::LLVMAdd
                    | Opcode::LLVMMul
                    | Opcode::LLVMZExt
                    | Opcode::LLVMSExt
                    | Opcode::LLVMTrunc,
                ) => true,
                _ => false,
            };
            pure && at.users().is_empty()
        });
        match unused {
            Some(unused) => unused.erase(),
            None => break,
        }
    }
}

/// The number of an iteration's block, which is that of the iteration.
const OWN_PLACE: &str = "llvm.nvvm.read.ptx.sreg.ctaid.x";

/// What may be called outside of the loop: it neither writes nor waits.
const HARMLESS: [&str; 14] = [
    "llvm.nvvm.read.ptx.sreg.",
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.smin.",
    "llvm.smax.",
    "llvm.umin.",
    "llvm.umax.",
    "llvm.abs.",
    "llvm.fabs.",
    "llvm.fma.",
    "llvm.fmuladd.",
    "llvm.sqrt.",
];
