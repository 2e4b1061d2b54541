#!/usr/bin/env python3
"""Runs what `scripts/gpu` packed on the GPU of this machine, for so many minutes, and writes results.json beside itself.

What is worth most comes first: whether models and workloads are right, times of models, whether the test programs are right, times of
workloads and test programs, the tuner's programs, the planners' programs; other people's programs where they were packed. At last models take
further turns until the time is over. Each program has a time limit, and each result is written when it is there: a run that is killed keeps what it has.

Right is a program that ends with status 0, does not say FAIL, and prints the same in all ways in which this compiler made it. Whether that
is what the CPU device printed is told besides.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
# Samples of a model or of repeated launches in one run of a program, as many of launches one by one as of a graph; the most turns of
# a model, and those of other programs. A rehearsal is of this script, not of times.
SAMPLES, REHEARSED_SAMPLES = 20, 2
ROUNDS, REHEARSED_ROUNDS = 100, 1
TURNS, REHEARSED_TURNS = 3, 1
# Made by another compiler, so that other last bits are no error.
FOREIGN = "nvcc"


def main():
    arguments = argparse.ArgumentParser(prog="./run.sh", description=__doc__.split("\n")[0])
    arguments.add_argument("minutes", nargs="?", type=float, default=10, help="how long all may take (10)")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--rounds", type=int, help=f"the most turns of each model ({ROUNDS}; {REHEARSED_ROUNDS} in a rehearsal)")
    arguments.add_argument("--seconds", type=float, default=60, help="the longest that one program may take (60)")
    arguments.add_argument("--samples", type=int, help=f"times that are taken in one run of a program ({SAMPLES}; {REHEARSED_SAMPLES} in a rehearsal)")
    arguments.add_argument("--jobs", type=int, default=min(os.cpu_count(), 8), help="programs at a time where nothing is timed")
    arguments.add_argument("--cuda", type=pathlib.Path, metavar="FOLDER", help="the CUDA libraries to run with, such as lib64 of a folder that scripts/install --device=cpu made: a rehearsal without a GPU")
    arguments.add_argument("--check", default="", metavar="TOOLS", help="tools of compute-sanitizer to run fused programs under, where time is left")
    arguments.add_argument("--results", type=pathlib.Path, default=HERE / "results.json", metavar="FILE", help="where results go (results.json)")
    options = arguments.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stopped)
    options.samples = options.samples or (REHEARSED_SAMPLES if options.cuda else SAMPLES)
    options.rounds = options.rounds or (REHEARSED_ROUNDS if options.cuda else ROUNDS)
    options.turns = REHEARSED_TURNS if options.cuda else TURNS
    options.began = time.monotonic()
    options.end = options.began + 60 * options.minutes
    packed = json.loads((HERE / "list.json").read_text())
    gpu = find_gpu(options.cuda)
    if not options.cuda and number_of(gpu["architecture"]) < number_of(packed["architecture"]):
        sys.exit(f"./run.sh: these programs are for {packed['architecture']}, and the {gpu['name']} is {gpu['architecture']}; pack them with scripts/gpu --arch={gpu['architecture']}")
    packed["programs"] = [program for program in packed["programs"] if re.search(options.programs, program["name"])]
    leave_out_slow(packed["programs"], options)
    results = packed | {
        "date": datetime.date.today().isoformat(),
        "gpu": gpu,
        "rehearsal": options.cuda is not None,
        "minutes": options.minutes,
        "parts": [],
        "checked": {},
    }
    save(results, options)
    for share, title, part in PARTS:
        # What one part leaves of its time is for those behind it.
        options.part_end = options.began + 60 * options.minutes * share
        before = time.monotonic()
        done, left = part(results, options)
        results["parts"].append({"part": title, "seconds": round(time.monotonic() - before, 1), "done": done, "left": left})
        save(results, options)
        print(f"== {title}: {done} done, {left} left, {time.monotonic() - options.began:.0f} s since the begin", flush=True)


def leave_out_slow(programs, options):
    """What took too long on the CPU device when the kit was packed does so in a rehearsal, too."""
    for program in programs if options.cuda else []:
        if "takes more than" in program.get("not_compared", ""):
            program["left_out"] = f"no GPU is here, and on the CPU device {program['not_compared'].removesuffix(' there')}"


def find_gpu(cuda):
    if cuda:
        return {"name": "the CPU device", "driver": "none", "architecture": "none"}
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"./run.sh: no GPU of NVIDIA's answers: {error}")
    name, driver, capability = [part.strip() for part in said.splitlines()[0].split(",")]
    return {"name": name, "driver": driver, "architecture": "sm_" + capability.replace(".", "")}


def number_of(architecture):
    return int(re.search(r"\d+", architecture)[0])


def save(results, options):
    """Replaces the results as a whole, so that whoever is killed meanwhile leaves the former ones."""
    beside = options.results.with_name(options.results.name + ".new")
    beside.write_text(json.dumps(results, indent=1) + "\n")
    beside.replace(options.results)


def of_kind(results, *kinds):
    return [program for program in results["programs"] if program["kind"] in kinds and "failure" not in program and "left_out" not in program]


def is_over(options):
    return time.monotonic() > min(options.part_end, options.end)


def seconds_left(options):
    return max(min(options.seconds, options.end - time.monotonic()), 1)


def environment_of(options, **more):
    places = [str(options.cuda or HERE / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, places))} | more


class Ended:
    """How a program ended: `status` is a number, or `late`; what it printed."""

    def __init__(self, status, output=b"", errors=b""):
        self.status, self.output, self.errors = status, output, errors


def run(command, options, seconds=None, folder=None, **variables):
    """Runs a program. When the time is up, all that it started ends with it."""
    try:
        process = start(command, options, folder, subprocess.PIPE, **variables)
    except OSError as error:
        return Ended(127, b"", str(error).encode())
    try:
        output, errors = process.communicate(timeout=seconds or seconds_left(options))
        return Ended(process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        end(process)
        output, errors = process.communicate()
        return Ended("late", output, errors)
    finally:
        end(process)


# Process groups of programs that have not ended.
RUNNING = set()


def start(command, options, folder=None, errors=subprocess.DEVNULL, **variables):
    """Starts a program in a process group of its own."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment_of(options, **variables), cwd=folder or HERE / "bin",
        start_new_session=True,
    )
    RUNNING.add(process.pid)
    return process


