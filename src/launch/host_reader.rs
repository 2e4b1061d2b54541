//! LLVM's host module -> [`HostModule`].
//!
//! This file and its module are the only ones of the stage that talk to LLVM.

mod exact;
mod text;

pub use exact::exact;

use super::calls::{self, Action};
use super::host_ir::*;
use crate::program::is_users;
use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMLinkage, LLVMOpcode, LLVMTypeKind, LLVMValueKind};
use std::collections::HashMap;
use text::{constant_text, location, value_name};

/// Reads `module`. In a `closed` program no name of a user's is seen outside of it.
pub fn read_host_module(module: &Module<'_>, closed: bool) -> HostModule {
    // SAFETY: the module is alive for the whole call, the reader keeps no reference past it, and
    // every call below is a query that fits the kind of value that it is given.
    unsafe { Reader::new(module.as_mut_ptr(), closed).read() }
}

struct Reader {
    module: LLVMModuleRef,
    closed: bool,
    layout: LLVMTargetDataRef,
    functions: HashMap<LLVMValueRef, usize>,
    globals: HashMap<LLVMValueRef, usize>,
    constants: HashMap<LLVMValueRef, usize>,
    host: HostModule,
    memory_attribute: u32,
    no_unwind_attribute: u32,
    will_return_attribute: u32,
    by_value_attribute: u32,
}

const FUNCTION_INDEX: u32 = u32::MAX;

impl Reader {
    unsafe fn new(module: LLVMModuleRef, closed: bool) -> Self {
        // SAFETY: as for `read_host_module`.
        unsafe {
            let kind =
                |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            Self {
                module,
                closed,
                layout: LLVMGetModuleDataLayout(module),
                functions: HashMap::new(),
                globals: HashMap::new(),
                constants: HashMap::new(),
                host: HostModule {
                    closed,
                    ..HostModule::default()
                },
                memory_attribute: kind("memory"),
                no_unwind_attribute: kind("nounwind"),
                will_return_attribute: kind("willreturn"),
                by_value_attribute: kind("byval"),
            }
        }
    }

    unsafe fn read(mut self) -> HostModule {
        // SAFETY: as for `read_host_module`.
        unsafe {
            let mut function = LLVMGetFirstFunction(self.module);
            while !function.is_null() {
                self.functions.insert(function, self.functions.len());
                function = LLVMGetNextFunction(function);
            }
            let mut globals = Vec::new();
            let mut global = LLVMGetFirstGlobal(self.module);
            while !global.is_null() {
                self.globals.insert(global, globals.len());
                globals.push(global);
                global = LLVMGetNextGlobal(global);
            }
            for global in globals {
                let initializer = LLVMGetInitializer(global);
                let initializer = (!initializer.is_null()).then(|| {
                    let mut cells = Vec::new();
                    self.cells(initializer, 0, &mut cells);
                    cells
                });
                self.host.globals.push(Global {
                    name: value_name(global),
                    internal: self.is_internal(global, false),
                    constant: LLVMIsGlobalConstant(global) != 0,
                    text: constant_text(global),
                    initializer,
                });
            }
            let mut function = LLVMGetFirstFunction(self.module);
            while !function.is_null() {
                let read = self.function(function);
                self.host.functions.push(read);
                function = LLVMGetNextFunction(function);
            }
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

    unsafe fn function(&mut self, function: LLVMValueRef) -> Function {
        // SAFETY: as for `read_host_module`.
        unsafe {
            let parameters: Vec<_> = (0..LLVMCountParams(function))
                .map(|i| LLVMGetParam(function, i))
                .collect();
            let mut locals: HashMap<LLVMValueRef, Operand> = parameters
                .iter()
                .enumerate()
                .map(|(index, value)| (*value, Operand::Parameter(index)))
                .collect();
            let mut block_ids: HashMap<LLVMBasicBlockRef, usize> = HashMap::new();
            let mut raw = Vec::new();
            let mut blocks = Vec::new();
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let index = blocks.len();
                block_ids.insert(block, index);
                let start = raw.len();
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    locals.insert(instruction, Operand::Instruction(raw.len()));
                    raw.push((instruction, index));
                    instruction = LLVMGetNextInstruction(instruction);
                }
                blocks.push(Block {
                    instructions: start..raw.len(),
                    successors: Vec::new(),
                    returns: false,
                });
                block = LLVMGetNextBasicBlock(block);
            }
            let mut instructions = Vec::with_capacity(raw.len());
            for (value, block) in raw {
                if !LLVMIsATerminatorInst(value).is_null() {
                    blocks[block].returns = !LLVMIsAReturnInst(value).is_null();
                    for successor in 0..LLVMGetNumSuccessors(value) {
                        let target = block_ids[&LLVMGetSuccessor(value, successor)];
                        if !blocks[block].successors.contains(&target) {
                            blocks[block].successors.push(target);
                        }
                    }
                }
                instructions.push(self.instruction(value, block, &locals, &block_ids));
            }
            let mut name = value_name(function);
            // What the program defines itself is no question to the runtime, whatever it is called.
            let asks = calls::runtime_call(&name).is_some_and(|call| call.action == Action::Check);
            if !blocks.is_empty() && asks {
                name += "@program";
            }
            Function {
                name,
                parameters: parameters
                    .iter()
                    .map(|p| self.type_of(LLVMTypeOf(*p)))
                    .collect(),
                internal: self.is_internal(function, true),
                inline: matches!(
                    LLVMGetLinkage(function),
                    LLVMLinkage::LLVMLinkOnceAnyLinkage | LLVMLinkage::LLVMLinkOnceODRLinkage
                ),
                address_taken: false,
                fuses_products: fuses_products(function),
                blocks,
                instructions,
            }
        }
    }

