"""Definitions as functions.

Invariant: a function is called only with sizes for which the launcher launches, so that no call ends the program.
"""

import ctypes
import os
import struct

from . import command
from .command import CompileError
from .dlpack import CPU, CUDA, CUDA_MANAGED, SCALARS, View, current_stream, empty_like, row_major
from .tuning import Tuner, tuned


def define(text, device=None, options=(), template=None):
    """The definitions of a text.

    ``device`` is ``"cpu"`` or ``"cuda"``; without it, the one that the tensors of a call are on. ``options`` are further
    options of the compiler (``--sirius-tc-mapping=tiled``). ``template`` is the text of implementation templates for some of the
    definitions, as ``inspect("template")`` shows them. Raises :class:`CompileError` with the place of what is wrong.
    """
    if template is not None:
        # A text without a brace would be the name of a file.
        if "{" not in template:
            raise CompileError("a template is written as 'template NAME { ... }'")
        options = (*options, f"--sirius-template={template}")
    return Definitions(text, device, tuple(options))


class Definitions:
    """The functions of a text, as attributes."""

    def __init__(self, text, device=None, options=()):
        self.text = text
        self.device = device
        self.options = options
        self.signatures = command.signatures(text, device, self.options)
        self._libraries = {}
        for name in self.signatures:
            setattr(self, name, Function(self, name))

    def library(self, device, options):
        """The library for a device, compiled at the first call."""
        key = (device, options)
        if key not in self._libraries:
            made = command.library(self.text, self.signatures, device, self.options + options)
            # Other libraries of the process may bring the runtime of GPUs under the same names.
            self._libraries[key] = ctypes.CDLL(str(made), mode=os.RTLD_LOCAL | os.RTLD_DEEPBIND)
        return self._libraries[key]


    def tuned_library(self, name, device, sizes):
        """The library whose kernels are known to be best for the sizes of a call."""
        known = tuned.find(self.text, name, device, sizes, self.options)
        try:
            return self.library(device, known)
        except CompileError:
            if not known:
                raise
            # Another compiler may have understood these options.
            return self.library(device, ())


class Function:
    """A definition that can be called: ``results = function(*inputs, **results)``.

    Inputs stand in their order. Tensors that are passed by the name of a result are written instead of new ones. ``stream`` is
    the address of a stream, for GPUs.
    """

    def __init__(self, definitions, name):
        self.definitions = definitions
        self.name = name
        self.signature = definitions.signatures[name]
        parameters = self.signature["parameters"]
        self.inputs = [each for each in parameters if each["role"] != "output"]
        self.__name__ = name
        self.__doc__ = f"{name}({', '.join(each['name'] for each in self.inputs)})"

    def __call__(self, *inputs, stream=None, **named):
        call = Call(self, inputs, named, stream)
        call.run(self.definitions.tuned_library(self.name, call.device, call.sizes))
        return call.results()

    def compile(self, device=None):
        """Compiles now instead of at the first call."""
        self.definitions.library(device or self.definitions.device or "cpu", ())
        return self

    def autotune(self, *inputs, stream=None, seconds=60, progress=True, **named):
        """Tries other kernels for the sizes of these inputs, for so many seconds, and keeps what takes least time.

        Changed inputs are changed as by a call for each try. Returns the options that were found best.
        """
        call = Call(self, inputs, named, stream)
        tuner = Tuner(self.definitions, self.name, call)
        best, nanoseconds = tuner.search(seconds, progress)
        definitions = self.definitions
        tuned.keep(definitions.text, self.name, call.device, call.sizes, best, definitions.options, nanoseconds)
        return best

    def inspect(self, what="schedule", device=None):
        """``"schedule"``, ``"template"``, ``"cuda"``, ``"ir"``, or ``"report"``: what the compiler says of all definitions of the text."""
        options = self.definitions.options
        if what == "report":
            device = device or self.definitions.device or "cpu"
            return command.report(self.definitions.text, self.definitions.signatures, device, options)
        return command.form(self.definitions.text, what, options)


