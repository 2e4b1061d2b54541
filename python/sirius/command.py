"""The compiler as a command, and what it made before.

Invariant: a library in the cache is used only for the same text, options, device and compiler.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile


class CompileError(Exception):
    """The compiler refused a definition; the text is what it said."""


def compiler():
    """The compiler's path: what ``SIRIUS_RS`` names, the one of this package, or that on ``PATH``."""
    named = os.environ.get("SIRIUS_RS")
    installed = pathlib.Path(sysconfig.get_path("scripts")) / "sirius-rs"
    found = named or (installed if installed.exists() else shutil.which("sirius-rs"))
    if not found:
        raise FileNotFoundError("there is no sirius-rs on PATH; SIRIUS_RS may name it")
    return pathlib.Path(found)


def folder():
    """Where compiled definitions are kept: below ``SIRIUS_CACHE``, or the user's folder of caches."""
    named = os.environ.get("SIRIUS_CACHE")
    if named and named != "off":
        return pathlib.Path(named) / "python"
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(caches) / "sirius-rs" / "python"


def known():
    """The file of options that are known to be best, which the compiler's builds read, too."""
    return folder().parent / "tuned.json"


def toolkit(folder):
    """The CUDA toolkit that NVIDIA's wheels make in a folder of packages; none where one of them is missing."""
    parts = ("include/cuda_runtime.h", "include/crt/host_config.h", "nvvm/libdevice/libdevice.10.bc", "bin/ptxas", "bin/fatbinary")
    roots = sorted(pathlib.Path(folder).glob("nvidia/cu*"), reverse=True)
    return next((root for root in roots if all((root / part).exists() for part in parts)), None)


def environment():
    """The environment of the compiler: where it would find no toolkit by itself, it gets the one of this Python's packages."""
    names_one = any(os.environ.get(name) for name in ("CUDA_PATH", "CUDA_HOME"))
    if names_one or shutil.which("nvcc") or pathlib.Path("/usr/local/cuda").exists():
        return None
    found = toolkit(sysconfig.get_path("purelib"))
    return dict(os.environ, CUDA_PATH=str(found)) if found else None


def run(arguments, place):
    """Runs the compiler on files of a folder. What it says of an error becomes a :class:`CompileError`."""
    command = [str(compiler()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        said = done.stderr.replace(f"{place}/", "").strip()
        raise CompileError(said or f"sirius-rs ended with status {done.returncode}")
    return done.stdout.replace(f"{place}/", "")


def form(text, emit, options=()):
    """What ``sirius-rs tc --emit=`` says of definitions."""
    with tempfile.TemporaryDirectory() as place:
        source = pathlib.Path(place) / "definitions.tc"
        source.write_text(text)
        return run(["tc", source, f"--emit={emit}", "--sirius-tc-known=off", *options], place)


def signatures(text, device=None, options=()):
    """By name, what a caller passes to each definition, and the key of what is known of it."""
    on = [f"--sirius-device={device}"] if device else []
    described = json.loads(form(text, "signature", [*on, *options]))
    return {each["name"]: each for each in described["functions"]}


def library(text, functions, device, options=()):
    """The path of a shared library with a function ``sirius_NAME`` for each definition."""
    known = compiler().stat()
    made_from = [text, device, list(options), str(compiler()), known.st_size, known.st_mtime_ns]
    name = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:40]
    made = folder() / f"{name}.so"
    if made.exists():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent) as place:
        place = pathlib.Path(place)
        (place / "definitions.tc").write_text(text)
        (place / "exports.cu").write_text(_exports(functions))
        output = place / "definitions.so"
        run(
            # A library is made for options, not for what is known of some sizes.
            [f"--sirius-device={device}", "--sirius-tc-known=off", "-shared", "-Xcompiler", "-fPIC", "-O3", "-cudart", "shared"]
            + [*options, place / "definitions.tc", place / "exports.cu", "-o", output],
            place,
        )
        # It appears whole, since processes share the folder.
        os.replace(output, made)
    return made


def report(text, functions, device, options=()):
    """The compiler's report about the library, as it prints it for people."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        (place / "definitions.tc").write_text(text)
        (place / "exports.cu").write_text(_exports(functions))
        return run(
            ["analyze", f"--sirius-device={device}", "--sirius-tc-known=off", *options]
            + [place / "definitions.tc", place / "exports.cu"],
            place,
        )


CUDA_TYPES = {
    "half": "__half",
    "bfloat16": "__nv_bfloat16",
    "int8": "signed char",
    "int16": "short",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
}


def _exports(functions):
    text = '#include "definitions.tc.h"\n'
    for function in functions.values():
        taken, passed = ["void *tc_stream"], ["static_cast<cudaStream_t>(tc_stream)"]
        for size in function["sizes"]:
            taken.append(f"int {size}")
            passed.append(size)
        for parameter in function["parameters"]:
            cuda = CUDA_TYPES.get(parameter["scalar"], parameter["scalar"])
            by_value = parameter["role"] == "value"
            taken.append(f"{cuda} {parameter['name']}" if by_value else f"void *{parameter['name']}")
            cast = parameter["name"] if by_value else f"static_cast<{cuda} *>({parameter['name']})"
            passed.append(cast)
        text += (
            f'extern "C" int sirius_{function["name"]}({", ".join(taken)}, int tc_waits)\n{{\n'
            f"    {function['name']}({', '.join(passed)});\n"
            "    cudaError_t status = cudaGetLastError();\n"
            "    if (status == cudaSuccess && tc_waits)\n"
            "        status = cudaStreamSynchronize(static_cast<cudaStream_t>(tc_stream));\n"
            "    return status;\n}\n"
        )
    text += 'extern "C" const char *tc_message(int status)\n{\n'
    text += "    return cudaGetErrorString(static_cast<cudaError_t>(status));\n}\n"
    return text
