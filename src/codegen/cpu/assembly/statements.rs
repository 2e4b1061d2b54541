//! Inline PTX of several instructions, or with memory operands: lowered one by one.
//!
//! An instruction becomes LLVM's where the two mean the same, else a call of its definition
//! `sirius.asm.OPCODE`. Asynchronous copies are made at once, so that waiting for them is nothing.
//! Invariant: what is not understood makes the whole template unsupported.

use super::super::barriers::barrier;
use super::super::classify::waits_for_launch;
use super::super::copies::{is_bulk_copy, waits};
use super::super::functions::Library;
use super::super::integers::arithmetic;
use super::super::predicates::{may_be_skipped, truth_operation};
use super::super::saturation::{integer_conversion, is_identity, without_saturation};
use super::super::video::video;
use super::super::{atomics, instrument, matrices, shared_barrier, textures};
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand, Statement, read_template};
use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::HashMap;

/// Lowers a template to values of its results; `None`: it is not understood.
pub(in crate::codegen::cpu) fn lower_statements<'ctx>(
    module: &Module<'ctx>,
    call: Value<'ctx>,
    template: &str,
    constraints: &str,
    library: &Library<'ctx>,
    carry_variable: Option<Value<'ctx>>,
) -> Result<Option<Vec<Value<'ctx>>>, CodegenError> {
    let Some(statements) = read_template(template) else {
        return Ok(None);
    };
    let Some(mut lowering) = Lowering::new(module, call, constraints, library) else {
        return Ok(None);
    };
    lowering.carry_variable = carry_variable;
    // Nothing is emitted for a template that is given up, as far as that can be seen beforehand.
    if !statements.iter().all(|statement| lowering.knows(statement)) {
        return Ok(None);
    }
    for statement in &statements {
        if let Statement::Instruction(instruction) = statement
            && lowering.instruction(instruction)?.is_none()
        {
            return Ok(None);
        }
    }
    Ok((0..lowering.results.len())
        .map(|place| {
            let value = lowering.places.get(&place).copied()?;
            lowering.fit(value, lowering.results[place])
        })
        .collect())
}

pub(in crate::codegen::cpu) struct Lowering<'a, 'ctx> {
    pub(in crate::codegen::cpu) module: &'a Module<'ctx>,
    pub(in crate::codegen::cpu) library: &'a Library<'ctx>,
    pub(in crate::codegen::cpu) builder: Builder<'ctx>,
    pub(in crate::codegen::cpu) context: Value<'ctx>,
    pub(in crate::codegen::cpu) function: Value<'ctx>,
    /// The template's call.
    pub(in crate::codegen::cpu) call: Value<'ctx>,
    /// What the last instruction that has one left in the carry flag.
    pub(in crate::codegen::cpu) carry: Option<Value<'ctx>>,
    /// Where the flag is for templates behind this one, if one wants it.
    pub(in crate::codegen::cpu) carry_variable: Option<Value<'ctx>>,
    /// Types of the results.
    results: Vec<Type<'ctx>>,
    /// Values of results and inputs, by place.
    pub(super) places: HashMap<usize, Value<'ctx>>,
    pub(super) registers: HashMap<String, Value<'ctx>>,
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    fn new(
        module: &'a Module<'ctx>,
        call: Value<'ctx>,
        constraints: &str,
        library: &'a Library<'ctx>,
    ) -> Option<Self> {
        let count = constraints
            .split(',')
            .filter(|each| each.starts_with('='))
            .count();
        let results = match count {
            0 => Vec::new(),
            1 => vec![call.ty()],
            _ => call.ty().fields(),
        };
        let mut places = HashMap::new();
        let inputs = constraints
            .split(',')
            .filter(|each| !each.is_empty() && !each.starts_with(['=', '~']));
        let given = call.call_arguments();
        for (position, constraint) in inputs.enumerate() {
            let value = *given.get(position)?;
            places.insert(count + position, value);
            // A place that is read and written.
            if let Ok(tied) = constraint.parse() {
                places.insert(tied, value);
            }
        }
        (!constraints.contains('*') && results.len() == count).then(|| Self {
            module,
            library,
            builder: Builder::before(call),
            context: call.function_of_instruction().parameters()[0],
            function: call.function_of_instruction(),
            call,
            carry: None,
            carry_variable: None,
            results,
            places,
            registers: HashMap::new(),
        })
    }

