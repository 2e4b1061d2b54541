//! Special registers.

use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::Scalar;

/// Those that LLVM has an intrinsic for, with the bits that it gives.
const KNOWN: [(&str, u32); 19] = [
    ("laneid", 32),
    ("warpid", 32),
    ("nwarpid", 32),
    ("smid", 32),
    ("nsmid", 32),
    ("clock", 32),
    ("clock64", 64),
    ("globaltimer", 64),
    ("globaltimer_lo", 32),
    ("lanemask_eq", 32),
    ("lanemask_lt", 32),
    ("lanemask_le", 32),
    ("lanemask_gt", 32),
    ("lanemask_ge", 32),
    ("dynamic_smem_size", 32),
    ("total_smem_size", 32),
    ("cluster_ctarank", 32),
    ("cluster_nctarank", 32),
    ("aggr_smem_size", 32),
];

/// Those with a number for each axis.
const BY_AXIS: [&str; 8] = [
    "tid",
    "ntid",
    "ctaid",
    "nctaid",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
];

impl Body<'_> {
    /// The value of a special register.
    pub(super) fn special_register(
        &mut self,
        name: &str,
        wanted: Scalar,
    ) -> Result<Value, PtxError> {
        if name == "WARP_SZ" {
            return Ok(Value::constant(32, 32));
        }
        let Some(register) = name.strip_prefix('%') else {
            return self.wrong(format!("`{name}` is declared nowhere"));
        };
        if register == "reserved_smem_offset_1" {
            // As CUDA's headers ask for the shared memory of cooperative groups.
            let template = "{ .reg .u32 start; .reg .u64 extended; mov.u32 start, %reserved_smem_offset_1; \
                 cvt.u64.u32 extended, start; cvta.shared.u64 $0, extended; }";
            return Ok(self.op(
                Type::Int(64),
                &format!("call i64 asm \"{template}\", \"=l\"() #3"),
            ));
        }
        if register == "is_explicit_cluster" {
            return Ok(self.intrinsic(Type::Int(1), "llvm.nvvm.is_explicit_cluster", &[]));
        }
        let bits = match register.rsplit_once('.') {
            Some((stem, "x" | "y" | "z")) if BY_AXIS.contains(&stem) => Some(32),
            _ => KNOWN
                .iter()
                .find(|(known, _)| *known == register)
                .map(|(_, bits)| *bits),
        };
        let is_clock = register.starts_with("clock") || register.starts_with("globaltimer");
        if let Some(bits) = bits {
            let stem = register.replace('_', ".");
            let function = format!("llvm.nvvm.read.ptx.sreg.{stem}");
            let ty = Type::Int(bits);
            return Ok(match is_clock {
                true => {
                    self.made.declare(format!("declare {ty} @{function}()"));
                    self.op(ty, &format!("call {ty} @{function}()"))
                }
                false => self.intrinsic(ty, &function, &[]),
            });
        }
        if let Some(number) = register.strip_prefix("envreg")
            && number.parse::<u32>().is_ok_and(|number| number < 32)
        {
            let function = format!("llvm.nvvm.read.ptx.sreg.{register}");
            return Ok(self.intrinsic(Type::Int(32), &function, &[]));
        }
        let (bits, letter) = match wanted.bits {
            64 => (64, 'l'),
            _ => (32, 'r'),
        };
        let template = format!("mov.b{bits} $0, %{register};");
        let text = format!("call i{bits} asm \"{template}\", \"={letter}\"() #3");
        Ok(self.op(Type::Int(bits), &text))
    }
}
