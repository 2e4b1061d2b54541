//! CUDA's libraries: functions that work on device memory by kernels of their own.
//!
//! Only functions whose device memory is all among their arguments, or in descriptors that they take,
//! stand here. Those that take arrays of pointers or delay their work (cuSOLVER, cuBLASLt, batches behind
//! pointer arrays, NCCL) are unknown functions, and so are those of cuBLAS as it was before handles.
//!
//! A descriptor is memory of the library's own in which pointers to device memory are kept. The table
//! says which calls make one, which put pointers into it, and which work on the memory behind them. A
//! buffer that a call is given for its work stays with the descriptors of that call, since a later call
//! may use what it finds there.

use super::{Size, neural_library, sparse_library};

/// How much of an argument's memory a function touches: an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Not told.
    Whole,
    /// So many elements of so many bytes, by position of the count.
    Elements(usize, i64),
    /// A vector: positions of count and increment, bytes of an element.
    Vector(usize, usize, i64),
    /// A matrix by columns: positions of the leading dimension and of the number of columns, bytes of an
    /// element.
    Matrix(usize, usize, i64),
    /// A matrix that may be transposed: positions of the leading dimension, of the operation, of the
    /// number of columns where the operation is none and where it is a transposition, bytes of an element.
    Operand(usize, usize, usize, usize, i64),
    /// Not the memory that the argument points to, but what the descriptor that it is keeps as this.
    Kept(Part),
}

/// What a descriptor keeps a pointer for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Indices and offsets of a sparse vector or matrix.
    Structure,
    /// Elements; states.
    Values,
    /// Buffers that calls with this descriptor were given for their work.
    Workspace,
}

impl Part {
    /// Where in the descriptor's own memory such pointers are said to stand.
    pub const fn offset(self) -> i64 {
        match self {
            Self::Structure => 0,
            Self::Values => 8,
            Self::Workspace => 16,
        }
    }
}

/// What a function of a library does. Arguments by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceLibraryCall {
    /// Memory that it reads; scalars may be the host's or the device's.
    pub reads: Vec<(usize, Extent)>,
    /// Memory that it writes; results may be the host's or the device's.
    pub writes: Vec<(usize, Extent)>,
    /// Host memory into which it writes handles and numbers, and how many bytes.
    pub outputs: Vec<(usize, u64)>,
    /// Host memory into which it writes numbers alone, and how many bytes.
    pub numbers: Vec<(usize, u64)>,
    /// The argument that is the address of a slot, into which it writes a new descriptor. As the
    /// descriptor of `keeps` it stands for that.
    pub makes: Option<usize>,
    /// Descriptor, pointer that stays in it, and what for.
    pub keeps: Vec<(usize, usize, Part)>,
    /// Descriptor, slot into which it writes a pointer that the descriptor keeps, and which.
    pub gives: Vec<(usize, usize, Part)>,
    /// It makes or changes a handle and runs nothing.
    pub handle_only: bool,
    /// It copies from or to host memory, and the host waits.
    pub waits: bool,
}

/// The effect of a library's function; `None` when the table does not have it.
pub fn device_library_call(name: &str) -> Option<DeviceLibraryCall> {
    if let Some(rest) = name.strip_prefix("cublas") {
        return blas_handle(rest).or_else(|| blas(rest));
    }
    if let Some(rest) = name.strip_prefix("curand") {
        return random(rest);
    }
    if let Some(rest) = name.strip_prefix("cufft") {
        return transform(rest);
    }
    if let Some(rest) = name.strip_prefix("cusparse") {
        return sparse_library::sparse(rest);
    }
    neural_library::neural(name.strip_prefix("cudnn")?)
}

/// The name of the library that a function is of.
pub fn library_of(name: &str) -> Option<&'static str> {
    let mut of = LIBRARIES.iter().filter(|library| {
        name.strip_prefix(**library)
            .and_then(|rest| rest.chars().next())
            .is_some_and(|first| first.is_ascii_uppercase())
    });
    of.next().copied()
}

const LIBRARIES: [&str; 8] = [
    "cublasLt", "cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl",
];

/// True for functions of CUDA's libraries, known or not.
pub fn is_device_library(name: &str) -> bool {
    library_of(name).is_some()
}

/// Functions after which a library uses memory, or runs code, that its later calls do not name.
pub fn hides_memory(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "cublasSetWorkspace",
        "cufftSetWorkArea",
        "cufftSetAutoAllocation",
        "cufftXt",
        "curandSetGeneratorOffset",
        "cudnnSetCallback",
    ];
    NAMES.iter().any(|start| name.starts_with(start))
}

