#!/usr/bin/env python3
"""What GPUs make of the programs of this project. `scripts/gpu` runs this.

A machine with a GPU often has no compiler of ours. So the programs are built where it is, for the CUDA device, and go into one
archive: models, workloads and test programs without fusion, with it, and with each way to make boundaries cheaper; some as NVIDIA's
nvcc makes them; programs of the tuner; programs as different planners plan them. What each should print is found out here, by running
it on the CPU device. Unpacked where a GPU is, `./run.sh MINUTES` needs nothing but Python and a driver. It writes results.json, and
`--import` draws that into the pages.
"""

import argparse
import concurrent.futures
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import corpus
import expected
import models
import pages
import planners
import toolkit

ROOT = models.ROOT
HERE = pathlib.Path(__file__).resolve().parent
BOUNDARIES = {way: [f"--sirius-boundaries={way}"] for way in ("grid-barrier", "last-block", "overlap", "graph")}
# The last block is the default, and has a column of its own.
BOTH = {"unfused": ["--sirius-fusion=off"], "fused": ["--sirius-boundaries=none"]}
# What is built first, and without which a program is not packed.
COMPARED = [*BOTH, "tune"]
# What stands beside these ways for one model.
FURTHER = {"bert": {"vertical": ["--sirius-layout=v"]}}
# What a program that measures may choose: barriers across the grid are among it.
TUNED = ["--sirius-boundaries=last-block,grid-barrier"]
# Launches that wait for their batch do not overlap.
STEPWISE = {"overlap-without-batches": ["--sirius-boundaries=overlap", "--sirius-opt=-launch-batches"]}
FURTHER |= {model: STEPWISE for model in ("lstm", "seq2seq", "deepspeech2")}


def main():
    arguments = argparse.ArgumentParser(prog="scripts/gpu", description=__doc__.split("\n")[0])
    arguments.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "target/gpu-kit.tar.xz", metavar="FILE", help="the archive (target/gpu-kit.tar.xz)")
    arguments.add_argument("--folder", type=pathlib.Path, metavar="FOLDER", help="where everything is built, and where a run that was stopped goes on (target/gpu-kit)")
    arguments.add_argument("--import", dest="taken", type=pathlib.Path, nargs="+", metavar="FILE", help="draws the results that run.sh wrote into the pages; what a later FILE says of a program replaces what an earlier one says")
    arguments.add_argument("--pages", type=pathlib.Path, default=ROOT, metavar="FOLDER", help="a copy of bench/results and docs to draw in, such as for a rehearsal")
    arguments.add_argument("--corpus", type=pathlib.Path, metavar="PROGRAMS", help="adds the programs with Makefiles below PROGRAMS in which something fuses")
    arguments.add_argument("--arch", default="sm_90", help="the architecture to build for (sm_90)")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--ways", default="", metavar="REGEX", help="only ways whose names match")
    arguments.add_argument("--small", action="store_true", help="models in small sizes")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many are built at once")
    arguments.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="the longest that a program may take on the CPU device; what takes longer is not compared with that (300)")
    arguments.add_argument("--minutes", type=float, metavar="N", help="how long building may take; then what is there is packed, and a further run goes on")
    arguments.add_argument("--most-bytes", type=int, default=60_000_000, metavar="N", help="how large the archive may be; what is worth least stays out otherwise (60000000)")
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    arguments.add_argument("--compiler", type=pathlib.Path, help="another compiler than that of this folder")
    options = arguments.parse_args()
    if options.taken:
        pages.take([results_in(file) for file in options.taken], options.pages)
        return
    options.folder = (options.folder or ROOT / "target/gpu-kit").absolute()
    options.compiler = (options.compiler or models.compiler(options)).absolute()
    options.kit = options.folder / "gpu-kit"
    options.end = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    build_all(options)
    pack(options)


