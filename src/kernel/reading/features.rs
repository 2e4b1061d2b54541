//! What calls, fences and inline assembly do.
//!
//! Everything that is not named here is [`Effect::Opaque`]: what a kernel with an unknown call
//! touches is not known, and it is never fused. The names are those of LLVM's NVPTX usage guide and
//! of CUDA's device runtime.

use super::super::assembly::assembly;
use super::super::body::{Body, Call, Operation, Type, ValueRef};
use super::super::tensor;
use super::super::{AccessKind, Reduction, ReductionOperator, Unfusable};
use crate::diagnostics::source_name;

/// One thing that an instruction does besides computing a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Touches memory.
    Touch(Touch),
    /// A barrier of the whole block.
    Barrier,
    /// Threads of a warp work together.
    WarpOperation,
    /// A copy that is complete only after a later wait, or at the end of the kernel.
    AsynchronousCopy,
    /// Waits until all asynchronous copies of the thread are complete.
    CopiesComplete,
    /// An effect that the host can see.
    Print,
    /// All accesses are told, but the kernel must not be fused.
    Unfusable(Unfusable),
    /// What it touches is not known: a reason never to fuse the kernel.
    Opaque(String),
}

/// Memory behind a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Read, write or both.
    pub kind: AccessKind,
    /// A pointer, or an integer that an address was made to; `None`: an address of unknown origin.
    pub pointer: Option<ValueRef>,
    /// Bytes from there.
    pub offset_bytes: i64,
    /// How many bytes; `None`: an unknown number around the pointer.
    pub bytes: Option<u32>,
    /// Such ranges in rows.
    pub rows: Option<Rows>,
    /// The address space where the instruction says more than the pointer's type, else 0.
    pub space: u32,
    /// A `volatile` access.
    pub volatile: bool,
    /// May be served from a non-coherent path.
    pub invariant: bool,
    /// Half of an asynchronous copy.
    pub asynchronous: bool,
    /// Why not all of it must be touched; empty when it is.
    pub why_inexact: &'static str,
}

/// Rows of a tile of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// How many.
    pub count: u32,
    /// Elements from one to the next.
    pub stride: ValueRef,
    /// Bytes of an element.
    pub element_bytes: u32,
}

impl Touch {
    /// So many bytes at a pointer, all of them.
    pub fn new(kind: AccessKind, pointer: ValueRef, bytes: u32) -> Self {
        Self {
            kind,
            pointer: Some(pointer),
            offset_bytes: 0,
            bytes: Some(bytes),
            rows: None,
            space: 0,
            volatile: false,
            invariant: false,
            asynchronous: false,
            why_inexact: "",
        }
    }

    /// An unknown number of bytes around a pointer.
    pub fn around(kind: AccessKind, pointer: ValueRef) -> Self {
        Self {
            bytes: None,
            ..Self::new(kind, pointer, 0)
        }
    }

    /// Anything in an address space.
    pub fn anywhere(kind: AccessKind, space: u32) -> Self {
        Self {
            pointer: None,
            bytes: None,
            space,
            ..Self::new(kind, ValueRef(0), 0)
        }
    }
}

/// All effects of an instruction.
pub fn effects(body: &Body, value: ValueRef) -> Vec<Effect> {
    let this = body.value(value);
    let touch = |kind, pointer, bytes, volatile, invariant| {
        Effect::Touch(Touch {
            volatile,
            invariant,
            ..Touch::new(kind, pointer, bytes)
        })
    };
    let atomically = |effect, atomic: bool| {
        let mut all = vec![effect];
        if atomic {
            all.push(Effect::Unfusable(Unfusable::AtomicOrder));
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
            value,
            bytes,
            operator,
            within_block,
            volatile,
            ..
        } => {
            let kind = match operator {
                Some(operator) if !this.used && !*volatile => AccessKind::Reduction(Reduction {
                    operator: *operator,
                    cell_bytes: *bytes,
                    within_block: *within_block,
                }),
                _ => AccessKind::Atomic,
            };
            // One that adds nothing is an atomic load, by which threads wait for others.
            let loads = this.used && body.literal(*value) == Some(0);
            atomically(touch(kind, *pointer, *bytes, *volatile, false), loads)
        }
        Operation::CompareExchange {
            pointer,
            compare,
            new,
            bytes,
            volatile,
        } => {
            // One literal for another: a lock is taken, for which threads wait.
            let locks = [compare, new]
                .iter()
                .all(|value| body.literal(**value).is_some());
            let change = touch(AccessKind::Atomic, *pointer, *bytes, *volatile, false);
            atomically(change, this.used && locks)
        }
        Operation::Fence => vec![Effect::Unfusable(Unfusable::MemoryFence)],
        Operation::Assembly { .. } => assembly(body, value),
        Operation::Other { effects: true, .. } => {
            vec![opaque("does something that is not modelled")]
        }
        Operation::Call(call) => called(body, call, this.used),
        _ => Vec::new(),
    }
}