def end(process):
    """Ends a program and what it started."""
    if process.pid in RUNNING:
        RUNNING.discard(process.pid)
        kill_group(process.pid)


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stopped(number, _):
    for group in list(RUNNING):
        kill_group(group)
    os._exit(128 + number)


def place_of(program, way):
    return HERE / "bin" / f"{program['name'].replace('/', '.')}.{program['ways'][way].get('same_as', way)}"


def own_ways(program):
    """The ways of a program that have files of their own: others are the same to the byte."""
    return [way for way, made in program["ways"].items() if "same_as" not in made]


# Whether programs are right.


def check_models(results, options):
    return check_programs(of_kind(results, "model", "workload"), results, options)


def check_tests(results, options):
    return check_programs(of_kind(results, "test"), results, options)


def check_programs(programs, results, options):
    waiting = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program in programs:
            for way in own_ways(program):
                waiting[pool.submit(run_way, program, way, options)] = (program, way)
        for job in concurrent.futures.as_completed(waiting):
            program, way = waiting[job]
            if job.result() is None:
                continue
            program.setdefault("said", {})[way] = job.result()
            if set(program["said"]) == set(own_ways(program)):
                program |= judge(program)
                if not program["right"] or program.get("unlike_cpu"):
                    print(f"{program['name']}: {program.get('difference') or program.get('unlike_cpu')}", flush=True)
                save(results, options)
    for program in programs:
        # Of what the time cut short nothing is known.
        if "right" not in program:
            program.pop("said", None)
    done = sum("right" in program for program in programs)
    return done, len(programs) - done


def run_way(program, way, options):
    """What each command line of a program printed, by status and a hash; the text where it is not what the CPU device printed."""
    runs = []
    for arguments, expected in zip(program["runs"], program["expected"]):
        if is_over(options):
            return None
        done = run([place_of(program, way), *arguments], options, MODEL_SAMPLES="0")
        row = {"status": done.status, "hash": hash_of(done.output)}
        if fails(done):
            row["fails"] = "; ".join((done.output + done.errors).decode(errors="replace").strip().splitlines()[:6])[:800] or "no output"
        if row["hash"] != expected.get("hash"):
            row["text"] = done.output.decode(errors="replace")[:4000]
        runs.append(row)
    return runs


