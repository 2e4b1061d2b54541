//! LLVM's host module -> [`HostModule`].
//!
//! This file and its module are the only ones of the stage that look into LLVM's functions.

mod exact;
mod text;

pub use exact::exact;

use super::super::calls::{self, Action};
use super::super::host_ir::*;
use crate::llvm::{
    self, FUNCTION_ATTRIBUTES, Layout, Linkage, TypeKind, ValueKind, parameter_attributes,
};
use crate::program::is_users;
use inkwell::module::Module;
use std::collections::HashMap;
use text::{constant_text, location};

/// Reads `module`. In a `closed` program no name of a user's is seen outside of it.
pub fn read_host_module(module: &Module<'_>, closed: bool) -> HostModule {
    Reader::new(module, closed).read()
}

struct Reader<'m, 'ctx> {
    module: &'m Module<'ctx>,
    closed: bool,
    layout: Layout<'m>,
    functions: HashMap<llvm::Value<'ctx>, usize>,
    globals: HashMap<llvm::Value<'ctx>, usize>,
    constants: HashMap<llvm::Value<'ctx>, usize>,
    host: HostModule,
}

impl<'m, 'ctx> Reader<'m, 'ctx> {
    fn new(module: &'m Module<'ctx>, closed: bool) -> Self {
        Self {
            module,
            closed,
            layout: Layout::of(module),
            functions: HashMap::new(),
            globals: HashMap::new(),
            constants: HashMap::new(),
            host: HostModule {
                closed,
                ..HostModule::default()
            },
        }
    }

    fn read(mut self) -> HostModule {
        let functions = llvm::Value::functions(self.module);
        let numbered = functions.iter().copied().zip(0..);
        self.functions = numbered.collect();
        let globals = llvm::Value::globals(self.module);
        let numbered = globals.iter().copied().zip(0..);
        self.globals = numbered.collect();
        for global in globals {
            let initializer = global.initializer().map(|initializer| {
                let mut cells = Vec::new();
                self.cells(initializer, 0, &mut cells);
                cells
            });
            self.host.globals.push(Global {
                name: global.name(),
                internal: self.is_internal(global, false),
                constant: global.is_constant_global(),
                text: constant_text(global),
                initializer,
            });
        }
        for function in functions {
            let read = self.function(function);
            self.host.functions.push(read);
        }
        self.mark_address_taken();
        self.host
    }

    fn mark_address_taken(&mut self) {
        let mut taken = vec![false; self.host.functions.len()];
        let mut mark = |operand: &Operand| {
            if let Operand::Function(function) = operand {
                taken[*function] = true;
            }
        };
        for global in &self.host.globals {
            let cells = global.initializer.iter().flatten();
            cells.for_each(|(_, mentioned)| mark(mentioned));
        }
        self.host.constants.iter().flatten().for_each(&mut mark);
        for function in &self.host.functions {
            for instruction in &function.instructions {
                instruction.operands.iter().for_each(&mut mark);
            }
        }
        for (function, taken) in self.host.functions.iter_mut().zip(taken) {
            function.address_taken = taken;
        }
    }

    fn function(&mut self, function: llvm::Value<'ctx>) -> Function {
        let parameters = function.parameters();
        let mut locals: HashMap<llvm::Value, Operand> = parameters
            .iter()
            .enumerate()
            .map(|(index, value)| (*value, Operand::Parameter(index)))
            .collect();
        let mut block_ids: HashMap<llvm::Block, usize> = HashMap::new();
        let mut raw = Vec::new();
        let mut blocks = Vec::new();
        for block in function.blocks() {
            let index = blocks.len();
            block_ids.insert(block, index);
            let start = raw.len();
            for instruction in block.instructions() {
                locals.insert(instruction, Operand::Instruction(raw.len()));
                raw.push((instruction, index));
            }
            blocks.push(Block {
                instructions: start..raw.len(),
                successors: Vec::new(),
                returns: false,
            });
        }
        let mut instructions = Vec::with_capacity(raw.len());
        for (value, block) in raw {
            if value.is_terminator() {
                blocks[block].returns = value.opcode() == Some(llvm::Opcode::LLVMRet);
                for successor in value.successors() {
                    let target = block_ids[&successor];
                    if !blocks[block].successors.contains(&target) {
                        blocks[block].successors.push(target);
                    }
                }
            }
            instructions.push(self.instruction(value, block, &locals, &block_ids));
        }
        let mut name = function.name();
        // What the program defines itself is no question to the runtime, whatever it is called.
        let asks = calls::runtime_call(&name).is_some_and(|call| call.action == Action::Check);
        if !blocks.is_empty() && asks {
            name += "@program";
        }
        Function {
            name,
            parameters: parameters.iter().map(|p| self.type_of(p.ty())).collect(),
            internal: self.is_internal(function, true),
            inline: matches!(
                function.linkage(),
                Linkage::LLVMLinkOnceAnyLinkage | Linkage::LLVMLinkOnceODRLinkage
            ),
            address_taken: false,
            fuses_products: fuses_products(function),
            blocks,
            instructions,
        }
    }

