"""The results that the kit's run.sh wrote, in the project's pages: docs/gpu.md, models.md, planners.md and tuning.md."""

import json
import re
import statistics
import sys

import corpus
import models
import planners

KINDS = {"model": "models", "workload": "workloads", "test": "test programs"}


def take(runs, root):
    results = joined(runs)
    if results["rehearsal"] and root.resolve() == models.ROOT:
        sys.exit("scripts/gpu: these are results of a rehearsal; --pages FOLDER draws them in a copy of bench/results and docs")
    place = root / "bench/results"
    (place / "gpu.json").write_text(json.dumps(without_texts(results), indent=1) + "\n")
    if results["size"] == "full" or results["rehearsal"]:
        give_times_to_models(results, place / "models-full.json")
        models.draw(root)
    if "corpus" in results:
        (place / "gpu_corpus.json").write_text(json.dumps(results["corpus"], indent=1) + "\n")
        draw(root / "docs/gpu.md", "corpus", corpus.page_of(results["corpus"]))
    draw(root / "docs/gpu.md", "programs", programs_section(results))
    draw(root / "docs/gpu.md", "times", times_section(results))
    draw(root / "docs/planners.md", "measured", planners_section(results, json.loads((place / "planners.json").read_text())["programs"]))
    draw(root / "docs/tuning.md", "tuned", tuned_section(results))


def joined(runs):
    """One run's results out of several, in which each program has what was found last."""
    results, *later = runs
    for run in later:
        if any(run.get(key) != results.get(key) for key in ("compiler", "architecture", "size", "gpu")):
            sys.exit("scripts/gpu: results of another compiler or GPU have to be taken by themselves")
        found = {program["name"]: program for program in results["programs"]}
        for program in run["programs"]:
            found[program["name"]] = found.get(program["name"], {}) | program
        results |= {"programs": list(found.values()), "date": run["date"], "checked": results["checked"] | run["checked"], "minutes": results["minutes"] + run["minutes"]}
        if "corpus" in run:
            results["corpus"] = run["corpus"]
    return results


def without_texts(results):
    """What is kept in the repository: no outputs, and of times their median and quartiles."""
    left_out = ("said", "expected", "samples", "tuned")
    programs = [{key: value for key, value in program.items() if key not in left_out} | tuned_of(program) for program in results["programs"]]
    return results | {"programs": programs}


def give_times_to_models(results, place):
    full = json.loads(place.read_text())
    is_same_gpu = full["gpu"] and all(full["gpu"][key] == results["gpu"][key] for key in ("name", "driver"))
    for program in results["programs"]:
        if program.get("microseconds") and program.get("model") in full["models"]:
            model = full["models"][program["model"]]
            # PyTorch's times are no matter of the compiler.
            kept = {label: times for label, times in model.get("microseconds", {}).items() if is_same_gpu and label.startswith("PyTorch")}
            model |= {"microseconds": kept | program["microseconds"], "same_as": same_ways(program)}
            full["gpu"] = results["gpu"] | {"date": results["date"], "compiler": results["compiler"]}
    place.write_text(json.dumps(full, indent=1) + "\n")


def same_ways(program):
    """Ways of which the program is the same to the byte as that of another."""
    return {way: made["same_as"] for way, made in program["ways"].items() if "same_as" in made}


def draw(page, mark, text):
    page.write_text(models.between(page.read_text(), mark, text))
    print(f"drawn in {page}: {mark}")


def origin(results):
    gpu = results["gpu"]
    return f"{results['date']}, {gpu['name']}, driver {gpu['driver']}; programs built for {results['architecture']} by {results['compiler']}."


def cell(text):
    return str(text).replace("|", "&#124;").replace("\n", " ")


