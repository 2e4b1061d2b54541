//! Variables of a module, with their initial values.

use super::values::quoted;
use super::{Made, address_space};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Initializer, Linkage, Space, Variable};
use std::fmt::Write;

/// Defines or declares a variable of the module.
pub(super) fn define(made: &mut Made, variable: &Variable) -> Result<(), PtxError> {
    let name = variable.name.clone();
    define_as(made, variable, &name)?;
    if variable.managed {
        made.managed.push((name, variable.bytes()));
    }
    Ok(())
}

/// Defines or declares a variable under a symbol.
pub(super) fn define_as(
    made: &mut Made,
    variable: &Variable,
    symbol: &str,
) -> Result<(), PtxError> {
    let space = variable.space.unwrap_or(Space::Global);
    let number = address_space(space);
    let bytes = variable.bytes();
    let name = quoted(symbol);
    let align = variable.aligned();
    let line = match (space, variable.linkage) {
        (Space::Shared, _) if bytes == 0 => {
            format!("@{name} = external addrspace({number}) global [0 x i8], align {align}")
        }
        (Space::Shared, _) => {
            format!(
                "@{name} = internal addrspace({number}) global [{bytes} x i8] poison, align {align}"
            )
        }
        (Space::Global | Space::Constant, Linkage::External) => {
            format!("@{name} = external addrspace({number}) global [{bytes} x i8], align {align}")
        }
        (Space::Global | Space::Constant, linkage) => {
            let (ty, value) = match &variable.initializer {
                Some(initializer) => initial_value(made, variable, initializer)?,
                None => (format!("[{bytes} x i8]"), "zeroinitializer".to_owned()),
            };
            // The host may write any of them, whoever else sees it.
            let linkage = match linkage {
                Linkage::Weak | Linkage::Common => "weak_odr ",
                _ => "",
            };
            format!(
                "@{name} = {linkage}addrspace({number}) externally_initialized global {ty} {value}, align {align}"
            )
        }
        _ => {
            let what = format!("the space of the variable `{symbol}`");
            return Err(PtxError::unsupported(variable.line, what));
        }
    };
    let _ = writeln!(made.text, "{line}");
    Ok(())
}

/// A piece of an initial value.
enum Piece {
    Byte(u8),
    /// An address of eight bytes.
    Address(String),
}

/// Type and value of an initial value.
fn initial_value(
    made: &Made,
    variable: &Variable,
    initializer: &Initializer,
) -> Result<(String, String), PtxError> {
    let bytes = variable.bytes() as usize;
    let mut pieces = Vec::new();
    let extents: Vec<u64> = (variable.dimensions.iter())
        .map(|extent| extent.unwrap_or(1))
        .chain((variable.vector > 1).then_some(u64::from(variable.vector)))
        .collect();
    fill(made, variable, initializer, &extents, &mut pieces)?;
    // An address stands for eight bytes.
    let length = |pieces: &[Piece]| {
        let lengths = pieces.iter().map(|piece| match piece {
            Piece::Byte(_) => 1,
            Piece::Address(_) => 8,
        });
        lengths.sum::<usize>()
    };
    while length(&pieces) < bytes {
        pieces.push(Piece::Byte(0));
    }
    if pieces.iter().all(|piece| matches!(piece, Piece::Byte(_))) {
        let mut text = String::from("c\"");
        for piece in &pieces {
            if let Piece::Byte(byte) = piece {
                let _ = write!(text, "\\{byte:02X}");
            }
        }
        text.push('"');
        return Ok((format!("[{} x i8]", pieces.len()), text));
    }
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for piece in &pieces {
        match piece {
            Piece::Byte(byte) => {
                types.push("i8".to_owned());
                values.push(format!("i8 {byte}"));
            }
            Piece::Address(address) => {
                types.push("ptr".to_owned());
                values.push(format!("ptr {address}"));
            }
        }
    }
    Ok((
        format!("<{{ {} }}>", types.join(", ")),
        format!("<{{ {} }}>", values.join(", ")),
    ))
}

fn fill(
    made: &Made,
    variable: &Variable,
    initializer: &Initializer,
    extents: &[u64],
    pieces: &mut Vec<Piece>,
) -> Result<(), PtxError> {
    let width = variable.scalar.bits.div_ceil(8) as usize;
    let mut number = |value: u64| {
        pieces.extend(
            value.to_le_bytes()[..width.min(8)]
                .iter()
                .map(|byte| Piece::Byte(*byte)),
        );
    };
    match initializer {
        Initializer::List(list) => {
            let inner = extents.get(1..).unwrap_or_default();
            let each: u64 = inner.iter().product::<u64>() * width as u64;
            let mut at = 0;
            while at < list.len() {
                let before = pieces.len();
                match &list[at] {
                    Initializer::Address { byte: Some(0), .. } if width == 1 => {
                        // Eight bytes of one address, as LLVM writes a structure.
                        fill(made, variable, &list[at], inner, pieces)?;
                        at += 8;
                        continue;
                    }
                    part => fill(made, variable, part, inner, pieces)?,
                }
                let filled = pieces.len() - before;
                if matches!(list[at], Initializer::List(_)) && (filled as u64) < each {
                    let rest = each as usize - filled;
                    pieces.extend((0..rest).map(|_| Piece::Byte(0)));
                }
                at += 1;
            }
        }
        Initializer::Integer(value) => number(*value),
        Initializer::Single(bits) if width == 8 => {
            number(f64::from(f32::from_bits(*bits)).to_bits());
        }
        Initializer::Single(bits) => number(u64::from(*bits)),
        Initializer::Double(bits) if width == 4 => {
            number(u64::from((f64::from_bits(*bits) as f32).to_bits()));
        }
        Initializer::Double(bits) => number(*bits),
        Initializer::Address {
            symbol,
            offset_bytes,
            byte,
        } => {
            if width != 8 && byte.is_none() {
                let what = format!("an address of {} bits as an initial value", width * 8);
                return Err(PtxError::unsupported(variable.line, what));
            }
            let name = quoted(symbol);
            let whole = match made.variables.get(symbol) {
                Some((_, space)) => match address_space(*space) {
                    0 => format!("@{name}"),
                    space => format!("addrspacecast (ptr addrspace({space}) @{name} to ptr)"),
                },
                None if made.functions.contains_key(symbol) => format!("@{name}"),
                None => {
                    let what = format!("`{symbol}` is declared nowhere");
                    return Err(PtxError::syntax(variable.line, what));
                }
            };
            pieces.push(Piece::Address(match offset_bytes {
                0 => whole,
                offset => format!("getelementptr (i8, ptr {whole}, i64 {offset})"),
            }));
        }
    }
    Ok(())
}
