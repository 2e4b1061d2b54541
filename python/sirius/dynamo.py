"""``torch.compile(model, backend="sirius")``.

PyTorch traces the model and takes its operators apart into those of ATen. Runs of them that definitions can say (elementwise ones,
reductions, softmax, normalisation, embeddings, small products, and what only moves indices) become one definition each, which the
compiler makes kernels of; the rest stays PyTorch's.

Invariant: an operator is taken only where :class:`Translation` says exactly what it computes, with fixed shapes.
"""

import os
import warnings

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._dynamo import register_backend
from torch._dynamo.backends.common import aot_autograd
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .command import CompileError
from .definition import define
from .translation import COPIES, VIEWS, Translation, is_translated

aten = torch.ops.aten

# Functions that were made of models in this process, in their order: each has `definitions.text` and `inspect`.
made = []


def kernels():
    """How many kernels the functions in :data:`made` have."""
    return sum(each.inspect("cuda").count("__global__") for each in made)


def backend(module, inputs, **_):
    """What ``torch.compile`` calls with a traced module."""
    return _aot(module, inputs)


# An installed package has told PyTorch of it already.
if "sirius" not in torch._dynamo.list_backends(exclude_tags=None):
    register_backend(backend, name="sirius")


def _compile(module, _inputs):
    partitioner = CapabilityBasedPartitioner(module, _Support(), allows_single_node_partition=True)
    fused = partitioner.fuse_partitions(
        [each for each in partitioner.propose_partitions() if any(_computes(node) for node in each.nodes)]
    )
    for name, part in list(fused.named_children()):
        if not name.startswith("fused_") or not isinstance(part, torch.fx.GraphModule):
            continue
        translation = Translation(part.graph)
        try:
            function = define(translation.text).f
        except CompileError as error:
            # PyTorch computes the same.
            if os.environ.get("SIRIUS_STRICT"):
                raise
            warnings.warn(f"a part of the model stays PyTorch's: {error}", stacklevel=2)
            continue
        made.append(function)
        setattr(fused, name, _Compiled(function, translation))
    fused.recompile()

    def boxed(arguments):
        taken = list(arguments)
        arguments.clear()
        return fused(*taken)

    boxed._boxed_call = True
    return boxed


def _computes(node):
    return node.target not in VIEWS | COPIES | {aten.full.default, aten.full_like.default}


class _Support(OperatorSupportBase):
    def is_node_supported(self, _submodules, node):
        return is_translated(node)


class _Compiled(torch.nn.Module):
    """A part of a graph as a function of a definition."""

    def __init__(self, function, translation):
        super().__init__()
        self.function = function
        self.results = translation.results
        self.is_single = translation.is_single
        self.used = translation.used

    def forward(self, *inputs):
        first = next(each for each in inputs if isinstance(each, torch.Tensor))
        taken = [inputs[at].detach() for at in self.used]
        outputs = {
            name: torch.empty(shape, dtype=kind, device=first.device) for name, shape, kind in self.results
        }
        self.function(*taken, **outputs)
        found = tuple(outputs.values())
        return found[0] if self.is_single else found


def _layer_norm(values, extents, weight, bias, epsilon):
    dimensions = list(range(values.dim() - len(extents), values.dim()))
    variance, mean = torch.var_mean(values, dimensions, correction=0, keepdim=True)
    scale = torch.rsqrt(variance + epsilon)
    result = (values - mean) * scale
    result = result if weight is None else result * weight
    return (result if bias is None else result + bias), mean, scale


def _group_norm(values, weight, bias, rows, channels, elements, groups, epsilon):
    grouped = values.reshape(rows, groups, channels // groups * elements)
    variance, mean = torch.var_mean(grouped, [2], correction=0, keepdim=True)
    scale = torch.rsqrt(variance + epsilon)
    result = ((grouped - mean) * scale).reshape(values.shape)
    each = [1, channels] + [1] * (values.dim() - 2)
    result = result if weight is None else result * weight.reshape(each)
    result = result if bias is None else result + bias.reshape(each)
    return result, mean.reshape(rows, groups), scale.reshape(rows, groups)


def _batch_norm(values, weight, bias, mean, variance, _momentum, epsilon):
    each = [1, -1] + [1] * (values.dim() - 2)
    result = (values - mean.reshape(each)) * torch.rsqrt(variance + epsilon).reshape(each)
    result = result if weight is None else result * weight.reshape(each)
    result = result if bias is None else result + bias.reshape(each)
    return result, values.new_empty(0), values.new_empty(0)


_MORE = [
    aten._softmax,
    aten._softmax_backward_data,
    aten._log_softmax,
    aten._log_softmax_backward_data,
    aten.native_layer_norm_backward,
    aten.gelu,
    aten.gelu_backward,
    aten.silu,
    aten.addmm,
    aten.leaky_relu,
    aten.hardswish,
    aten.softplus,
    aten.tanh_backward,
    aten.sigmoid_backward,
    aten.threshold_backward,
    aten.addcmul,
    aten.addcdiv,
    aten.std,
]


def _table():
    table = dict(core_aten_decompositions())
    table.update(get_decompositions(_MORE))
    # What PyTorch makes of these goes below the operators that are known here.
    table.pop(aten.var_mean.correction, None)
    table[aten.native_layer_norm.default] = _layer_norm
    table[aten.native_group_norm.default] = _group_norm
    table[aten._native_batch_norm_legit_no_training.default] = _batch_norm
    return table


_aot = aot_autograd(fw_compiler=_compile, bw_compiler=_compile, decompositions=_table())
