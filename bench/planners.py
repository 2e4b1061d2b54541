#!/usr/bin/env python3
"""What each planner makes of programs, by the cost model. `scripts/bench planners` runs this.

Each program is analysed once for each planner; nothing is built. The table goes into docs/planners.md.
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
PLANNERS = {
    "greedy": ["--sirius-planner=greedy"],
    "ilp": ["--sirius-planner=ilp"],
    "span": ["--sirius-planner=span"],
    "priority": ["--sirius-planner=priority"],
    "annealing": ["--sirius-planner=priority", "--sirius-priority=annealing"],
    "auto": ["--sirius-planner=auto"],
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


def table(results):
    names = ["unfused", *PLANNERS]
    lines = ["| program | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    same = 0
    for program, row in sorted(results.items()):
        times = {name: row[name]["nanoseconds"] / 1e3 for name in names}
        if all(abs(times[name] - times["greedy"]) < 0.05 for name in PLANNERS):
            same += 1
            continue
        cells = [f"{times[name]:.1f} ({row[name]['launches']})" for name in names]
        lines.append(f"| `{pathlib.Path(program).stem}` | " + " | ".join(cells) + " |")
    gaps = [row["ilp"]["gap"] for row in results.values() if row["ilp"]["gap"] is not None]
    shares = sorted(row["auto"]["seconds"] / row["auto"]["all_seconds"] for row in results.values())
    more = sorted(row["auto"]["seconds"] - row["greedy"]["seconds"] for row in results.values())
    lines += [
        "",
        f"In the other {same} of {len(results)} programs all planners come to plans of one modelled time. The largest gap of `ilp` is "
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
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not options.draw:
        compiler = ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"
        found = sorted(str(path.relative_to(ROOT)) for pattern in PROGRAMS for path in ROOT.glob(pattern))
        found = [program for program in found if re.search(options.programs, program)]
        if not found:
            sys.exit("scripts/bench planners: no program has that name")
        results.update(measure(compiler, found))
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(between(PAGE.read_text(), "planners", table(results)))


if __name__ == "__main__":
    main()