    fn effects(&self, attribute: &dyn Fn(&str) -> Option<u64>) -> Effects {
        // Two bits a location (1 reads, 2 writes): arguments, inaccessible, errno, other.
        let bits = attribute("memory").unwrap_or(u64::MAX);
        Effects {
            reads: bits & 0b0101_0101 != 0,
            writes_arguments: bits & 0b10 != 0,
            writes_elsewhere: bits & 0b1000_1000 != 0,
            writes_error_number: bits & 0b10_0000 != 0,
            no_unwind: attribute("nounwind").is_some(),
            will_return: attribute("willreturn").is_some(),
        }
    }

    fn type_of(&self, ty: llvm::Type) -> Type {
        match ty.kind() {
            TypeKind::LLVMIntegerTypeKind => Type::Integer(ty.integer_bits()),
            TypeKind::LLVMFloatTypeKind => Type::Float(32),
            TypeKind::LLVMDoubleTypeKind => Type::Float(64),
            TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => Type::Float(16),
            TypeKind::LLVMPointerTypeKind => Type::Pointer,
            TypeKind::LLVMVoidTypeKind => Type::Void,
            _ if ty.is_sized() => Type::Other(self.layout.access_bytes(ty)),
            _ => Type::Other(0),
        }
    }

    fn scalar_fields(
        &self,
        ty: llvm::Type<'ctx>,
        offset: u64,
        path: &mut Vec<u32>,
        fields: &mut Vec<Field>,
    ) {
        let (count, is_struct) = match ty.kind() {
            TypeKind::LLVMStructTypeKind => (ty.field_count(), true),
            // Long arrays by value are padding or data; pieces of them help nobody.
            TypeKind::LLVMArrayTypeKind => (ty.array_length().min(64) as u32, false),
            _ => {
                let ty = self.type_of(ty);
                fields.push(Field {
                    offset,
                    path: path.clone(),
                    ty,
                });
                return;
            }
        };
        for index in 0..count {
            let (element, at) = if is_struct {
                let at = self.layout.field_offset(ty, index);
                (ty.field(index), at)
            } else {
                let element = ty.element();
                (
                    element,
                    u64::from(index) * self.layout.allocation_bytes(element),
                )
            };
            path.push(index);
            self.scalar_fields(element, offset + at, path, fields);
            path.pop();
        }
    }

    fn operand(
        &mut self,
        value: llvm::Value<'ctx>,
        locals: &HashMap<llvm::Value<'ctx>, Operand>,
    ) -> Operand {
        if let Some(local) = locals.get(&value) {
            return *local;
        }
        if value.is_constant() {
            self.constant(value)
        } else {
            Operand::Undefined
        }
    }

    fn constant(&mut self, value: llvm::Value<'ctx>) -> Operand {
        if let Some(function) = self.functions.get(&value) {
            return Operand::Function(*function);
        }
        if let Some(global) = self.globals.get(&value) {
            return Operand::Global(*global, 0);
        }
        let ty = value.ty();
        match value.value_kind() {
            ValueKind::LLVMConstantIntValueKind if ty.integer_bits() <= 64 => {
                return Operand::Integer {
                    bits: ty.integer_bits(),
                    value: value.signed_integer().unwrap_or_default(),
                };
            }
            ValueKind::LLVMConstantFPValueKind => {
                let (number, is_exact) = value.constant_float();
                match ty.kind() {
                    // A NaN's payload may not survive the way through a double.
                    _ if number.is_nan() || !is_exact => {}
                    TypeKind::LLVMFloatTypeKind => {
                        let pattern = u64::from((number as f32).to_bits());
                        return Operand::Float { bits: 32, pattern };
                    }
                    TypeKind::LLVMDoubleTypeKind => {
                        return Operand::Float {
                            bits: 64,
                            pattern: number.to_bits(),
                        };
                    }
                    _ => {}
                }
            }
            ValueKind::LLVMConstantPointerNullValueKind => return Operand::Null,
            ValueKind::LLVMUndefValueValueKind | ValueKind::LLVMPoisonValueKind => {
                return Operand::Undefined;
            }
            ValueKind::LLVMConstantExprValueKind
                if value.constant_opcode() == llvm::Opcode::LLVMIntToPtr =>
            {
                // A small number in a pointer's place.
                let number = self.constant(value.operand(0));
                if let Operand::Integer { bits: 64, .. } = number {
                    return number;
                }
            }
            ValueKind::LLVMConstantExprValueKind
                if value.constant_opcode() == llvm::Opcode::LLVMGetElementPtr =>
            {
                let base = self.constant(value.operand(0));
                if let (Operand::Global(global, offset), Some((constant, scaled))) =
                    (base, self.address_terms(value))
                    && scaled.is_empty()
                {
                    return Operand::Global(global, offset.wrapping_add(constant));
                }
            }
            _ => {}
        }
        if let Some(known) = self.constants.get(&value) {
            return Operand::Constant(*known);
        }
        let index = self.host.constants.len();
        self.constants.insert(value, index);
        self.host.constants.push(Vec::new());
        let mentioned = self.mentioned_within(value);
        self.host.constants[index] = mentioned;
        if ty.kind() == TypeKind::LLVMStructTypeKind {
            let mut members = Vec::new();
            for member in 0..ty.field_count() {
                let member = value.constant_element(member);
                members.push(member.map_or(Operand::Undefined, |member| self.constant(member)));
            }
            self.host.members.insert(index, members);
        }
        Operand::Constant(index)
    }

