#!/usr/bin/env python3
"""What each planner makes of programs, by the cost model. `scripts/bench planners` runs this.

Each program is analysed once for each planner; nothing is built. The problems of networks, which are files, are planned as they
are; there annealing also gets as many walks as the learned order, which takes as long. The tables go into docs/planners.md.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from models import ROOT, between

PAGE = ROOT / "docs/planners.md"
RESULTS = ROOT / "bench/results/planners.json"
NETWORKS = ROOT / "tests/planners/networks"
# What the learned policy was not trained on, and how FusionStitching's table 3 has it.
WORKLOADS = "nmt multi_interests rokid aiwriter logistic word2vec bi_rnn dyn_rnn perceptron var_encoder".split()
PLANNERS = {
    "xla": ["--sirius-planner=xla"],
    "greedy": ["--sirius-planner=greedy"],
    "ilp": ["--sirius-planner=ilp"],
    "span": ["--sirius-planner=span"],
    "priority": ["--sirius-planner=priority"],
    "annealing": ["--sirius-planner=priority", "--sirius-priority=annealing"],
    "learned": ["--sirius-planner=priority", "--sirius-priority=learned"],
    "auto": ["--sirius-planner=auto"],
}
# Those of the learned order.
WALKS = 32
OF_FILES = {
    "xla": ["--planner=xla"],
    "greedy": ["--planner=greedy"],
    "priority": ["--planner=priority"],
    "learned": ["--planner=priority", "--priority=learned"],
    "annealing": ["--planner=priority", "--priority=annealing"],
    "ilp": ["--planner=ilp"],
    "auto": ["--planner=auto"],
}
PROGRAMS = ["tests/run/planned_*.cu", "test_programs/*.cu", "test_programs/workloads/*.cu", "test_programs/models/*.cu"]


def analyse(compiler, program, options):
    """The report of a program; `None` where it does not compile by itself."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [compiler, "analyze", "--sirius-device=cpu", "-arch=sm_80", *options, program, "--format=json", "-o", report]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return json.loads(report.read_text()) if done.returncode == 0 else None


def measure(compiler, programs):
    results = {}
    for program in programs:
        row = {}
        for planner, options in PLANNERS.items():
            report = analyse(compiler, program, options)
            if report is None or "planning" not in report:
                break
            planning = report["planning"]
            seconds = {stage["name"]: stage["seconds"] for stage in report["stages"]}
            row[planner] = {
                "nanoseconds": planning["nanoseconds"],
                "gap": planning.get("gap"),
                "planner": planning["planner"],
                "launches": report["counts"]["launches_after"],
                "seconds": seconds["schedule"],
                "all_seconds": sum(seconds.values()),
            }
            row["unfused"] = {"nanoseconds": planning["unfused_nanoseconds"], "launches": report["counts"]["launches"]}
        else:
            results[program] = row
            print(program, {name: round(each["nanoseconds"] / 1e3, 1) for name, each in row.items()}, flush=True)
    return results


