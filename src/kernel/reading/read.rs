//! LLVM function -> [`Body`]: the only place of this stage that looks into LLVM's functions.

use super::super::ReductionOperator;
use super::super::body::{
    BinaryOperator, Block, BlockRef, Body, Call, Cast, Formal, GlobalVariable, Operation,
    Predicate, Tables, Terminator, Type, Value, ValueRef,
};
use crate::diagnostics::Location;
use crate::llvm::{
    self, AtomicUpdate, FUNCTION_ATTRIBUTES, IntegerPredicate, Layout, Opcode, TypeKind, ValueKind,
};
use crate::program::KEPT_STORE;
use inkwell::values::FunctionValue;
use std::collections::HashMap;

/// Reads a function that has a body.
pub fn read_body(function: FunctionValue<'_>) -> Body {
    let name = function.get_name().to_string_lossy().into_owned();
    Reader::new(llvm::Value::of_function(function)).read(name)
}

struct Reader<'ctx> {
    function: llvm::Value<'ctx>,
    layout: Layout<'ctx>,
    own_location: Location,
    numbers: HashMap<llvm::Value<'ctx>, ValueRef>,
    block_numbers: HashMap<llvm::Block<'ctx>, BlockRef>,
    values: Vec<Value>,
}

/// How many bits of an integer literal the model reads.
const LITERAL_BITS: u32 = 64;

/// Scopes of atomics that hold for the whole device.
const DEVICE_SCOPES: [&str; 2] = ["", "device"];

impl<'ctx> Reader<'ctx> {
    fn new(function: llvm::Value<'ctx>) -> Self {
        Self {
            function,
            layout: Layout::of_function(function),
            own_location: Location::default(),
            numbers: HashMap::new(),
            block_numbers: HashMap::new(),
            values: Vec::new(),
        }
    }

    fn read(mut self, name: String) -> Body {
        let location = self.function.source_of_function().unwrap_or_default();
        self.own_location = location.clone();
        let formals = self.read_formals();
        let blocks = self.function.blocks();
        for (index, block) in blocks.iter().enumerate() {
            self.block_numbers.insert(*block, BlockRef(index));
        }
        // Numbers first, operations second: phis mention later instructions.
        let mut order = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let terminator =
                (block.terminator()).expect("a verified function's blocks have an end");
            let mut list = Vec::new();
            for instruction in block.instructions() {
                if instruction != terminator {
                    let number = ValueRef(self.values.len());
                    self.numbers.insert(instruction, number);
                    self.values.push(Value {
                        operation: Operation::Undefined,
                        value_type: self.type_of(instruction),
                        block: Some(BlockRef(index)),
                        used: instruction.has_uses(),
                        location: self.location(instruction),
                    });
                    list.push((instruction, number));
                }
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
            is_clustered: self.function.string_attribute("nvvm.cluster_dim").is_some(),
            tables: Tables::default(),
        }
    }

    /// The innermost place that lies in the kernel's own file; code inlined from headers is shown
    /// where the user called it. What LLVM made of instructions of several lines has no line: it is the kernel's.
    fn location(&self, instruction: llvm::Value) -> Location {
        let mut last = Location::default();
        for place in instruction.source_places() {
            last = place;
            if last.file == self.own_location.file && last.line != 0 {
                break;
            }
        }
        match last.line {
            0 => self.own_location.clone(),
            _ => last,
        }
    }

    fn read_formals(&mut self) -> Vec<Formal> {
        (0..)
            .zip(self.function.parameters())
            .map(|(index, parameter)| {
                let by_value = self.function.by_value(index);
                let value_type = self.type_of(parameter);
                let (shape, operation) = match by_value {
                    None => (parameter.ty(), Operation::Argument(index as usize)),
                    Some((shape, _)) => (shape, Operation::ByValueArgument(index as usize)),
                };
                self.numbers.insert(parameter, ValueRef(self.values.len()));
                self.values.push(Value {
                    operation,
                    value_type,
                    block: None,
                    used: parameter.has_uses(),
                    location: Location::default(),
                });
                let natural = self.layout.alignment(shape);
                let align_bytes =
                    by_value.map_or(natural, |(_, explicit)| natural.max(explicit as u32));
                Formal {
                    name: source_name_of(parameter),
                    bytes: self.layout.allocation_bytes(shape) as u32,
                    align_bytes,
                    is_pointer: by_value.is_none() && matches!(value_type, Type::Pointer(_)),
                }
            })
            .collect()
    }

