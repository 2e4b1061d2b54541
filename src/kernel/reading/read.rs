//! LLVM function -> [`Body`]: the only place of this stage that looks into LLVM's functions.
//!
//! The C interface is used directly, since inkwell's typed wrappers have no call for half of what
//! is read here (flags, debug locations, address spaces of constants, layouts).

use super::super::ReductionOperator;
use super::super::body::{
    BinaryOperator, Block, BlockRef, Body, Call, Cast, Formal, GlobalVariable, Operation,
    Predicate, Tables, Terminator, Type, Value, ValueRef,
};
use crate::diagnostics::{Location, source_path};
use crate::program::KEPT_STORE;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMAttributeFunctionIndex, LLVMIntPredicate,
    LLVMOpcode, LLVMTypeKind, LLVMValueKind,
};
use std::collections::HashMap;

/// Reads a function that has a body.
pub fn read_body(function: FunctionValue<'_>) -> Body {
    let name = function.get_name().to_string_lossy().into_owned();
    // SAFETY: `function` keeps its context and module alive for the duration of the borrow, and
    // every reference below is reached from it; nothing is written.
    unsafe { Reader::new(function.as_value_ref()).read(name) }
}

struct Reader {
    function: LLVMValueRef,
    layout: LLVMTargetDataRef,
    invariant_load: u32,
    kept_store: u32,
    by_value: u32,
    memory: u32,
    /// Scopes of atomics that hold for the whole device.
    device_scopes: [u32; 2],
    own_file: String,
    numbers: HashMap<LLVMValueRef, ValueRef>,
    block_numbers: HashMap<LLVMBasicBlockRef, BlockRef>,
    values: Vec<Value>,
}