def fails(done):
    return done.status != 0 or not done.output or (b"FAIL" in done.output and b"PASS" not in done.output)


def hash_of(output):
    return hashlib.sha256(output).hexdigest()[:16]


def judge(program):
    """Whether a program is right, and what is the first that is not."""
    said, expected = {way: program["said"][way] for way in own_ways(program)}, program["expected"]
    first = next(way for way in said if way != FOREIGN)
    verdicts = {}
    for way, runs in said.items():
        verdicts[way] = {"right": True}
        for arguments, row, other, cpu in zip(program["runs"], runs, said[first], expected):
            at = f"{way}, arguments {' '.join(arguments)}" if arguments else way
            if "fails" in row:
                ended = "not at its end in time" if row["status"] == "late" else f"status {row['status']}"
                verdicts[way] = {"right": False, "what": f"{at}: {ended}, {row['fails']}"}
                break
            if row["hash"] != other["hash"]:
                verdicts[way]["what"] = f"{at}: {difference(text_of(other, cpu), text_of(row, cpu))}"
                verdicts[way]["right"] = way == FOREIGN
                break
    outcome = {"right": all(verdict["right"] for way, verdict in verdicts.items() if way != FOREIGN), "verdicts": verdicts}
    wrong = [verdict["what"] for way, verdict in verdicts.items() if not verdict["right"] and way != FOREIGN]
    if wrong:
        outcome["difference"] = wrong[0]
    unlike = [(row, cpu) for row, cpu in zip(said[first], expected) if "hash" in cpu and row["hash"] != cpu["hash"]]
    if unlike and verdicts[first]["right"]:
        row, cpu = unlike[0]
        outcome["unlike_cpu"] = f"{difference(cpu['text'], row['text'])}"
    outcome["compared_with_cpu"] = all("hash" in cpu for cpu in expected)
    return outcome


def text_of(row, expected):
    return row["text"] if "text" in row else expected["text"]


def difference(expected, found):
    for one, other in zip(expected.splitlines(), found.splitlines()):
        if one != other:
            return f"`{other[:200]}` in place of `{one[:200]}`"
    return f"{len(found.splitlines())} lines in place of {len(expected.splitlines())}"


# Times.


def time_models(results, options):
    """A turn of all models after another. The ways of one take turns, so that a clock that changes meets all alike."""
    models = [program for program in of_kind(results, "model") if program.get("right", True)]
    pytorch = start_pytorch(models, results, options)
    turns = 0
    while turns < options.rounds and models and not is_over(options):
        for program in models:
            for way in turned(own_ways(program), turns):
                if not is_over(options):
                    take_times(program, way, model_times(program, way, options), options)
                    save(results, options)
        turns += 1
    for program in models:
        if program["model"] in pytorch and not is_over(options):
            time_pytorch(program, pytorch.pop(program["model"]), options)
            save(results, options)
    for process in pytorch.values():
        end(process)
    tell(models)
    return sum("samples" in program for program in models), sum("samples" not in program for program in models)


def turned(ways, turn):
    return ways[turn % len(ways) :] + ways[: turn % len(ways)]


def model_times(program, way, options):
    """What a model prints until it has told all its times. Its check, which the host computes for seconds, is not waited for."""
    process = start([place_of(program, way)], options, MODEL_SAMPLES=str(options.samples))
    late = threading.Timer(seconds_left(options), lambda: end(process))
    late.start()
    output, told = b"", 0
    for line in process.stdout:
        output += line
        told += line.startswith(b"time ")
        if told == 2 * options.samples:
            break
    late.cancel()
    end(process)
    process.wait()
    return output


def take_times(program, way, output, options):
    """Adds the times that were printed, and works out median and quartiles of all."""
    samples = program.setdefault("samples", {})
    found = re.findall(rb"^time (\w+) ([0-9.]+)$", output, re.M)
    for kind, value in found:
        samples.setdefault(f"{way} {kind.decode()}", []).append(float(value))
    if not found:
        program.setdefault("untimed", {})[way] = reason_of(output)
    program["microseconds"] = {label: spread(values) for label, values in samples.items()}


