//! cuSPARSE.
//!
//! Vectors and matrices are descriptors, which keep pointers to their parts in device memory. Scalars are
//! the host's or the device's, as the handle's pointer mode says; the table takes them as either.
//! What works by plans that are made before (`SpMMOp`), and what takes opaque information objects that
//! some call fills from a matrix and a later one may read (`csrilu02`, `bsrsv2`, ...), is not here.

use super::device_library::{DeviceLibraryCall, Extent, Part, handles, size_written, touching};
use Part::{Structure, Values, Workspace};

/// The effect of a function without the library's prefix.
pub(super) fn sparse(rest: &str) -> Option<DeviceLibraryCall> {
    made(rest)
        .or_else(|| described(rest))
        .or_else(|| administrative(rest))
        .or_else(|| generic(rest))
        .or_else(|| by_pointers(rest))
}

/// A new descriptor with what it keeps.
fn made(rest: &str) -> Option<DeviceLibraryCall> {
    let kept: &[(usize, Part)] = match rest.replace("Const", "").as_str() {
        "CreateSpVec" => &[(3, Structure), (4, Values)],
        "CreateDnVec" => &[(2, Values)],
        "CreateDnMat" => &[(4, Values)],
        "CreateCsr" | "CreateCsc" => &[(4, Structure), (5, Structure), (6, Values)],
        "CreateCoo" => &[(4, Structure), (5, Structure), (6, Values)],
        "CreateBsr" => &[(6, Structure), (7, Structure), (8, Values)],
        "CreateBlockedEll" => &[(5, Structure), (6, Values)],
        "CreateSlicedEll" => &[(6, Structure), (7, Structure), (8, Values)],
        "SpSV_createDescr" | "SpSM_createDescr" | "SpGEMM_createDescr" => &[],
        _ => return None,
    };
    Some(DeviceLibraryCall {
        makes: Some(0),
        keeps: kept.iter().map(|(from, part)| (0, *from, *part)).collect(),
        handle_only: true,
        ..DeviceLibraryCall::default()
    })
}

/// Pointers put into descriptors, and taken out.
fn described(rest: &str) -> Option<DeviceLibraryCall> {
    let with = |keeps: &[(usize, Part)], gives: &[(usize, Part)], numbers: &[usize]| {
        Some(DeviceLibraryCall {
            keeps: keeps.iter().map(|(from, part)| (0, *from, *part)).collect(),
            gives: gives.iter().map(|(slot, part)| (0, *slot, *part)).collect(),
            numbers: numbers.iter().map(|at| (*at, 8)).collect(),
            handle_only: true,
            ..DeviceLibraryCall::default()
        })
    };
    match rest.replace("Const", "").as_str() {
        "SpVecSetValues" | "DnVecSetValues" | "DnMatSetValues" | "SpMatSetValues" => {
            with(&[(1, Values)], &[], &[])
        }
        "CsrSetPointers" | "CscSetPointers" | "CooSetPointers" => {
            with(&[(1, Structure), (2, Structure), (3, Values)], &[], &[])
        }
        "SpVecGetValues" | "DnVecGetValues" | "DnMatGetValues" | "SpMatGetValues" => {
            with(&[], &[(1, Values)], &[])
        }
        "SpVecGet" => with(&[], &[(3, Structure), (4, Values)], &[1, 2, 5, 6, 7]),
        "DnVecGet" => with(&[], &[(2, Values)], &[1, 3]),
        "DnMatGet" => with(&[], &[(4, Values)], &[1, 2, 3, 5, 6]),
        "CsrGet" | "CscGet" => {
            let parts = [(4, Structure), (5, Structure), (6, Values)];
            with(&[], &parts, &[1, 2, 3, 7, 8, 9, 10])
        }
        "CooGet" => {
            let parts = [(4, Structure), (5, Structure), (6, Values)];
            with(&[], &parts, &[1, 2, 3, 7, 8, 9])
        }
        "SpMatGetSize" => with(&[], &[], &[1, 2, 3]),
        "SpMatGetFormat" | "SpMatGetIndexBase" => with(&[], &[], &[1]),
        _ => None,
    }
}

/// Handles, and settings of descriptors.
fn administrative(rest: &str) -> Option<DeviceLibraryCall> {
    match rest {
        "Create" | "CreateMatDescr" => handles(&[(0, 8)]),
        "GetVersion" | "GetStream" | "GetPointerMode" => handles(&[(1, 8)]),
        "Destroy"
        | "DestroyMatDescr"
        | "SetStream"
        | "SetPointerMode"
        | "SetMatType"
        | "SetMatIndexBase"
        | "SetMatFillMode"
        | "SetMatDiagType"
        | "SpMatSetAttribute"
        | "SpMatSetStridedBatch"
        | "DnMatSetStridedBatch"
        | "CsrSetStridedBatch"
        | "CooSetStridedBatch"
        | "DestroySpVec"
        | "DestroyDnVec"
        | "DestroySpMat"
        | "DestroyDnMat"
        | "SpSV_destroyDescr"
        | "SpSM_destroyDescr"
        | "SpGEMM_destroyDescr" => handles(&[]),
        _ => None,
    }
}