fn text(pointer: *const libc::c_char, length: usize) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: LLVM hands out pointer and length of one of its own strings.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn attribute_kind(name: &str) -> u32 {
    // SAFETY: pointer and length describe a live string.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// How many bits of an integer literal the model reads.
const LITERAL_BITS: u32 = 64;

// Every function of this block requires that `self.function` belongs to a live module; all
// references that they take come from that module.
impl Reader {
    unsafe fn new(function: LLVMValueRef) -> Self {
        // SAFETY: as stated for this block.
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
            let metadata_kind = |name: &str| {
                LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32)
            };
            Self {
                function,
                layout: LLVMGetModuleDataLayout(LLVMGetGlobalParent(function)),
                invariant_load: metadata_kind("invariant.load"),
                kept_store: metadata_kind(KEPT_STORE),
                by_value: attribute_kind("byval"),
                memory: attribute_kind("memory"),
                device_scopes: ["", "device"]
                    .map(|name| LLVMGetSyncScopeID(context, name.as_ptr().cast(), name.len())),
                own_file: String::new(),
                numbers: HashMap::new(),
                block_numbers: HashMap::new(),
                values: Vec::new(),
            }
        }
    }

    unsafe fn read(mut self, name: String) -> Body {
        // SAFETY: as stated for this block.
        unsafe {
            let location = self.function_location();
            self.own_file = location.file.clone();
            let formals = self.read_formals();
            let mut blocks = Vec::new();
            let mut block = LLVMGetFirstBasicBlock(self.function);
            while !block.is_null() {
                self.block_numbers.insert(block, BlockRef(blocks.len()));
                blocks.push(block);
                block = LLVMGetNextBasicBlock(block);
            }
            // Numbers first, operations second: phis mention later instructions.
            let mut order = Vec::new();
            for (index, block) in blocks.iter().enumerate() {
                let terminator = LLVMGetBasicBlockTerminator(*block);
                let mut list = Vec::new();
                let mut instruction = LLVMGetFirstInstruction(*block);
                while !instruction.is_null() {
                    if instruction != terminator {
                        let number = ValueRef(self.values.len());
                        self.numbers.insert(instruction, number);
                        self.values.push(Value {
                            operation: Operation::Undefined,
                            value_type: self.type_of(instruction),
                            block: Some(BlockRef(index)),
                            used: !LLVMGetFirstUse(instruction).is_null(),
                            location: self.location(instruction),
                        });
                        list.push((instruction, number));
                    }
                    instruction = LLVMGetNextInstruction(instruction);
                }
                order.push((terminator, list));
            }
            let mut read_blocks = Vec::new();
            for (terminator, list) in order {
                for (instruction, number) in &list {
                    let operation = self.operation(*instruction);
                    self.values[number.0].operation = operation;
                }
                read_blocks.push(Block {
                    instructions: list.into_iter().map(|(_, number)| number).collect(),
                    terminator: self.terminator(terminator),
                    location: self.location(terminator),
                });
            }
            Body {
                name,
                location,
                formals,
                values: self.values,
                blocks: read_blocks,
                max_threads: max_threads(self.function),
                is_clustered: string_attribute(self.function, "nvvm.cluster_dim").is_some(),
                tables: Tables::default(),
            }
        }
    }

    unsafe fn function_location(&self) -> Location {
        // SAFETY: as stated for this block.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.function);
            if subprogram.is_null() {
                return Location::default();
            }
            Location {
                file: file_of(subprogram),
                line: LLVMDISubprogramGetLine(subprogram),
                column: 0,
            }
        }
    }

    /// The innermost place that lies in the kernel's own file; code inlined from headers is shown
    /// where the user called it.
    unsafe fn location(&self, instruction: LLVMValueRef) -> Location {
        // SAFETY: as stated for this block.
        unsafe {
            let mut place = LLVMInstructionGetDebugLoc(instruction);
            let mut last = Location::default();
            while !place.is_null() {
                last = Location {
                    file: file_of(LLVMDILocationGetScope(place)),
                    line: LLVMDILocationGetLine(place),
                    column: LLVMDILocationGetColumn(place),
                };
                if last.file == self.own_file && last.line != 0 {
                    return last;
                }
                place = LLVMDILocationGetInlinedAt(place);
            }
            last
        }
    }

    unsafe fn read_formals(&mut self) -> Vec<Formal> {
        // SAFETY: as stated for this block.
        unsafe {
            (0..LLVMCountParams(self.function))
                .map(|index| {
                    let parameter = LLVMGetParam(self.function, index);
                    let attribute =
                        LLVMGetEnumAttributeAtIndex(self.function, index + 1, self.by_value);
                    let value_type = self.type_of(parameter);
                    let (shape, operation) = if attribute.is_null() {
                        (LLVMTypeOf(parameter), Operation::Argument(index as usize))
                    } else {
                        (
                            LLVMGetTypeAttributeValue(attribute),
                            Operation::ByValueArgument(index as usize),
                        )
                    };
                    self.numbers.insert(parameter, ValueRef(self.values.len()));
                    self.values.push(Value {
                        operation,
                        value_type,
                        block: None,
                        used: !LLVMGetFirstUse(parameter).is_null(),
                        location: Location::default(),
                    });
                    let explicit_align = LLVMGetEnumAttributeAtIndex(
                        self.function,
                        index + 1,
                        attribute_kind("align"),
                    );
                    let natural = LLVMABIAlignmentOfType(self.layout, shape);
                    let align_bytes = if !attribute.is_null() && !explicit_align.is_null() {
                        natural.max(LLVMGetEnumAttributeValue(explicit_align) as u32)
                    } else {
                        natural
                    };
                    Formal {
                        name: source_name_of(parameter),
                        bytes: LLVMABISizeOfType(self.layout, shape) as u32,
                        align_bytes,
                        is_pointer: attribute.is_null() && matches!(value_type, Type::Pointer(_)),
                    }
                })
                .collect()
        }
    }

    unsafe fn type_of(&self, value: LLVMValueRef) -> Type {
        // SAFETY: as stated for this block.
        unsafe {
            let shape = LLVMTypeOf(value);
            match LLVMGetTypeKind(shape) {
                LLVMTypeKind::LLVMIntegerTypeKind => Type::Integer(LLVMGetIntTypeWidth(shape)),
                LLVMTypeKind::LLVMPointerTypeKind => {
                    Type::Pointer(LLVMGetPointerAddressSpace(shape))
                }
                _ => Type::Other,
            }
        }
    }

    unsafe fn bytes_of(&self, shape: LLVMTypeRef) -> u32 {
        // SAFETY: as stated for this block.
        unsafe {
            if LLVMTypeIsSized(shape) == 0 {
                return 0;
            }
            u32::try_from(LLVMStoreSizeOfType(self.layout, shape)).unwrap_or(u32::MAX)
        }
    }

    /// The number of an operand, reading constants on first sight.
    unsafe fn operand(&mut self, value: LLVMValueRef) -> ValueRef {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        // SAFETY: as stated for this block.
        let (operation, value_type) = unsafe { (self.constant(value), self.type_of(value)) };
        let number = ValueRef(self.values.len());
        self.values.push(Value {
            operation,
            value_type,
            block: None,
            used: true,
            location: Location::default(),
        });
        self.numbers.insert(value, number);
        number
    }

    unsafe fn constant(&mut self, value: LLVMValueRef) -> Operation {
        // SAFETY: as stated for this block.
        unsafe {
            match LLVMGetValueKind(value) {
                LLVMValueKind::LLVMConstantIntValueKind
                    if LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= LITERAL_BITS =>
                {
                    Operation::Constant(LLVMConstIntGetSExtValue(value))
                }
                LLVMValueKind::LLVMConstantPointerNullValueKind => Operation::Null,
                LLVMValueKind::LLVMUndefValueValueKind | LLVMValueKind::LLVMPoisonValueKind => {
                    Operation::Undefined
                }
                LLVMValueKind::LLVMGlobalVariableValueKind => {
                    let shape = LLVMGlobalGetValueType(value);
                    let bytes = if LLVMTypeIsSized(shape) == 0 {
                        0
                    } else {
                        LLVMABISizeOfType(self.layout, shape)
                    };
                    let space = LLVMGetPointerAddressSpace(LLVMTypeOf(value));
                    Operation::Global(GlobalVariable {
                        name: value_name(value),
                        address_space: space,
                        bytes,
                        align_bytes: LLVMGetAlignment(value),
                        constant: LLVMIsGlobalConstant(value) != 0 || space == 4,
                        external: LLVMIsDeclaration(value) != 0,
                    })
                }
                LLVMValueKind::LLVMConstantExprValueKind => {
                    self.instruction(value, LLVMGetConstOpcode(value))
                }
                _ => Operation::Other {
                    operands: Vec::new(),
                    effects: false,
                },
            }
        }
    }

    unsafe fn operation(&mut self, instruction: LLVMValueRef) -> Operation {
        // SAFETY: as stated for this block.
        unsafe { self.instruction(instruction, LLVMGetInstructionOpcode(instruction)) }
    }

    unsafe fn nth(&mut self, user: LLVMValueRef, index: u32) -> ValueRef {
        // SAFETY: as stated for this block; callers pass an index that the opcode has.
        unsafe {
            let operand = LLVMGetOperand(user, index);
            self.operand(operand)
        }
    }

    unsafe fn other(&mut self, user: LLVMValueRef, effects: bool) -> Operation {
        // SAFETY: as stated for this block.
        unsafe {
            let count = LLVMGetNumOperands(user).max(0) as u32;
            let mut operands = Vec::new();
            for index in 0..count {
                let operand = LLVMGetOperand(user, index);
                let kind = LLVMGetValueKind(operand);
                if !matches!(
                    kind,
                    LLVMValueKind::LLVMBasicBlockValueKind
                        | LLVMValueKind::LLVMMetadataAsValueValueKind
                        | LLVMValueKind::LLVMInlineAsmValueKind
                ) {
                    operands.push(self.operand(operand));
                }
            }
            Operation::Other { operands, effects }
        }
    }

    unsafe fn instruction(&mut self, value: LLVMValueRef, opcode: LLVMOpcode) -> Operation {
        use LLVMOpcode::*;
        // SAFETY: as stated for this block; flags are asked only of opcodes that have them.
        unsafe {
            match opcode {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMUDiv | LLVMSDiv | LLVMURem
                | LLVMSRem | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => {
                    let wraps = matches!(opcode, LLVMAdd | LLVMSub | LLVMMul | LLVMShl)
                        && !LLVMIsAInstruction(value).is_null();
                    Operation::Binary {
                        operator: binary_operator(opcode),
                        left: self.nth(value, 0),
                        right: self.nth(value, 1),
                        no_signed_wrap: wraps && LLVMGetNSW(value) != 0,
                        no_unsigned_wrap: wraps && LLVMGetNUW(value) != 0,
                        disjoint: opcode == LLVMOr
                            && !LLVMIsAInstruction(value).is_null()
                            && LLVMGetIsDisjoint(value) != 0,
                    }
                }
                LLVMICmp => Operation::Compare {
                    predicate: predicate(LLVMGetICmpPredicate(value)),
                    left: self.nth(value, 0),
                    right: self.nth(value, 1),
                    same_sign: LLVMGetICmpSameSign(value) != 0,
                },
                LLVMTrunc | LLVMSExt | LLVMZExt | LLVMAddrSpaceCast | LLVMBitCast => {
                    self.cast(value, opcode)
                }
                LLVMSelect => Operation::Select {
                    condition: self.nth(value, 0),
                    on_true: self.nth(value, 1),
                    on_false: self.nth(value, 2),
                },
                LLVMPHI => Operation::Phi(
                    (0..LLVMCountIncoming(value))
                        .map(|index| {
                            let incoming = LLVMGetIncomingValue(value, index);
                            let block = LLVMGetIncomingBlock(value, index);
                            (self.operand(incoming), self.block_numbers[&block])
                        })
                        .collect(),
                ),
                LLVMGetElementPtr => self.offset(value),
                LLVMFreeze => Operation::Freeze(self.nth(value, 0)),
                LLVMPtrToInt | LLVMPtrToAddr if matches!(self.type_of(value), Type::Integer(_)) => {
                    Operation::PointerToInteger(self.nth(value, 0))
                }
                LLVMIntToPtr if matches!(self.type_of(value), Type::Pointer(_)) => {
                    Operation::IntegerToPointer(self.nth(value, 0))
                }
                LLVMLoad => Operation::Load {
                    pointer: self.nth(value, 0),
                    bytes: self.bytes_of(LLVMTypeOf(value)),
                    volatile: LLVMGetVolatile(value) != 0,
                    atomic: LLVMGetOrdering(value)
                        != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
                    invariant: !LLVMGetMetadata(value, self.invariant_load).is_null(),
                },
                LLVMStore => Operation::Store {
                    value: self.nth(value, 0),
                    pointer: self.nth(value, 1),
                    bytes: self.bytes_of(LLVMTypeOf(LLVMGetOperand(value, 0))),
                    // Most stores are volatile only in the copy that is read here.
                    volatile: LLVMGetVolatile(value) != 0
                        && LLVMGetMetadata(value, self.kept_store).is_null(),
                    atomic: LLVMGetOrdering(value)
                        != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
                },
                LLVMAtomicRMW => Operation::AtomicUpdate {
                    pointer: self.nth(value, 0),
                    value: self.nth(value, 1),
                    bytes: self.bytes_of(LLVMTypeOf(value)),
                    operator: operator(
                        LLVMGetAtomicRMWBinOp(value),
                        literal_bits(LLVMGetOperand(value, 1)),
                    ),
                    within_block: !self
                        .device_scopes
                        .contains(&LLVMGetAtomicSyncScopeID(value)),
                    volatile: LLVMGetVolatile(value) != 0,
                },
                LLVMAtomicCmpXchg => Operation::CompareExchange {
                    pointer: self.nth(value, 0),
                    compare: self.nth(value, 1),
                    new: self.nth(value, 2),
                    bytes: self.bytes_of(LLVMTypeOf(LLVMGetOperand(value, 1))),
                    volatile: LLVMGetVolatile(value) != 0,
                },
                LLVMFence => Operation::Fence,
                LLVMAlloca => Operation::Alloca,
                LLVMCall => self.call(value),
                LLVMFNeg | LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFPToUI
                | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc | LLVMFPExt | LLVMFCmp
                | LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector | LLVMExtractValue
                | LLVMInsertValue => self.other(value, false),
                _ => self.other(value, true),
            }
        }
    }

    unsafe fn cast(&mut self, value: LLVMValueRef, opcode: LLVMOpcode) -> Operation {
        // SAFETY: as stated for this block; `nneg` is asked of instructions that have it.
        unsafe {
            let operand = self.nth(value, 0);
            let (from, to) = (self.values[operand.0].value_type, self.type_of(value));
            let is_instruction = !LLVMIsAInstruction(value).is_null();
            let cast = match (opcode, from, to) {
                (LLVMOpcode::LLVMTrunc, Type::Integer(_), Type::Integer(_)) => Cast::Truncate,
                (LLVMOpcode::LLVMSExt, Type::Integer(_), Type::Integer(_)) => Cast::SignExtend,
                (LLVMOpcode::LLVMZExt, Type::Integer(_), Type::Integer(_)) => Cast::ZeroExtend,
                (LLVMOpcode::LLVMAddrSpaceCast, Type::Pointer(_), Type::Pointer(_)) => {
                    Cast::AddressSpace
                }
                (LLVMOpcode::LLVMBitCast, Type::Integer(_), Type::Integer(_))
                | (LLVMOpcode::LLVMBitCast, Type::Pointer(_), Type::Pointer(_)) => Cast::Same,
                _ => return self.other(value, false),
            };
            Operation::Cast {
                cast,
                operand,
                non_negative: cast == Cast::ZeroExtend && is_instruction && LLVMGetNNeg(value) != 0,
            }
        }
    }

    /// A `getelementptr` of scalars as bytes; vectors of pointers are `Other`.
    unsafe fn offset(&mut self, value: LLVMValueRef) -> Operation {
        // SAFETY: as stated for this block.
        unsafe {
            if !matches!(self.type_of(value), Type::Pointer(_)) {
                return self.other(value, false);
            }
            let base = self.nth(value, 0);
            let mut shape = LLVMGetGEPSourceElementType(value);
            let mut constant: i64 = 0;
            let mut terms = Vec::new();
            for index in 1..LLVMGetNumOperands(value) as u32 {
                let operand = LLVMGetOperand(value, index);
                if index > 1 {
                    if LLVMGetTypeKind(shape) == LLVMTypeKind::LLVMStructTypeKind {
                        let field = LLVMConstIntGetZExtValue(operand) as u32;
                        let bytes = LLVMOffsetOfElement(self.layout, shape, field);
                        constant = constant.wrapping_add(bytes as i64);
                        shape = LLVMStructGetTypeAtIndex(shape, field);
                        continue;
                    }
                    shape = LLVMGetElementType(shape);
                }
                let stride = LLVMABISizeOfType(self.layout, shape) as i64;
                let operand = self.operand(operand);
                match self.values[operand.0].operation {
                    Operation::Constant(literal) => {
                        constant = constant.wrapping_add(literal.wrapping_mul(stride));
                    }
                    _ => terms.push((stride, operand)),
                }
            }
            Operation::Offset {
                base,
                constant,
                terms,
            }
        }
    }

    unsafe fn call(&mut self, value: LLVMValueRef) -> Operation {
        // SAFETY: as stated for this block.
        unsafe {
            let mut arguments = Vec::new();
            for index in 0..LLVMGetNumArgOperands(value) {
                let operand = LLVMGetOperand(value, index);
                if LLVMGetValueKind(operand) != LLVMValueKind::LLVMMetadataAsValueValueKind {
                    arguments.push(self.operand(operand));
                }
            }
            let callee = LLVMGetCalledValue(value);
            if !LLVMIsAInlineAsm(callee).is_null() {
                let mut length = 0;
                let assembly = LLVMGetInlineAsmAsmString(callee, &mut length);
                let assembly = text(assembly, length);
                let constraints = LLVMGetInlineAsmConstraintString(callee, &mut length);
                return Operation::Assembly {
                    text: assembly,
                    constraints: text(constraints, length),
                    arguments,
                };
            }
            let function = LLVMIsAFunction(callee);
            if !function.is_null()
                && let Some(operation) = self.integer_intrinsic(&value_name(function), &arguments)
            {
                return operation;
            }
            // `memory(none)` is encoded as zero; `nounwind willreturn` follow for intrinsics.
            let pure = !function.is_null() && {
                let attribute =
                    LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, self.memory);
                !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) == 0
            };
            Operation::Call(Call {
                callee: (!function.is_null()).then(|| value_name(function)),
                arguments,
                pure,
                result_bytes: self.bytes_of(LLVMTypeOf(value)),
            })
        }
    }

    fn integer_intrinsic(&self, name: &str, arguments: &[ValueRef]) -> Option<Operation> {
        let family = match name.strip_prefix("llvm.") {
            Some(rest) => rest.split('.').next()?,
            None => name,
        };
        if let ("abs" | "__nv_abs" | "__nv_llabs", Some(operand)) = (family, arguments.first()) {
            let is_integer = matches!(self.values[operand.0].value_type, Type::Integer(_));
            return is_integer.then_some(Operation::Absolute(*operand));
        }
        let operator = match family {
            "smin" | "__nv_min" | "__nv_llmin" => BinaryOperator::SignedMinimum,
            "smax" | "__nv_max" | "__nv_llmax" => BinaryOperator::SignedMaximum,
            "umin" | "__nv_umin" | "__nv_ullmin" => BinaryOperator::UnsignedMinimum,
            "umax" | "__nv_umax" | "__nv_ullmax" => BinaryOperator::UnsignedMaximum,
            _ => return None,
        };
        let [left, right] = arguments else {
            return None;
        };
        matches!(self.values[left.0].value_type, Type::Integer(_)).then_some(Operation::Binary {
            operator,
            left: *left,
            right: *right,
            no_signed_wrap: false,
            no_unsigned_wrap: false,
            disjoint: false,
        })
    }

    unsafe fn terminator(&mut self, terminator: LLVMValueRef) -> Terminator {
        // SAFETY: as stated for this block; a verified function's blocks all have terminators.
        unsafe {
            let successors: Vec<_> = (0..LLVMGetNumSuccessors(terminator))
                .map(|index| self.block_numbers[&LLVMGetSuccessor(terminator, index)])
                .collect();
            match LLVMGetInstructionOpcode(terminator) {
                LLVMOpcode::LLVMRet => Terminator::Return,
                LLVMOpcode::LLVMUnreachable => Terminator::Unreachable,
                LLVMOpcode::LLVMBr if LLVMIsConditional(terminator) == 0 => {
                    Terminator::Jump(successors[0])
                }
                LLVMOpcode::LLVMBr => {
                    let condition = LLVMGetCondition(terminator);
                    Terminator::Branch {
                        condition: self.operand(condition),
                        on_true: successors[0],
                        on_false: successors[1],
                    }
                }
                LLVMOpcode::LLVMSwitch => {
                    let condition = LLVMGetOperand(terminator, 0);
                    if LLVMGetIntTypeWidth(LLVMTypeOf(condition)) > LITERAL_BITS {
                        return Terminator::Other(successors);
                    }
                    Terminator::Switch {
                        value: self.operand(condition),
                        cases: (1..successors.len())
                            .map(|index| {
                                let literal = LLVMGetSwitchCaseValue(terminator, index as u32);
                                (LLVMConstIntGetSExtValue(literal), successors[index])
                            })
                            .collect(),
                        default: successors[0],
                    }
                }
                _ => Terminator::Other(successors),
            }
        }
    }
}