def plan(compiler, problem, options):
    """What a planner makes of a problem."""
    done = subprocess.run([compiler, "plan", *options, problem], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_networks(compiler, problems):
    results = {}
    for problem in problems:
        row = {name: plan(compiler, problem, options) for name, options in OF_FILES.items()}
        # Seeds of annealing differ more than seeds of the learned order.
        equal = [plan(compiler, problem, [*OF_FILES["annealing"], f"--walks={WALKS}", f"--seed={seed}"]) for seed in range(5)]
        row["equal"] = sorted(equal, key=lambda each: each["nanoseconds"])[len(equal) // 2]
        for each in row.values():
            del each["patterns"]
        results[problem.stem] = row
        print(problem.stem, {name: round(each["nanoseconds"] / 1e3, 1) for name, each in row.items()}, flush=True)
    return results


def networks_table(results):
    names = {"xla": "xla", "greedy": "greedy", "priority": "default order", "equal": "annealing, as long", "learned": "learned", "annealing": "annealing", "ilp": "ilp", "auto": "auto"}
    lines = ["| network | unfused | " + " | ".join(names.values()) + " |", "|---|" + "---:|" * (len(names) + 1)]
    same = []
    for network, row in sorted(results.items()):
        times = {name: row[name]["nanoseconds"] / 1e3 for name in names}
        if all(abs(times[name] - times["priority"]) < 0.05 for name in ("equal", "learned", "annealing", "auto", "greedy")):
            same.append(f"`{network}`")
            continue
        first = row["auto"]["unfused_nanoseconds"] / 1e3
        cells = [f"{first:.1f} ({row['auto']['operators']})"]
        cells += [f"{times[name]:.1f} ({row[name]['kernels']})" for name in names]
        lines.append(f"| `{network}` | " + " | ".join(cells) + " |")
    if same:
        lines += ["", f"All but `xla` come to plans of one modelled time for {', '.join(same)}."]
    return "\n".join(lines) + "\n"


def is_of_xla(row):
    """Whether the plan is that of XLA's rule; in place of a plan that would undo a loop inside a kernel, greedy's is carried out."""
    return row["xla"]["planner"] == "xla"


def compression_table(results):
    lines = ["| workload | launches | xla | auto |", "|---|---:|---:|---:|"]
    by_name = {pathlib.Path(program).stem: row for program, row in results.items() if "/workloads/" in program}
    of = {"xla": [], "auto": []}
    for workload in WORKLOADS:
        if "xla" not in by_name.get(workload, {}):
            continue
        row = by_name[workload]
        launches = row["unfused"]["launches"]
        cells = []
        for name, ratios in of.items():
            if name == "xla" and not is_of_xla(row):
                cells.append("–")
                continue
            ratios.append(launches / row[name]["launches"])
            cells.append(f"{ratios[-1]:.1f} ({row[name]['launches']})")
        lines.append(f"| `{workload}` | {launches} | " + " | ".join(cells) + " |")
    if not all(of.values()):
        return "Not measured yet.\n"
    ranges = {name: f"{min(ratios):.1f}–{max(ratios):.1f}" for name, ratios in of.items()}
    lines += ["", f"The ratios are {ranges['xla']} for XLA's rule and {ranges['auto']} for `auto`."]
    return "\n".join(lines) + "\n"


def table(results):
    names = ["unfused", *PLANNERS]
    lines = ["| program | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    same = 0
    for program, row in sorted(results.items()):
        # Results of an earlier run may lack a planner.
        times = {name: row[name]["nanoseconds"] / 1e3 for name in names if name in row and (name != "xla" or is_of_xla(row))}
        if all(abs(times[name] - times["greedy"]) < 0.05 for name in PLANNERS if name in times and name != "xla"):
            same += 1
            continue
        cells = [f"{times[name]:.1f} ({row[name]['launches']})" if name in times else "–" for name in names]
        lines.append(f"| `{pathlib.Path(program).stem}` | " + " | ".join(cells) + " |")
    gaps = [row["ilp"]["gap"] for row in results.values() if row["ilp"]["gap"] is not None]
    shares = sorted(row["auto"]["seconds"] / row["auto"]["all_seconds"] for row in results.values())
    more = sorted(row["auto"]["seconds"] - row["greedy"]["seconds"] for row in results.values())
    lines += [
        "",
        f"In the other {same} of {len(results)} programs all planners but `xla` come to plans of one modelled time. The largest gap of `ilp` is "
        f"{100 * max(gaps, default=0):.1f} %. The stage `schedule` takes {100 * shares[len(shares) // 2]:.1f} % of the time of "
        f"analysis with `auto` in the median, {1e3 * more[len(more) // 2]:.0f} ms more than with `greedy`.",
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", action="store_true", help="use the optimised compiler")
    parser.add_argument("--programs", default="", help="only those whose path has this regular expression")
    parser.add_argument("--draw", action="store_true", help="only draw the page again")
    options = parser.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results, networks = kept.get("programs", {}), kept.get("networks", {})
    if not options.draw:
        compiler = ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"
        found = sorted(str(path.relative_to(ROOT)) for pattern in PROGRAMS for path in ROOT.glob(pattern))
        found = [program for program in found if re.search(options.programs, program)]
        problems = [path for path in sorted(NETWORKS.glob("*.json")) if re.search(options.programs, str(path.relative_to(ROOT)))]
        if not found and not problems:
            sys.exit("scripts/bench planners: no program has that name")
        networks.update(measure_networks(compiler, problems))
        results.update(measure(compiler, found))
        kept = {"programs": results, "networks": networks}
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    page = between(PAGE.read_text(), "planners", table(results))
    page = between(page, "networks", networks_table(networks))
    PAGE.write_text(between(page, "compression", compression_table(results)))


if __name__ == "__main__":
    main()