/// What a descriptor is to an operation.
#[derive(Clone, Copy)]
enum Role {
    /// A sparse operand.
    Sparse,
    /// A sparse operand whose elements change.
    SparseElements,
    /// A sparse operand that is made anew.
    SparseResult,
    /// A dense operand.
    Dense,
    /// A dense operand that changes.
    DenseResult,
    /// What earlier calls found out about the other descriptors.
    State,
}

impl Role {
    /// What the operation writes of it besides buffers.
    fn changes(self) -> &'static [Part] {
        match self {
            Self::Sparse | Self::Dense | Self::State => &[],
            Self::SparseElements | Self::DenseResult => &[Values],
            Self::SparseResult => &[Structure, Values],
        }
    }

    /// A later call with it may use a buffer that this one has.
    fn keeps_buffers(self) -> bool {
        !matches!(self, Self::Dense | Self::DenseResult)
    }
}

/// An operation on descriptors, with the positions of scalars and of its external buffer.
fn operation(
    descriptors: &[(usize, Role)],
    scalars: &[usize],
    buffer: Option<usize>,
) -> Option<DeviceLibraryCall> {
    let whole = |position: &usize| (*position, Extent::Whole);
    let mut call = DeviceLibraryCall {
        reads: scalars.iter().chain(&buffer).map(whole).collect(),
        writes: buffer.iter().map(whole).collect(),
        ..DeviceLibraryCall::default()
    };
    for (position, role) in descriptors {
        let part = |part: &Part| (*position, Extent::Kept(*part));
        call.reads
            .extend([Structure, Values, Workspace].iter().map(part));
        call.writes.extend(role.changes().iter().map(part));
        if role.keeps_buffers() {
            call.writes.push(part(&Workspace));
            let kept = buffer.map(|buffer| (*position, buffer, Workspace));
            call.keeps.extend(kept);
        }
        if matches!(role, Role::State) {
            let others = descriptors.iter().filter(|(other, _)| other != position);
            let others = others.map(|(other, _)| (*position, *other, Values));
            call.keeps.extend(others);
        }
    }
    Some(call)
}

/// Operations on descriptors.
fn generic(rest: &str) -> Option<DeviceLibraryCall> {
    use Role::{Dense, DenseResult, Sparse, SparseElements, SparseResult, State};
    let size_of_buffer = match rest {
        "SpMV_bufferSize" | "SpSV_bufferSize" => Some(9),
        "SpMM_bufferSize" | "SDDMM_bufferSize" | "SpSM_bufferSize" => Some(10),
        "SpVV_bufferSize" => Some(6),
        "SparseToDense_bufferSize" | "DenseToSparse_bufferSize" => Some(4),
        _ => None,
    };
    if let Some(size) = size_of_buffer {
        return size_written(size);
    }
    match rest {
        "SpMV" | "SpMV_preprocess" => operation(
            &[(3, Sparse), (4, Dense), (6, DenseResult)],
            &[2, 5],
            Some(9),
        ),
        "SpMM" | "SpMM_preprocess" => operation(
            &[(4, Sparse), (5, Dense), (7, DenseResult)],
            &[3, 6],
            Some(10),
        ),
        "SDDMM" | "SDDMM_preprocess" => operation(
            &[(4, Dense), (5, Dense), (7, SparseElements)],
            &[3, 6],
            Some(10),
        ),
        "SpSV_analysis" | "SpSV_solve" => operation(
            &[(3, Sparse), (4, Dense), (5, DenseResult), (8, State)],
            &[2],
            (rest == "SpSV_analysis").then_some(9),
        ),
        "SpSV_updateMatrix" | "SpSM_updateMatrix" => operation(&[(1, State)], &[2], None),
        "SpSM_analysis" | "SpSM_solve" => operation(
            &[(4, Sparse), (5, Dense), (6, DenseResult), (9, State)],
            &[3],
            (rest == "SpSM_analysis").then_some(10),
        ),
        "SpGEMM_workEstimation" | "SpGEMM_compute" | "SpGEMM_copy" => {
            let estimates = rest != "SpGEMM_copy";
            let mut call = operation(
                &[(4, Sparse), (5, Sparse), (7, SparseResult), (10, State)],
                &[3, 6],
                estimates.then_some(12),
            )?;
            call.numbers.extend(estimates.then_some((11, 8)));
            Some(call)
        }
        "Gather" => operation(&[(1, Dense), (2, SparseElements)], &[], None),
        "Scatter" => operation(&[(1, Sparse), (2, DenseResult)], &[], None),
        "Axpby" => operation(&[(2, Sparse), (4, DenseResult)], &[1, 3], None),
        "Rot" => operation(&[(3, SparseElements), (4, DenseResult)], &[1, 2], None),
        "SpVV" => {
            let mut call = operation(&[(2, Sparse), (3, Dense)], &[], Some(6))?;
            call.writes.push((4, Extent::Whole));
            Some(call)
        }
        "SparseToDense" => operation(&[(1, Sparse), (2, DenseResult)], &[], Some(4)),
        "DenseToSparse_analysis" | "DenseToSparse_convert" => {
            operation(&[(1, Dense), (2, SparseResult)], &[], Some(4))
        }
        _ => None,
    }
}