/// Path of the file that a scope lies in, as the compiler was given it.
unsafe fn file_of(scope: LLVMMetadataRef) -> String {
    if scope.is_null() {
        return String::new();
    }
    // SAFETY: the caller passes a scope of a live module.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let mut length = 0;
        let name = LLVMDIFileGetFilename(file, &mut length);
        let name = text(name, length as usize);
        let directory = LLVMDIFileGetDirectory(file, &mut length);
        source_path(&text(directory, length as usize), &name)
    }
}

fn value_name(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: callers pass a live global.
    unsafe { text(LLVMGetValueName2(value, &mut length), length) }
}

/// `__launch_bounds__` as clang writes it: `"nvvm.maxntid"="256"` (or up to three factors).
unsafe fn max_threads(function: LLVMValueRef) -> Option<u32> {
    // SAFETY: the caller passes a live function.
    let value = unsafe { string_attribute(function, "nvvm.maxntid") }?;
    value
        .split(',')
        .map(|factor| factor.trim().parse::<u32>().ok())
        .try_fold(1u32, |product, factor| product.checked_mul(factor?))
}

/// An attribute that is text.
unsafe fn string_attribute(function: LLVMValueRef, key: &str) -> Option<String> {
    // SAFETY: the caller passes a live function.
    let attribute = unsafe {
        LLVMGetStringAttributeAtIndex(
            function,
            LLVMAttributeFunctionIndex,
            key.as_ptr().cast(),
            key.len() as u32,
        )
    };
    if attribute.is_null() {
        return None;
    }
    let mut length = 0;
    // SAFETY: the attribute was found just above and is a string attribute.
    Some(unsafe {
        text(
            LLVMGetStringAttributeValue(attribute, &mut length),
            length as usize,
        )
    })
}