    /// Whether only code of the module knows a global or function by its name.
    fn is_internal(&self, value: llvm::Value, is_function: bool) -> bool {
        let is_users = || !value.is_declaration() && is_users(&value.name(), is_function);
        value.is_local() || self.closed && is_users()
    }

    /// Adds what a global's initial value mentions, from byte `at` of it on.
    fn cells(
        &mut self,
        value: llvm::Value<'ctx>,
        at: i64,
        found: &mut Vec<(Option<i64>, Operand)>,
    ) {
        let ty = value.ty();
        match value.value_kind() {
            ValueKind::LLVMConstantStructValueKind => {
                for member in 0..ty.field_count() {
                    let offset = self.layout.field_offset(ty, member);
                    let member = value.operand(member);
                    self.cells(member, at.wrapping_add(offset as i64), found);
                }
            }
            ValueKind::LLVMConstantArrayValueKind => {
                let bytes = self.layout.allocation_bytes(ty.element()) as i64;
                for (index, element) in (0..).zip(value.operands()) {
                    let offset = bytes.wrapping_mul(index);
                    self.cells(element, at.wrapping_add(offset), found);
                }
            }
            _ => {
                let is_pointer = ty.kind() == TypeKind::LLVMPointerTypeKind;
                let place = is_pointer.then_some(at);
                let operand = self.constant(value);
                let mentions = match operand {
                    Operand::Constant(index) => !self.host.constants[index].is_empty(),
                    Operand::Global(..) | Operand::Function(_) => true,
                    _ => false,
                };
                found.extend(mentions.then_some((place, operand)));
            }
        }
    }

    fn mentioned(&mut self, value: llvm::Value<'ctx>) -> Vec<Operand> {
        match self.constant(value) {
            Operand::Constant(index) => self.host.constants[index].clone(),
            operand @ (Operand::Global(..) | Operand::Function(_)) => vec![operand],
            _ => Vec::new(),
        }
    }

    fn mentioned_within(&mut self, value: llvm::Value<'ctx>) -> Vec<Operand> {
        let kind = value.value_kind();
        if kind == ValueKind::LLVMConstantDataArrayValueKind
            || kind == ValueKind::LLVMConstantDataVectorValueKind
        {
            return Vec::new();
        }
        let mut found = Vec::new();
        for operand in value.operands() {
            if !operand.is_null() && operand.is_constant() {
                found.extend(self.mentioned(operand));
            }
        }
        found
    }

    /// The constant bytes and the (operand index, scale) terms of an address computation.
    fn address_terms(&self, value: llvm::Value) -> Option<(i64, Vec<(u32, i64)>)> {
        let mut ty = value.element_pointer_source_type();
        let mut constant = 0_i64;
        let mut scaled = Vec::new();
        for (index, operand) in (0..).zip(value.operands()).skip(1) {
            let kind = operand.ty().kind();
            if kind != TypeKind::LLVMIntegerTypeKind {
                return None;
            }
            if index > 1 {
                match ty.kind() {
                    TypeKind::LLVMStructTypeKind => {
                        let element = operand.constant_integer().unwrap_or_default() as u32;
                        let offset = self.layout.field_offset(ty, element);
                        constant = constant.checked_add(i64::try_from(offset).ok()?)?;
                        ty = ty.field(element);
                        continue;
                    }
                    TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => {
                        ty = ty.element();
                    }
                    _ => return None,
                }
            }
            let scale = i64::try_from(self.layout.allocation_bytes(ty)).ok()?;
            if operand.value_kind() == ValueKind::LLVMConstantIntValueKind {
                let step = operand.signed_integer()?.checked_mul(scale)?;
                constant = constant.checked_add(step)?;
            } else {
                scaled.push((index, scale));
            }
        }
        Some((constant, scaled))
    }