/// Operations that take their vectors and matrices by pointers.
fn by_pointers(rest: &str) -> Option<DeviceLibraryCall> {
    use Extent::Elements;
    let whole = |places: &[usize]| {
        let places = places.iter().map(|place| (*place, Extent::Whole));
        places.collect::<Vec<_>>()
    };
    match rest {
        "Xcoo2csr" => return touching(vec![(1, Elements(2, 4))], whole(&[4])),
        "Xcsr2coo" => return touching(whole(&[1]), vec![(4, Elements(2, 4))]),
        "CreateIdentityPermutation" => return touching(vec![], vec![(2, Elements(1, 4))]),
        "XcoosortByRow" | "XcoosortByColumn" => {
            return touching(whole(&[4, 5, 6, 7]), whole(&[4, 5, 6, 7]));
        }
        "Xcoosort_bufferSizeExt" | "Xcsrsort_bufferSizeExt" => return size_written(6),
        "Xcsrsort" => return touching(whole(&[5, 6, 7, 8]), whole(&[6, 7, 8])),
        "Csr2cscEx2_bufferSize" => return size_written(14),
        "Csr2cscEx2" => return touching(whole(&[4, 5, 6, 14]), whole(&[7, 8, 9, 14])),
        "Xcsrgeam2Nnz" => return touching(whole(&[5, 6, 9, 10, 14]), whole(&[12, 13, 14])),
        _ => {}
    }
    let (precision, operation) = rest.split_at_checked(1)?;
    let bytes = match precision {
        "S" => 4,
        "D" | "C" => 8,
        "Z" => 16,
        _ => return None,
    };
    match operation {
        "csrmv" => touching(whole(&[5, 7, 8, 9, 10, 11, 12]), whole(&[12])),
        "csrmm" => touching(whole(&[6, 8, 9, 10, 11, 13, 14]), whole(&[14])),
        "csrmm2" => touching(whole(&[7, 9, 10, 11, 12, 14, 15]), whole(&[15])),
        "bsrmv" => touching(whole(&[6, 8, 9, 10, 12, 13, 14]), whole(&[14])),
        "csr2csc" => touching(whole(&[4, 5, 6]), whole(&[7, 8, 9])),
        "csrgeam2_bufferSizeExt" => size_written(19),
        "csrgeam2" => touching(
            whole(&[3, 6, 7, 8, 9, 12, 13, 14, 17, 19]),
            whole(&[16, 17, 18, 19]),
        ),
        "nnz" => touching(whole(&[5]), whole(&[7, 8])),
        "gtsv2_bufferSizeExt"
        | "gtsv2_nopivot_bufferSizeExt"
        | "gtsv2StridedBatch_bufferSizeExt" => size_written(8),
        "gtsv2" | "gtsv2_nopivot" => touching(whole(&[3, 4, 5, 6, 8]), whole(&[6, 8])),
        "gtsv2StridedBatch" => touching(whole(&[2, 3, 4, 5, 8]), whole(&[5, 8])),
        "axpyi" => {
            let (x, indices) = ((3, Elements(1, bytes)), (4, Elements(1, 4)));
            touching(
                vec![(2, Extent::Whole), x, indices, (5, Extent::Whole)],
                whole(&[5]),
            )
        }
        "gthr" => {
            let (x, indices) = ((3, Elements(1, bytes)), (4, Elements(1, 4)));
            touching(vec![(2, Extent::Whole), indices], vec![x])
        }
        "sctr" => {
            let (x, indices) = ((2, Elements(1, bytes)), (3, Elements(1, 4)));
            touching(vec![x, indices], whole(&[4]))
        }
        _ => None,
    }
}