    unsafe fn effects(&self, attribute: &dyn Fn(u32) -> LLVMAttributeRef) -> Effects {
        // SAFETY: as for `read_host_module`; a null attribute is not asked for its value.
        unsafe {
            let has = |kind| !attribute(kind).is_null();
            let memory = attribute(self.memory_attribute);
            // Two bits a location (1 reads, 2 writes): arguments, inaccessible, errno, other.
            let bits = if memory.is_null() {
                u64::MAX
            } else {
                LLVMGetEnumAttributeValue(memory)
            };
            Effects {
                reads: bits & 0b0101_0101 != 0,
                writes_arguments: bits & 0b10 != 0,
                writes_elsewhere: bits & 0b1000_1000 != 0,
                writes_error_number: bits & 0b10_0000 != 0,
                no_unwind: has(self.no_unwind_attribute),
                will_return: has(self.will_return_attribute),
            }
        }
    }

    unsafe fn type_of(&self, ty: LLVMTypeRef) -> Type {
        // SAFETY: as for `read_host_module`; sizes are asked of sized types only.
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMIntegerTypeKind => Type::Integer(LLVMGetIntTypeWidth(ty)),
                LLVMTypeKind::LLVMFloatTypeKind => Type::Float(32),
                LLVMTypeKind::LLVMDoubleTypeKind => Type::Float(64),
                LLVMTypeKind::LLVMHalfTypeKind | LLVMTypeKind::LLVMBFloatTypeKind => {
                    Type::Float(16)
                }
                LLVMTypeKind::LLVMPointerTypeKind => Type::Pointer,
                LLVMTypeKind::LLVMVoidTypeKind => Type::Void,
                _ if LLVMTypeIsSized(ty) != 0 => Type::Other(LLVMStoreSizeOfType(self.layout, ty)),
                _ => Type::Other(0),
            }
        }
    }

    unsafe fn scalar_fields(
        &self,
        ty: LLVMTypeRef,
        offset: u64,
        path: &mut Vec<u32>,
        fields: &mut Vec<Field>,
    ) {
        // SAFETY: as for `read_host_module`.
        unsafe {
            let (count, is_struct) = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMStructTypeKind => (LLVMCountStructElementTypes(ty), true),
                // Long arrays by value are padding or data; pieces of them help nobody.
                LLVMTypeKind::LLVMArrayTypeKind => (LLVMGetArrayLength2(ty).min(64) as u32, false),
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
                    let at = LLVMOffsetOfElement(self.layout, ty, index);
                    (LLVMStructGetTypeAtIndex(ty, index), at)
                } else {
                    let element = LLVMGetElementType(ty);
                    (
                        element,
                        u64::from(index) * LLVMABISizeOfType(self.layout, element),
                    )
                };
                path.push(index);
                self.scalar_fields(element, offset + at, path, fields);
                path.pop();
            }
        }
    }

    unsafe fn operand(
        &mut self,
        value: LLVMValueRef,
        locals: &HashMap<LLVMValueRef, Operand>,
    ) -> Operand {
        // SAFETY: as for `read_host_module`.
        unsafe {
            if let Some(local) = locals.get(&value) {
                return *local;
            }
            if LLVMIsConstant(value) != 0 {
                self.constant(value)
            } else {
                Operand::Undefined
            }
        }
    }

    unsafe fn constant(&mut self, value: LLVMValueRef) -> Operand {
        // SAFETY: as for `read_host_module`.
        unsafe {
            if let Some(function) = self.functions.get(&value) {
                return Operand::Function(*function);
            }
            if let Some(global) = self.globals.get(&value) {
                return Operand::Global(*global, 0);
            }
            let ty = LLVMTypeOf(value);
            match LLVMGetValueKind(value) {
                LLVMValueKind::LLVMConstantIntValueKind if LLVMGetIntTypeWidth(ty) <= 64 => {
                    return Operand::Integer {
                        bits: LLVMGetIntTypeWidth(ty),
                        value: LLVMConstIntGetSExtValue(value),
                    };
                }
                LLVMValueKind::LLVMConstantFPValueKind => {
                    let mut lossy = 0;
                    let number = LLVMConstRealGetDouble(value, &raw mut lossy);
                    match LLVMGetTypeKind(ty) {
                        // A NaN's payload may not survive the way through a double.
                        _ if number.is_nan() || lossy != 0 => {}
                        LLVMTypeKind::LLVMFloatTypeKind => {
                            let pattern = u64::from((number as f32).to_bits());
                            return Operand::Float { bits: 32, pattern };
                        }
                        LLVMTypeKind::LLVMDoubleTypeKind => {
                            return Operand::Float {
                                bits: 64,
                                pattern: number.to_bits(),
                            };
                        }
                        _ => {}
                    }
                }
                LLVMValueKind::LLVMConstantPointerNullValueKind => return Operand::Null,
                LLVMValueKind::LLVMUndefValueValueKind | LLVMValueKind::LLVMPoisonValueKind => {
                    return Operand::Undefined;
                }
                LLVMValueKind::LLVMConstantExprValueKind
                    if LLVMGetConstOpcode(value) == LLVMOpcode::LLVMIntToPtr =>
                {
                    // A small number in a pointer's place.
                    let number = self.constant(LLVMGetOperand(value, 0));
                    if let Operand::Integer { bits: 64, .. } = number {
                        return number;
                    }
                }
                LLVMValueKind::LLVMConstantExprValueKind
                    if LLVMGetConstOpcode(value) == LLVMOpcode::LLVMGetElementPtr =>
                {
                    let base = self.constant(LLVMGetOperand(value, 0));
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
            if LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind {
                let mut members = Vec::new();
                for member in 0..LLVMCountStructElementTypes(ty) {
                    let member = LLVMGetAggregateElement(value, member);
                    let known = !member.is_null();
                    members.push(if known {
                        self.constant(member)
                    } else {
                        Operand::Undefined
                    });
                }
                self.host.members.insert(index, members);
            }
            Operand::Constant(index)
        }
    }

    /// Whether only code of the module knows a global or function by its name.
    unsafe fn is_internal(&self, value: LLVMValueRef, is_function: bool) -> bool {
        // SAFETY: as for `read_host_module`; called for functions and globals only.
        unsafe {
            let is_users =
                || LLVMIsDeclaration(value) == 0 && is_users(&value_name(value), is_function);
            is_local(value) || self.closed && is_users()
        }
    }

    /// Adds what a global's initial value mentions, from byte `at` of it on.
    unsafe fn cells(
        &mut self,
        value: LLVMValueRef,
        at: i64,
        found: &mut Vec<(Option<i64>, Operand)>,
    ) {
        // SAFETY: as for `read_host_module`; elements are asked of aggregates only.
        unsafe {
            let ty = LLVMTypeOf(value);
            match LLVMGetValueKind(value) {
                LLVMValueKind::LLVMConstantStructValueKind => {
                    for member in 0..LLVMCountStructElementTypes(ty) {
                        let offset = LLVMOffsetOfElement(self.layout, ty, member);
                        let member = LLVMGetOperand(value, member);
                        self.cells(member, at.wrapping_add(offset as i64), found);
                    }
                }
                LLVMValueKind::LLVMConstantArrayValueKind => {
                    let bytes = LLVMABISizeOfType(self.layout, LLVMGetElementType(ty)) as i64;
                    for element in 0..LLVMGetNumOperands(value) {
                        let offset = bytes.wrapping_mul(i64::from(element));
                        let element = LLVMGetOperand(value, element as u32);
                        self.cells(element, at.wrapping_add(offset), found);
                    }
                }
                _ => {
                    let is_pointer = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMPointerTypeKind;
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
    }

    unsafe fn mentioned(&mut self, value: LLVMValueRef) -> Vec<Operand> {
        // SAFETY: as for `read_host_module`.
        unsafe {
            match self.constant(value) {
                Operand::Constant(index) => self.host.constants[index].clone(),
                operand @ (Operand::Global(..) | Operand::Function(_)) => vec![operand],
                _ => Vec::new(),
            }
        }
    }

    unsafe fn mentioned_within(&mut self, value: LLVMValueRef) -> Vec<Operand> {
        // SAFETY: as for `read_host_module`; operands of a constant are constants.
        unsafe {
            let kind = LLVMGetValueKind(value);
            if kind == LLVMValueKind::LLVMConstantDataArrayValueKind
                || kind == LLVMValueKind::LLVMConstantDataVectorValueKind
            {
                return Vec::new();
            }
            let mut found = Vec::new();
            for index in 0..LLVMGetNumOperands(value).max(0) as u32 {
                let operand = LLVMGetOperand(value, index);
                if !operand.is_null() && LLVMIsConstant(operand) != 0 {
                    found.extend(self.mentioned(operand));
                }
            }
            found
        }
    }

    /// The constant bytes and the (operand index, scale) terms of an address computation.
    unsafe fn address_terms(&self, value: LLVMValueRef) -> Option<(i64, Vec<(u32, i64)>)> {
        // SAFETY: as for `read_host_module`; called for address computations only.
        unsafe {
            let mut ty = LLVMGetGEPSourceElementType(value);
            let mut constant = 0_i64;
            let mut scaled = Vec::new();
            for index in 1..LLVMGetNumOperands(value) as u32 {
                let operand = LLVMGetOperand(value, index);
                let kind = LLVMGetTypeKind(LLVMTypeOf(operand));
                if kind != LLVMTypeKind::LLVMIntegerTypeKind {
                    return None;
                }
                if index > 1 {
                    match LLVMGetTypeKind(ty) {
                        LLVMTypeKind::LLVMStructTypeKind => {
                            let element = LLVMConstIntGetZExtValue(operand) as u32;
                            let offset = LLVMOffsetOfElement(self.layout, ty, element);
                            constant = constant.checked_add(i64::try_from(offset).ok()?)?;
                            ty = LLVMStructGetTypeAtIndex(ty, element);
                            continue;
                        }
                        LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                            ty = LLVMGetElementType(ty);
                        }
                        _ => return None,
                    }
                }
                let scale = i64::try_from(LLVMABISizeOfType(self.layout, ty)).ok()?;
                if LLVMGetValueKind(operand) == LLVMValueKind::LLVMConstantIntValueKind {
                    let step = LLVMConstIntGetSExtValue(operand).checked_mul(scale)?;
                    constant = constant.checked_add(step)?;
                } else {
                    scaled.push((index, scale));
                }
            }
            Some((constant, scaled))
        }
    }

    unsafe fn instruction(
        &mut self,
        value: LLVMValueRef,
        block: usize,
        locals: &HashMap<LLVMValueRef, Operand>,
        block_ids: &HashMap<LLVMBasicBlockRef, usize>,
    ) -> Instruction {
        // SAFETY: as for `read_host_module`; each query stands under the opcode that allows it.
        unsafe {
            let code = LLVMGetInstructionOpcode(value);
            let mut operands = Vec::new();
            if !matches!(
                code,
                LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke
            ) {
                for index in 0..LLVMGetNumOperands(value).max(0) as u32 {
                    let operand = LLVMGetOperand(value, index);
                    if !operand.is_null()
                        && LLVMGetValueKind(operand) != LLVMValueKind::LLVMBasicBlockValueKind
                    {
                        operands.push(self.operand(operand, locals));
                    }
                }
            }
            let ordered = |value| {
                LLVMGetVolatile(value) != 0
                    || LLVMGetOrdering(value) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            };
            let opcode = match code {
                LLVMOpcode::LLVMPHI => {
                    let mut blocks = Vec::new();
                    for index in 0..LLVMCountIncoming(value) {
                        operands.push(self.operand(LLVMGetIncomingValue(value, index), locals));
                        blocks.push(block_ids[&LLVMGetIncomingBlock(value, index)]);
                    }
                    Opcode::Phi { blocks }
                }
                LLVMOpcode::LLVMLoad => Opcode::Load {
                    ordered: ordered(value),
                },
                LLVMOpcode::LLVMStore => Opcode::Store {
                    ordered: ordered(value),
                    stored: self.type_of(LLVMTypeOf(LLVMGetOperand(value, 0))),
                },
                LLVMOpcode::LLVMAtomicRMW
                | LLVMOpcode::LLVMAtomicCmpXchg
                | LLVMOpcode::LLVMFence => Opcode::Atomic,
                LLVMOpcode::LLVMAlloca => {
                    let unit = LLVMABISizeOfType(self.layout, LLVMGetAllocatedType(value));
                    let bytes = match operands.first() {
                        Some(Operand::Integer { value, .. }) => u64::try_from(*value)
                            .ok()
                            .and_then(|count| count.checked_mul(unit)),
                        _ => None,
                    };
                    Opcode::Alloca { bytes }
                }
                LLVMOpcode::LLVMGetElementPtr => match self.address_terms(value) {
                    Some((constant, scaled)) => {
                        let all = std::mem::take(&mut operands);
                        operands.push(all[0]);
                        operands.extend(scaled.iter().map(|(index, _)| all[*index as usize]));
                        let scales = scaled.iter().map(|(_, scale)| *scale).collect();
                        let in_bounds = LLVMIsInBounds(value) != 0;
                        Opcode::Address {
                            constant,
                            scales,
                            in_bounds,
                        }
                    }
                    None => Opcode::Other,
                },
                LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                    self.call(value, code == LLVMOpcode::LLVMInvoke, &mut operands, locals)
                }
                LLVMOpcode::LLVMExtractValue => {
                    let count = LLVMGetNumIndices(value) as usize;
                    let indices = std::slice::from_raw_parts(LLVMGetIndices(value), count).to_vec();
                    Opcode::Extract { indices }
                }
                LLVMOpcode::LLVMInsertValue => {
                    let count = LLVMGetNumIndices(value) as usize;
                    let indices = std::slice::from_raw_parts(LLVMGetIndices(value), count).to_vec();
                    Opcode::Insert { indices }
                }
                LLVMOpcode::LLVMShuffleVector => Opcode::Combine,
                LLVMOpcode::LLVMFreeze => Opcode::Freeze,
                LLVMOpcode::LLVMRet => Opcode::Return,
                LLVMOpcode::LLVMUnreachable => Opcode::Unreachable,
                _ if !LLVMIsATerminatorInst(value).is_null() => Opcode::Terminator,
                _ => match pure_operation(value, code) {
                    Some(operation) => Opcode::Pure {
                        operation,
                        no_signed_wrap: match code {
                            LLVMOpcode::LLVMAdd
                            | LLVMOpcode::LLVMSub
                            | LLVMOpcode::LLVMMul
                            | LLVMOpcode::LLVMShl => LLVMGetNSW(value) != 0,
                            LLVMOpcode::LLVMZExt => LLVMGetNNeg(value) != 0,
                            _ => false,
                        },
                    },
                    None => Opcode::Other,
                },
            };
            let flagged = LLVMCanValueUseFastMathFlags(value) != 0;
            Instruction {
                opcode,
                operands,
                result: self.type_of(LLVMTypeOf(value)),
                fast_math: flagged && LLVMGetFastMathFlags(value) != 0,
                block,
                name: value_name(value),
                location: location(value),
            }
        }
    }

    unsafe fn call(
        &mut self,
        value: LLVMValueRef,
        invoke: bool,
        operands: &mut Vec<Operand>,
        locals: &HashMap<LLVMValueRef, Operand>,
    ) -> Opcode {
        // SAFETY: as for `read_host_module`; `value` is a call or invoke.
        unsafe {
            let mut by_value = Vec::new();
            let mut structs = Vec::new();
            for index in 0..LLVMGetNumArgOperands(value) {
                // Metadata arguments of debug intrinsics read as undefined values.
                let argument = LLVMGetOperand(value, index);
                operands.push(self.operand(argument, locals));
                let attribute =
                    LLVMGetCallSiteEnumAttribute(value, index + 1, self.by_value_attribute);
                let mut fields = Vec::new();
                if !attribute.is_null() {
                    let ty = LLVMGetTypeAttributeValue(attribute);
                    self.scalar_fields(ty, 0, &mut Vec::new(), &mut fields);
                    by_value.push((index as usize, fields));
                } else if LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMTypeKind::LLVMStructTypeKind
                {
                    self.scalar_fields(LLVMTypeOf(argument), 0, &mut Vec::new(), &mut fields);
                    structs.push((index as usize, fields));
                }
            }
            let called = LLVMGetCalledValue(value);
            let callee = self.functions.get(&called).copied();
            let through = callee.is_none().then(|| self.operand(called, locals));
            let site =
                self.effects(&|kind| LLVMGetCallSiteEnumAttribute(value, FUNCTION_INDEX, kind));
            let effects = match callee {
                None => site,
                Some(_) => {
                    let declared = self
                        .effects(&|kind| LLVMGetEnumAttributeAtIndex(called, FUNCTION_INDEX, kind));
                    Effects {
                        reads: site.reads && declared.reads,
                        writes_arguments: site.writes_arguments && declared.writes_arguments,
                        writes_elsewhere: site.writes_elsewhere && declared.writes_elsewhere,
                        writes_error_number: site.writes_error_number
                            && declared.writes_error_number,
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
}

unsafe fn pure_operation(value: LLVMValueRef, code: LLVMOpcode) -> Option<Operation> {
    // SAFETY: predicates are asked of comparisons only.
    unsafe {
        Some(match code {
            LLVMOpcode::LLVMAdd => Operation::Add,
            LLVMOpcode::LLVMSub => Operation::Subtract,
            LLVMOpcode::LLVMMul => Operation::Multiply,
            LLVMOpcode::LLVMShl => Operation::ShiftLeft,
            LLVMOpcode::LLVMLShr => Operation::ShiftRightLogical,
            LLVMOpcode::LLVMOr => Operation::Or,
            LLVMOpcode::LLVMAnd => Operation::And,
            LLVMOpcode::LLVMSDiv => Operation::DivideSigned,
            LLVMOpcode::LLVMUDiv => Operation::DivideUnsigned,
            LLVMOpcode::LLVMZExt => Operation::ZeroExtend,
            LLVMOpcode::LLVMSExt => Operation::SignExtend,
            LLVMOpcode::LLVMTrunc => Operation::Truncate,
            LLVMOpcode::LLVMSelect => Operation::Select,
            LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMIntToPtr => Operation::Reinterpret,
            LLVMOpcode::LLVMICmp => {
                Operation::Other(code as u32, LLVMGetICmpPredicate(value) as u32)
            }
            LLVMOpcode::LLVMFCmp => {
                Operation::Other(code as u32, LLVMGetFCmpPredicate(value) as u32)
            }
            LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMSRem
            | LLVMOpcode::LLVMURem
            | LLVMOpcode::LLVMFAdd
            | LLVMOpcode::LLVMFSub
            | LLVMOpcode::LLVMFMul
            | LLVMOpcode::LLVMFDiv
            | LLVMOpcode::LLVMFRem
            | LLVMOpcode::LLVMFNeg
            | LLVMOpcode::LLVMFPToSI
            | LLVMOpcode::LLVMFPToUI
            | LLVMOpcode::LLVMSIToFP
            | LLVMOpcode::LLVMUIToFP
            | LLVMOpcode::LLVMFPExt
            | LLVMOpcode::LLVMFPTrunc
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMInsertElement
            | LLVMOpcode::LLVMExtractElement => Operation::Other(code as u32, 0),
            _ => return None,
        })
    }
}

unsafe fn fuses_products(function: LLVMValueRef) -> bool {
    const NAME: &str = "target-features";
    // SAFETY: a live function; a missing attribute is null, another one is a text of so many bytes.
    unsafe {
        let (name, length) = (NAME.as_ptr().cast(), NAME.len() as u32);
        let attribute = LLVMGetStringAttributeAtIndex(function, FUNCTION_INDEX, name, length);
        if attribute.is_null() {
            return false;
        }
        let mut length = 0;
        let text = LLVMGetStringAttributeValue(attribute, &mut length);
        let text = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
        String::from_utf8_lossy(text).contains("+fma")
    }
}

unsafe fn is_local(value: LLVMValueRef) -> bool {
    // SAFETY: called for functions and globals only.
    let linkage = unsafe { LLVMGetLinkage(value) };
    matches!(
        linkage,
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
    )
}