def programs_section(results):
    programs = [program for program in results["programs"] if program["kind"] in KINDS and "failure" not in program]
    ran = [program for program in programs if "right" in program]
    right = [program for program in ran if program["right"]]
    compared = [program for program in right if program["compared_with_cpu"]]
    unlike = [program for program in compared if "unlike_cpu" in program]
    lines = [
        f"{origin(results)} {results['minutes']:g} minutes.",
        "",
        f"{len(ran)} of {len(programs)} programs ran, {sum(len(program['runs']) for program in ran)} command lines, each in all its ways. {len(right)} are right. Of these, {len(compared)} "
        f"are compared with the CPU device, and {len(compared) - len(unlike)} print what it prints.",
        "",
        "| way | programs that ran | right | the same to the byte as another way |",
        "|---|---:|---:|---:|",
    ]
    for way in dict.fromkeys(way for program in ran for way in program["ways"]):
        verdicts = [program["verdicts"][way] for program in ran if way in program["verdicts"]]
        same = sum("same_as" in program["ways"].get(way, {}) for program in ran)
        lines.append(f"| {way} | {len(verdicts)} | {sum(verdict['right'] for verdict in verdicts)} | {same} |")
    wrong = [program for program in ran if not program["right"]]
    if wrong:
        lines += ["", "Not right:", "", "| program | what happened | made by nvcc |", "|---|---|---|"]
        for program in wrong:
            by_nvcc = program["verdicts"].get("nvcc", {}).get("right", program.get("by_nvcc", {}).get("passes"))
            told = {True: "passes", False: "fails, too", None: "not run"}[by_nvcc]
            # Where the kit was unpacked is nobody's business.
            what = re.sub(r"/\S*/(bin|sources)/", "", program["difference"])
            lines.append(f"| {program['name']} | {cell(what)} | {told} |")
    if unlike:
        lines += ["", "Right, and not what the CPU device prints:", "", "| program | the first line | what in it may differ |", "|---|---|---|"]
        lines += [f"| {program['name']} | {cell(program['unlike_cpu'])} | {cell('; '.join(program['may_differ'])) or 'nothing that is known'} |" for program in unlike]
    failed = [program for program in results["programs"] if "failure" in program]
    if failed:
        lines += ["", "Not built:", ""] + [f"- {program['name']}: {cell(program['failure'])}" for program in failed]
    slow = [program for program in programs if "left_out" in program]
    if slow:
        lines += ["", "Left out:", ""] + [f"- {program['name']}: {cell(program['left_out'])}" for program in slow]
    if results.get("late"):
        lines += ["", f"Not in the kit, since the time to build it was up: {len(results['late'])} programs, {', '.join(results['late'])}."]
    left = [program["name"] for program in programs if "right" not in program and "left_out" not in program]
    if left:
        lines += ["", f"Not at their end when the time was over: {', '.join(left)}."]
    for tool, findings in results["checked"].items():
        lines += ["", f"`compute-sanitizer --tool {tool}` over {findings['programs']} fused programs: {len(findings['complaints'])} complaints."]
        if findings.get("late"):
            lines[-1] += f" Not at their end in time: {', '.join(findings['late'])}."
        lines += [f"- {name}: {cell(what)}" for name, what in findings["complaints"].items()]
    return "\n".join(lines)


TIMED_WAYS = ["nvcc", "unfused", "fused", "grid-barrier", "last-block", "overlap", "graph"]


def times_section(results):
    """Microseconds of all launches of a program, as a graph and one by one, by way."""
    programs = [program for program in results["programs"] if program["kind"] in ("workload", "test") and program.get("microseconds")]
    if not programs:
        return "Open: no GPU has run these yet."
    lines = [f"{origin(results)} Microseconds, medians; one by one, and as a graph behind the slash.", ""]
    lines += ["| program | launches | " + " | ".join(TIMED_WAYS) + " | graph, fused / unfused |", "|---|---:|" + "---:|" * (len(TIMED_WAYS) + 1)]
    ratios = []
    for program in programs:
        launches = program.get("launches", {})
        counts = f"{launches['unfused']} → {launches['fused']}" if {"unfused", "fused"} <= set(launches) else ""
        ratio = median_of(program, "fused", "graph"), median_of(program, "unfused", "graph")
        ratio = ratio[0] / ratio[1] if all(ratio) else None
        ratios += [ratio] if ratio else []
        cells = [time_cell(program, way) for way in TIMED_WAYS] + [f"{ratio:.2f}" if ratio else ""]
        lines.append(f"| {program['name']} | {counts} | " + " | ".join(cells) + " |")
    if ratios:
        lines.append("| **median** | |" + " |" * len(TIMED_WAYS) + f" {statistics.median(ratios):.2f} |")
    untimed = [f"{program['name']} ({reason})" for program in results["programs"] if program["kind"] in ("workload", "test") for reason in [program.get("untimed", {}).get("fused")] if reason]
    if untimed:
        lines += ["", f"Not timed: {', '.join(untimed)}."]
    return "\n".join(lines)


