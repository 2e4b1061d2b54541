//! cuDNN.
//!
//! Its descriptors keep no device memory, but those of dropout, which keep the states of a random number
//! generator. What keeps more than that (recurrent networks, attention, the graphs of its newer interface)
//! is not here.

use super::device_library::{DeviceLibraryCall, Extent, Part, handles, size_written, touching};

/// The effect of a function without the library's prefix.
pub(super) fn neural(rest: &str) -> Option<DeviceLibraryCall> {
    const DESCRIPTORS: [&str; 9] = [
        "TensorDescriptor",
        "FilterDescriptor",
        "ConvolutionDescriptor",
        "ActivationDescriptor",
        "PoolingDescriptor",
        "OpTensorDescriptor",
        "ReduceTensorDescriptor",
        "LRNDescriptor",
        "DropoutDescriptor",
    ];
    let is_of = |verb: &str| {
        let what = rest.strip_prefix(verb);
        what.is_some_and(|what| DESCRIPTORS.contains(&what))
    };
    if rest == "CreateDropoutDescriptor" {
        return Some(DeviceLibraryCall {
            makes: Some(0),
            handle_only: true,
            ..DeviceLibraryCall::default()
        });
    }
    if rest == "Create" || is_of("Create") {
        return handles(&[(0, 8)]);
    }
    if rest == "Destroy" || is_of("Destroy") {
        return handles(&[]);
    }
    dropout(rest).or_else(|| layers(rest))
}

/// The layers, the sizes of their workspaces, and descriptors set.
fn layers(rest: &str) -> Option<DeviceLibraryCall> {
    let whole = |places: &[usize]| {
        let places = places.iter().map(|place| (*place, Extent::Whole));
        places.collect::<Vec<_>>()
    };
    match rest {
        "SetStream"
        | "SetTensor4dDescriptor"
        | "SetTensor4dDescriptorEx"
        | "SetTensorNdDescriptor"
        | "SetFilter4dDescriptor"
        | "SetFilterNdDescriptor"
        | "SetConvolution2dDescriptor"
        | "SetConvolutionNdDescriptor"
        | "SetConvolutionMathType"
        | "SetConvolutionGroupCount"
        | "SetActivationDescriptor"
        | "SetPooling2dDescriptor"
        | "SetPoolingNdDescriptor"
        | "SetOpTensorDescriptor"
        | "SetReduceTensorDescriptor"
        | "SetLRNDescriptor" => handles(&[]),
        "GetConvolutionForwardWorkspaceSize"
        | "GetConvolutionBackwardDataWorkspaceSize"
        | "GetConvolutionBackwardFilterWorkspaceSize" => size_written(6),
        "GetReductionWorkspaceSize" => size_written(4),
        "ConvolutionForward" | "ConvolutionBackwardData" | "ConvolutionBackwardFilter" => {
            touching(whole(&[1, 3, 5, 8, 10, 12]), whole(&[8, 12]))
        }
        "ConvolutionBackwardBias" => touching(whole(&[1, 3, 4, 6]), whole(&[6])),
        "ConvolutionBiasActivationForward" => {
            touching(whole(&[1, 3, 5, 8, 10, 12, 14]), whole(&[8, 17]))
        }
        "ActivationForward" | "PoolingForward" => touching(whole(&[2, 4, 5, 7]), whole(&[7])),
        "ActivationBackward" | "PoolingBackward" => {
            touching(whole(&[2, 4, 6, 8, 9, 11]), whole(&[11]))
        }
        "SoftmaxForward" => touching(whole(&[3, 5, 6, 8]), whole(&[8])),
        "SoftmaxBackward" => touching(whole(&[3, 5, 7, 8, 10]), whole(&[10])),
        "AddTensor" | "TransformTensor" => touching(whole(&[1, 3, 4, 6]), whole(&[6])),
        "ScaleTensor" => touching(whole(&[2, 3]), whole(&[2])),
        "SetTensor" => touching(whole(&[3]), whole(&[2])),
        "OpTensor" => touching(whole(&[2, 4, 5, 7, 8, 10]), whole(&[10])),
        "ReduceTensor" => touching(whole(&[4, 6, 8, 9, 11]), whole(&[2, 4, 11])),
        "BatchNormalizationForwardInference" => {
            touching(whole(&[2, 3, 5, 7, 9, 10, 11, 12]), whole(&[7]))
        }
        "BatchNormalizationForwardTraining" => touching(
            whole(&[2, 3, 5, 7, 9, 10, 12, 13]),
            whole(&[7, 12, 13, 15, 16]),
        ),
        _ => None,
    }
}

/// Dropout: the states are the descriptor's.
fn dropout(rest: &str) -> Option<DeviceLibraryCall> {
    let states = (1, Extent::Kept(Part::Values));
    let whole = |place: usize| (place, Extent::Whole);
    match rest {
        "DropoutGetStatesSize" | "DropoutGetReserveSpaceSize" => size_written(1),
        "SetDropoutDescriptor" => Some(DeviceLibraryCall {
            writes: vec![whole(3)],
            keeps: vec![(0, 3, Part::Values)],
            ..DeviceLibraryCall::default()
        }),
        "RestoreDropoutDescriptor" => Some(DeviceLibraryCall {
            keeps: vec![(0, 3, Part::Values)],
            handle_only: true,
            ..DeviceLibraryCall::default()
        }),
        "DropoutForward" => touching(vec![whole(3), states], vec![whole(5), whole(6), states]),
        "DropoutBackward" => touching(vec![whole(3), whole(6), states], vec![whole(5)]),
        _ => None,
    }
}
