//! Which part lowers which instruction; moves, branches and what is simplest.

use super::address::space_of;
use super::function::{Body, Named, label_of};
use super::values::{Type, Value, quoted};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Kind, Operand, Scalar, Space};

impl Body<'_> {
    /// An instruction that may have a predicate.
    pub(super) fn guarded(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        let Some((name, negated)) = &instruction.guard else {
            return self.lower(instruction);
        };
        let truth = self.read_register(name)?;
        if truth.ty != Type::Int(1) {
            return self.wrong(format!("`{name}` is no predicate"));
        }
        let after = self.fresh("after");
        let target = match (
            instruction.opcode[0].as_str(),
            instruction.operands.as_slice(),
        ) {
            ("bra", [target]) => Some(label_of(&self.target(target)?)),
            _ => None,
        };
        let taken = target.clone().unwrap_or_else(|| self.fresh("guarded"));
        let (first, second) = match negated {
            false => (&taken, &after),
            true => (&after, &taken),
        };
        self.end(&format!(
            "br {truth}, label %{}, label %{}",
            quoted(first),
            quoted(second)
        ));
        if target.is_none() {
            self.begin_block(&taken);
            self.lower(instruction)?;
        }
        self.begin_block(&after);
        Ok(())
    }

    /// The label that a branch leads to.
    fn target(&self, target: &Operand) -> Result<String, PtxError> {
        match target.name() {
            Some(name) if self.has_label(name) => Ok(name.to_owned()),
            Some(name) => self.wrong(format!("the label `{name}` is not there")),
            None => self.wrong("a label is expected"),
        }
    }

    fn lower(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        if self.derived(instruction)? {
            return Ok(());
        }
        let operands = instruction.operands.as_slice();
        match (instruction.opcode[0].as_str(), operands) {
            ("bra", [target]) => {
                let label = label_of(&self.target(target)?);
                self.end(&format!("br label %{}", quoted(&label)));
                Ok(())
            }
            ("brx", [index, table]) => self.branch_by_index(index, table),
            ("ret", []) => self.return_from(),
            ("exit", []) if self.function.is_kernel => {
                self.end("ret void");
                Ok(())
            }
            ("trap", []) => {
                self.made.declare("declare void @llvm.trap() #2".to_owned());
                self.emit("call void @llvm.trap()");
                Ok(())
            }
            // What they ask of the hardware changes no value.
            (
                "pmevent" | "setmaxnreg" | "prefetch" | "prefetchu" | "discard" | "applypriority",
                _,
            )
            | ("griddepcontrol", _) => Ok(()),
            ("stacksave", [result]) => {
                let name = "llvm.stacksave.p0";
                self.made.declare(format!("declare ptr @{name}()"));
                let top = self.op(Type::Pointer(0), &format!("call ptr @{name}()"));
                let address = self.address_of(&top);
                self.set(result, address, false)
            }
            ("stackrestore", [top]) => {
                let name = "llvm.stackrestore.p0";
                self.made.declare(format!("declare void @{name}(ptr)"));
                let top = self.operand(top, Scalar::of_bits(64))?;
                let top = self.as_type(top, Type::Pointer(0));
                self.emit(&format!("call void @{name}({top})"));
                Ok(())
            }
            ("alloca", [result, bytes, alignment @ ..]) => {
                let bytes = self.operand(bytes, Scalar::of_bits(64))?;
                let alignment = match alignment {
                    [] => 8,
                    [Operand::Integer(alignment)] => *alignment,
                    _ => return self.wrong("an alignment is expected"),
                };
                let place = self.op(
                    Type::Pointer(0),
                    &format!("alloca i8, {bytes}, align {alignment}"),
                );
                let address = self.address_of(&place);
                self.set(result, address, false)
            }
            ("call", _) => self.call(instruction),
            ("mov", [result, source]) => self.move_value(instruction, result, source),
            ("st", [address, bytes, Operand::Integer(0)]) if instruction.has("bulk") => {
                let pointer = self.pointer(address, Space::Shared)?;
                let bytes = self.operand(bytes, Scalar::of_bits(64))?;
                let ty = pointer.ty;
                let suffix = match ty {
                    Type::Pointer(space) => format!("p{space}"),
                    _ => return self.wrong("an address is expected"),
                };
                let name = format!("llvm.memset.{suffix}.i64");
                self.made
                    .declare(format!("declare void @{name}({ty}, i8, i64, i1 immarg)"));
                self.emit(&format!(
                    "call void @{name}({pointer}, i8 0, {bytes}, i1 false)"
                ));
                Ok(())
            }
            ("getctarank", [result, source]) if instruction.has("shared::cluster") => {
                let low = self.operand(source, Scalar::of_bits(32))?;
                let address = self.generic_address(low, Space::Shared, source.name())?;
                let address = self.resized(address, 64);
                let call =
                    format!("call i32 asm \"getctarank.u64 $0, $1;\", \"=r,l\"({address}) #0");
                let rank = self.op(Type::Int(32), &call);
                self.set(result, rank, false)
            }
            ("cvta", [result, source]) => self.convert_address(instruction, result, source),
            ("isspacep", [result, source]) => self.is_in_space(instruction, result, source),
            ("st" | "red", [address, value, barrier]) if instruction.has("async") => {
                self.told_to_barrier(instruction, (address, value), barrier)
            }
            ("ld" | "ldu", [result, address]) => self.load(instruction, result, address),
            ("ld", [result, address, _policy]) => self.load(instruction, result, address),
            ("st", [address, value]) => self.store(instruction, address, value),
            ("st", [address, value, _policy]) => self.store(instruction, address, value),
            ("atom" | "red", _) => self.update(instruction),
            ("membar" | "fence", []) => self.fence(instruction),
            _ => {
                if self.predicates(instruction)?
                    || self.integers(instruction)?
                    || self.floats(instruction)?
                    || self.bits(instruction)?
                    || self.conversion(instruction)?
                    || self.warp_operation(instruction)?
                    || self.tile(instruction)?
                {
                    return Ok(());
                }
                self.assembly(instruction)
            }
        }
    }

    /// `brx.idx index, table;`
    fn branch_by_index(&mut self, index: &Operand, table: &Operand) -> Result<(), PtxError> {
        let index = self.operand(index, Scalar::of_bits(32))?;
        let targets = table.name().and_then(|name| self.flat.tables.get(name));
        let Some(targets) = targets.cloned() else {
            return self.wrong("a list of labels is expected");
        };
        let mut cases = String::new();
        for (number, target) in targets.iter().enumerate() {
            let label = label_of(&self.target(&Operand::Name(target.clone(), 0))?);
            cases.push_str(&format!(" i32 {number}, label %{}", quoted(&label)));
        }
        let nowhere = self.fresh("nowhere");
        self.end(&format!(
            "switch {index}, label %{} [{cases} ]",
            quoted(&nowhere)
        ));
        self.begin_block(&nowhere);
        self.end("unreachable");
        Ok(())
    }

    /// `mov`, which also puts parts together and takes them apart.
    fn move_value(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        source: &Operand,
    ) -> Result<(), PtxError> {
        let Some(scalar) = self.last_type(instruction) else {
            return self.wrong(format!("`{}` has no type", instruction.name()));
        };
        let value = match source {
            Operand::Vector(parts) => {
                let Some(each) = scalar.bits.checked_div(parts.len() as u32) else {
                    return self.wrong("a vector without elements");
                };
                let whole = Type::Int(scalar.bits);
                let mut sum = Value::constant(scalar.bits, 0);
                for (position, part) in parts.iter().enumerate() {
                    let part = self.operand(part, Scalar::of_bits(each))?;
                    let part = self.as_type(part, Type::Int(each));
                    let mut part = self.extended(part, whole, false);
                    if position > 0 {
                        let places = position as u32 * each;
                        part = self.op(whole, &format!("shl {part}, {places}"));
                    }
                    sum = match position {
                        0 => part,
                        _ => self.op(whole, &format!("or {sum}, {}", part.text)),
                    };
                }
                sum
            }
            _ => self.operand(source, scalar)?,
        };
        let Operand::Vector(parts) = result else {
            return self.set(result, value, false);
        };
        let Some(each) = scalar.bits.checked_div(parts.len() as u32) else {
            return self.wrong("a vector without elements");
        };
        let whole = self.as_type(value, Type::Int(scalar.bits));
        for (position, part) in parts.iter().enumerate() {
            let mut moved = whole.clone();
            if position > 0 {
                let places = position as u32 * each;
                moved = self.op(whole.ty, &format!("lshr {whole}, {places}"));
            }
            let moved = self.op(Type::Int(each), &format!("trunc {moved} to i{each}"));
            self.set(part, moved, false)?;
        }
        Ok(())
    }

    /// `cvta.shared.u64`, `cvta.to.shared.u64`: addresses are the same in all spaces but in shared memory, of which
    /// the upper half may be missing.
    fn convert_address(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        source: &Operand,
    ) -> Result<(), PtxError> {
        let bits = self.last_type(instruction).map_or(64, |scalar| scalar.bits);
        let value = self.operand(source, Scalar::of_bits(bits))?;
        let value = match instruction.has("to") {
            true => value,
            false => self.generic_address(value, space_of(instruction), source.name())?,
        };
        let value = self.resized(value, bits);
        self.set(result, value, false)
    }

    fn is_in_space(
        &mut self,
        instruction: &Instruction,
        result: &Operand,
        source: &Operand,
    ) -> Result<(), PtxError> {
        let name = match instruction.opcode.get(1).map(String::as_str) {
            Some("shared" | "shared::cta") => "shared",
            Some("shared::cluster") => "shared.cluster",
            Some("global") => "global",
            Some("local") => "local",
            Some("const") => "const",
            _ => return self.unsupported(format!("`{}`", instruction.name())),
        };
        let pointer = self.pointer(source, Space::Generic)?;
        let address = self.address_of(&pointer);
        let pointer = self.op(Type::Pointer(0), &format!("inttoptr {address} to ptr"));
        let function = format!("llvm.nvvm.isspacep.{name}");
        self.made.declare(format!("declare i1 @{function}(ptr)"));
        let truth = self.op(Type::Int(1), &format!("call i1 @{function}({pointer})"));
        self.set(result, truth, false)
    }

    /// The type that ends an opcode.
    pub(super) fn last_type(&self, instruction: &Instruction) -> Option<Scalar> {
        instruction
            .opcode
            .last()
            .and_then(|name| Scalar::named(name))
    }

    /// An operand as a value of a type: registers of other kinds by their bits, wider ones by their lowest.
    pub(super) fn operand(&mut self, operand: &Operand, scalar: Scalar) -> Result<Value, PtxError> {
        let ty = Type::of(scalar);
        Ok(match operand {
            Operand::Name(name, offset) => match self.named(name).cloned() {
                Some(Named::Register(_)) => {
                    let value = self.read_register(name)?;
                    self.as_type(value, ty)
                }
                Some(_) => {
                    let address = self.address_of_symbol(name, *offset)?;
                    self.as_type(address, ty)
                }
                None => {
                    let value = self.special_register(name, scalar)?;
                    self.as_type(value, ty)
                }
            },
            Operand::Integer(value) => match ty {
                Type::Int(bits) => Value::constant(bits, *value),
                // An integer among floats stands for its bits.
                Type::Float => self.as_type(Value::constant(32, *value), ty),
                _ => self.as_type(Value::constant(64, *value), ty),
            },
            Operand::Single(bits) => match ty {
                Type::Double => {
                    let wide = f64::from(f32::from_bits(*bits)).to_bits();
                    self.as_type(Value::constant(64, wide), ty)
                }
                _ => self.as_type(Value::constant(32, u64::from(*bits)), ty),
            },
            Operand::Double(bits) => match ty {
                Type::Float => {
                    let narrow = (f64::from_bits(*bits) as f32).to_bits();
                    self.as_type(Value::constant(32, u64::from(narrow)), ty)
                }
                _ => self.as_type(Value::constant(64, *bits), ty),
            },
            Operand::Not(inner) if scalar.kind == Kind::Predicate => {
                let value = self.operand(inner, scalar)?;
                self.op(Type::Int(1), &format!("xor {value}, true"))
            }
            Operand::Negative(inner) => {
                let value = self.operand(inner, scalar)?;
                match ty {
                    Type::Int(_) => self.op(ty, &format!("sub {ty} 0, {}", value.text)),
                    _ => self.op(ty, &format!("fneg {value}")),
                }
            }
            _ => return self.wrong("a register or a number is expected"),
        })
    }

    /// The same bits as another type; the lowest where it has fewer.
    pub(super) fn as_type(&mut self, value: Value, wanted: Type) -> Value {
        self.extended(value, wanted, false)
    }

    /// The same bits as another type, with zeros or signs where it has more.
    pub(super) fn extended(&mut self, value: Value, wanted: Type, is_signed: bool) -> Value {
        if value.ty == wanted {
            return value;
        }
        let bits = value.ty.bits();
        let integer = match value.ty {
            Type::Int(_) => value,
            Type::Pointer(_) => self.address_of(&value),
            _ => self.op(Type::Int(bits), &format!("bitcast {value} to i{bits}")),
        };
        let wide = wanted.bits();
        let sized = match () {
            () if bits == wide => integer,
            () if bits > wide => self.op(Type::Int(wide), &format!("trunc {integer} to i{wide}")),
            () => {
                let how = if is_signed { "sext" } else { "zext" };
                self.op(Type::Int(wide), &format!("{how} {integer} to i{wide}"))
            }
        };
        match wanted {
            Type::Int(_) => sized,
            Type::Pointer(_) => self.op(wanted, &format!("inttoptr {sized} to {wanted}")),
            _ => self.op(wanted, &format!("bitcast {sized} to {wanted}")),
        }
    }

    /// An integer of so many bits.
    pub(super) fn resized(&mut self, value: Value, bits: u32) -> Value {
        self.extended(value, Type::Int(bits), false)
    }

    /// A call of an intrinsic that only computes.
    pub(super) fn intrinsic(&mut self, ty: Type, name: &str, arguments: &[&Value]) -> Value {
        let types: Vec<String> = arguments.iter().map(|each| each.ty.to_string()).collect();
        let list: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        self.made
            .declare(format!("declare {ty} @{name}({})", types.join(", ")));
        self.op(ty, &format!("call {ty} @{name}({})", list.join(", ")))
    }
}