    fn instruction(
        &mut self,
        value: llvm::Value<'ctx>,
        block: usize,
        locals: &HashMap<llvm::Value<'ctx>, Operand>,
        block_ids: &HashMap<llvm::Block<'ctx>, usize>,
    ) -> Instruction {
        let code = value.opcode().expect("only instructions stand in blocks");
        let mut operands = Vec::new();
        if !matches!(
            code,
            llvm::Opcode::LLVMPHI | llvm::Opcode::LLVMCall | llvm::Opcode::LLVMInvoke
        ) {
            for operand in value.operands() {
                if !operand.is_null() && operand.value_kind() != ValueKind::LLVMBasicBlockValueKind
                {
                    operands.push(self.operand(operand, locals));
                }
            }
        }
        let ordered = |value: llvm::Value| value.is_volatile() || value.is_atomic();
        let opcode = match code {
            llvm::Opcode::LLVMPHI => {
                let mut blocks = Vec::new();
                for (incoming, block) in value.incoming() {
                    operands.push(self.operand(incoming, locals));
                    blocks.push(block_ids[&block]);
                }
                Opcode::Phi { blocks }
            }
            llvm::Opcode::LLVMLoad => Opcode::Load {
                ordered: ordered(value),
            },
            llvm::Opcode::LLVMStore => Opcode::Store {
                ordered: ordered(value),
                stored: self.type_of(value.operand(0).ty()),
            },
            llvm::Opcode::LLVMAtomicRMW
            | llvm::Opcode::LLVMAtomicCmpXchg
            | llvm::Opcode::LLVMFence => Opcode::Atomic,
            llvm::Opcode::LLVMAlloca => {
                let unit = self.layout.allocation_bytes(value.allocated_type());
                let bytes = match operands.first() {
                    Some(Operand::Integer { value, .. }) => u64::try_from(*value)
                        .ok()
                        .and_then(|count| count.checked_mul(unit)),
                    _ => None,
                };
                Opcode::Alloca { bytes }
            }
            llvm::Opcode::LLVMGetElementPtr => match self.address_terms(value) {
                Some((constant, scaled)) => {
                    let all = std::mem::take(&mut operands);
                    operands.push(all[0]);
                    operands.extend(scaled.iter().map(|(index, _)| all[*index as usize]));
                    let scales = scaled.iter().map(|(_, scale)| *scale).collect();
                    let in_bounds = value.is_in_bounds();
                    Opcode::Address {
                        constant,
                        scales,
                        in_bounds,
                    }
                }
                None => Opcode::Other,
            },
            llvm::Opcode::LLVMCall | llvm::Opcode::LLVMInvoke => self.call(
                value,
                code == llvm::Opcode::LLVMInvoke,
                &mut operands,
                locals,
            ),
            llvm::Opcode::LLVMExtractValue => {
                let indices = value.indices();
                Opcode::Extract { indices }
            }
            llvm::Opcode::LLVMInsertValue => {
                let indices = value.indices();
                Opcode::Insert { indices }
            }
            llvm::Opcode::LLVMShuffleVector => Opcode::Combine,
            llvm::Opcode::LLVMFreeze => Opcode::Freeze,
            llvm::Opcode::LLVMRet => Opcode::Return,
            llvm::Opcode::LLVMUnreachable => Opcode::Unreachable,
            _ if value.is_terminator() => Opcode::Terminator,
            _ => match pure_operation(value, code) {
                Some(operation) => Opcode::Pure {
                    operation,
                    no_signed_wrap: match code {
                        llvm::Opcode::LLVMAdd
                        | llvm::Opcode::LLVMSub
                        | llvm::Opcode::LLVMMul
                        | llvm::Opcode::LLVMShl => value.has_no_signed_wrap(),
                        llvm::Opcode::LLVMZExt => value.is_of_no_negative(),
                        _ => false,
                    },
                },
                None => Opcode::Other,
            },
        };
        Instruction {
            opcode,
            operands,
            result: self.type_of(value.ty()),
            fast_math: value.has_fast_math(),
            block,
            name: value.name(),
            location: location(value),
        }
    }

