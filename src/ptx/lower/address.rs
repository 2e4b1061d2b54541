//! Addresses: operands in memory -> pointers.
//!
//! Invariant: of an address in shared memory the lower 32 bits decide, as on GPUs: the upper half is that of the
//! variable that it is relative to, and all shared memory of a block lies within 2 GiB of that.

use super::function::{Body, Named};
use super::values::{Type, Value, quoted};
use super::{address_space, variables};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Linkage, Operand, Scalar, Space, Variable};

/// The space that an instruction names.
pub(super) fn space_of(instruction: &Instruction) -> Space {
    let mut spaces = instruction
        .opcode
        .iter()
        .skip(1)
        .filter_map(|part| space_named(part));
    spaces.next().unwrap_or(Space::Generic)
}

/// The space of a modifier.
pub(super) fn space_named(part: &str) -> Option<Space> {
    Some(match part {
        "global" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "const" => Space::Constant,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Parameter,
        _ => return None,
    })
}

impl Body<'_> {
    /// The pointer of a memory operand in a space.
    pub(super) fn pointer(&mut self, operand: &Operand, space: Space) -> Result<Value, PtxError> {
        let (base, offset) = match operand {
            Operand::Memory(base, offset) => (base.as_ref(), *offset),
            other => (other, 0),
        };
        match base {
            Operand::Name(name, more) => {
                let offset = offset.wrapping_add(*more);
                match self.named(name).cloned() {
                    Some(Named::Variable(address, of)) => Ok(self.further(
                        Value::new(Type::Pointer(address_space(of)), address),
                        offset,
                    )),
                    Some(Named::Register(_)) => self.pointer_in(name, offset, space),
                    Some(Named::Function) => self.wrong(format!("`{name}` is no variable")),
                    None => self.wrong(format!("`{name}` is declared nowhere")),
                }
            }
            Operand::Integer(address) if space != Space::Shared => {
                let address = Value::constant(64, address.wrapping_add(offset as u64));
                Ok(self.op(Type::Pointer(0), &format!("inttoptr {address} to ptr")))
            }
            _ => self.unsupported("an absolute address in shared memory"),
        }
    }

    /// A pointer so many bytes further.
    fn further(&mut self, pointer: Value, offset: i64) -> Value {
        if offset == 0 {
            return pointer;
        }
        let ty = pointer.ty;
        self.op(ty, &format!("getelementptr i8, {pointer}, i64 {offset}"))
    }

    /// The pointer of the address in a register.
    fn pointer_in(&mut self, name: &str, offset: i64, space: Space) -> Result<Value, PtxError> {
        let Some(bits @ (32 | 64)) = self.register(name).map(|scalar| scalar.bits) else {
            return self.wrong(format!("`{name}` is no register for addresses"));
        };
        let is_shared = space == Space::Shared || (bits == 32 && space == Space::Generic);
        if let Some((root, narrow)) = self.roots.get(name).cloned()
            && let Some((pointer, of)) = self.root(&root)
            && (is_shared && (of == Space::Shared || self.is_pointer_parameter(&root))
                || bits == 64 && !narrow)
        {
            let ty = Type::Int(bits);
            let place = quoted(&format!("r.{name}"));
            let mut distance = self.op(ty, &format!("load {ty}, ptr %{place}"));
            if narrow || bits == 32 {
                distance = self.of_lower_half(distance);
            }
            let pointer = self.op(
                pointer.ty,
                &format!("getelementptr i8, {pointer}, {distance}"),
            );
            return Ok(self.further(pointer, offset));
        }
        let address = self.read_register(name)?;
        if is_shared {
            let anchor = self.anchor()?;
            return Ok(self.relative_to_lower_half(&anchor, &address, offset));
        }
        let address = self.extended(address, Type::Int(64), false);
        let pointer = self.op(Type::Pointer(0), &format!("inttoptr {address} to ptr"));
        Ok(self.further(pointer, offset))
    }

    /// The address in a register as a pointer, where it is known what it points into.
    pub(super) fn held_pointer(&mut self, name: &str) -> Option<Value> {
        let (_, is_narrow) = self.roots.get(name)?;
        if *is_narrow {
            return None;
        }
        let pointer = self.pointer_in(name, 0, Space::Generic).ok()?;
        Some(match pointer.ty {
            Type::Pointer(0) => pointer,
            _ => self.op(Type::Pointer(0), &format!("addrspacecast {pointer} to ptr")),
        })
    }

    /// The pointer to a root, and where it lies.
    pub(super) fn root(&self, root: &str) -> Option<(Value, Space)> {
        if self.is_pointer_parameter(root) {
            let argument = format!("%{}", quoted(&format!("a.{root}")));
            return Some((Value::new(Type::Pointer(0), argument), Space::Global));
        }
        match self.named(root) {
            Some(Named::Variable(address, space)) => {
                let ty = Type::Pointer(address_space(*space));
                Some((Value::new(ty, address.clone()), *space))
            }
            _ => None,
        }
    }

    fn relative_to_lower_half(&mut self, root: &Value, address: &Value, offset: i64) -> Value {
        let start = self.address_of(root);
        let start = self.op(Type::Int(32), &format!("trunc {start} to i32"));
        let low = match address.ty {
            Type::Int(32) => address.clone(),
            _ => self.op(Type::Int(32), &format!("trunc {address} to i32")),
        };
        let distance = self.op(Type::Int(32), &format!("sub {low}, {}", start.text));
        let distance = self.op(Type::Int(64), &format!("sext {distance} to i64"));
        let pointer = self.op(root.ty, &format!("getelementptr i8, {root}, {distance}"));
        self.further(pointer, offset)
    }

    /// The address of 64 bits that a pointer is.
    pub(super) fn address_of(&mut self, pointer: &Value) -> Value {
        let generic = match pointer.ty {
            Type::Pointer(0) => pointer.clone(),
            _ if pointer.text.starts_with('@') => Value::new(
                Type::Pointer(0),
                format!("addrspacecast ({pointer} to ptr)"),
            ),
            _ => self.op(Type::Pointer(0), &format!("addrspacecast {pointer} to ptr")),
        };
        self.op(Type::Int(64), &format!("ptrtoint {generic} to i64"))
    }

    /// The address of a symbol, in 64 bits.
    pub(super) fn address_of_symbol(&mut self, name: &str, offset: i64) -> Result<Value, PtxError> {
        let pointer = match self.named(name).cloned() {
            Some(Named::Variable(address, space)) => {
                Value::new(Type::Pointer(address_space(space)), address)
            }
            Some(Named::Function) => Value::new(Type::Pointer(0), format!("@{}", quoted(name))),
            _ => return self.wrong(format!("`{name}` is declared nowhere")),
        };
        let address = self.address_of(&pointer);
        Ok(match offset {
            0 => address,
            offset => self.op(Type::Int(64), &format!("add {address}, {offset}")),
        })
    }

    /// A variable in shared memory that is no other's: where it begins.
    fn anchor(&mut self) -> Result<Value, PtxError> {
        const ANCHOR: &str = "sirius.ptx.shared";
        if !self.made.variables.contains_key(ANCHOR) {
            let variable = Variable {
                line: self.line,
                linkage: Linkage::External,
                space: Some(Space::Shared),
                alignment: Some(1),
                scalar: Scalar::of_bits(8),
                vector: 1,
                name: ANCHOR.to_owned(),
                dimensions: vec![None],
                initializer: None,
                managed: false,
                pointer: false,
            };
            variables::define_as(self.made, &variable, ANCHOR)?;
            let named = (ANCHOR.to_owned(), Space::Shared);
            self.made.variables.insert(ANCHOR.to_owned(), named);
        }
        Ok(Value::new(Type::Pointer(3), format!("@{}", quoted(ANCHOR))))
    }

    /// An address in a space as one in any: what `cvta` does.
    pub(super) fn generic_address(
        &mut self,
        address: Value,
        space: Space,
        of: Option<&str>,
    ) -> Result<Value, PtxError> {
        if space != Space::Shared {
            return Ok(self.extended(address, Type::Int(64), false));
        }
        let root = of.and_then(|name| self.roots.get(name).cloned());
        let root = root.and_then(|(root, narrow)| Some((self.root(&root)?, narrow)));
        let pointer = match root {
            Some(((_, Space::Shared), false)) if address.ty == Type::Int(64) => return Ok(address),
            Some(((pointer, Space::Shared), _)) => pointer,
            _ => self.anchor()?,
        };
        let pointer = self.relative_to_lower_half(&pointer, &address, 0);
        Ok(self.address_of(&pointer))
    }
}
