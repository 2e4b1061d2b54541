//! What calls, fences and inline assembly do.
//!
//! Everything that is not named here is [`Effect::Opaque`]: a kernel with an unknown call is never
//! fused. The names are those of LLVM's NVPTX usage guide and of CUDA's device runtime.

use super::AccessKind;
use super::body::{Body, Call, Operation, ValueRef};

/// One thing that an instruction does besides computing a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Touches memory behind a pointer; `None`: an unknown number of bytes around it.
    Touch {
        kind: AccessKind,
        pointer: ValueRef,
        bytes: Option<u32>,
        volatile: bool,
        invariant: bool,
    },
    /// A barrier of the whole block.
    Barrier,
    /// Threads of a warp work together.
    WarpOperation,
    /// An effect that the host can see.
    Print,
    /// A reason never to fuse the kernel.
    Opaque(String),
}

/// All effects of an instruction.
pub fn effects(body: &Body, value: ValueRef) -> Vec<Effect> {
    let this = body.value(value);
    let touch = |kind, pointer, bytes, volatile, invariant| Effect::Touch {
        kind,
        pointer,
        bytes: Some(bytes),
        volatile,
        invariant,
    };
    let atomically = |effect, atomic: bool| {
        let mut all = vec![effect];
        if atomic {
            all.push(Effect::Opaque("uses atomic loads or stores".to_owned()));
        }
        all
    };
    match &this.operation {
        Operation::Load {
            pointer,
            bytes,
            volatile,
            atomic,
            invariant,
        } => atomically(
            touch(AccessKind::Read, *pointer, *bytes, *volatile, *invariant),
            *atomic,
        ),
        Operation::Store {
            pointer,
            bytes,
            volatile,
            atomic,
            ..
        } => atomically(
            touch(AccessKind::Write, *pointer, *bytes, *volatile, false),
            *atomic,
        ),
        Operation::AtomicUpdate {
            pointer,
            bytes,
            commutative,
            volatile,
            ..
        } => {
            let kind = if *commutative && !this.used {
                AccessKind::Reduction
            } else {
                AccessKind::Atomic
            };
            vec![touch(kind, *pointer, *bytes, *volatile, false)]
        }
        Operation::CompareExchange {
            pointer,
            bytes,
            volatile,
            ..
        } => vec![touch(
            AccessKind::Atomic,
            *pointer,
            *bytes,
            *volatile,
            false,
        )],
        Operation::Fence => vec![opaque("uses a memory fence")],
        Operation::Assembly {
            text,
            constraints,
            side_effects,
            arguments,
        } => assembly(body, text, constraints, *side_effects, arguments),
        Operation::Other { effects: true, .. } => {
            vec![opaque("does something that is not modelled")]
        }
        Operation::Call(call) => called(body, call),
        _ => Vec::new(),
    }
}

fn opaque(reason: &str) -> Effect {
    Effect::Opaque(reason.to_owned())
}

/// What cooperative groups say to find the shared memory that the system reserves for them.
const RESERVED_SHARED_MEMORY: &str = "{ .reg .u32 start; .reg .u64 extended; \
    mov.u32 start, %reserved_smem_offset_1; cvt.u64.u32 extended, start; \
    cvta.shared.u64 $0, extended; }";

/// Assembly that only computes registers from registers is an unknown value; the rest is opaque.
fn assembly(
    body: &Body,
    text: &str,
    constraints: &str,
    side_effects: bool,
    arguments: &[ValueRef],
) -> Vec<Effect> {
    let takes_pointer = arguments
        .iter()
        .any(|value| matches!(body.value(*value).value_type, super::body::Type::Pointer(_)));
    // Headers of CUDA read registers of the warp so, and the place of shared memory that is
    // reserved for them; whatever then goes through that pointer is an access of its own.
    let words: Vec<&str> = text.split_whitespace().collect();
    if !side_effects && arguments.is_empty() {
        if let ["mov.u32", "$0,", register] = words.as_slice()
            && (*register == "%laneid;" || register.starts_with("%lanemask_"))
        {
            return vec![Effect::WarpOperation];
        }
        if words.join(" ") == RESERVED_SHARED_MEMORY {
            return Vec::new();
        }
    }
    const SUSPECT: [&str; 20] = [
        "ld.",
        "st.",
        "ldu",
        "atom",
        "red.",
        "bar",
        "fence",
        "membar",
        "clock",
        "globaltimer",
        "smid",
        "warpid",
        "gridid",
        "lane",
        "shfl",
        "vote",
        "match",
        "mma",
        "exit",
        "call",
    ];
    let pure = !side_effects
        && !constraints.contains("memory")
        && !takes_pointer
        && !SUSPECT.iter().any(|word| text.contains(word));
    if pure {
        Vec::new()
    } else {
        vec![opaque("uses inline assembly")]
    }
}

fn called(body: &Body, call: &Call) -> Vec<Effect> {
    let Some(name) = call.callee.as_deref() else {
        return vec![opaque("calls through a function pointer")];
    };
    if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
        return nvvm(body, call, rest);
    }
    if let Some(rest) = name.strip_prefix("llvm.") {
        return generic_intrinsic(body, call, rest);
    }
    match name {
        "vprintf" | "__assertfail" | "__assert_fail" => return vec![Effect::Print],
        "malloc" | "free" | "_Znwm" | "_Znam" | "_ZdlPv" | "_ZdaPv" => {
            return vec![opaque("allocates device memory")];
        }
        _ => {}
    }
    if name.starts_with("cudaLaunchDevice")
        || name.starts_with("cudaGetParameterBuffer")
        || name.starts_with("__cudaCDP")
    {
        return vec![opaque("launches kernels itself")];
    }
    // libdevice: pure but for results handed back through pointers (sincos, modf, frexp, …).
    if name.starts_with("__nv_") {
        return pointers(body, call)
            .flat_map(|pointer| {
                [
                    anywhere(AccessKind::Read, pointer),
                    anywhere(AccessKind::Write, pointer),
                ]
            })
            .collect();
    }
    vec![Effect::Opaque(format!(
        "calls {name}, whose body is not known"
    ))]
}

