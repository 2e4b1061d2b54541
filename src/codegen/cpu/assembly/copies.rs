//! Asynchronous copies of inline PTX, which are made at once.

use super::super::functions::PREFIX;
use super::super::instrument;
use super::super::statements::Lowering;
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::Value;

/// Whether an instruction waits for copies or gathers them, which is nothing here.
pub(in crate::codegen::cpu) fn waits(instruction: &Instruction) -> bool {
    let name = instruction.name();
    let bulk = [
        "cp.async.bulk.commit_group",
        "cp.async.bulk.wait_group",
        "cp.async.bulk.wait_group.read",
    ];
    ["commit_group", "wait_group", "wait_all"]
        .iter()
        .any(|end| name == format!("cp.async.{end}"))
        || bulk.contains(&name.as_str())
        || name.starts_with("cp.async.bulk.prefetch.L2.global")
}

/// Whether an instruction copies a stretch of bytes, from global to shared memory with a barrier, between the shared
/// memories of a cluster, or back with a group. Tensors, masks and copies to several blocks are not understood.
pub(in crate::codegen::cpu) fn is_bulk_copy(instruction: &Instruction) -> bool {
    let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
    let ["cp", "async", "bulk", to, from, how, rest @ ..] = words.as_slice() else {
        return false;
    };
    let hinted = match rest {
        [] => 0,
        [hint] if *hint == "L2::cache_hint" => 1,
        _ => return false,
    };
    let operands = instruction.operands.len();
    match (*to, *from, *how) {
        ("shared::cluster" | "shared::cta", "global", BY_BARRIER)
        | ("shared::cluster", "shared::cta", BY_BARRIER) => operands == 4 + hinted,
        ("global", "shared::cta", "bulk_group") => operands == 3 + hinted,
        _ => false,
    }
}

/// A copy's barrier gets to know how many bytes have come.
const BY_BARRIER: &str = "mbarrier::complete_tx::bytes";

impl<'ctx> Lowering<'_, 'ctx> {
    /// `cp.async`, at once. So many bytes are written, of which as many as are told come from the
    /// source and the rest are zeros.
    pub(in crate::codegen::cpu) fn copy(
        &mut self,
        destination: &Operand,
        source: &Operand,
        sizes: [&Operand; 2],
    ) -> Result<Option<()>, CodegenError> {
        let [size, told] = sizes.map(|size| self.value(size, 32));
        let size = size.and_then(Value::constant_integer);
        let (Some(size @ (4 | 8 | 16)), Some(told), Some(to), Some(from)) = (
            size,
            told,
            self.pointer(destination)?,
            self.pointer(source)?,
        ) else {
            return Ok(None);
        };
        let Some(constant) = told.constant_integer() else {
            return self.copy_partly(to, from, size, told);
        };
        let (whole, told) = (self.integer(size as u32 * 8), constant.min(size));
        let value = match told {
            0 => whole.zero(),
            _ => {
                self.report(from, told, instrument::LOAD)?;
                let part = self
                    .builder
                    .load_aligned(self.integer(told as u32 * 8), from, 1);
                self.resize(part, size as u32 * 8)
            }
        };
        self.report(to, size, instrument::STORE)?;
        self.builder.store_aligned(value, to, 1);
        Ok(Some(()))
    }

    /// `cp.async.bulk`, at once.
    pub(in crate::codegen::cpu) fn copy_in_bulk(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let [to, from, size, rest @ ..] = operands else {
            return Ok(None);
        };
        let (Some(to), Some(from), Some(bytes)) =
            (self.pointer(to)?, self.pointer(from)?, self.word(size))
        else {
            return Ok(None);
        };
        let barrier = match (instruction.has(BY_BARRIER), rest) {
            (true, [place, ..]) => match self.pointer(place)? {
                Some(place) => Some(place),
                None => return Ok(None),
            },
            _ => None,
        };
        let size = self.resize(bytes, 64);
        let copy = self
            .library
            .declare(self.module, &format!("{PREFIX}copy.bulk"))?;
        (self.builder).call(copy.value_type(), copy, &[self.context, to, from, size]);
        if let Some(barrier) = barrier {
            let symbol = format!("{PREFIX}mbarrier.complete");
            let complete = self.library.declare(self.module, &symbol)?;
            let arguments = [self.context, barrier, bytes];
            (self.builder).call(complete.value_type(), complete, &arguments);
        }
        Ok(Some(()))
    }

    /// The same where only the run knows how many bytes are told.
    fn copy_partly(
        &mut self,
        to: Value<'ctx>,
        from: Value<'ctx>,
        size: u64,
        told: Value<'ctx>,
    ) -> Result<Option<()>, CodegenError> {
        let long = self.integer(64);
        let Some(told) = self.fit(told, long) else {
            return Ok(None);
        };
        let symbol = format!("{}copy.partly", PREFIX);
        let function = self.library.declare(self.module, &symbol)?;
        let arguments = [self.context, to, from, long.constant(size), told];
        self.builder
            .call(function.value_type(), function, &arguments);
        Ok(Some(()))
    }
}