/// Functions that choose the stream of a library's later calls.
pub fn sets_stream(name: &str) -> bool {
    [
        "cublasSetStream",
        "curandSetStream",
        "cufftSetStream",
        "cudnnSetStream",
        "cusparseSetStream",
        "cusolverDnSetStream",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

impl Extent {
    /// The number of bytes as a product, when the arguments' literals allow to tell.
    pub fn factors(self, literal: &dyn Fn(usize) -> Option<i64>) -> Option<(Size, Option<usize>)> {
        match self {
            Self::Whole | Self::Kept(_) => None,
            Self::Elements(count, bytes) => Some((Size::Elements(count, bytes), None)),
            Self::Vector(count, increment, bytes) => {
                (literal(increment) == Some(1)).then_some((Size::Elements(count, bytes), None))
            }
            Self::Matrix(leading, columns, bytes) => {
                Some((Size::Elements(leading, bytes), Some(columns)))
            }
            Self::Operand(leading, operation, plain, transposed, bytes) => {
                let columns = match literal(operation)? {
                    0 => plain,
                    1 | 2 => transposed,
                    _ => return None,
                };
                Some((Size::Elements(leading, bytes), Some(columns)))
            }
        }
    }
}

pub(super) fn handles(outputs: &[(usize, u64)]) -> Option<DeviceLibraryCall> {
    Some(DeviceLibraryCall {
        outputs: outputs.to_vec(),
        handle_only: true,
        ..DeviceLibraryCall::default()
    })
}

/// The size of a buffer, or another number of eight bytes, for the argument at `position`.
pub(super) fn size_written(position: usize) -> Option<DeviceLibraryCall> {
    Some(DeviceLibraryCall {
        numbers: vec![(position, 8)],
        handle_only: true,
        ..DeviceLibraryCall::default()
    })
}

pub(super) fn touching(
    reads: Vec<(usize, Extent)>,
    writes: Vec<(usize, Extent)>,
) -> Option<DeviceLibraryCall> {
    Some(DeviceLibraryCall {
        reads,
        writes,
        ..DeviceLibraryCall::default()
    })
}

/// cuBLAS: handles, and copies between host and device.
fn blas_handle(rest: &str) -> Option<DeviceLibraryCall> {
    let copy = |reads: &[usize], writes: &[usize]| {
        let whole = |places: &[usize]| places.iter().map(|place| (*place, Extent::Whole)).collect();
        Some(DeviceLibraryCall {
            reads: whole(reads),
            writes: whole(writes),
            waits: true,
            ..DeviceLibraryCall::default()
        })
    };
    match rest.strip_suffix("_v2").unwrap_or(rest) {
        "Create" | "LtCreate" => handles(&[(0, 8)]),
        "GetVersion" | "GetStream" | "GetPointerMode" | "GetAtomicsMode" | "GetMathMode" => {
            handles(&[(1, 8)])
        }
        "Destroy" | "LtDestroy" | "SetStream" | "SetPointerMode" | "SetAtomicsMode"
        | "SetMathMode" => handles(&[]),
        "SetMatrix" | "GetMatrix" => copy(&[3], &[5]),
        "SetVector" | "GetVector" => copy(&[2], &[4]),
        _ => None,
    }
}

/// cuBLAS: the operations.
fn blas(rest: &str) -> Option<DeviceLibraryCall> {
    use Extent::{Matrix, Operand, Vector, Whole};
    let strided_or_new = |name: &str| {
        name.contains("StridedBatched")
            || name.ends_with("geam")
            || name.ends_with("dgmm")
            || name == "Hgemm"
    };
    let name = rest.strip_suffix("_64").unwrap_or(rest);
    // Without the suffix these are the functions from before handles.
    let operation = match name.strip_suffix("_v2") {
        Some(operation) => operation,
        None if strided_or_new(name) || name.ends_with("Ex") => name,
        None => return None,
    };
    match operation {
        "GemmEx" | "SgemmEx" | "CgemmEx" => {
            let matrices = vec![
                (6, Whole),
                (7, Whole),
                (10, Whole),
                (13, Whole),
                (14, Whole),
            ];
            return touching(matrices, vec![(14, Whole)]);
        }
        "GemmStridedBatchedEx" => {
            let matrices = vec![
                (6, Whole),
                (7, Whole),
                (11, Whole),
                (15, Whole),
                (16, Whole),
            ];
            return touching(matrices, vec![(16, Whole)]);
        }
        // Indices of extremes.
        "Isamax" | "Idamax" | "Icamax" | "Izamax" | "Isamin" | "Idamin" | "Icamin" | "Izamin" => {
            return touching(vec![(2, Whole)], vec![(4, Whole)]);
        }
        // Norms and sums of complex vectors are real.
        "Scnrm2" | "Dznrm2" | "Scasum" | "Dzasum" => {
            return touching(vec![(2, Whole)], vec![(4, Whole)]);
        }
        _ => {}
    }
    let bytes = match operation.chars().next()? {
        'S' => 4,
        'D' | 'C' => 8,
        'Z' => 16,
        'H' => 2,
        _ => return None,
    };
    let scalar = |position| (position, Whole);
    match operation.get(1..)? {
        "gemm" | "gemm3m" => {
            let a = (7, Operand(8, 1, 5, 3, bytes));
            let b = (9, Operand(10, 2, 4, 5, bytes));
            let c = (12, Matrix(13, 4, bytes));
            touching(vec![scalar(6), a, b, scalar(11), c], vec![c])
        }
        "gemmStridedBatched" => {
            let matrices = vec![scalar(6), scalar(7), scalar(10), scalar(13), scalar(14)];
            touching(matrices, vec![scalar(14)])
        }
        "gemv" => {
            let a = (5, Matrix(6, 3, bytes));
            let y = scalar(10);
            touching(vec![scalar(4), a, scalar(7), scalar(9), y], vec![y])
        }
        "ger" | "geru" | "gerc" => {
            let a = (8, Matrix(9, 2, bytes));
            let x = (4, Vector(1, 5, bytes));
            let y = (6, Vector(2, 7, bytes));
            touching(vec![scalar(3), x, y, a], vec![a])
        }
        "symv" | "hemv" => {
            let a = (4, Matrix(5, 2, bytes));
            let x = (6, Vector(2, 7, bytes));
            let y = (9, Vector(2, 10, bytes));
            touching(vec![scalar(3), a, x, scalar(8), y], vec![y])
        }
        "trsv" | "trmv" => {
            let a = (5, Matrix(6, 4, bytes));
            let x = (7, Vector(4, 8, bytes));
            touching(vec![a, x], vec![x])
        }
        "syrk" | "herk" => {
            let c = (9, Matrix(10, 3, bytes));
            touching(vec![scalar(5), scalar(6), scalar(8), c], vec![c])
        }
        "syr2k" | "her2k" => {
            let c = (11, Matrix(12, 3, bytes));
            let reads = vec![scalar(5), scalar(6), scalar(8), scalar(10), c];
            touching(reads, vec![c])
        }
        "symm" | "hemm" => {
            let c = (11, Matrix(12, 4, bytes));
            let b = (8, Matrix(9, 4, bytes));
            touching(vec![scalar(5), scalar(6), b, scalar(10), c], vec![c])
        }
        "trsm" => {
            let b = (10, Matrix(11, 6, bytes));
            touching(vec![scalar(7), scalar(8), b], vec![b])
        }
        "trmm" => {
            let c = (12, Matrix(13, 6, bytes));
            touching(vec![scalar(7), scalar(8), scalar(10)], vec![c])
        }
        "geam" => {
            let a = (6, Operand(7, 1, 4, 3, bytes));
            let b = (9, Operand(10, 2, 4, 3, bytes));
            let c = (11, Matrix(12, 4, bytes));
            touching(vec![scalar(5), a, scalar(8), b], vec![c])
        }
        "dgmm" => {
            let a = (4, Matrix(5, 3, bytes));
            let c = (8, Matrix(9, 3, bytes));
            touching(vec![a, scalar(6)], vec![c])
        }
        "axpy" => {
            let x = (3, Vector(1, 4, bytes));
            let y = (5, Vector(1, 6, bytes));
            touching(vec![scalar(2), x, y], vec![y])
        }
        "scal" | "sscal" | "dscal" => {
            let x = (3, Vector(1, 4, bytes));
            touching(vec![scalar(2), x], vec![x])
        }
        "copy" => {
            let x = (2, Vector(1, 3, bytes));
            touching(vec![x], vec![(4, Vector(1, 5, bytes))])
        }
        "swap" => {
            let x = (2, Vector(1, 3, bytes));
            let y = (4, Vector(1, 5, bytes));
            touching(vec![x, y], vec![x, y])
        }
        "dot" | "dotu" | "dotc" => {
            let x = (2, Vector(1, 3, bytes));
            let y = (4, Vector(1, 5, bytes));
            touching(vec![x, y], vec![scalar(6)])
        }
        "nrm2" | "asum" => {
            let x = (2, Vector(1, 3, bytes));
            touching(vec![x], vec![scalar(4)])
        }
        _ => None,
    }
}

/// cuRAND's host interface.
fn random(rest: &str) -> Option<DeviceLibraryCall> {
    let fills = |bytes| touching(Vec::new(), vec![(1, Extent::Elements(2, bytes))]);
    match rest {
        "CreateGenerator" | "CreateGeneratorHost" => handles(&[(0, 8)]),
        "DestroyGenerator"
        | "SetStream"
        | "SetPseudoRandomGeneratorSeed"
        | "SetGeneratorOrdering"
        | "SetQuasiRandomGeneratorDimensions" => handles(&[]),
        "Generate" | "GenerateUniform" | "GenerateNormal" | "GenerateLogNormal"
        | "GeneratePoisson" => fills(4),
        "GenerateLongLong"
        | "GenerateUniformDouble"
        | "GenerateNormalDouble"
        | "GenerateLogNormalDouble" => fills(8),
        _ => None,
    }
}

/// cuFFT.
fn transform(rest: &str) -> Option<DeviceLibraryCall> {
    match rest {
        "Create" | "Plan1d" | "Plan2d" | "Plan3d" | "PlanMany" => handles(&[(0, 4)]),
        "Destroy" | "LtDestroy" | "SetStream" => handles(&[]),
        // Some transforms destroy their input.
        "ExecC2C" | "ExecR2C" | "ExecC2R" | "ExecZ2Z" | "ExecD2Z" | "ExecZ2D" => {
            let both = vec![(1, Extent::Whole), (2, Extent::Whole)];
            touching(both.clone(), both)
        }
        _ => None,
    }
}
