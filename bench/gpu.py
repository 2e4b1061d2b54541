#!/usr/bin/env python3
"""What GPUs make of the programs of this project. `scripts/bench gpu` runs this.

A machine with a GPU often has no compiler of ours. So the programs are built where it is, for the CUDA device, without
fusion and with it, into a folder that can be carried: `--pack FOLDER`. There `python3 FOLDER/run.py` needs nothing but
Python and a driver. It runs every program both ways, wants the same output and PASS, times the models, and writes
FOLDER/results.json. `--take FOLDER/results.json` puts that into bench/results/ and draws docs/gpu.md and docs/models.md.
Where the time on a GPU did not suffice for everything at once, `--take` has the results of the later runs behind the first's.
`--pack FOLDER --corpus PROGRAMS` adds other people's programs, which `python3 FOLDER/run_corpus.py` runs.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import gpu_corpus
import models

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["test_programs", "test_programs/workloads", "tests/run"]
WAYS = {"unfused": ["--sirius-fusion=off"], "fused": []}
# Layouts of a model that are timed beside the planned one.
LAYOUTS = {"bert": {"vertical": ["--sirius-layout=v"]}}


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench gpu", description=__doc__.split("\n")[0])
    arguments.add_argument("--pack", type=pathlib.Path, metavar="FOLDER", help="builds the programs into FOLDER")
    arguments.add_argument("--take", type=pathlib.Path, nargs="+", metavar="FILE", help="takes the results that run.py wrote; a program's in a later FILE replace those before")
    arguments.add_argument("--corpus", type=pathlib.Path, metavar="PROGRAMS", help="adds the programs with Makefiles below PROGRAMS in which something fuses")
    arguments.add_argument("--arch", default="sm_90", help="the architecture to build for (sm_90)")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--no-models", action="store_true", help="without the models, which take long to compile")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many are built at once")
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    options = arguments.parse_args()
    if bool(options.pack) == bool(options.take):
        arguments.error("one of --pack and --take is needed")
    if options.take:
        take(joined([json.loads(file.read_text()) for file in options.take]))
    elif options.corpus:
        take_runtime(options.pack)
        gpu_corpus.pack(options)
    else:
        pack(options)


def pack(options):
    folder = options.pack
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "bench/gpu_run.py", folder / "run.py")
    shutil.copy(ROOT / "bench/pytorch_models.py", folder / "pytorch_models.py")
    for place in FOLDERS:
        shutil.copytree(ROOT / place, folder / "sources" / place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("hand_fused"))
    take_runtime(folder)
    programs = [
        {"name": f"{place}/{source.stem}", "source": str(source.relative_to(ROOT))} | promises(source)
        for place in FOLDERS
        for source in sorted((ROOT / place).glob("*.cu"))
    ]
    if not options.no_models:
        programs += [{"name": f"models/{name}", "source": f"test_programs/models/{name}.cu", "runs": [[]], "timed": name} for name in models.MODELS]
    programs = [program for program in programs if re.search(options.programs, program["name"])]
    listed = folder / "list.json"
    contents = {"compiler": built_by(options), "architecture": options.arch, "programs": programs}
    known = json.loads(listed.read_text()) if listed.exists() else {}
    # A run that was stopped goes on where it was.
    if known.get("compiler") == contents["compiler"]:
        done = {program["name"]: program for program in known["programs"] if "ways" in program}
        contents["programs"] = programs = [done.get(program["name"], program) for program in programs]
    # The models take longest.
    waiting = sorted((program for program in programs if "ways" not in program), key=lambda program: "timed" not in program)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, built in zip(waiting, pool.map(lambda program: build(program, options), waiting)):
            program |= built
            print(program["name"], program.get("failure", ""), flush=True)
            whole = contents | {"programs": [program for program in programs if "ways" in program or "failure" in program]}
            listed.write_text(json.dumps(whole, indent=1) + "\n")
    failed = sum("failure" in program for program in programs)
    print(f"{len(programs) - failed} programs in {folder}, {failed} could not be built")


def built_by(options):
    return f"a {'release' if options.release else 'debug'} build of {models.commit()}"


def promises(source):
    """How a program wants to be run: the command lines of its leading comments."""
    runs = [line.split(":", 1)[1].split() for line in source.read_text().splitlines() if line.startswith("// arguments:")]
    return {"runs": runs or [[]]}


def take_runtime(folder):
    """The shared CUDA runtime, so that programs are small."""
    places = [pathlib.Path(os.environ[name]) for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ]
    places += [pathlib.Path("/usr/local/cuda"), *ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13")]
    for place in places:
        for library in [*place.glob("lib/libcudart.so.1?"), *place.glob("lib64/libcudart.so.1?")]:
            (folder / "lib").mkdir(exist_ok=True)
            shutil.copy(library, folder / "lib" / library.name)
            # NVIDIA's wheels lack the name that a linker looks for.
            link = folder / "lib/libcudart.so"
            link.unlink(missing_ok=True)
            link.symlink_to(library.name)
            return
    sys.exit("scripts/bench gpu: the shared library libcudart.so is nowhere; set CUDA_PATH to a toolkit")


# Where NVIDIA's libraries have what a program calls: the beginning of the name, then the library.
LIBRARIES = [
    ("cublasLt", "libcublasLt.so.13"), ("cublas", "libcublas.so.13"), ("cufft", "libcufft.so.12"), ("cusparse", "libcusparse.so.12"),
    ("cusolver", "libcusolver.so.12"), ("curand", "libcurand.so.10"), ("nvrtc", "libnvrtc.so.13"), ("cu", "libcuda.so.1"),
    ("nvml", "libnvidia-ml.so.1"),
]


def stand_ins(undefined, folder):
    """What to link a program with in place of the libraries that define these symbols: libraries of their names without code in
    them, so that the program finds the true ones where it runs. None when a symbol is nobody's."""
    by_library = {}
    for symbol in undefined:
        library = next((library for prefix, library in LIBRARIES if symbol.startswith(prefix)), None)
        if library is None:
            return None
        by_library.setdefault(library, []).append(symbol)
    for library, symbols in by_library.items():
        folder.mkdir(parents=True, exist_ok=True)
        code = "".join(f"void {symbol}(void) {{}}\n" for symbol in symbols)
        command = ["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", folder / library, f"-Wl,-soname,{library}"]
        subprocess.run(command, input=code, text=True, check=True)
    return [folder / library for library in by_library]