def reason_of(output):
    reason = re.search(rb"^untimed (.*)$", output, re.M)
    return reason[1].decode(errors="replace") if reason else "it told no times"


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return {"median": round(middle, 2), "quartiles": [round(low, 2), round(high, 2)], "samples": len(values)}


def tell(programs):
    for program in programs:
        for label, times in program.get("microseconds", {}).items():
            print(f"{program['name']} {label:24} {times['median']:10.1f} µs ({times['quartiles'][0]:.1f} to {times['quartiles'][1]:.1f})", flush=True)


def start_pytorch(models, results, options):
    """PyTorch's version of the models, where PyTorch is: it compiles, and waits with the times until it is told."""
    if options.cuda or not importlib.util.find_spec("torch"):
        return {}
    started = {}
    for program in models:
        if "PyTorch eager" in program.get("microseconds", {}) or results["size"] != "full":
            continue
        command = [sys.executable, HERE / "pytorch_models.py", program["model"], "--wait"]
        # It has a CUDA runtime of its own.
        started[program["model"]] = start(command, options, LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", ""))
    # What still compiles would disturb the times.
    patience = time.monotonic() + (options.part_end - time.monotonic()) / 4
    for name, process in list(started.items()):
        if not select.select([process.stdout], [], [], max(patience - time.monotonic(), 0))[0]:
            print(f"{name}: PyTorch was not ready in time", flush=True)
            end(started.pop(name))
    return started


def time_pytorch(program, process, options):
    try:
        output, _ = process.communicate(b"\n", timeout=seconds_left(options))
        take_times(program, "PyTorch", output, options)
    except subprocess.TimeoutExpired:
        end(process)
        process.wait()


def time_tests(results, options):
    return time_launches([program for program in of_kind(results, "workload", "test") if program.get("timed")], results, options)


def time_planners(results, options):
    programs = of_kind(results, "planner")
    done, left = check_programs(programs, results, options)
    timed = time_launches(programs, results, options)
    return done, max(left, timed[1])


def time_launches(programs, results, options):
    """Turns of each program with the library that repeats its launches."""
    programs = [program for program in programs if program.get("right")]
    for turn in range(options.turns):
        for program in programs:
            for way in turned(own_ways(program), turn):
                if not is_over(options) and way not in program.get("untimed", {}):
                    time_way(program, way, options)
            save(results, options)
    tell(programs)
    timed = sum("microseconds" in program for program in programs)
    return timed, len(programs) - timed


def time_way(program, way, options):
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "times"
        more = {"LD_PRELOAD": str(HERE / "lib/launch_times.so"), "LAUNCH_TIMES": str(told), "LAUNCH_SAMPLES": str(options.samples)}
        done = run([place_of(program, way), *program["runs"][0]], options, **more)
        output = told.read_bytes() if told.exists() and done.status == 0 else f"untimed it ends with status {done.status}".encode()
    launches = re.search(rb"^launches (\d+)", output)
    if launches:
        program.setdefault("launches", {})[way] = int(launches[1])
    take_times(program, way, output, options)


# The tuner.


def run_tuners(results, options):
    programs = of_kind(results, "tuner")
    for place, program in enumerate(programs):
        # A model has more to measure than a workload.
        weights = [3 if "model" in each else 1 for each in programs[place:]]
        share = (min(options.part_end, options.end) - time.monotonic()) * weights[0] / sum(weights)
        if share < 1:
            break
        told = options.results.with_name(program["name"].replace("/", ".") + ".json")
        command = [HERE / "bin" / f"{program['name'].replace('/', '.')}.tune"]
        # The first round runs all configurations, whatever the budget is.
        limit = max(min(options.seconds * 2, options.end - time.monotonic()), 1)
        done = run(command, options, limit, SIRIUS_TUNE_BUDGET=f"{share:.0f}", SIRIUS_TUNE_RESULTS=str(told), MODEL_SAMPLES="0")
        errors = done.errors.decode(errors="replace")
        program["configurations"] = re.findall(r"^sirius: tune: configuration \d+: (.*)$", errors, re.M)
        if done.status == 0 and told.exists():
            program["tuned"] = json.loads(told.read_text())
            print(*re.findall(r"^sirius: tune: (fastest.*)$", errors, re.M), flush=True)
        else:
            program["difference"] = f"status {done.status}: {'; '.join(errors.strip().splitlines()[-2:])}"
            print(f"{program['name']}: {program['difference']}", flush=True)
        told.unlink(missing_ok=True)
        save(results, options)
    done = sum("tuned" in program for program in programs)
    return done, len(programs) - done


# What explains failures, and other people's programs.


def ask_nvcc(results, options):
    """Builds programs that were not right by NVIDIA's compiler, where it is: what fails then, too, expects something else than this GPU does."""
    nvcc = shutil.which("nvcc")
    programs = [program for program in of_kind(results, "workload", "test") if not program.get("right", True) and FOREIGN not in program["ways"]]
    if not nvcc or options.cuda:
        return 0, len(programs)

    def build_and_run(program):
        source = HERE / "sources" / program["source"]
        libraries = ["-lcublas", "-lcublasLt", "-lcufft", "-lcusparse", "-lcusolver", "-lcurand", "-lnvrtc", "-lcuda"]
        libraries += ["-lnvidia-ml"] if "nvml" in source.read_text() else []
        made = HERE / "bin" / f"{program['name'].replace('/', '.')}.{FOREIGN}"
        built = run([nvcc, "-O3", "-std=c++17", f"-arch={results['architecture']}", "-w", source, "-o", made, *libraries], options)
        if built.status != 0:
            return None
        done = run([made, *program["runs"][0]], options)
        return {"status": done.status, "passes": not fails(done)}

    asked = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, found in zip(programs, pool.map(lambda program: None if is_over(options) else build_and_run(program), programs)):
            if found:
                program["by_nvcc"] = found
                asked += 1
    return asked, len(programs) - asked


def run_others(results, options):
    """Other people's programs, where they were packed."""
    if not (HERE / "corpus/list.json").exists() or options.cuda or is_over(options):
        return 0, int((HERE / "corpus/list.json").exists())
    told = options.results.with_name("corpus_results.json")
    budget = options.end - time.monotonic()
    run([sys.executable, HERE / "run_corpus.py", f"--budget={budget:.0f}", f"--results={told}"], options, budget + 30)
    if told.exists():
        results["corpus"] = json.loads(told.read_text())
    return int(told.exists()), int(not told.exists())


def check_by_sanitizer(results, options):
    done = left = 0
    for tool in filter(None, options.check.split(",")):
        programs = [program for program in of_kind(results, "workload", "test") if program.get("right") and "fused" in program["ways"]]
        results["checked"][tool] = found = sanitize(tool, programs, options)
        done, left = done + found["programs"], left + len(found.get("late", []))
    return done, left


def sanitize(tool, programs, options):
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        return {"programs": 0, "complaints": {"all": "compute-sanitizer is not on the PATH"}}
    before = [sanitizer, "--tool", tool, "--error-exitcode", "99", "--print-limit", "3"]
    # Programs make calls that fail on purpose.
    before += ["--report-api-errors", "no"] if tool == "memcheck" else []
    complaints, late, ended = {}, [], 0

    def run_checked(program):
        return None if is_over(options) else run([*before, place_of(program, "fused"), *program["runs"][0]], options)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, done in zip(programs, pool.map(run_checked, programs)):
            # The tool ends with a summary, unless it could not run.
            if done is None or done.status == "late" or b"SUMMARY" not in done.output:
                late.append(program["name"])
                continue
            ended += 1
            if done.status == 99:
                lines = [line for line in done.output.decode(errors="replace").splitlines() if line.startswith("=========")]
                complaints[program["name"]] = " ".join(lines[1:4])[:400]
                print(f"{tool}: {program['name']}: {complaints[program['name']]}", flush=True)
    return {"programs": ended, "complaints": complaints, "late": late}


# By which share of the time each part is over at the latest, in the order of what they are worth.
PARTS = [
    (0.20, "models and workloads are right", check_models),
    (0.50, "times of models", time_models),
    (0.65, "test programs are right", check_tests),
    (0.75, "times of workloads and test programs", time_tests),
    (0.90, "tuner", run_tuners),
    (1.00, "planners", time_planners),
    (1.00, "programs that fail, by nvcc", ask_nvcc),
    (1.00, "compute-sanitizer", check_by_sanitizer),
    (1.00, "programs of other people", run_others),
    (1.00, "further times of models", time_models),
]


if __name__ == "__main__":
    main()