/// Whether an instruction with [`Effect::WarpOperation`] makes the lanes that take part wait for each other; those that
/// only ask for the lane do not.
pub fn makes_lanes_meet(body: &Body, value: ValueRef) -> bool {
    match &body.value(value).operation {
        Operation::Call(call) => {
            let name = call.callee.as_deref().unwrap_or_default();
            !name.contains("read.ptx.sreg.")
        }
        Operation::Assembly { text, .. } => text.contains(".sync") || text.contains("bar.warp"),
        _ => false,
    }
}

/// What an instruction with [`Unfusable::NamedBarrier`] does at its barrier: whether it arrives, and whether it waits.
pub fn barrier_parts(body: &Body, value: ValueRef) -> [bool; 2] {
    let name = match &body.value(value).operation {
        Operation::Call(call) => call.callee.as_deref().unwrap_or_default(),
        Operation::Assembly { text, .. } => text,
        _ => return [false; 2],
    };
    let both = [".sync", ".red"].iter().any(|part| name.contains(part));
    ["cluster.arrive", "cluster.wait"].map(|part| both || name.contains(part))
}

fn opaque(reason: &str) -> Effect {
    Effect::Opaque(reason.to_owned())
}

fn called(body: &Body, call: &Call, used: bool) -> Vec<Effect> {
    let Some(name) = call.callee.as_deref() else {
        return vec![opaque("calls through a function pointer")];
    };
    if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
        return nvvm(body, call, rest, used);
    }
    if let Some(rest) = name.strip_prefix("llvm.") {
        return generic_intrinsic(body, call, rest);
    }
    match name {
        "vprintf" | "__assertfail" | "__assert_fail" => return vec![Effect::Print],
        "malloc" | "free" => {
            // What it gives is memory that no other launch has been told of.
            return vec![Effect::Unfusable(Unfusable::Allocation)];
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
                [AccessKind::Read, AccessKind::Write]
                    .map(|kind| Effect::Touch(Touch::around(kind, pointer)))
            })
            .collect();
    }
    vec![Effect::Opaque(format!(
        "calls {}, which calls itself or has a body that is not known",
        source_name(name)
    ))]
}

fn pointers<'a>(body: &'a Body, call: &'a Call) -> impl Iterator<Item = ValueRef> + 'a {
    call.arguments
        .iter()
        .copied()
        .filter(|value| matches!(body.value(*value).value_type, Type::Pointer(_)))
}

fn generic_intrinsic(body: &Body, call: &Call, name: &str) -> Vec<Effect> {
    let family = name.split('.').next().unwrap_or(name);
    let length = || {
        let literal = body.literal(*call.arguments.get(2)?)?;
        u32::try_from(literal).ok()
    };
    let touch = |kind, position: usize| {
        Effect::Touch(Touch {
            bytes: length(),
            volatile: call
                .arguments
                .get(3)
                .and_then(|flag| body.literal(*flag))
                .is_none_or(|flag| flag != 0),
            ..Touch::around(kind, call.arguments[position])
        })
    };
    match family {
        "memcpy" | "memmove" => vec![touch(AccessKind::Read, 1), touch(AccessKind::Write, 0)],
        "memset" => vec![touch(AccessKind::Write, 0)],
        "lifetime" | "dbg" | "assume" | "donothing" | "invariant" | "prefetch" | "annotation"
        | "stacksave" | "stackrestore" | "sideeffect" => Vec::new(),
        "experimental" if name.starts_with("experimental.noalias") => Vec::new(),
        "var" | "ptr" if name.contains("annotation") => Vec::new(),
        "trap" | "debugtrap" | "ubsantrap" => vec![Effect::Print],
        "readcyclecounter" | "readsteadycounter" => vec![Effect::Unfusable(Unfusable::Clock)],
        _ if call.pure => Vec::new(),
        _ => vec![Effect::Opaque(format!("uses llvm.{name}"))],
    }
}