def build(program, options):
    name = program["name"].replace("/", ".")
    timed = ["-DTIMED"] if "timed" in program else []
    ways = WAYS | LAYOUTS.get(program.get("timed"), {})
    environment = dict(os.environ, SIRIUS_STRICT="1", SIRIUS_CACHE=str(options.pack / "cache"), SIRIUS_FRONT_END_CACHE=str(options.pack / "front_end"))
    (options.pack / "front_end").mkdir(exist_ok=True)
    said = {}
    for way, flags in ways.items():
        output = options.pack / "bin" / f"{name}.{way}"
        command = [models.compiler(options), "-O3", "-std=c++17", f"-arch={options.arch}", "--sirius-device=cuda", "-cudart", "shared"]
        command += [*flags, *timed, ROOT / program["source"], "-o", output, "-L", options.pack / "lib"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        undefined = set(re.findall(r"undefined reference to `(\w+)'", done.stderr))
        libraries = stand_ins(undefined, options.pack / "front_end" / "stand_ins" / name) if undefined else None
        if libraries:
            done = subprocess.run(command + libraries, env=environment, capture_output=True, text=True)
        if not done.returncode:
            subprocess.run(["strip", output])
        else:
            lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line] or done.stderr.splitlines()
            return {"failure": f"{way}: {lines[0] if lines else done.returncode}"}
        sites = re.search(r"(\d+) launches -> (\d+)", done.stderr)
        if sites:
            said[way] = [int(sites[1]), int(sites[2])]
    return {"ways": list(ways), "sites": said}


def joined(runs):
    """One run's results out of several, in which each program has what was found last."""
    results, *later = runs
    for run in later:
        if any(run.get(key) != results.get(key) for key in ("compiler", "corpus", "gpu")):
            sys.exit("scripts/bench gpu: results of another compiler, corpus or GPU have to be taken by themselves")
        found = {program["name"]: program for program in results["programs"]} | {program["name"]: program for program in run["programs"]}
        results |= {"programs": list(found.values()), "date": run["date"]}
        if "checked" in run:
            results["checked"] |= run["checked"]
    return results


def take(results):
    if "corpus" in results:
        take_corpus(results)
        return
    place = ROOT / "bench/results/gpu.json"
    place.write_text(json.dumps(results, indent=1) + "\n")
    counted = ROOT / "bench/results/models-full.json"
    if counted.exists():
        full = json.loads(counted.read_text())
        for program in results["programs"]:
            if program.get("microseconds") and program["timed"] in full["models"]:
                full["models"][program["timed"]]["microseconds"] = program["microseconds"]
                full["gpu"] = results["gpu"] | {"date": results["date"], "compiler": results["compiler"]}
        counted.write_text(json.dumps(full, indent=1) + "\n")
        models.draw()
    page = ROOT / "docs/gpu.md"
    page.write_text(models.between(page.read_text(), "programs", page_of(results)))
    print(f"drawn in {page.relative_to(ROOT)}")


def take_corpus(results):
    (ROOT / "bench/results/gpu_corpus.json").write_text(json.dumps(results, indent=1) + "\n")
    page = ROOT / "docs/gpu.md"
    page.write_text(models.between(page.read_text(), "corpus", gpu_corpus.page_of(results)))
    print(f"drawn in {page.relative_to(ROOT)}")


def page_of(results):
    gpu = results["gpu"]
    programs = results["programs"]
    ran = [program for program in programs if "same" in program]
    right = [program for program in ran if program["same"]]
    runs = sum(len(program["runs"]) for program in ran)
    lines = [
        f"{results['date']}, {gpu['name']}, driver {gpu['driver']}; programs built for {results['architecture']} by {results['compiler']}.",
        "",
        f"{len(ran)} programs ran, {runs} command lines, each without fusion and with it. {len(right)} ended with status 0, said the same both ways, and what "
        "a check of their own has to say.",
    ]
    others = [program for program in programs if not program.get("same")]
    if others:
        lines += ["", "| program | what happened |", "|---|---|"]
        for program in others:
            # The folder that was carried to the GPU is nobody's business.
            what = re.sub(r"/\S*/(bin|sources)/", "", program.get("failure") or program.get("difference", "not run"))
            lines.append(f"| {program['name']} | {what.replace('|', '&#124;')} |")
    for tool, findings in results.get("checked", {}).items():
        lines += ["", f"`compute-sanitizer --tool {tool}` over {findings['programs']} fused programs: {len(findings['complaints'])} complaints."]
        if findings.get("late"):
            lines[-1] += f" Not at their end in time: {', '.join(findings['late'])}."
        lines += [f"- {name}: {what}" for name, what in findings["complaints"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
