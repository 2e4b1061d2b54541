"""Definitions with a backward definition, for PyTorch."""

import torch


def differentiable(forward, backward):
    """A function for tensors that need gradients.

    ``forward`` is a definition. ``backward`` is one that takes the inputs of ``forward``, then a gradient for each of its results,
    and returns a gradient for each floating-point tensor among these inputs, in their order.
    """
    needing = [
        number
        for number, each in enumerate(forward.inputs)
        if each["role"] == "input" and each["scalar"] in ("half", "bfloat16", "float", "double")
    ]

    class Wrapped(torch.autograd.Function):
        @staticmethod
        def forward(context, *inputs):
            tensors = [each for each in inputs if isinstance(each, torch.Tensor)]
            context.save_for_backward(*tensors)
            context.others = [None if isinstance(each, torch.Tensor) else each for each in inputs]
            return forward(*(each.detach() if isinstance(each, torch.Tensor) else each for each in inputs))

        @staticmethod
        def backward(context, *gradients):
            saved = iter(context.saved_tensors)
            inputs = [next(saved).detach() if each is None else each for each in context.others]
            found = backward(*inputs, *(each.contiguous().detach() for each in gradients))
            found = found if isinstance(found, tuple) else (found,)
            if len(found) != len(needing):
                raise TypeError(f"{backward.name} returns {len(found)} gradients, not {len(needing)}")
            result = [None] * len(inputs)
            for number, gradient in zip(needing, found):
                result[number] = gradient
            return tuple(result)

    return Wrapped.apply
