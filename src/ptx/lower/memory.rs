//! Loads, stores and fences. How caches are to be used changes no value and is left out.

use super::address::space_of;
use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar, Space};

/// How an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Plain,
    Volatile,
    Atomic(&'static str),
}

fn order_of(instruction: &Instruction) -> Order {
    if instruction.has("acquire") {
        Order::Atomic("acquire")
    } else if instruction.has("release") {
        Order::Atomic("release")
    } else if instruction.has("relaxed") || instruction.has("mmio") {
        Order::Atomic("monotonic")
    } else if instruction.has("volatile") {
        Order::Volatile
    } else {
        Order::Plain
    }
}

/// What an element in memory is: halves are integers.
fn element(scalar: Scalar) -> Type {
    Type::of(scalar)
}

impl Body<'_> {
    pub(super) fn load(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        address: &Operand,
    ) -> Result<(), PtxError> {
        let Some(scalar) = self.last_type(instruction) else {
            return self.wrong(format!("`{}` has no type", instruction.name()));
        };
        let pointer = self.pointer(address, space_of(instruction))?;
        let parts: Vec<Operand> = match result {
            Operand::Vector(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        let ty = element(scalar);
        let bytes = scalar.bits.div_ceil(8) * parts.len() as u32;
        let order = order_of(instruction);
        let signed = scalar.is_signed();
        if parts.len() == 1 {
            let value = self.load_one(&pointer, ty, bytes, order);
            return self.set(&parts[0], value, signed);
        }
        if order != Order::Plain && order != Order::Volatile {
            // Of a vector each element is atomic.
            let each = scalar.bits.div_ceil(8);
            for (position, part) in parts.iter().enumerate() {
                let at = self.op(
                    pointer.ty,
                    &format!(
                        "getelementptr i8, {pointer}, i64 {}",
                        position as u32 * each
                    ),
                );
                let value = self.load_one(&at, ty, each, order);
                self.set(part, value, signed)?;
            }
            return Ok(());
        }
        let volatile = if order == Order::Volatile {
            "volatile "
        } else {
            ""
        };
        let count = parts.len();
        let vector = Type::Int(scalar.bits * count as u32);
        let whole = self.op(
            vector,
            &format!("load {volatile}<{count} x {ty}>, {pointer}, align {bytes}"),
        );
        for (position, part) in parts.iter().enumerate() {
            let value = self.op(
                ty,
                &format!(
                    "extractelement <{count} x {ty}> {}, i64 {position}",
                    whole.text
                ),
            );
            self.set(part, value, signed)?;
        }
        Ok(())
    }

    fn load_one(&mut self, pointer: &Value, ty: Type, bytes: u32, order: Order) -> Value {
        match order {
            Order::Plain => self.op(ty, &format!("load {ty}, {pointer}, align {bytes}")),
            Order::Volatile => {
                self.op(ty, &format!("load volatile {ty}, {pointer}, align {bytes}"))
            }
            Order::Atomic(order) => {
                let integer = Type::Int(ty.bits());
                let value = self.op(
                    integer,
                    &format!("load atomic {integer}, {pointer} {order}, align {bytes}"),
                );
                self.as_type(value, ty)
            }
        }
    }

    pub(super) fn store(
        &mut self,
        instruction: &Instruction,
        address: &Operand,
        value: &Operand,
    ) -> Result<(), PtxError> {
        let Some(scalar) = self.last_type(instruction) else {
            return self.wrong(format!("`{}` has no type", instruction.name()));
        };
        let pointer = self.pointer(address, space_of(instruction))?;
        let parts: Vec<Operand> = match value {
            Operand::Vector(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        let ty = element(scalar);
        let bytes = scalar.bits.div_ceil(8) * parts.len() as u32;
        let order = order_of(instruction);
        let mut values = Vec::new();
        for part in &parts {
            // What is passed on as a parameter stays the pointer that it is.
            let is_passed = scalar.bits == 64 && space_of(instruction) == Space::Parameter;
            let name = part.name().filter(|_| is_passed);
            let pointer = name.and_then(|name| self.held_pointer(name));
            values.push(match pointer {
                Some(pointer) => pointer,
                None => self.operand(part, scalar)?,
            });
        }
        if let [value] = values.as_slice() {
            self.store_one(&pointer, value.clone(), bytes, order);
            return Ok(());
        }
        if order != Order::Plain && order != Order::Volatile {
            let each = scalar.bits.div_ceil(8);
            for (position, value) in values.into_iter().enumerate() {
                let at = self.op(
                    pointer.ty,
                    &format!(
                        "getelementptr i8, {pointer}, i64 {}",
                        position as u32 * each
                    ),
                );
                self.store_one(&at, value, each, order);
            }
            return Ok(());
        }
        let count = values.len();
        let mut whole = "poison".to_owned();
        for (position, value) in values.iter().enumerate() {
            let made = self.op(
                Type::Int(scalar.bits * count as u32),
                &format!("insertelement <{count} x {ty}> {whole}, {value}, i64 {position}"),
            );
            whole = made.text;
        }
        let volatile = if order == Order::Volatile {
            "volatile "
        } else {
            ""
        };
        self.emit(&format!(
            "store {volatile}<{count} x {ty}> {whole}, {pointer}, align {bytes}"
        ));
        Ok(())
    }

    fn store_one(&mut self, pointer: &Value, value: Value, bytes: u32, order: Order) {
        match order {
            Order::Plain => self.emit(&format!("store {value}, {pointer}, align {bytes}")),
            Order::Volatile => {
                self.emit(&format!("store volatile {value}, {pointer}, align {bytes}"))
            }
            Order::Atomic(order) => {
                let bits = value.ty.bits();
                let value = self.as_type(value, Type::Int(bits));
                self.emit(&format!(
                    "store atomic {value}, {pointer} {order}, align {bytes}"
                ));
            }
        }
    }

    /// `membar`, `fence`: as the strongest of them, which all caches of the host see.
    pub(super) fn fence(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        let is_proxy = instruction.has("proxy");
        let scope = match () {
            () if instruction.has("cta") => "cta",
            () if instruction.has("sys") => "sys",
            () => "gl",
        };
        if is_proxy {
            // There is one way to memory.
            return Ok(());
        }
        let name = format!("llvm.nvvm.membar.{scope}");
        self.made.declare(format!("declare void @{name}()"));
        self.emit(&format!("call void @{name}()"));
        Ok(())
    }
}
