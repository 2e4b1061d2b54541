//! What a body reads of its place in the launch, given by its caller.
//!
//! Invariant: a body that is given an index never reads the fused kernel's own in its stead.

use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use crate::math::affine::Axis;
use inkwell::module::Module;

/// One of the numbers that a thread finds its place by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::fused_kernels::fuse) enum Index {
    /// `blockIdx` on an axis.
    Block(Axis),
    /// `gridDim` on an axis.
    GridSize(Axis),
    /// `threadIdx` on an axis.
    Thread(Axis),
    /// `blockDim` on an axis.
    BlockSize(Axis),
}

/// What a body does not read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) enum Given {
    /// It reads all indices.
    Nothing,
    /// `gridDim`.
    Grid,
    /// `blockIdx` and `gridDim`.
    Block,
    /// All that tells a thread's place.
    Place,
    /// The same, in a warp for which alone its barriers wait.
    PlaceInWarp,
}

/// What all bodies may read of their place.
const ALL: [Index; 12] = [
    Index::Block(Axis::X),
    Index::GridSize(Axis::X),
    Index::Thread(Axis::X),
    Index::BlockSize(Axis::X),
    Index::Block(Axis::Y),
    Index::GridSize(Axis::Y),
    Index::Thread(Axis::Y),
    Index::BlockSize(Axis::Y),
    Index::Block(Axis::Z),
    Index::GridSize(Axis::Z),
    Index::Thread(Axis::Z),
    Index::BlockSize(Axis::Z),
];
const GRID_SIZE: [Index; 3] = [
    Index::GridSize(Axis::X),
    Index::GridSize(Axis::Y),
    Index::GridSize(Axis::Z),
];
const OF_BLOCK: [Index; 6] = [
    Index::Block(Axis::X),
    Index::Block(Axis::Y),
    Index::Block(Axis::Z),
    Index::GridSize(Axis::X),
    Index::GridSize(Axis::Y),
    Index::GridSize(Axis::Z),
];

impl Given {
    /// What these are.
    pub(in crate::codegen::fused_kernels::fuse) fn indices(self) -> &'static [Index] {
        match self {
            Self::Nothing => &[],
            Self::Grid => &GRID_SIZE,
            Self::Block => &OF_BLOCK,
            Self::Place | Self::PlaceInWarp => &ALL,
        }
    }
}

impl Index {
    fn intrinsic(self) -> String {
        let (register, axis) = match self {
            Self::Block(axis) => ("ctaid", axis),
            Self::GridSize(axis) => ("nctaid", axis),
            Self::Thread(axis) => ("tid", axis),
            Self::BlockSize(axis) => ("ntid", axis),
        };
        format!("llvm.nvvm.read.ptx.sreg.{register}.{}", axis.name())
    }

    /// The registers that depend on it, as assembly writes them.
    fn registers(self) -> &'static [&'static str] {
        match self {
            Self::Block(_) => &["%ctaid"],
            Self::GridSize(_) => &["%nctaid"],
            Self::Thread(_) => &["%tid"],
            Self::BlockSize(_) => &["%ntid"],
        }
    }

    /// The fused kernel's own, 32 bits.
    pub(in crate::codegen::fused_kernels::fuse) fn read<'ctx>(
        self,
        module: &Module<'ctx>,
        builder: &Builder<'ctx>,
    ) -> Value<'ctx> {
        let name = self.intrinsic();
        let ty = Type::function(Type::integer(module, 32), &[]);
        let intrinsic = Value::function(module, &name)
            .unwrap_or_else(|| Value::add_function(module, &name, ty));
        intrinsic.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
        builder.call(ty, intrinsic, &[])
    }
}

/// Those of `given` that a body with everything inlined reads; `None` where assembly may read one.
pub(in crate::codegen::fused_kernels::fuse) fn indices_read(
    function: Value,
    given: &[Index],
) -> Option<Vec<Index>> {
    let mut found = Vec::new();
    for instruction in function.instructions() {
        if instruction.opcode() != Some(Opcode::LLVMCall) {
            continue;
        }
        if let Some((text, _)) = instruction.called().inline_assembly() {
            let mut registers = given.iter().flat_map(|index| index.registers());
            if registers.any(|register| text.contains(register)) {
                return None;
            }
            continue;
        }
        let name = instruction.called_name();
        let index = given
            .iter()
            .find(|index| name.as_ref() == Some(&index.intrinsic()));
        if let Some(index) = index
            && !found.contains(index)
        {
            found.push(*index);
        }
    }
    Some(found)
}

/// Lets a body use `value` wherever it reads an index.
pub(in crate::codegen::fused_kernels::fuse) fn replace_reads(
    function: Value,
    index: Index,
    value: Value,
) {
    let name = index.intrinsic();
    for instruction in function.instructions() {
        if instruction.opcode() == Some(Opcode::LLVMCall)
            && instruction.called_name().as_ref() == Some(&name)
        {
            instruction.replace_uses_with(value);
            instruction.erase();
        }
    }
}