fn nvvm(body: &Body, call: &Call, name: &str, used: bool) -> Vec<Effect> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
        return special_register(register);
    }
    if starts(&["barrier0", "barrier.cta.sync", "barrier.cta.red"]) {
        let numbered = name.starts_with("barrier.cta");
        let first = call.arguments.first().and_then(|id| body.literal(*id));
        if name.contains(".count") || (numbered && first != Some(0)) {
            return vec![Effect::Unfusable(Unfusable::NamedBarrier)];
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
    ]) {
        return vec![Effect::WarpOperation];
    }
    if starts(&["wmma", "ldmatrix", "stmatrix"]) {
        return tensor::tile_effects(name, call);
    }
    let pointer = call.arguments.first().copied();
    if starts(&["ldu.", "ldg."])
        && let Some(pointer) = pointer
    {
        return vec![Effect::Touch(Touch {
            invariant: true,
            ..Touch::new(AccessKind::Read, pointer, call.result_bytes)
        })];
    }
    if starts(&["atomic."])
        && let Some(pointer) = pointer
    {
        let kind = match scoped_operator(body, call, name) {
            Some(operator) if !used => AccessKind::Reduction(Reduction {
                operator,
                cell_bytes: call.result_bytes,
                within_block: !name.contains(".sys"),
            }),
            _ => AccessKind::Atomic,
        };
        return vec![Effect::Touch(Touch::new(kind, pointer, call.result_bytes))];
    }
    // Orders this thread's accesses for its own block only, which fused segments keep.
    if starts(&["membar.cta"]) {
        return Vec::new();
    }
    if let Some(rest) = name.strip_prefix("cp.async.") {
        return asynchronous_copy(body, call, rest);
    }
    let alone = if starts(&[
        "mapa",
        "getctarank",
        "is_explicit_cluster",
        "isspacep.shared.cluster",
    ]) {
        Unfusable::HardwareRegister("cluster".to_owned())
    } else if starts(&["membar", "fence"]) {
        Unfusable::MemoryFence
    } else if starts(&["bar.", "barrier", "bar"]) {
        Unfusable::NamedBarrier
    } else if starts(&["mbarrier"]) {
        Unfusable::SharedBarrier
    } else if starts(&["tex.", "suld.", "suq.", "txq.", "istypep", "tld4."]) {
        Unfusable::Texture
    } else if starts(&["sust."]) {
        return vec![opaque("writes a surface")];
    } else if starts(&["nanosleep"]) {
        Unfusable::Sleep
    } else if call.pure {
        return Vec::new();
    } else {
        return vec![Effect::Opaque(format!("uses llvm.nvvm.{name}"))];
    };
    let mut all = vec![Effect::Unfusable(alone.clone())];
    match alone {
        // Its words hold counts that only barrier operations read; other memory it leaves alone.
        Unfusable::SharedBarrier => all.extend(
            pointers(body, call)
                .map(|pointer| Effect::Touch(Touch::around(AccessKind::Atomic, pointer))),
        ),
        // A texture may be a view of any buffer.
        Unfusable::Texture => all.push(Effect::Touch(Touch::anywhere(AccessKind::Read, 1))),
        _ => {}
    }
    all
}

/// The operator of `atomic.add.gen.i.sys…`: what atomics are called that are not of the device's
/// scope. The intrinsics of minima and maxima do not tell signed from unsigned ones.
fn scoped_operator(body: &Body, call: &Call, name: &str) -> Option<ReductionOperator> {
    let mut parts = name.split('.').skip(1);
    let (operation, integer) = (parts.next()?, parts.nth(1)? == "i");
    let limit = || u64::try_from(body.literal(*call.arguments.get(1)?)?).ok();
    Some(match operation {
        "add" if integer => ReductionOperator::Add,
        "add" => ReductionOperator::FloatingAdd,
        "and" => ReductionOperator::And,
        "or" => ReductionOperator::Or,
        "xor" => ReductionOperator::Xor,
        "inc" => ReductionOperator::Increment(limit()?),
        "dec" => ReductionOperator::Decrement(limit()?),
        _ => return None,
    })
}

/// `cp.async.ca.shared.global.16(destination, source[, bytes])` and what waits for it; `name` is
/// what follows `cp.async.`.
fn asynchronous_copy(body: &Body, call: &Call, name: &str) -> Vec<Effect> {
    match (name, call.arguments.first()) {
        ("wait.all", _) => return vec![Effect::CopiesComplete],
        ("wait.group", Some(left)) if body.literal(*left) == Some(0) => {
            return vec![Effect::CopiesComplete];
        }
        ("commit.group" | "wait.group", _) => return Vec::new(),
        _ => {}
    }
    let bytes = ["ca", "cg"]
        .iter()
        .find_map(|cache| name.strip_prefix(cache)?.strip_prefix(".shared.global."))
        .and_then(|rest| rest.split('.').next()?.parse().ok());
    let (Some(bytes), [destination, source, rest @ ..]) = (bytes, call.arguments.as_slice()) else {
        return vec![Effect::Opaque(format!("uses llvm.nvvm.cp.async.{name}"))];
    };
    let half = |kind, pointer| Touch {
        asynchronous: true,
        ..Touch::new(kind, pointer, bytes)
    };
    let mut read = half(AccessKind::Read, *source);
    if !rest.is_empty() {
        read.why_inexact = PARTIAL_COPY;
    }
    vec![
        Effect::Touch(read),
        Effect::Touch(half(AccessKind::Write, *destination)),
        Effect::AsynchronousCopy,
    ]
}

/// An asynchronous copy with a source size fills the rest with zeros.
pub const PARTIAL_COPY: &str = "it copies as many bytes as it is told";

/// What reading a special register means.
pub fn special_register(register: &str) -> Vec<Effect> {
    let family = register.split(['.', '_']).next().unwrap_or(register);
    match family {
        "tid" | "ctaid" | "ntid" | "nctaid" | "warpsize" => Vec::new(),
        "laneid" | "lanemask" => vec![Effect::WarpOperation],
        "clock" | "clock64" | "globaltimer" => vec![Effect::Unfusable(Unfusable::Clock)],
        // Where cooperative launches, which are never fused, put their workspace; else zero.
        "envreg1" | "envreg2" => Vec::new(),
        _ => vec![Effect::Unfusable(Unfusable::HardwareRegister(
            register.to_owned(),
        ))],
    }
}
