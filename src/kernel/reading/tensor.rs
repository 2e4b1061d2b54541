//! Tiles of matrices that a warp loads, multiplies and stores together.
//!
//! Which element goes to which thread is left to the hardware, so that each thread may touch any
//! byte of the tile: rows at the leading dimension, and nothing between them.

use super::super::body::{Call, ValueRef};
use super::super::features::{Effect, Rows, Touch};
use super::super::{AccessKind, features};

/// Effects of `llvm.nvvm.wmma.*`, `llvm.nvvm.ldmatrix.*` and `llvm.nvvm.stmatrix.*`; `name` is what
/// follows `llvm.nvvm.`.
pub fn tile_effects(name: &str, call: &Call) -> Vec<Effect> {
    let parts: Vec<&str> = name.split('.').collect();
    let mut all = vec![Effect::WarpOperation];
    let Some(pointer) = call.arguments.first() else {
        return all;
    };
    let has = |word: &str| parts.contains(&word);
    if parts[0] == "wmma" && (has("load") || has("store")) {
        let stride = if !has("stride") {
            None
        } else if has("store") {
            call.arguments.last().copied()
        } else {
            call.arguments.get(1).copied()
        };
        all.push(Effect::Touch(wmma(&parts, *pointer, stride)));
    } else if parts[0] != "wmma" {
        all.push(Effect::Touch(row_of_matrix(
            has("store") || parts[0] == "stmatrix",
            *pointer,
        )));
    }
    all
}

/// A `wmma` load or store from the parts of its name (`wmma load a sync aligned row m16n16k16 …`, in
/// any order) at a pointer, with its leading dimension in elements where it has one.
pub fn wmma(parts: &[&str], pointer: ValueRef, stride: Option<ValueRef>) -> Touch {
    let has = |word: &str| parts.contains(&word);
    let kind = if has("store") {
        AccessKind::Write
    } else {
        AccessKind::Read
    };
    let tile = parts
        .iter()
        .find_map(|part| shape(part))
        .zip(parts.iter().find_map(|part| element_bytes(part)))
        .and_then(|([m, n, k], element)| {
            let (rows, columns) = if has("a") {
                (m, k)
            } else if has("b") {
                (k, n)
            } else if has("c") || has("d") {
                (m, n)
            } else {
                return None;
            };
            if has("row") {
                Some((rows, columns * element, element))
            } else if has("col") {
                Some((columns, rows * element, element))
            } else {
                None
            }
        });
    let touch = match (tile, stride) {
        (Some((count, bytes, element_bytes)), Some(stride)) => Touch {
            rows: Some(Rows {
                count,
                stride,
                element_bytes,
            }),
            ..Touch::new(kind, pointer, bytes)
        },
        (Some((count, bytes, _)), None) => Touch::new(kind, pointer, count * bytes),
        (None, _) => Touch::around(kind, pointer),
    };
    Touch {
        why_inexact: "which part of the tile each thread touches is not known",
        ..touch
    }
}

/// `ldmatrix` and `stmatrix`: each thread names a row of 16 bytes, which goes to others.
pub fn row_of_matrix(writes: bool, pointer: ValueRef) -> Touch {
    let kind = if writes {
        AccessKind::Write
    } else {
        AccessKind::Read
    };
    Touch {
        space: 3,
        why_inexact: "the warp touches the rows that its threads name",
        ..features::Touch::new(kind, pointer, 16)
    }
}

/// `m16n16k16` as numbers.
fn shape(part: &str) -> Option<[u32; 3]> {
    let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// Whole bytes only: tiles of smaller elements are not modelled.
fn element_bytes(part: &str) -> Option<u32> {
    Some(match part {
        "s8" | "u8" => 1,
        "f16" | "bf16" => 2,
        "f32" | "tf32" | "s32" => 4,
        "f64" => 8,
        _ => return None,
    })
}