    fn call(
        &mut self,
        value: llvm::Value<'ctx>,
        invoke: bool,
        operands: &mut Vec<Operand>,
        locals: &HashMap<llvm::Value<'ctx>, Operand>,
    ) -> Opcode {
        let mut by_value = Vec::new();
        let mut structs = Vec::new();
        for (index, argument) in (0..).zip(value.call_arguments()) {
            // Metadata arguments of debug intrinsics read as undefined values.
            operands.push(self.operand(argument, locals));
            let passed = value.call_type_attribute(parameter_attributes(index), "byval");
            let mut fields = Vec::new();
            if let Some(ty) = passed {
                self.scalar_fields(ty, 0, &mut Vec::new(), &mut fields);
                by_value.push((index as usize, fields));
            } else if argument.ty().kind() == TypeKind::LLVMStructTypeKind {
                self.scalar_fields(argument.ty(), 0, &mut Vec::new(), &mut fields);
                structs.push((index as usize, fields));
            }
        }
        let called = value.called();
        let callee = self.functions.get(&called).copied();
        let through = callee.is_none().then(|| self.operand(called, locals));
        let site = self.effects(&|name| value.call_integer_attribute(FUNCTION_ATTRIBUTES, name));
        let effects = match callee {
            None => site,
            Some(_) => {
                let declared =
                    self.effects(&|name| called.integer_attribute(FUNCTION_ATTRIBUTES, name));
                Effects {
                    reads: site.reads && declared.reads,
                    writes_arguments: site.writes_arguments && declared.writes_arguments,
                    writes_elsewhere: site.writes_elsewhere && declared.writes_elsewhere,
                    writes_error_number: site.writes_error_number && declared.writes_error_number,
                    no_unwind: site.no_unwind || declared.no_unwind,
                    will_return: site.will_return || declared.will_return,
                }
            }
        };
        Opcode::Call {
            callee,
            through,
            effects,
            invoke,
            by_value,
            structs,
        }
    }
}

fn pure_operation(value: llvm::Value, code: llvm::Opcode) -> Option<Operation> {
    Some(match code {
        llvm::Opcode::LLVMAdd => Operation::Add,
        llvm::Opcode::LLVMSub => Operation::Subtract,
        llvm::Opcode::LLVMMul => Operation::Multiply,
        llvm::Opcode::LLVMShl => Operation::ShiftLeft,
        llvm::Opcode::LLVMLShr => Operation::ShiftRightLogical,
        llvm::Opcode::LLVMOr => Operation::Or,
        llvm::Opcode::LLVMAnd => Operation::And,
        llvm::Opcode::LLVMSDiv => Operation::DivideSigned,
        llvm::Opcode::LLVMUDiv => Operation::DivideUnsigned,
        llvm::Opcode::LLVMZExt => Operation::ZeroExtend,
        llvm::Opcode::LLVMSExt => Operation::SignExtend,
        llvm::Opcode::LLVMTrunc => Operation::Truncate,
        llvm::Opcode::LLVMSelect => Operation::Select,
        llvm::Opcode::LLVMPtrToInt | llvm::Opcode::LLVMIntToPtr => Operation::Reinterpret,
        llvm::Opcode::LLVMICmp => Operation::Other(code as u32, value.integer_predicate()? as u32),
        llvm::Opcode::LLVMFCmp => Operation::Other(code as u32, value.float_predicate() as u32),
        llvm::Opcode::LLVMAShr
        | llvm::Opcode::LLVMXor
        | llvm::Opcode::LLVMSRem
        | llvm::Opcode::LLVMURem
        | llvm::Opcode::LLVMFAdd
        | llvm::Opcode::LLVMFSub
        | llvm::Opcode::LLVMFMul
        | llvm::Opcode::LLVMFDiv
        | llvm::Opcode::LLVMFRem
        | llvm::Opcode::LLVMFNeg
        | llvm::Opcode::LLVMFPToSI
        | llvm::Opcode::LLVMFPToUI
        | llvm::Opcode::LLVMSIToFP
        | llvm::Opcode::LLVMUIToFP
        | llvm::Opcode::LLVMFPExt
        | llvm::Opcode::LLVMFPTrunc
        | llvm::Opcode::LLVMBitCast
        | llvm::Opcode::LLVMInsertElement
        | llvm::Opcode::LLVMExtractElement => Operation::Other(code as u32, 0),
        _ => return None,
    })
}

fn fuses_products(function: llvm::Value) -> bool {
    let features = function.string_attribute("target-features");
    features.is_some_and(|features| features.contains("+fma"))
}