fn binary_operator(opcode: LLVMOpcode) -> BinaryOperator {
    match opcode {
        LLVMOpcode::LLVMAdd => BinaryOperator::Add,
        LLVMOpcode::LLVMSub => BinaryOperator::Subtract,
        LLVMOpcode::LLVMMul => BinaryOperator::Multiply,
        LLVMOpcode::LLVMShl => BinaryOperator::ShiftLeft,
        LLVMOpcode::LLVMUDiv => BinaryOperator::UnsignedDivide,
        LLVMOpcode::LLVMSDiv => BinaryOperator::SignedDivide,
        LLVMOpcode::LLVMURem => BinaryOperator::UnsignedRemainder,
        LLVMOpcode::LLVMSRem => BinaryOperator::SignedRemainder,
        LLVMOpcode::LLVMLShr => BinaryOperator::LogicalShiftRight,
        LLVMOpcode::LLVMAShr => BinaryOperator::ArithmeticShiftRight,
        LLVMOpcode::LLVMAnd => BinaryOperator::And,
        LLVMOpcode::LLVMOr => BinaryOperator::Or,
        _ => BinaryOperator::Xor,
    }
}

fn predicate(predicate: LLVMIntPredicate) -> Predicate {
    match predicate {
        LLVMIntPredicate::LLVMIntEQ => Predicate::Equal,
        LLVMIntPredicate::LLVMIntNE => Predicate::NotEqual,
        LLVMIntPredicate::LLVMIntSLT => Predicate::SignedLess,
        LLVMIntPredicate::LLVMIntSLE => Predicate::SignedLessEqual,
        LLVMIntPredicate::LLVMIntSGT => Predicate::SignedGreater,
        LLVMIntPredicate::LLVMIntSGE => Predicate::SignedGreaterEqual,
        LLVMIntPredicate::LLVMIntULT => Predicate::UnsignedLess,
        LLVMIntPredicate::LLVMIntULE => Predicate::UnsignedLessEqual,
        LLVMIntPredicate::LLVMIntUGT => Predicate::UnsignedGreater,
        LLVMIntPredicate::LLVMIntUGE => Predicate::UnsignedGreaterEqual,
    }
}