class Call:
    """One call: its sizes, and what is passed."""

    def __init__(self, function, inputs, named, stream):
        self.function = function
        signature = function.signature
        if len(inputs) != len(function.inputs):
            names = ", ".join(each["name"] for each in function.inputs)
            raise TypeError(f"{function.name} takes {len(function.inputs)} inputs ({names}), not {len(inputs)}")
        self.tensors, self.values, self.views = {}, {}, {}
        for parameter, given in zip(function.inputs, inputs):
            (self.values if parameter["role"] == "value" else self.tensors)[parameter["name"]] = given
        self.first = next(iter(self.tensors.values()), None)
        self.stream = stream if stream is not None else self._stream_of_library()
        self.sizes = {}
        for parameter in function.inputs:
            if parameter["role"] != "value":
                self._view(parameter)
        for parameter in function.inputs:
            if parameter["role"] == "value":
                self.values[parameter["name"]] = _checked(parameter, self.values[parameter["name"]])
        self._check()
        outputs = [each for each in signature["parameters"] if each["role"] == "output"]
        for parameter in outputs:
            self._output(parameter, named)
        if named:
            raise TypeError(f"{function.name} has no result {', '.join(named)}")
        self._keep_apart()
        self.device = self._device()

    def run(self, library):
        """Launches, and on the CPU device waits."""
        arguments = [ctypes.c_void_p(self.stream)]
        signature = self.function.signature
        arguments += [ctypes.c_int(self.sizes[size]) for size in signature["sizes"]]
        for parameter in signature["parameters"]:
            name = parameter["name"]
            if parameter["role"] == "value":
                arguments.append(_value(parameter, self.values[name]))
            else:
                arguments.append(ctypes.c_void_p(self.views[name].address))
        arguments.append(ctypes.c_int(self.device == "cpu"))
        status = getattr(library, f"sirius_{self.function.name}")(*arguments)
        if status != 0:
            library.tc_message.restype = ctypes.c_char_p
            raise RuntimeError(f"{self.function.name}: {library.tc_message(status).decode()}")

    def results(self):
        """What the definition returns: a tensor, or several."""
        found = tuple(self.tensors[name] for name in self.function.signature["returns"])
        return found[0] if len(found) == 1 else found

    def evaluate(self, form):
        """A form of sizes and values as a number."""
        return form["constant"] + sum(factor * self._term(term) for factor, term in form["terms"])

    def _term(self, term):
        ((kind, of),) = term.items()
        if kind == "name":
            return int(self.values[of]) if of in self.values else self.sizes[of]
        if kind == "floor":
            return self.evaluate(of[0]) // of[1]
        if kind == "product":
            return self.evaluate(of[0]) * self.evaluate(of[1])
        return (min if kind == "minimum" else max)(self.evaluate(each) for each in of)

    def _stream_of_library(self):
        return 0 if self.first is None else current_stream(self.first)

    def _what(self, name):
        return f"{self.function.name}: {name}"

    def _view(self, parameter):
        name = parameter["name"]
        view = View(self.tensors[name], self._what(name), self.stream)
        if not view.is_row_major:
            if parameter["role"] != "input":
                raise ValueError(f"{self._what(name)} is written, and has to lie row by row")
            self.tensors[name] = row_major(self.tensors[name])
            view = View(self.tensors[name], self._what(name), self.stream)
        if view.scalar != parameter["scalar"]:
            raise TypeError(f"{self._what(name)} has elements of {view.scalar}, not {parameter['scalar']}")
        if len(view.shape) != len(parameter["extents"]):
            expected = len(parameter["extents"])
            raise ValueError(f"{self._what(name)} has {len(view.shape)} dimensions, not {expected}")
        self.views[name] = view
        if parameter["role"] == "output":
            return
        for extent, form in zip(view.shape, parameter["extents"]):
            if form["terms"]:
                # Extents of inputs are names or numbers.
                self._bind(form["terms"][0][1]["name"], extent, name)
            elif extent != form["constant"]:
                raise ValueError(f"{self._what(name)} has an extent of {extent}, not {form['constant']}")

    def _bind(self, size, number, source):
        if not 0 <= number < 2**31:
            raise ValueError(f"{self._what(size)} is {number}, which no size can be")
        if self.sizes.setdefault(size, number) != number:
            raise ValueError(f"{self._what(size)} is {self.sizes[size]}, and {number} in {source}")

    def _check(self):
        for parameter in self.function.signature["parameters"]:
            for dimension, form in enumerate(parameter["extents"]):
                if self.evaluate(form) < 0:
                    message = f"the extent {dimension} of '{parameter['name']}' is negative"
                    raise ValueError(f"{self._what(message)} ({self.evaluate(form)})")
        for check in self.function.signature["checks"]:
            left, right = self.evaluate(check["left"]), self.evaluate(check["right"])
            holds = left == right if check["equal"] else left <= right
            if not holds and all(self.evaluate(form) > 0 for form in check["when_positive"]):
                raise ValueError(f"{self._what(check['message'])} ({left}, {right})")

    def _output(self, parameter, named):
        name = parameter["name"]
        shape = tuple(self.evaluate(form) for form in parameter["extents"])
        if name in named:
            self.tensors[name] = named.pop(name)
        elif self.first is None:
            raise TypeError(f"{self._what(name)} has to be passed: no input is a tensor")
        else:
            self.tensors[name] = empty_like(self.first, shape, parameter["scalar"])
        self._view(parameter)
        if self.views[name].shape != shape:
            raise ValueError(f"{self._what(name)} has the shape {self.views[name].shape}, not {shape}")

    def _keep_apart(self):
        names = list(self.views)
        roles = {each["name"]: each["role"] for each in self.function.signature["parameters"]}
        for at, one in enumerate(names):
            for other in names[at + 1 :]:
                written = roles[one] != "input" or roles[other] != "input"
                if written and self.views[one].overlaps(self.views[other]):
                    raise ValueError(f"{self._what(one)} and {other} overlap, and one of them is written")

    def _device(self):
        devices = {view.device for view in self.views.values()}
        if len(devices) > 1:
            raise ValueError(f"{self.function.name}: tensors are on several devices")
        kind = next(iter(devices))[0]
        found = {CPU: "cpu", CUDA: "cuda", CUDA_MANAGED: "cuda"}.get(kind)
        asked = self.function.definitions.device
        if found is None or asked not in (None, found):
            raise ValueError(f"{self.function.name}: tensors are on another device than {asked or 'cpu or cuda'}")
        return found


def _checked(parameter, given):
    scalar = parameter["scalar"]
    if scalar.startswith(("int", "uint")) and SCALARS[scalar][2](int(given)).value != given:
        raise ValueError(f"{parameter['name']} is {given}, which is no {scalar}")
    return given


def _value(parameter, given):
    scalar = parameter["scalar"]
    if scalar == "half":
        return ctypes.c_uint16(struct.unpack("<H", struct.pack("<e", given))[0])
    if scalar == "bfloat16":
        if given != given:
            return ctypes.c_uint16(0x7FC0)
        bits = struct.unpack("<I", struct.pack("<f", given))[0]
        # Rounded to the nearest, to the even one of two.
        return ctypes.c_uint16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return SCALARS[scalar][2](given)