fn pointers<'a>(body: &'a Body, call: &'a Call) -> impl Iterator<Item = ValueRef> + 'a {
    call.arguments
        .iter()
        .copied()
        .filter(|value| matches!(body.value(*value).value_type, super::body::Type::Pointer(_)))
}

fn anywhere(kind: AccessKind, pointer: ValueRef) -> Effect {
    Effect::Touch {
        kind,
        pointer,
        bytes: None,
        volatile: false,
        invariant: false,
    }
}

fn generic_intrinsic(body: &Body, call: &Call, name: &str) -> Vec<Effect> {
    let family = name.split('.').next().unwrap_or(name);
    let length = || {
        let literal = body.literal(*call.arguments.get(2)?)?;
        u32::try_from(literal).ok()
    };
    let touch = |kind, position: usize| Effect::Touch {
        kind,
        pointer: call.arguments[position],
        bytes: length(),
        volatile: call
            .arguments
            .get(3)
            .and_then(|flag| body.literal(*flag))
            .is_none_or(|flag| flag != 0),
        invariant: false,
    };
    match family {
        "memcpy" | "memmove" => vec![touch(AccessKind::Read, 1), touch(AccessKind::Write, 0)],
        "memset" => vec![touch(AccessKind::Write, 0)],
        "lifetime" | "dbg" | "assume" | "donothing" | "invariant" | "prefetch" | "annotation"
        | "stacksave" | "stackrestore" | "sideeffect" => Vec::new(),
        "experimental" if name.starts_with("experimental.noalias") => Vec::new(),
        "var" | "ptr" if name.contains("annotation") => Vec::new(),
        "trap" | "debugtrap" | "ubsantrap" => vec![Effect::Print],
        "readcyclecounter" | "readsteadycounter" => vec![opaque("reads a clock")],
        _ if call.pure => Vec::new(),
        _ => vec![Effect::Opaque(format!("uses llvm.{name}"))],
    }
}

fn nvvm(body: &Body, call: &Call, name: &str) -> Vec<Effect> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
        return special_register(register);
    }
    if starts(&["barrier0", "barrier.cta.sync", "barrier.cta.red"]) {
        let numbered = name.starts_with("barrier.cta");
        let first = call.arguments.first().and_then(|id| body.literal(*id));
        if name.contains(".count") || (numbered && first != Some(0)) {
            return vec![opaque("uses a named barrier")];
        }
        return vec![Effect::Barrier];
    }
    if starts(&[
        "bar.warp",
        "shfl",
        "vote",
        "match",
        "redux",
        "activemask",
        "elect",
        "mma.",
        "wgmma",
    ]) {
        return vec![Effect::WarpOperation];
    }
    if starts(&["wmma", "ldmatrix", "stmatrix"]) {
        let mut all = vec![Effect::WarpOperation];
        let kind = if name.contains("store") || name.starts_with("stmatrix") {
            AccessKind::Write
        } else {
            AccessKind::Read
        };
        all.extend(pointers(body, call).map(|pointer| anywhere(kind, pointer)));
        return all;
    }
    if starts(&["ldu.", "ldg."]) {
        return call
            .arguments
            .first()
            .map(|pointer| Effect::Touch {
                kind: AccessKind::Read,
                pointer: *pointer,
                bytes: Some(call.result_bytes),
                volatile: false,
                invariant: true,
            })
            .into_iter()
            .collect();
    }
    if starts(&["atomic."]) {
        return call
            .arguments
            .first()
            .map(|pointer| Effect::Touch {
                kind: AccessKind::Atomic,
                pointer: *pointer,
                bytes: Some(call.result_bytes),
                volatile: false,
                invariant: false,
            })
            .into_iter()
            .collect();
    }
    // Orders this thread's accesses for its own block only, which fused segments keep.
    if starts(&["membar.cta"]) {
        return Vec::new();
    }
    let reason = if starts(&["membar", "fence"]) {
        "uses a memory fence"
    } else if starts(&["bar.", "barrier", "bar"]) {
        "uses a named barrier"
    } else if starts(&["mbarrier", "cp."]) {
        "uses asynchronous copies"
    } else if starts(&["tex.", "sust.", "suld.", "suq.", "txq.", "istypep"]) {
        "uses textures or surfaces"
    } else if starts(&["nanosleep"]) {
        "sleeps"
    } else if call.pure {
        return Vec::new();
    } else {
        return vec![Effect::Opaque(format!("uses llvm.nvvm.{name}"))];
    };
    vec![opaque(reason)]
}

fn special_register(register: &str) -> Vec<Effect> {
    let family = register.split('.').next().unwrap_or(register);
    match family {
        "tid" | "ctaid" | "ntid" | "nctaid" | "warpsize" => Vec::new(),
        "laneid" | "lanemask" => vec![Effect::WarpOperation],
        "clock" | "clock64" | "globaltimer" => vec![opaque("reads a clock")],
        _ => vec![Effect::Opaque(format!("reads the register %{register}"))],
    }
}
