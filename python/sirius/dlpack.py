"""Tensors of any library, as addresses.

A tensor is what has ``__dlpack__`` (https://dmlc.github.io/dlpack/latest/). Invariant: a :class:`View` keeps the memory that
it describes alive.
"""

import ctypes
import sys

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

# By the name of a type in definitions, its code, its bits, and how a value of it is passed.
SCALARS = {
    "bool": (6, 8, ctypes.c_bool),
    "int8": (0, 8, ctypes.c_int8),
    "int16": (0, 16, ctypes.c_int16),
    "int": (0, 32, ctypes.c_int32),
    "int64": (0, 64, ctypes.c_int64),
    "uint8": (1, 8, ctypes.c_uint8),
    "uint16": (1, 16, ctypes.c_uint16),
    "uint32": (1, 32, ctypes.c_uint32),
    "uint64": (1, 64, ctypes.c_uint64),
    "half": (2, 16, None),
    "bfloat16": (4, 16, None),
    "float": (2, 32, ctypes.c_float),
    "double": (2, 64, ctypes.c_double),
}

# What libraries call types whose names have no bits; NumPy's `int` has 64.
_WITH_BITS = {"int": "int32", "half": "float16", "float": "float32", "double": "float64"}


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("dimensions", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


class View:
    """A tensor's memory: ``address``, ``shape`` in elements, ``scalar`` by its name in definitions, ``device``."""

    def __init__(self, tensor, what, stream=None):
        """``what`` is what messages call it; ``stream`` that in which it will be used, on a GPU."""
        if not hasattr(tensor, "__dlpack__"):
            raise TypeError(f"{what} is no tensor: {type(tensor).__name__} has no __dlpack__")
        device = tensor.__dlpack_device__()
        self.device = (int(device[0]), int(device[1]))
        # By the standard, 1 is the legacy default stream.
        on_gpu = {} if self.device[0] != CUDA else {"stream": stream or 1}
        try:
            self._capsule = tensor.__dlpack__(**on_gpu)
        except (BufferError, RuntimeError, ValueError) as error:
            raise ValueError(f"{what} cannot be passed: {error}") from error
        # Until it is consumed, the capsule is what keeps the memory.
        view = _Tensor.from_address(_pointer_of(self._capsule, b"dltensor"))
        self.shape = tuple(view.shape[at] for at in range(view.dimensions))
        self.address = (view.data or 0) + view.offset
        kind = (view.type.code, view.type.bits)
        names = [name for name, (code, bits, _) in SCALARS.items() if (code, bits) == kind]
        if not names or view.type.lanes != 1:
            raise TypeError(f"{what} has elements of a type that definitions do not have")
        self.scalar = names[0]
        self.bytes = kind[1] // 8
        for extent in self.shape:
            self.bytes *= extent
        self.is_row_major = not view.strides or _is_row_major(
            self.shape, [view.strides[at] for at in range(view.dimensions)]
        )

    def overlaps(self, other):
        """Whether both have a byte in common."""
        if self.device != other.device or not self.bytes or not other.bytes:
            return False
        return self.address < other.address + other.bytes and other.address < self.address + self.bytes


def _is_row_major(shape, strides):
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != expected:
            return False
        expected *= max(extent, 1)
    return True


def library_of(tensor):
    """The library that a tensor belongs to, by its name."""
    return type(tensor).__module__.split(".")[0]


def row_major(tensor):
    """The tensor, or a copy whose elements lie row by row."""
    if library_of(tensor) == "torch":
        return tensor.contiguous()
    if library_of(tensor) in ("numpy", "cupy"):
        return sys.modules[library_of(tensor)].ascontiguousarray(tensor)
    raise ValueError(f"a tensor of {library_of(tensor)} has to lie row by row")


def empty_like(tensor, shape, scalar):
    """A tensor without values, made by the library and on the device of another one."""
    library = library_of(tensor)
    if library == "torch":
        torch = sys.modules["torch"]
        kind = getattr(torch, _WITH_BITS.get(scalar, scalar))
        return torch.empty(shape, dtype=kind, device=tensor.device)
    if library in ("numpy", "cupy") and scalar != "bfloat16":
        return sys.modules[library].empty(shape, dtype=_WITH_BITS.get(scalar, scalar))
    raise ValueError(f"results of type {scalar} have to be passed by name to functions of tensors of {library}")


def current_stream(tensor):
    """The stream in which the library of a tensor works at the moment, as an address."""
    if library_of(tensor) == "torch" and tensor.is_cuda:
        return sys.modules["torch"].cuda.current_stream(tensor.device).cuda_stream
    if library_of(tensor) == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0