    fn knows(&self, statement: &Statement) -> bool {
        let instruction = match statement {
            Statement::Registers { .. } => return true,
            Statement::Label(_) => return false,
            Statement::Instruction(instruction) => instruction,
        };
        let family = instruction.opcode[0].as_str();
        let elsewhere = ["const", "param", "local"];
        let computes = integer_operation(instruction).is_some()
            || float_operation(instruction).is_some()
            || arithmetic(instruction).is_some_and(|arithmetic| !arithmetic.leaves_carry())
            || video(instruction).is_some()
            || matches!(family, "mov" | "selp" | "setp");
        (instruction.predicate.is_none() || computes || may_be_skipped(instruction))
            && match family {
                // Kernels run one after another, but for versions of ours that begin early.
                "griddepcontrol" => true,
                _ if truth_operation(instruction).is_some() => true,
                _ if arithmetic(instruction).is_some() => true,
                _ if video(instruction).is_some() => true,
                "createpolicy" => !instruction.operands.is_empty(),
                "ld" | "st" => {
                    let operands = 2 + usize::from(instruction.has(CACHE_HINT));
                    bits(instruction).is_some()
                        && instruction.operands.len() == operands
                        && !elsewhere.iter().any(|space| instruction.has(space))
                }
                "prefetch" | "prefetchu" => true,
                "membar" | "fence" => is_fence(instruction),
                "barrier" if instruction.has("cluster") => {
                    self.library.has(&format!("asm.{}", instruction.name()))
                }
                "bar" | "barrier" => barrier(instruction).is_some(),
                "atom" | "red" => atomics::update(instruction).is_some(),
                "mbarrier" => shared_barrier::operation(instruction).is_some(),
                "selp" => bits(instruction).is_some(),
                "tex" | "tld4" | "suld" | "sust" => textures::access(instruction).is_some(),
                "cp" => {
                    waits(instruction)
                        || is_bulk_copy(instruction)
                        || shared_barrier::is_arrival_of_copies(instruction)
                        || instruction.has("async")
                            && (instruction.has("ca") || instruction.has("cg"))
                            && matches!(instruction.operands.len(), 3..=5)
                }
                "mov" | "cvta" => true,
                // The comparisons that are understood are operations on truth, above.
                "setp" => false,
                "mul" | "mad" if instruction.has("wide") => wide_product(instruction).is_some(),
                "ldmatrix" | "stmatrix" | "movmatrix" => matrices::transfer(instruction).is_some(),
                "cvt" if integer_conversion(instruction).is_some() => true,
                "cvt" if instruction.has("sat") => {
                    let plain = without_saturation(instruction);
                    plain.as_ref().is_some_and(is_identity)
                        || self.library.has(&format!(
                            "asm.{}",
                            plain.as_ref().unwrap_or(instruction).name()
                        ))
                }
                "shfl" => shuffle(instruction).is_some_and(|name| self.library.has(&name)),
                _ if computes => true,
                _ => self.library.has(&format!("asm.{}", instruction.name())),
            }
    }

