"""Other people's programs for a GPU: `scripts/gpu --corpus PROGRAMS`.

A program is a folder below PROGRAMS with a Makefile that has `run`, and with two launches within 25 lines. Its own Makefile builds it three times: with NVIDIA's
nvcc, with this compiler without fusion, and with it. Only those in which this compiler fuses something are kept, with the
files that their command lines name. run.sh runs them at its end (kit/run_corpus.py).
"""

import concurrent.futures
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import compile as compilation
import models

ROOT = models.ROOT
WAYS = ["nvcc", "unfused", "fused"]
# The longest that one make may take, in seconds.
LIMIT = 400
# What a program may need from beside its sources.
DATA = 3 << 20


def load_corpus_script():
    """scripts/corpus, which is a program, as a module."""
    loader = importlib.machinery.SourceFileLoader("corpus", str(ROOT / "scripts/corpus"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("corpus", loader))
    loader.exec_module(module)
    return module


CORPUS = load_corpus_script()


def pack(options):
    place = (options.pack / "corpus").absolute()
    (place / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "scripts/corpus", options.pack / "corpus.py")
    shutil.copy(ROOT / "bench/executed_launches.py", options.pack)
    build_counter(options.pack)
    toolkit = place / "toolkit"
    if not toolkit.exists():
        subprocess.run([options.compiler, "--sirius-device=cuda", "--sirius-toolkit", toolkit], check=True, stdout=subprocess.DEVNULL)
    corpus = options.corpus.absolute()
    makefiles = sorted({*corpus.rglob("Makefile"), *corpus.rglob("makefile")})
    folders = {makefile.parent.relative_to(corpus).as_posix(): makefile.parent for makefile in makefiles}
    chosen = [(name, folder) for name, folder in folders.items() if re.search(options.programs, name) and launches_are_near(folder)]
    listed = place / "list.json"
    contents = json.loads(listed.read_text()) if listed.exists() else {"programs": []}
    known = {program["name"] for program in contents["programs"]}
    commit = subprocess.run(["git", "-C", corpus, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    contents |= {"corpus": f"{corpus.parent.name} {commit}".strip(), "compiler": f"a {'release' if options.release else 'debug'} build of {models.commit()}", "architecture": options.arch}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(build, name, folder, place, options): name for name, folder in chosen if name not in known}
        for done in concurrent.futures.as_completed(waiting):
            program = done.result()
            contents["programs"].append(program)
            print(program["name"], program.get("failure") or program.get("sites"), flush=True)
            # After each, so that a run that was stopped goes on where it was.
            listed.write_text(json.dumps(contents, indent=1) + "\n")
    kept = sum("failure" not in program for program in contents["programs"])
    print(f"{kept} of {len(contents['programs'])} programs are in {place}")


def build_counter(pack):
    """The library that counts launches, where CUPTI is: in $CUPTI_PATH, or beside the toolkit."""
    places = [pathlib.Path(os.environ[name]) / below for name, below in (("CUPTI_PATH", ""), ("CUDA_PATH", "extras/CUPTI"), ("CUDA_PATH", "")) if name in os.environ]
    for place in [*places, pathlib.Path("/usr/local/cuda/extras/CUPTI"), *ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13")]:
        libraries = [*place.glob("lib*/libcupti.so.1?")]
        if (place / "include/cupti.h").exists() and libraries:
            library = shutil.copy(libraries[0].resolve(), pack / "lib" / libraries[0].name)
            toolkit = pathlib.Path(compilation.find_nvcc()).parent.parent
            command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", f"-I{place}/include", f"-I{toolkit}/include"]
            subprocess.run([*command, ROOT / "bench/count_launches.cpp", library, "-o", pack / "lib/count_launches.so"], check=True)
            return
    print("there is no CUPTI, so launches will not be counted; set CUPTI_PATH to a folder with its include and lib")


def launches_are_near(folder):
    for source in {path for ending in ("cu", "cuh", "h", "hpp") for path in folder.rglob(f"*.{ending}")}:
        lines = [number for number, line in enumerate(source.read_text(errors="replace").splitlines()) if "<<<" in line]
        if any(after - before <= 25 for before, after in zip(lines, lines[1:])):
            return True
    return False


def build(name, folder, place, options):
    """Builds a program with fusion, and when something fused the other ways."""
    program = {"name": name}
    commands = run_commands(folder)
    if not commands:
        return program | {"failure": "its Makefile does not say how it is run"}
    stem = name.replace("/", ".")
    for way in reversed(WAYS):
        status, text = make(way, folder, place, options)
        if way == "fused":
            counts = [int(sum(map(int, column))) for column in zip(*CORPUS.FUSED.findall(text))]
            if status == 0 and not counts:
                make_clean(folder)
                return program | {"failure": "nothing fuses"}
            program["sites"] = counts
        made = folder / commands[0][0]
        if status != 0 or not made.is_file():
            make_clean(folder)
            return program | {"failure": f"{way}: {': '.join(CORPUS.build_class(status, text)) if status else 'make leaves no ' + commands[0][0]}"}
        shutil.copy(made, place / "bin" / f"{stem}.{way}")
        subprocess.run(["strip", place / "bin" / f"{stem}.{way}"])
        make_clean(folder)
    return program | {"commands": [command[1:] for command in commands], "data": take_data(folder, commands, place)}


def make(way, folder, place, options):
    """Status and output of a program's make."""
    if way == "nvcc":
        nvcc = pathlib.Path(compilation.find_nvcc())
        toolkit, flags = nvcc.parent.parent, []
    else:
        toolkit, nvcc = place / "toolkit", place / "toolkit/bin/nvcc"
        flags = ["--sirius-fusion=off"] if way == "unfused" else []
    environment = dict(
        os.environ,
        PATH=f"{nvcc.parent}:{os.environ['PATH']}",
        CUDA_PATH=str(toolkit),
        CUDA_HOME=str(toolkit),
        SIRIUS_FLAGS=" ".join(flags),
        SIRIUS_CACHE=str(place / "cache"),
        NVCC_APPEND_FLAGS=f"-arch={options.arch} -O3 -cudart shared -L{options.pack.absolute() / 'lib'}",
    )
    make_clean(folder)
    command = ["make", f"ARCH={options.arch}", f"CUDA_PATH={toolkit}", f"CUDA_DIR={toolkit}", f"CUDA_HOME={toolkit}"]
    return CORPUS.run(command, folder, environment, LIMIT)


def make_clean(folder):
    CORPUS.run(["make", "clean"], folder, dict(os.environ), 60)


def run_commands(folder):
    """What `make run` would run: words of the command lines that begin with a program of the folder."""
    text = subprocess.run(["make", "-n", "run"], cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL).stdout
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        if re.search(r"[|;&<>`$]", line):
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        if words and words[0].startswith("./") and (not found or words[0] == found[0][0]):
            found.append(words)
    return found


def take_data(folder, commands, place):
    """Copies the files that command lines name, and small ones that lie beside the sources, to where they are found from."""
    named = [word for command in commands for word in command[1:] if "/" in word or "." in word]
    beside = [path.name for path in folder.iterdir() if path.suffix in (".txt", ".dat", ".bin", ".csv", ".in", ".json", ".pgm", ".ppm", ".bmp")]
    taken = 0
    for word in {*named, *beside} - {"CMakeLists.txt"}:
        path = folder / word
        if path.is_file() and taken + path.stat().st_size < DATA:
            taken += path.stat().st_size
            target = pathlib.Path(os.path.normpath(place / "data" / folder.name / word))
            if target.is_relative_to(place):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    return taken


def page_of(results):
    """The section of docs/gpu.md: a line for each program, and what differed."""
    gpu = results["gpu"]
    programs = results["programs"]
    ran = [program for program in programs if "same" in program]
    same = [program for program in ran if program["same"]]
    alike = [program for program in ran if program["same"] or program.get("fused_as_unfused")]
    timed = [program for program in ran if program.get("wall")]
    lines = [
        f"{results['date']}, {gpu['name']}, driver {gpu['driver']}; programs of {results['corpus']} for {results['architecture']} by {results['compiler']}.",
        "",
        f"{len(ran)} programs ran. {len(same)} print the same in all ways, but for times, with status 0. With fusion {len(alike)} "
        f"print the same as without. {len(timed)} were timed.",
        "",
        "| program | launch sites | launches as it ran | GPU busy, ms | GPU busy, fused / unfused | its own times, unfused / nvcc | its own times, fused / unfused | whole program, fused / unfused |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    columns = [[], [], [], []]
    for program in sorted(timed, key=lambda program: program["name"]):
        # A program that ends past its handlers at exit tells nothing.
        busy = {way: count for way, count in program.get("busy", {}).items() if count["launches"]}
        values = [
            ratio(busy.get("fused", {}).get("nanoseconds"), busy.get("unfused", {}).get("nanoseconds")),
            own_ratio(program, "unfused", "nvcc"),
            own_ratio(program, "fused", "unfused"),
            ratio(median(program["wall"]["fused"]), median(program["wall"]["unfused"])),
        ]
        for column, value in zip(columns, values):
            column.extend([value] if value else [])
        both = {"unfused", "fused"} <= set(busy)
        counts = f"{busy['unfused']['launches']:,} → {busy['fused']['launches']:,}" if both else ""
        spans = " → ".join(f"{busy[way]['nanoseconds'] / 1e6:.3g}" for way in ("unfused", "fused")) if both else ""
        lines.append(f"| {program['name']} | {program['sites'][0]} → {program['sites'][1]} | {counts} | {spans} | " + " | ".join(map(shown, values)) + " |")
    lines.append("| **median** | | | | " + " | ".join(shown(median(column)) for column in columns) + " |")
    others = [program for program in ran if not program["same"]]
    if others:
        lines += ["", "Not the same, or not at a good end:", "", "| program | what happened |", "|---|---|"]
        for program in others:
            what = re.sub(r"/\S*/bin/", "", program["difference"]).replace("|", "&#124;")
            lines.append(f"| {program['name']} | {what} |")
    return "\n".join(lines)


def own_ratio(program, way, base):
    """How many times as long a program says that it takes: by the sum of all times that it prints."""
    own = program.get("own", {}).values()
    sums = [sum(median(label[which]) for label in own if {way, base} <= set(label)) for which in (way, base)]
    return ratio(*sums)


def median(values):
    return sorted(values)[len(values) // 2] if values else None


def ratio(one, other):
    return one / other if one and other else None


def shown(value):
    return f"{value:.2f}" if value else ""