def median_of(program, way, kind):
    times = program.get("microseconds", {}).get(f"{program['ways'].get(way, {}).get('same_as', way)} {kind}")
    return times["median"] if times else None


def time_cell(program, way):
    made = program["ways"].get(way)
    if made is None:
        return ""
    if "same_as" in made:
        return f"as {made['same_as']}"
    both = [median_of(program, way, kind) for kind in ("plain", "graph")]
    return " / ".join(f"{value:.1f}" for value in both) if all(both) else ""


def planners_section(results, modelled):
    """Measured beside modelled times of plans, and how often both have them in one order."""
    programs = [program for program in results["programs"] if program["kind"] == "planner" and program.get("microseconds")]
    if not programs:
        return "Open: no GPU has run these yet."
    names = ["unfused", *planners.PLANNERS]
    lines = [f"{origin(results)} Measured as a graph, and the modelled time in brackets, in microseconds. A plan that another planner has, too, was measured once.", ""]
    lines += ["| program | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    agrees = decided = undecided = 0
    for program in programs:
        row = modelled.get(program["source"], {})
        cells, points = [], []
        for name in names:
            way = program["ways"].get(name, {}).get("same_as", name)
            times, model = program["microseconds"].get(f"{way} graph"), row.get(name, {}).get("nanoseconds")
            cells.append(f"{times['median']:.1f}" + (f" ({model / 1e3:.1f})" if model else "") if times else "–")
            if times and model and way == name:
                points.append((times, model))
        for place, (times, model) in enumerate(points):
            for others, other in points[:place]:
                if abs(model - other) < 50:
                    continue
                quartiles, further = sorted([times["quartiles"], others["quartiles"]])
                if quartiles[1] >= further[0]:
                    undecided += 1
                    continue
                decided += 1
                agrees += (times["median"] < others["median"]) == (model < other)
        lines.append(f"| `{program['name'].split('/')[1]}` | " + " | ".join(cells) + " |")
    lines += ["", f"Of the pairs of plans with other modelled times the GPU tells {decided} apart, {agrees} of them in the model's order. In {undecided} its quartiles overlap."]
    return "\n".join(lines)


def tuned_of(program):
    """What each configuration's launches took, in nanoseconds: the median of all rounds but the first, which warms up."""
    if "tuned" not in program:
        return {}
    by_configuration = {}
    for run in sorted(program["tuned"]["runs"], key=lambda run: run["round"]):
        total = sum(site["nanoseconds"] for site in run["sites"])
        by_configuration.setdefault(run["configuration"], []).append(total)
    return {"tuned_nanoseconds": {number: statistics.median(times[1:] or times) for number, times in by_configuration.items()}}


def short(label, most=160):
    """What a configuration is: names of fused kernels may be long."""
    return cell(label if len(label) <= most else label[:most] + " …")


def tuned_section(results):
    lines = []
    for program in results["programs"]:
        times = tuned_of(program).get("tuned_nanoseconds")
        if not times or 0 not in times:
            continue
        best = min(times, key=times.get)
        labels = dict(enumerate(program["configurations"]))
        gain = f"{100 * (1 - times[best] / times[0]):.0f} %" if best else ""
        lines.append(f"| {program['name'].split('/')[1]} | {len(times)} | {times[0] / 1e6:.3f} | {times[best] / 1e6:.3f} | {gain} | {short(labels.get(best, str(best)))} |")
    if not lines:
        return "Open: no GPU has run these yet."
    head = [f"{origin(results)} Milliseconds of a run's launches, medians.", "", "| program | configurations | as planned | the fastest | less | which it is |", "|---|---:|---:|---:|---:|---|"]
    return "\n".join(head + lines)