    fn type_of(&self, value: llvm::Value) -> Type {
        let shape = value.ty();
        match shape.kind() {
            TypeKind::LLVMIntegerTypeKind => Type::Integer(shape.integer_bits()),
            TypeKind::LLVMPointerTypeKind => Type::Pointer(shape.address_space()),
            _ => Type::Other,
        }
    }

    fn bytes_of(&self, shape: llvm::Type) -> u32 {
        if !shape.is_sized() {
            return 0;
        }
        u32::try_from(self.layout.access_bytes(shape)).unwrap_or(u32::MAX)
    }

    /// The number of an operand, reading constants on first sight.
    fn operand(&mut self, value: llvm::Value<'ctx>) -> ValueRef {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let (operation, value_type) = (self.constant(value), self.type_of(value));
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

    fn constant(&mut self, value: llvm::Value<'ctx>) -> Operation {
        match value.value_kind() {
            ValueKind::LLVMConstantIntValueKind if value.ty().integer_bits() <= LITERAL_BITS => {
                Operation::Constant(value.signed_integer().unwrap_or_default())
            }
            ValueKind::LLVMConstantPointerNullValueKind => Operation::Null,
            ValueKind::LLVMUndefValueValueKind | ValueKind::LLVMPoisonValueKind => {
                Operation::Undefined
            }
            ValueKind::LLVMGlobalVariableValueKind => {
                let shape = value.value_type();
                let bytes = if !shape.is_sized() {
                    0
                } else {
                    self.layout.allocation_bytes(shape)
                };
                let space = value.ty().address_space();
                Operation::Global(GlobalVariable {
                    name: value.name(),
                    address_space: space,
                    bytes,
                    align_bytes: value.alignment(),
                    constant: value.is_constant_global() || space == 4,
                    external: value.is_declaration(),
                })
            }
            ValueKind::LLVMConstantExprValueKind => {
                self.instruction(value, value.constant_opcode())
            }
            _ => Operation::Other {
                operands: Vec::new(),
                effects: false,
            },
        }
    }

    fn operation(&mut self, instruction: llvm::Value<'ctx>) -> Operation {
        match instruction.opcode() {
            Some(opcode) => self.instruction(instruction, opcode),
            None => self.other(instruction, true),
        }
    }

    fn nth(&mut self, user: llvm::Value<'ctx>, index: u32) -> ValueRef {
        let operand = user.operand(index);
        self.operand(operand)
    }

    fn other(&mut self, user: llvm::Value<'ctx>, effects: bool) -> Operation {
        let mut operands = Vec::new();
        for operand in user.operands() {
            let kind = operand.value_kind();
            if !matches!(
                kind,
                ValueKind::LLVMBasicBlockValueKind
                    | ValueKind::LLVMMetadataAsValueValueKind
                    | ValueKind::LLVMInlineAsmValueKind
            ) {
                operands.push(self.operand(operand));
            }
        }
        Operation::Other { operands, effects }
    }

    fn instruction(&mut self, value: llvm::Value<'ctx>, opcode: Opcode) -> Operation {
        use Opcode::*;
        match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem
            | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => {
                let wraps = matches!(opcode, LLVMAdd | LLVMSub | LLVMMul | LLVMShl)
                    && value.is_instruction();
                Operation::Binary {
                    operator: binary_operator(opcode),
                    left: self.nth(value, 0),
                    right: self.nth(value, 1),
                    no_signed_wrap: wraps && value.has_no_signed_wrap(),
                    no_unsigned_wrap: wraps && value.has_no_unsigned_wrap(),
                    disjoint: opcode == LLVMOr && value.is_instruction() && value.is_disjoint(),
                }
            }
            LLVMICmp => Operation::Compare {
                predicate: value
                    .integer_predicate()
                    .map_or(Predicate::Equal, predicate),
                left: self.nth(value, 0),
                right: self.nth(value, 1),
                same_sign: value.is_of_same_sign(),
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
                (value.incoming().into_iter())
                    .map(|(incoming, block)| (self.operand(incoming), self.block_numbers[&block]))
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
                bytes: self.bytes_of(value.ty()),
                volatile: value.is_volatile(),
                atomic: value.is_atomic(),
                invariant: value.has_metadata("invariant.load"),
            },
            LLVMStore => Operation::Store {
                value: self.nth(value, 0),
                pointer: self.nth(value, 1),
                bytes: self.bytes_of(value.operand(0).ty()),
                // Most stores are volatile only in the copy that is read here.
                volatile: value.is_volatile() && !value.has_metadata(KEPT_STORE),
                atomic: value.is_atomic(),
            },
            LLVMAtomicRMW => Operation::AtomicUpdate {
                pointer: self.nth(value, 0),
                value: self.nth(value, 1),
                bytes: self.bytes_of(value.ty()),
                operator: operator(value.atomic_update(), value.operand(1).constant_integer()),
                within_block: !value.has_scope_of(&DEVICE_SCOPES),
                volatile: value.is_volatile(),
            },
            LLVMAtomicCmpXchg => Operation::CompareExchange {
                pointer: self.nth(value, 0),
                compare: self.nth(value, 1),
                new: self.nth(value, 2),
                bytes: self.bytes_of(value.operand(1).ty()),
                volatile: value.is_volatile(),
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

    fn cast(&mut self, value: llvm::Value<'ctx>, opcode: Opcode) -> Operation {
        let operand = self.nth(value, 0);
        let (from, to) = (self.values[operand.0].value_type, self.type_of(value));
        let is_instruction = value.is_instruction();
        let cast = match (opcode, from, to) {
            (Opcode::LLVMTrunc, Type::Integer(_), Type::Integer(_)) => Cast::Truncate,
            (Opcode::LLVMSExt, Type::Integer(_), Type::Integer(_)) => Cast::SignExtend,
            (Opcode::LLVMZExt, Type::Integer(_), Type::Integer(_)) => Cast::ZeroExtend,
            (Opcode::LLVMAddrSpaceCast, Type::Pointer(_), Type::Pointer(_)) => Cast::AddressSpace,
            (Opcode::LLVMBitCast, Type::Integer(_), Type::Integer(_))
            | (Opcode::LLVMBitCast, Type::Pointer(_), Type::Pointer(_)) => Cast::Same,
            _ => return self.other(value, false),
        };
        Operation::Cast {
            cast,
            operand,
            non_negative: cast == Cast::ZeroExtend && is_instruction && value.is_of_no_negative(),
        }
    }

    /// A `getelementptr` of scalars as bytes; vectors of pointers are `Other`.
    fn offset(&mut self, value: llvm::Value<'ctx>) -> Operation {
        if !matches!(self.type_of(value), Type::Pointer(_)) {
            return self.other(value, false);
        }
        let base = self.nth(value, 0);
        let mut shape = value.element_pointer_source_type();
        let mut constant: i64 = 0;
        let mut terms = Vec::new();
        for (index, operand) in value.operands().into_iter().enumerate().skip(1) {
            if index > 1 {
                if shape.kind() == TypeKind::LLVMStructTypeKind {
                    let field = operand.constant_integer().unwrap_or_default() as u32;
                    let bytes = self.layout.field_offset(shape, field);
                    constant = constant.wrapping_add(bytes as i64);
                    shape = shape.field(field);
                    continue;
                }
                shape = shape.element();
            }
            let stride = self.layout.allocation_bytes(shape) as i64;
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

    fn call(&mut self, value: llvm::Value<'ctx>) -> Operation {
        let mut arguments = Vec::new();
        for operand in value.call_arguments() {
            if operand.value_kind() != ValueKind::LLVMMetadataAsValueValueKind {
                arguments.push(self.operand(operand));
            }
        }
        let callee = value.called();
        if let Some((text, constraints)) = callee.inline_assembly() {
            return Operation::Assembly {
                text,
                constraints,
                arguments,
            };
        }
        let function = value.called_function();
        if let Some(function) = function
            && let Some(operation) = self.integer_intrinsic(&function.name(), &arguments)
        {
            return operation;
        }
        // `memory(none)` is encoded as zero; `nounwind willreturn` follow for intrinsics.
        let pure = function.is_some_and(|function| {
            function.integer_attribute(FUNCTION_ATTRIBUTES, "memory") == Some(0)
        });
        Operation::Call(Call {
            callee: function.map(llvm::Value::name),
            arguments,
            pure,
            result_bytes: self.bytes_of(value.ty()),
        })
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

    fn terminator(&mut self, terminator: llvm::Value<'ctx>) -> Terminator {
        let successors = terminator.successors().into_iter();
        let successors: Vec<_> = successors.map(|block| self.block_numbers[&block]).collect();
        match terminator.opcode() {
            Some(Opcode::LLVMRet) => Terminator::Return,
            Some(Opcode::LLVMUnreachable) => Terminator::Unreachable,
            Some(Opcode::LLVMBr) => match terminator.branch_condition() {
                None => Terminator::Jump(successors[0]),
                Some(condition) => Terminator::Branch {
                    condition: self.operand(condition),
                    on_true: successors[0],
                    on_false: successors[1],
                },
            },
            Some(Opcode::LLVMSwitch) => {
                let condition = terminator.operand(0);
                if condition.ty().integer_bits() > LITERAL_BITS {
                    return Terminator::Other(successors);
                }
                let otherwise = terminator.successors()[0];
                Terminator::Switch {
                    value: self.operand(condition),
                    cases: (1..successors.len())
                        .map(|index| {
                            let literal = terminator.switch_case(index as u32);
                            (
                                literal.signed_integer().unwrap_or_default(),
                                successors[index],
                            )
                        })
                        .collect(),
                    default: (!is_only_unreachable(otherwise)).then_some(successors[0]),
                }
            }
            _ => Terminator::Other(successors),
        }
    }
}

/// A block with nothing in it but that control never gets there.
fn is_only_unreachable(block: llvm::Block) -> bool {
    let instructions = block.instructions();
    let mut opcodes = instructions.iter().map(|each| each.opcode());
    opcodes.all(|opcode| opcode == Some(Opcode::LLVMUnreachable))
}

/// `__launch_bounds__` as clang writes it: `"nvvm.maxntid"="256"` (or up to three factors).
fn max_threads(function: llvm::Value) -> Option<u32> {
    let value = function.string_attribute("nvvm.maxntid")?;
    value
        .split(',')
        .map(|factor| factor.trim().parse::<u32>().ok())
        .try_fold(1u32, |product, factor| product.checked_mul(factor?))
}

fn binary_operator(opcode: Opcode) -> BinaryOperator {
    match opcode {
        Opcode::LLVMAdd => BinaryOperator::Add,
        Opcode::LLVMSub => BinaryOperator::Subtract,
        Opcode::LLVMMul => BinaryOperator::Multiply,
        Opcode::LLVMShl => BinaryOperator::ShiftLeft,
        Opcode::LLVMUDiv => BinaryOperator::UnsignedDivide,
        Opcode::LLVMSDiv => BinaryOperator::SignedDivide,
        Opcode::LLVMURem => BinaryOperator::UnsignedRemainder,
        Opcode::LLVMSRem => BinaryOperator::SignedRemainder,
        Opcode::LLVMLShr => BinaryOperator::LogicalShiftRight,
        Opcode::LLVMAShr => BinaryOperator::ArithmeticShiftRight,
        Opcode::LLVMAnd => BinaryOperator::And,
        Opcode::LLVMOr => BinaryOperator::Or,
        _ => BinaryOperator::Xor,
    }
}

fn predicate(predicate: IntegerPredicate) -> Predicate {
    match predicate {
        IntegerPredicate::LLVMIntEQ => Predicate::Equal,
        IntegerPredicate::LLVMIntNE => Predicate::NotEqual,
        IntegerPredicate::LLVMIntSLT => Predicate::SignedLess,
        IntegerPredicate::LLVMIntSLE => Predicate::SignedLessEqual,
        IntegerPredicate::LLVMIntSGT => Predicate::SignedGreater,
        IntegerPredicate::LLVMIntSGE => Predicate::SignedGreaterEqual,
        IntegerPredicate::LLVMIntULT => Predicate::UnsignedLess,
        IntegerPredicate::LLVMIntULE => Predicate::UnsignedLessEqual,
        IntegerPredicate::LLVMIntUGT => Predicate::UnsignedGreater,
        IntegerPredicate::LLVMIntUGE => Predicate::UnsignedGreaterEqual,
    }
}

/// The operator of an update that takes the cell's old value along; limits have to be literals.
fn operator(operator: AtomicUpdate, operand: Option<u64>) -> Option<ReductionOperator> {
    use AtomicUpdate::*;
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

/// The name that a parameter has in its source; structs that are passed in pieces have more after a dot.
fn source_name_of(parameter: llvm::Value) -> String {
    let name = parameter.name();
    let plain = name.split('.').next().unwrap_or_default();
    let is_name = plain.starts_with(|first: char| first.is_alphabetic() || first == '_');
    match is_name {
        true => plain.to_owned(),
        false => String::new(),
    }
}
