//! Asynchronous copies of inline PTX, which are made at once.

use super::functions::PREFIX;
use super::instrument;
use super::statements::Lowering;
use crate::codegen::CodegenError;
use crate::codegen::ir::Value;
use crate::kernel::ptx::{Instruction, Operand};

/// Whether an instruction waits for copies or gathers them, which is nothing here.
pub(super) fn waits(instruction: &Instruction) -> bool {
    ["commit_group", "wait_group", "wait_all"]
        .iter()
        .any(|end| instruction.name() == format!("cp.async.{end}"))
}

impl Lowering<'_, '_, '_> {
    /// `cp.async`, at once. So many bytes are written, of which as many as are told come from the
    /// source and the rest are zeros.
    pub(super) fn copy(
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
                let part = self.builder.load(self.integer(told as u32 * 8), from, 1);
                self.resize(part, size as u32 * 8)
            }
        };
        self.report(to, size, instrument::STORE)?;
        self.builder.store(value, to, 1);
        Ok(Some(()))
    }

    /// The same where only the run knows how many bytes are told.
    fn copy_partly(
        &mut self,
        to: Value,
        from: Value,
        size: u64,
        told: Value,
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