def results_in(file):
    """What a kit wrote."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"scripts/gpu: cannot read {file}: {getattr(error, 'strerror', None) or 'it is no JSON'}")


def build_all(options):
    (options.kit / "bin").mkdir(parents=True, exist_ok=True)
    for file in (HERE / "kit").iterdir():
        if file.suffix in (".py", ".sh"):
            shutil.copy(file, options.kit / file.name)
    shutil.copy(ROOT / "bench/pytorch_models.py", options.kit / "pytorch_models.py")
    toolkit.take_runtime(options.kit)
    build_timer(options)
    expected.prepare(options)
    programs = [program for program in all_programs(options) if re.search(options.programs, program["name"])]
    for program in programs:
        program["options"] = {way: flags for way, flags in program["options"].items() if re.search(options.ways, way)}
        program["made_from"] = made_from(program)
    for program in programs:
        source = options.kit / "sources" / program["source"]
        source.parent.mkdir(parents=True, exist_ok=True)
        for file in [ROOT / program["source"], *(ROOT / program["source"]).parent.glob("*.h")]:
            shutil.copy(file, source.parent / file.name)
    contents = {"compiler": built_by(options), "built_with": hash_of(options.compiler), "architecture": options.arch, "size": "small" if options.small else "full"}
    take_up(programs, contents, options)
    save(programs, contents, options)
    # What is compared comes before all further ways, so that a kit of which the time was up has every program.
    for phase in (comes_first, lambda program, way: not comes_first(program, way)):
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for program, news in zip(programs, pool.map(lambda program: build(program, phase, options), programs)):
                if news:
                    program |= news
                    save(programs, contents, options)
                    print(program["name"], program.get("failure", ""), flush=True)
    if options.corpus:
        corpus.pack(types.SimpleNamespace(**vars(options) | {"pack": options.kit}))


def comes_first(program, way):
    return way in COMPARED or program["kind"] == "planner"


def is_over(options):
    return options.end is not None and time.monotonic() > options.end


def hash_of(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()


def made_from(program):
    """What a program was built from changes this."""
    said = json.dumps([program[key] for key in ("flags", "options", "runs")]) + hash_of(ROOT / program["source"])
    return hashlib.sha256(said.encode()).hexdigest()


def take_up(programs, contents, options):
    """A run that was stopped goes on where it was: what the same compiler built from the same source is there."""
    listed = options.kit / "list.json"
    known = json.loads(listed.read_text()) if listed.exists() else {}
    if not all(known.get(key) == contents[key] for key in ("built_with", "architecture", "size")):
        return
    before = {program["name"]: program for program in known["programs"]}
    for program in programs:
        found = before.get(program["name"], {})
        if found.get("made_from") == program["made_from"]:
            program |= {key: found[key] for key in ("ways", "not_built", "expected", "may_differ", "not_compared") if key in found}


def shown(programs):
    """Programs as they are listed, without how they are built."""
    return [{key: value for key, value in program.items() if key not in ("flags", "options")} for program in programs]


def save(programs, contents, options):
    begun = [program for program in programs if "ways" in program or "failure" in program]
    late = [program["name"] for program in programs if not is_whole(program)]
    without = {program["name"]: left for program in begun if (left := ways_left(program, lambda *_: True)) and is_whole(program)}
    whole = contents | {"programs": shown(begun), "late": late, "ways_late": without}
    beside = options.kit / "list.json.new"
    beside.write_text(json.dumps(whole, indent=1) + "\n")
    beside.replace(options.kit / "list.json")


def ways_left(program, phase):
    """The ways of a phase that were not tried."""
    tried = {**program.get("ways", {}), **program.get("not_built", {})}
    return [] if "failure" in program else [way for way in program["options"] if phase(program, way) and way not in tried]


def is_whole(program):
    """Whether what is compared is there."""
    return "failure" in program or "ways" in program and not ways_left(program, comes_first) and not lacks_expected(program)


def lacks_expected(program):
    """Whether nobody has asked what a program prints on the CPU device."""
    return program["kind"] != "tuner" and "expected" not in program


def built_by(options):
    return f"a {'release' if options.release else 'debug'} build of {models.commit()}"


# What there is.


def all_programs(options):
    """In the order in which they are built: first what is worth most, last those of which there are many."""
    found = []
    for name in models.MODELS:
        source = f"test_programs/models/{name}.cu"
        flags = ["-DTIMED"] + (models.SMALL if options.small else [])
        ways = {"nvcc": None} | BOTH | FURTHER.get(name, {}) | BOUNDARIES
        found.append({"name": f"models/{name}", "kind": "model", "model": name, "source": source, "runs": [[]], "flags": flags, "options": ways})
    for path in sorted((ROOT / "test_programs/workloads").glob("*.cu")):
        found.append(program_of(path, "workload", {"nvcc": None} | BOTH | BOUNDARIES) | {"timed": True})
    for path in sorted((ROOT / "test_programs").glob("*.cu")):
        found.append(program_of(path, "test", BOTH | BOUNDARIES) | {"timed": True})
    for program in [each for each in found if each["kind"] in ("model", "workload")]:
        found.append(program | {"name": f"tuner/{pathlib.Path(program['source']).stem}", "kind": "tuner", "options": {"tune": TUNED}})
    for source in planned_differently():
        ways = {planner: flags for planner, flags in planners.PLANNERS.items()}
        found.append(program_of(ROOT / source, "planner", {"unfused": BOTH["unfused"]} | ways) | {"name": f"planners/{pathlib.Path(source).stem}"})
    for path in sorted((ROOT / "tests/run").glob("*.cu")):
        found.append(program_of(path, "test", BOTH | options_of(path, options.arch)))
    return found


def program_of(path, kind, ways):
    """A program as the lines of its leading comments say that it is built and run."""
    comments = [line for line in path.read_text().splitlines() if line.startswith("//")]
    runs = [line.split(":", 1)[1].split() for line in comments if line.startswith("// arguments:")]
    flags = [word for line in comments if line.startswith("// built with:") for word in line.split(":", 1)[1].split() if word not in toolkit.LINKED]
    source = path.relative_to(ROOT)
    return {"name": str(source.with_suffix("")), "kind": kind, "source": str(source), "runs": runs or [[]], "flags": flags, "options": ways}


def options_of(path, architecture):
    """Further ways in which a program has to pass, where they are for this architecture."""
    ways = {}
    for line in path.read_text().splitlines():
        if line.startswith("// options:"):
            words = line.split(":", 1)[1].split()
            named = [word for word in words if word.startswith(("-arch", "-gencode"))]
            if set(named) <= {f"-arch={architecture}"}:
                ways[f"options-{len(ways) + 1}"] = [word for word in words if word not in named]
    return ways


def planned_differently():
    """Programs of which planners make plans of more than one modelled time."""
    results = json.loads(planners.RESULTS.read_text())["programs"]
    return [program for program, row in sorted(results.items()) if len({round(each["nanoseconds"]) for name, each in row.items() if name not in ("unfused", "xla")}) > 1]


# How it is built.


def build_timer(options):
    include = next(place / "include" for place in toolkit.places() if (place / "include/cuda_runtime_api.h").exists())
    command = ["cc", "-O2", "-shared", "-fPIC", f"-I{include}", HERE / "kit/launch_times.c", "-o", options.kit / "lib/launch_times.so", "-ldl", "-pthread"]
    subprocess.run(command, check=True)


def build(program, phase, options):
    """Builds a program in the ways of a phase, as far as there is time; what is new of it. A way of which the file is the same as
    that of an earlier one has none of its own."""
    waiting = ways_left(program, phase)
    if not (waiting or lacks_expected(program)) or is_over(options):
        return {}
    ways, left_out = dict(program.get("ways", {})), dict(program.get("not_built", {}))
    files = {hash_of(path): way for way in ways if (path := place_of(program, way, options)).exists()}
    for way in waiting:
        if is_over(options):
            break
        output, flags = place_of(program, way, options), program["options"][way]
        done = compile_by_nvcc(program, output, options) if flags is None else compile_way(program, flags, output, options)
        if done is None or done.returncode:
            lines = ["there is no nvcc"] if done is None else [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line] or done.stderr.splitlines()
            failure = f"{way}: {lines[0] if lines else done.returncode}"
            # Only what it is compared with has to be there.
            if way in COMPARED:
                return {"failure": failure}
            left_out[way] = failure
            continue
        subprocess.run(["strip", output], stderr=subprocess.DEVNULL)
        same = files.setdefault(hash_of(output), way)
        ways[way] = {"same_as": same} if same != way else {}
        if same != way:
            output.unlink()
        sites = re.search(r"(\d+) launches -> (\d+)", done.stderr)
        if sites:
            ways[way]["sites"] = [int(sites[1]), int(sites[2])]
    news = {"ways": {way: ways[way] for way in program["options"] if way in ways}} | ({"not_built": left_out} if left_out else {})
    if "unfused" in ways and lacks_expected(program):
        news |= expected.of(program, place_of(program, "unfused", options), options)
    return news


def place_of(program, way, options):
    return options.kit / "bin" / f"{program['name'].replace('/', '.')}.{way}"


def compile_way(program, flags, output, options):
    name = program["name"].replace("/", ".")
    environment = dict(os.environ, SIRIUS_STRICT="1", SIRIUS_CACHE=str(options.folder / "cache"), SIRIUS_FRONT_END_CACHE=str(options.folder / "front_end"))
    environment.pop("SIRIUS_FLAGS", None)
    (options.folder / "front_end").mkdir(exist_ok=True)
    tune = ["tune", "--pack"] if program["kind"] == "tuner" else []
    command = [options.compiler, *tune, "-O3", "-std=c++17", f"-arch={options.arch}", "--sirius-device=cuda", "-cudart", "shared"]
    command += [*flags, *program["flags"], ROOT / program["source"], "-o", output, "-L", options.kit / "lib"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    undefined = set(re.findall(r"undefined reference to `(\w+)'", done.stderr))
    libraries = toolkit.stand_ins(undefined, options.folder / "stand_ins" / name) if undefined else None
    return subprocess.run(command + libraries, env=environment, capture_output=True, text=True) if libraries else done


def compile_by_nvcc(program, output, options):
    nvcc = toolkit.tool("nvcc")
    if not nvcc:
        return None
    command = [nvcc, "-O3", "-std=c++17", f"-arch={options.arch}", "-w", "-cudart", "shared", *program["flags"], ROOT / program["source"], "-o", output]
    return subprocess.run([*command, "-L", options.kit / "lib"], capture_output=True, text=True)


# The archive.


def pack(options):
    """One archive. Where it is too large, what is worth least stays out, and is named."""
    contents = json.loads((options.kit / "list.json").read_text()) | {"has_others": (options.kit / "corpus").exists()}
    late, left_out = contents["late"], []
    contents["programs"] = [program for program in contents["programs"] if program["name"] not in late]
    while (size := write_archive(contents, options)) > options.most_bytes:
        left_out += take_out(contents, size, options)
    built = [program for program in contents["programs"] if "failure" not in program]
    print(f"{options.output}: {size / 1e6:.1f} MB, {len(built)} programs of {contents['compiler']}; {len(contents['programs']) - len(built)} could not be built")
    for program in contents["programs"]:
        for way, failure in program.get("not_built", {}).items():
            print(f"{program['name']} is not there as {way}: {failure}")
        if program.get("not_compared"):
            print(f"{program['name']} is not compared with the CPU device: {program['not_compared']}")
    if late:
        print(f"{len(late)} programs are not there, since the time was up: {', '.join(late[:5])}{', ...' if len(late) > 5 else ''}")
    if contents["ways_late"]:
        print(f"{sum(map(len, contents['ways_late'].values()))} further ways of {len(contents['ways_late'])} programs are not there, since the time was up")
    if left_out:
        print(f"left out, so that the archive stays below {options.most_bytes / 1e6:g} MB: {', '.join(left_out)}")


def take_out(contents, size, options):
    """Takes as many programs out as the archive is too large by, if all are packed alike, and first those of other people; their names."""
    if contents["has_others"]:
        contents["has_others"] = False
        return ["programs of other people"]
    bytes_of = {program["name"]: sum(path.stat().st_size for path in files_of(program, options)) for program in contents["programs"]}
    order = ["planner", "tuner", "test", "workload", "model"]
    waiting = sorted(contents["programs"], key=lambda program: (order.index(program["kind"]), -bytes_of[program["name"]]))
    if not waiting:
        sys.exit("scripts/gpu: without any program the archive is still too large")
    ratio, saved, names = size / sum(bytes_of.values()), 0, []
    while waiting and saved * ratio <= size - options.most_bytes:
        program = waiting.pop(0)
        contents["programs"].remove(program)
        names.append(program["name"])
        saved += bytes_of[program["name"]]
    return names


def files_of(program, options):
    return sorted(path for path in (options.kit / "bin").glob(f"{program['name'].replace('/', '.')}.*"))


def write_archive(contents, options):
    """The size of the archive. Ways of a program lie side by side, so that what they share is there once."""
    listed = options.folder / "list.json"
    listed.write_text(json.dumps(contents, indent=1) + "\n")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    # The dictionary is larger than any program in all its ways.
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 64 << 20}]
    with lzma.open(options.output, "wb", filters=filters) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(listed, "gpu-kit/list.json")
        without = ["bin", "list.json"] + ([] if contents["has_others"] else ["corpus"])
        for path in sorted(path for path in options.kit.iterdir() if path.name not in without):
            archive.add(path, f"gpu-kit/{path.name}", filter=without_leftovers)
        for program in contents["programs"]:
            for path in files_of(program, options):
                archive.add(path, f"gpu-kit/bin/{path.name}")
    return options.output.stat().st_size


def without_leftovers(entry):
    """Caches of what was built are nothing for the machine with the GPU."""
    return None if pathlib.Path(entry.name).name in ("__pycache__", "cache", "toolkit", "results.json") else entry


if __name__ == "__main__":
    main()