/// The operator of an update that takes the cell's old value along; limits have to be literals.
fn operator(operator: LLVMAtomicRMWBinOp, operand: Option<u64>) -> Option<ReductionOperator> {
    use LLVMAtomicRMWBinOp::*;
    Some(match operator {
        LLVMAtomicRMWBinOpAdd | LLVMAtomicRMWBinOpSub => ReductionOperator::Add,
        LLVMAtomicRMWBinOpMin => ReductionOperator::Minimum,
        LLVMAtomicRMWBinOpMax => ReductionOperator::Maximum,
        LLVMAtomicRMWBinOpUMin => ReductionOperator::UnsignedMinimum,
        LLVMAtomicRMWBinOpUMax => ReductionOperator::UnsignedMaximum,
        LLVMAtomicRMWBinOpAnd => ReductionOperator::And,
        LLVMAtomicRMWBinOpOr => ReductionOperator::Or,
        LLVMAtomicRMWBinOpXor => ReductionOperator::Xor,
        LLVMAtomicRMWBinOpUIncWrap => ReductionOperator::Increment(operand?),
        LLVMAtomicRMWBinOpUDecWrap => ReductionOperator::Decrement(operand?),
        LLVMAtomicRMWBinOpFAdd | LLVMAtomicRMWBinOpFSub => ReductionOperator::FloatingAdd,
        LLVMAtomicRMWBinOpFMin
        | LLVMAtomicRMWBinOpFMax
        | LLVMAtomicRMWBinOpFMinimum
        | LLVMAtomicRMWBinOpFMaximum => ReductionOperator::FloatingExtremum,
        _ => return None,
    })
}

/// The bits of an integer literal.
///
/// # Safety
/// `value` is a live value.
unsafe fn literal_bits(value: LLVMValueRef) -> Option<u64> {
    // SAFETY: as above; the width is that of an integer literal of at most 64 bits.
    unsafe {
        if LLVMIsAConstantInt(value).is_null()
            || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > LITERAL_BITS
        {
            return None;
        }
        Some(LLVMConstIntGetZExtValue(value))
    }
}

/// The name that a parameter has in its source; structs that are passed in pieces have more after a dot.
fn source_name_of(parameter: LLVMValueRef) -> String {
    let name = value_name(parameter);
    let plain = name.split('.').next().unwrap_or_default();
    let is_name = plain.starts_with(|first: char| first.is_alphabetic() || first == '_');
    match is_name {
        true => plain.to_owned(),
        false => String::new(),
    }
}