    pub(in crate::codegen::cpu) fn integer(&self, bits: u32) -> Type<'ctx> {
        Type::integer(self.module, bits)
    }

    /// Emits an instruction; `None` when an operand is not what it should be. One with a predicate
    /// computes its result in any case and keeps it where the predicate says so.
    fn instruction(&mut self, instruction: &Instruction) -> Result<Option<()>, CodegenError> {
        let Some(predicate) = &instruction.predicate else {
            return self.execute(instruction);
        };
        let named = self.truth(&Operand::Name(predicate.clone()));
        let truth = named.or_else(|| self.truth(&Operand::Special(predicate.clone())));
        let Some(truth) = truth else {
            return Ok(None);
        };
        let truth = match instruction.negated {
            false => truth,
            true => self.inverse(truth),
        };
        if may_be_skipped(instruction) {
            return self.execute_where(truth, instruction);
        }
        let Some(result) = instruction.operands.first() else {
            return Ok(None);
        };
        let before = self.value(result, 1);
        if self.execute(instruction)?.is_none() {
            return Ok(None);
        }
        let Some(after) = self.value(result, 1) else {
            return Ok(None);
        };
        let before = before.and_then(|before| self.fit(before, after.ty()));
        let before = before.unwrap_or_else(|| after.ty().zero());
        let kept = self.builder.select(truth, after, before);
        Ok(self.assign(result, kept))
    }

    pub(in crate::codegen::cpu) fn execute(
        &mut self,
        instruction: &Instruction,
    ) -> Result<Option<()>, CodegenError> {
        let family = instruction.opcode[0].as_str();
        let operands = instruction.operands.as_slice();
        if let Some(truth) = truth_operation(instruction) {
            return self.compute_truth(truth, operands);
        }
        if let Some(arithmetic) = arithmetic(instruction) {
            return Ok(self.compute_integers(arithmetic, operands));
        }
        if let Some(video) = video(instruction) {
            return Ok(self.compute_video(video, operands));
        }
        Ok(match (family, operands) {
            ("griddepcontrol", _) => {
                if instruction.has("wait") && waits_for_launch(self.function) {
                    let wait = "__sirius_dependency_wait";
                    let function = self.library.declare(self.module, wait)?;
                    self.builder
                        .call(function.value_type(), function, &[self.context]);
                }
                Some(())
            }
            ("cp", _) if waits(instruction) => Some(()),
            // A hint.
            ("prefetch" | "prefetchu", _) => Some(()),
            ("bar" | "barrier", _) if !instruction.has("cluster") => {
                self.wait_at_barrier(instruction)?
            }
            ("membar" | "fence", []) | ("barrier", _) => {
                let name = match family {
                    "barrier" => &instruction.name(),
                    _ => "membar.gl",
                };
                let symbol = format!("{}asm.{name}", super::super::functions::PREFIX);
                let function = self.library.declare(self.module, &symbol)?;
                self.builder
                    .call(function.value_type(), function, &[self.context]);
                Some(())
            }
            ("cp", operands) if is_bulk_copy(instruction) => {
                self.copy_in_bulk(instruction, operands)?
            }
            ("cp", [_]) | ("mbarrier", _) => self.shared_barrier(instruction)?,
            ("tex" | "tld4" | "suld" | "sust", _) => self.texture(instruction)?,
            ("selp", _) => match bits(instruction) {
                Some(bits) => self.select_by_predicate(instruction, bits),
                None => None,
            },
            // How long caches keep what is copied changes no value.
            ("cp", [destination, source, size, told @ .., _policy])
                if instruction.has(CACHE_HINT) =>
            {
                let told = told.first().unwrap_or(size);
                self.copy(destination, source, [size, told])?
            }
            ("cp", [destination, source, size]) => self.copy(destination, source, [size, size])?,
            ("cp", [destination, source, size, told]) => {
                self.copy(destination, source, [size, told])?
            }
            ("atom" | "red", operands) => self.update_memory(instruction, operands)?,
            ("ld", [result, address]) => self.load(instruction, result, address)?,
            ("st", [address, value]) => self.store(instruction, address, value)?,
            ("ld", [result, address, _policy]) if instruction.has(CACHE_HINT) => {
                self.load(instruction, result, address)?
            }
            ("st", [address, value, _policy]) if instruction.has(CACHE_HINT) => {
                self.store(instruction, address, value)?
            }
            // What it makes says how long caches keep what is loaded.
            ("createpolicy", [result, ..]) => self.assign(result, self.integer(64).zero()),
            ("mul" | "mad", [result, rest @ ..]) if instruction.has("wide") => {
                self.widen_and_multiply(instruction, result, rest)
            }
            ("mov", [result, source]) => self.move_value(instruction, result, source),
            ("cvta", [result, source]) => self
                .value(source, 64)
                .and_then(|value| self.fit(value, self.integer(64)))
                .and_then(|value| self.assign(result, value)),
            ("cvt", [result, source]) => {
                if let Some(conversion) = integer_conversion(instruction) {
                    self.convert(conversion, result, source)
                } else if let Some(plain) = without_saturation(instruction) {
                    self.convert_saturating(&plain, result, source)?
                } else {
                    self.defined(instruction, result, std::slice::from_ref(source))?
                }
            }
            ("shfl", operands) => self.shuffle(instruction, operands)?,
            ("mma", operands) => self.multiply(instruction, operands)?,
            ("ldmatrix" | "stmatrix" | "movmatrix", operands) => {
                self.transfer_matrices(instruction, operands)?
            }
            (_, [result, rest @ ..]) => {
                if let Some((operation, bits)) = integer_operation(instruction) {
                    self.operate(operation, self.integer(bits), result, rest)
                } else if let Some((operation, double)) = float_operation(instruction) {
                    self.operate(operation, Type::float(self.module, double), result, rest)
                } else {
                    self.defined(instruction, result, rest)?
                }
            }
            _ => None,
        })
    }

    /// Tells of an access that comes next.
    pub(in crate::codegen::cpu) fn report(
        &self,
        address: Value<'ctx>,
        bytes: u64,
        kind: u64,
    ) -> Result<(), CodegenError> {
        let access = (address, bytes, kind);
        self.library
            .report_access(self.module, &self.builder, self.context, access)
    }

    fn load(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        address: &Operand,
    ) -> Result<Option<()>, CodegenError> {
        let (Some(bits), Some(pointer)) = (bits(instruction), self.pointer(address)?) else {
            return Ok(None);
        };
        let signed = instruction
            .opcode
            .last()
            .is_some_and(|name| name.starts_with('s'));
        let ordered = atomics::is_ordered(instruction);
        if ordered {
            self.give_way()?;
        }
        let results = parts(result);
        let bytes = results.len() as u64 * u64::from(bits) / 8;
        let kind = match atomics::is_ordered(instruction) {
            true => instrument::ATOMIC_LOAD,
            false => instrument::LOAD,
        };
        self.report(pointer, bytes, kind)?;
        for (position, part) in results.into_iter().enumerate() {
            let at = self.further(pointer, position as u64 * u64::from(bits) / 8);
            let mut value = self.builder.load_aligned(self.integer(bits), at, 1);
            if ordered {
                self.order(value, bits);
            }
            // Registers are wider than bytes; the sign fills them.
            if signed && bits < 32 {
                value = self.builder.cast(Opcode::LLVMSExt, value, self.integer(32));
            }
            if self.assign(part, value).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn store(
        &mut self,
        instruction: &Instruction,
        address: &Operand,
        value: &Operand,
    ) -> Result<Option<()>, CodegenError> {
        let (Some(bits), Some(pointer)) = (bits(instruction), self.pointer(address)?) else {
            return Ok(None);
        };
        let values = parts(value);
        let bytes = values.len() as u64 * u64::from(bits) / 8;
        let kind = match atomics::is_ordered(instruction) {
            true => instrument::ATOMIC_STORE,
            false => instrument::STORE,
        };
        self.report(pointer, bytes, kind)?;
        for (position, part) in values.into_iter().enumerate() {
            let value = self.value(part, bits);
            let Some(value) = value.and_then(|value| self.fit(value, self.integer(bits))) else {
                return Ok(None);
            };
            let at = self.further(pointer, position as u64 * u64::from(bits) / 8);
            let store = self.builder.store_aligned(value, at, 1);
            if atomics::is_ordered(instruction) {
                self.order(store, bits);
            }
        }
        Ok(Some(()))
    }

    /// `mov`, which also puts parts of a register together and takes them apart.
    fn move_value(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        source: &Operand,
    ) -> Option<()> {
        let bits = bits(instruction)?;
        let whole = self.integer(bits);
        let value = match source {
            Operand::Vector(parts) => {
                let each = bits / u32::try_from(parts.len()).ok()?;
                let mut sum = whole.zero();
                for (position, part) in parts.iter().enumerate() {
                    let part = self.fit(self.value(part, each)?, self.integer(each))?;
                    let part = self.resize(part, bits);
                    let places = whole.constant(position as u64 * u64::from(each));
                    let moved = self.builder.binary(Opcode::LLVMShl, part, places);
                    sum = self.builder.binary(Opcode::LLVMOr, sum, moved);
                }
                sum
            }
            _ => self.value(source, bits)?,
        };
        let Operand::Vector(parts) = result else {
            return self.assign(result, value);
        };
        let value = self.fit(value, whole)?;
        let each = bits / u32::try_from(parts.len()).ok()?;
        for (position, part) in parts.iter().enumerate() {
            let places = whole.constant(position as u64 * u64::from(each));
            let moved = self.builder.binary(Opcode::LLVMLShr, value, places);
            let moved = self.resize(moved, each);
            self.assign(part, moved)?;
        }
        Some(())
    }

    /// `mul.wide` and `mad.wide`: the whole product.
    fn widen_and_multiply(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        operands: &[Operand],
    ) -> Option<()> {
        let (bits, signed) = wide_product(instruction)?;
        let wide = self.integer(2 * bits);
        let widen = match signed {
            true => Opcode::LLVMSExt,
            false => Opcode::LLVMZExt,
        };
        let mut factors = Vec::new();
        for operand in operands.get(..2)? {
            let factor = self.fit(self.value(operand, bits)?, self.integer(bits))?;
            factors.push(self.builder.cast(widen, factor, wide));
        }
        let mut value = self.builder.binary(Opcode::LLVMMul, factors[0], factors[1]);
        if let Some(addend) = operands.get(2) {
            let addend = self.fit(self.value(addend, 2 * bits)?, wide)?;
            value = self.builder.binary(Opcode::LLVMAdd, value, addend);
        }
        self.assign(result, value)
    }

    fn operate(
        &mut self,
        operation: Opcode,
        ty: Type<'ctx>,
        result: &Operand,
        operands: &[Operand],
    ) -> Option<()> {
        let [left, right] = operands else {
            return None;
        };
        let bits = ty.allocation_bytes(self.module) as u32 * 8;
        let left = self.fit(self.value(left, bits)?, ty)?;
        let right = self.fit(self.value(right, bits)?, ty)?;
        let value = self.builder.binary(operation, left, right);
        self.assign(result, value)
    }

    /// `shfl.sync.MODE.b32 result[|in range], value, operand, clamp, mask`.
    fn shuffle(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let (results, inputs) = operands.split_at(operands.len().saturating_sub(4));
        let (Some(name), [value, operand, clamp, mask]) = (shuffle(instruction), inputs) else {
            return Ok(None);
        };
        let word = self.integer(32);
        let mut arguments = vec![self.context];
        for input in [mask, value, operand, clamp] {
            let input = self
                .value(input, 32)
                .and_then(|input| self.fit(input, word));
            let Some(input) = input else {
                return Ok(None);
            };
            arguments.push(input);
        }
        let symbol = format!("{}{name}", super::super::functions::PREFIX);
        let function = self.library.declare(self.module, &symbol)?;
        let both = self
            .builder
            .call(function.value_type(), function, &arguments);
        for (position, result) in (0..).zip(results) {
            let part = self.builder.extract(both, position);
            if self.assign(result, part).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    pub(in crate::codegen::cpu) fn defined(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let symbol = format!(
            "{}asm.{}",
            super::super::functions::PREFIX,
            instruction.name()
        );
        let function = self.library.declare(self.module, &symbol)?;
        let ty = function.value_type();
        let wanted = ty.parameters();
        if wanted.len() != operands.len() + 1 {
            return Ok(None);
        }
        let mut arguments = vec![self.context];
        for (operand, wanted) in operands.iter().zip(&wanted[1..]) {
            let bits = wanted.allocation_bytes(self.module) as u32 * 8;
            let value = self.value(operand, bits);
            let Some(value) = value.and_then(|value| self.fit(value, *wanted)) else {
                return Ok(None);
            };
            arguments.push(value);
        }
        let value = self.builder.call(ty, function, &arguments);
        Ok(self.assign(result, value))
    }
}

/// The elements of a vector operand, or the operand.
pub(in crate::codegen::cpu) fn parts(operand: &Operand) -> Vec<&Operand> {
    match operand {
        Operand::Vector(parts) => parts.iter().collect(),
        other => vec![other],
    }
}

/// Whether an instruction orders accesses to memory and nothing else. Scope and order come in either sequence:
/// CUDA's own `cuda::atomic` writes `fence.gpu.sc`.
fn is_fence(instruction: &Instruction) -> bool {
    const WORDS: [&str; 9] = [
        "sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "gl",
    ];
    let mut words = instruction.opcode.iter().skip(1);
    instruction.operands.is_empty() && words.all(|word| WORDS.contains(&word.as_str()))
}

/// Bits of the instruction's last type.
fn bits(instruction: &Instruction) -> Option<u32> {
    match instruction.opcode.last()?.as_str() {
        "f16x2" | "bf16x2" => Some(32),
        name => width(name).map(|(bits, _)| bits),
    }
}

/// Bits of a type's name, and whether it is a signed integer.
pub(in crate::codegen::cpu) fn width(name: &str) -> Option<(u32, bool)> {
    let digits = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let bits = digits.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then(|| (bits, name.starts_with('s')))
}

/// Bits of the factors of `mul.wide` and `mad.wide`, and whether they are signed.
fn wide_product(instruction: &Instruction) -> Option<(u32, bool)> {
    let (bits, signed) = match instruction.opcode.as_slice() {
        [_, wide, name] if wide == "wide" && name.starts_with(['u', 's']) => width(name)?,
        _ => return None,
    };
    let operands = if instruction.opcode[0] == "mad" { 4 } else { 3 };
    (matches!(bits, 16 | 32) && instruction.operands.len() == operands).then_some((bits, signed))
}

/// The definition of a shuffle with one or two results.
fn shuffle(instruction: &Instruction) -> Option<String> {
    let known = matches!(instruction.operands.len(), 5 | 6);
    match instruction.opcode.as_slice() {
        // NVIDIA's assembler takes the mode on either side.
        [_, first, second, bits] if known && bits == "b32" => {
            let mode = match (first.as_str(), second.as_str()) {
                ("sync", mode) | (mode, "sync") => mode,
                _ => return None,
            };
            Some(format!("llvm.nvvm.shfl.sync.{mode}.i32p"))
        }
        _ => None,
    }
}

/// Names one more operand, which changes no value.
const CACHE_HINT: &str = "L2::cache_hint";

/// Arithmetic of floats, rounded to nearest, and whether they are doubles.
fn float_operation(instruction: &Instruction) -> Option<(Opcode, bool)> {
    let (operation, name) = match instruction.opcode.as_slice() {
        [operation, rounding, name] if rounding == "rn" => (operation, name),
        [operation, name] => (operation, name),
        _ => return None,
    };
    let operation = match operation.as_str() {
        "add" => Opcode::LLVMFAdd,
        "sub" => Opcode::LLVMFSub,
        "mul" => Opcode::LLVMFMul,
        _ => return None,
    };
    let double = match name.as_str() {
        "f32" => false,
        "f64" => true,
        _ => return None,
    };
    (instruction.operands.len() == 3).then_some((operation, double))
}

/// Arithmetic of integers that LLVM has in the same meaning.
fn integer_operation(instruction: &Instruction) -> Option<(Opcode, u32)> {
    let (operation, name) = match instruction.opcode.as_slice() {
        [operation, low, name] if operation == "mul" && low == "lo" => ("mul", name),
        [operation, name] => (operation.as_str(), name),
        _ => return None,
    };
    if instruction.operands.len() != 3 || name.starts_with('f') {
        return None;
    }
    let (bits, _) = width(name)?;
    let operation = match operation {
        "add" => Opcode::LLVMAdd,
        "sub" => Opcode::LLVMSub,
        "mul" => Opcode::LLVMMul,
        "and" => Opcode::LLVMAnd,
        "or" => Opcode::LLVMOr,
        "xor" => Opcode::LLVMXor,
        _ => return None,
    };
    // Half-precision names begin with letters of their own.
    name.starts_with(['u', 's', 'b'])
        .then_some((operation, bits))
        .filter(|_| !name.starts_with("bf"))
}
