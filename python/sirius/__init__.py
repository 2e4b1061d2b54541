"""Tensor definitions, compiled by sirius-rs and called with tensors of NumPy, PyTorch, CuPy and others.

    import numpy, sirius

    net = sirius.define('''
    def mv(float(M,K) A, float(K) x) -> (C) {
      C(i) +=! A(i,k) * x(k)
    }
    ''')
    C = net.mv(A, x)

``define`` compiles when a function is first called, or takes what was compiled before from the cache. Tensors are passed
by DLPack, without a copy; results are made by the library that the first tensor belongs to.
"""

from .command import CompileError, compiler, folder
from .definition import Definitions, define
from .tuning import Tuned, tuned

__all__ = ["CompileError", "Definitions", "Tuned", "compiler", "define", "folder", "tuned"]
