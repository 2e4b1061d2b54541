"""What `scripts/corpus --executed` counts: the launches that two runs of a program executed, without fusion and with it, and why the
rest stays apart.

The runtime counts launches by kernel and not by place. So where one kernel is launched at several places, each place counts for an
equal part, and a pair of consecutive launches counts as often as the one of the two that is executed less often. Of a host loop's
back edge it is one less, since the first iteration has none before it.
"""

import json
import re
from collections import Counter

# A program that launches more often than this in a small run measures how long a launch takes.
MANY_LAUNCHES = 100_000

# Lines that say how long something took, how fast it was, or when; and where something lies.
TIMES = re.compile(
    r"\b(times?|timing|seconds?|secs?|msec|usec|elapsed|duration|latency|throughput|bandwidth|speed-?up|speed|perf(ormance)?|rate|clock|date"
    r"|fps|\w*flops?/?s?|\w*ops/s|[gmk]i?b/s|[gmk]?bytes/s(ec)?|avg|average|cost|overhead|occupancy)\b|\d\s*\(?(ns|us|µs|ms|s|sec)\b|[GMK]i?B/s|\w/s\b"
    r"|[Tt]ime|[Bb]andwidth|\d{2}:\d{2}:\d{2}|\((ns|us|ms|s)\)",
    re.I,
)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


def comparable(text):
    """The lines of an output that a second run should repeat: those that speak of time or speed are left out, addresses made equal."""
    return [ADDRESS.sub("ADDRESS", line.rstrip()) for line in text.splitlines() if not TIMES.search(line)]


def first_difference(one, other, fused):
    """The first line in which the fused output differs from both of two unfused ones, where these are equal; None where there is none."""
    one, other, fused = comparable(one), comparable(other), comparable(fused)
    if len(one) != len(other):
        # The program itself does not repeat its lines.
        return None
    if len(one) != len(fused):
        return f"{len(one)} lines unfused, {len(fused)} fused"
    for unfused, again, line in zip(one, other, fused):
        if unfused == again and unfused != line:
            return f"{unfused.strip()[:120]} / {line.strip()[:120]}"
    return None


def of_program(reports, unfused, fused):
    """The figures of a program: its launch sites, pairs of them that one launch replaces, and pairs that stay, with how often they are
    executed. `reports` are those of its links, `unfused` and `fused` the statistics of its runs.
    """
    executed = {kernel["kernel"]: kernel["launches"] for kernel in unfused["kernels"]}
    figures = {
        "executed": [unfused["launches"], fused["launches"]],
        "sites": [0, 0],
        "removed_pairs": 0,
        "refused_pairs": 0,
        "loops_in_kernels": 0,
        "batched_regions": 0,
        "originals": sum(group["originals"] for group in fused.get("groups", [])),
        "missed": [],
    }
    # Groups that the run came to and whose guards never held.
    refused = {group["site"] for group in fused.get("groups", []) if group["originals"] and not group["fused"]}
    for report in reports:
        add_report(figures, report, executed, refused)
    return figures


def of_boundaries(statistics):
    """What a run counted that says how its launches follow each other."""
    sums = {name: sum(kernel.get(name, 0) for kernel in statistics["kernels"]) for name in ("overlapping", "in_graphs", "grid_barriers")}
    return {"launches": statistics["launches"], **sums}


def boundaries(rows):
    """Markdown: of all boundaries between consecutive launches that programs execute without fusion, the share that is gone, and the
    share that is overlapped, for each way to build them. Only programs that were built and run in every way count. Empty where
    nothing but the default was built.
    """
    rows = [row for row in rows if row.get("executed") and 2 <= row["executed"][0] <= MANY_LAUNCHES]
    ways = list(dict.fromkeys(way for row in rows for way in row.get("boundaries", {})))
    rows = [row for row in rows if all("launches" in row.get("boundaries", {}).get(way, {}) for way in ways)]
    if len(ways) < 2 or not rows:
        return ""
    every = sum(row["executed"][0] - 1 for row in rows)
    differ = [f"{row['program']} with {way}" for row in rows for way in ways if row["boundaries"][way].get("output", "equal") != "equal"]
    lines = [
        f"{len(rows)} programs, {every:,} boundaries. Outputs that differ: {', '.join(differ) or 'none'}.",
        "",
        "| boundaries | removed | | overlapped | | both | barriers across the grid | launches in graphs |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for way in ways:
        runs = [(row["executed"][0], row["boundaries"][way]) for row in rows]
        removed = sum(before - run["launches"] for before, run in runs)
        overlapped = sum(run["overlapping"] for _, run in runs)
        met, nodes = (sum(run[name] for _, run in runs) for name in ("grid_barriers", "in_graphs"))
        shares = f"{removed:,} | {percent(removed, every)} | {overlapped:,} | {percent(overlapped, every)} | {percent(removed + overlapped, every)}"
        lines.append(f"| {way if way == 'default' else f'`{way}`'} | {shares} | {met:,} | {nodes:,} |")
    return "\n".join(lines)


def add_report(figures, report, executed, refused):
    nodes = {node["id"]: node for node in report["nodes"]}
    launches = {id: node for id, node in nodes.items() if node["kind"] == "launch"}
    figures["sites"][0] += report["counts"]["launches"]
    figures["sites"][1] += report["counts"]["launches_after"]
    figures["loops_in_kernels"] += report["counts"].get("loops_in_kernels", 0)
    figures["batched_regions"] += len(report["batched_regions"])
    for fusion in report["fusions"]:
        pairs = max(0, sum(member in launches for member in fusion["members"]) - 1)
        asked = refused & {nodes[member]["site"] for member in fusion["members"]}
        figures["refused_pairs" if asked else "removed_pairs"] += pairs
    sites = Counter(kernel for kernel, _ in {(node["kernel"], node["site"]) for node in launches.values()})
    repeats = lambda node: executed.get(node["kernel"], 0) / max(1, sites[node["kernel"]])
    # Functions that were inlined in several places have their pairs several times.
    seen = Counter()
    for missed in report["missed"]:
        source, sink = nodes[missed["src"]], nodes[missed["dst"]]
        if source["kind"] == sink["kind"] == "launch":
            seen[(source["site"], sink["site"], missed["carried"])] += 1
    for missed in report["missed"]:
        source, sink = nodes[missed["src"]], nodes[missed["dst"]]
        if not source["kind"] == sink["kind"] == "launch":
            continue
        times = min(repeats(source), repeats(sink)) - (1 if missed["carried"] else 0)
        figures["missed"].append({
            "reason": missed["reason"],
            "carried": missed["carried"],
            "executed": round(max(0.0, times) / seen[(source["site"], sink["site"], missed["carried"])], 2),
            "source": source["name"],
            "sink": sink["name"],
            "place": f"{sink['file']}:{sink['line']}",
            "message": missed["message"],
        })


def table(rows):
    """Markdown: each program that ran both ways and launched something, their sum, and what keeps the rest apart."""
    measured = [row for row in rows if row.get("executed") and row["executed"][0]]
    lines = ["| program | arguments | launches unfused | fused | output |", "|---|---|---|---|---|"]
    for row in sorted(measured, key=lambda row: row["program"].lower()):
        before, after = row["executed"]
        lines.append(f"| {row['program']} | {row['arguments']} | {before:,} | {after:,} | {row['output']} |")
    shares = boundaries(rows)
    return "\n".join([totals(rows), "", *([shares, ""] if shares else []), reasons(measured), "", *lines])


def totals(rows):
    """Markdown: how many programs came how far, and the share of pairs that is gone."""
    measured = [row for row in rows if row.get("executed") and row["executed"][0]]
    several = [row for row in measured if row["executed"][0] >= 3]
    fewer = [row for row in measured if row["executed"][1] < row["executed"][0]]
    counted = [row for row in measured if row["executed"][0] <= MANY_LAUNCHES]
    before, after = (sum(row["executed"][side] for row in counted) for side in (0, 1))
    removed = sum(row["removed_pairs"] for row in measured)
    refused = sum(row["refused_pairs"] for row in measured)
    missed = [missed for row in measured for missed in row["missed"] if not missed["carried"]]
    every = removed + refused + len(missed)
    on_path = every - sum(pair["reason"] == "control_flow" for pair in missed)
    shares = [1 - row["executed"][1] / row["executed"][0] for row in several if row in counted]
    stopped = Counter(row["outcome"] for row in rows if row not in measured)
    return "\n".join([
        "| | |",
        "|---|---|",
        f"| programs | {len(rows)} |",
        *(f"| {outcome} | {count} |" for outcome, count in stopped.most_common()),
        f"| run both ways and launch | {len(measured)} |",
        f"| of these, execute three launches or more | {len(several)} |",
        f"| execute fewer launches with fusion | {len(fewer)} |",
        *(f"| output {output} | {count} |" for output, count in Counter(row["output"] for row in measured).most_common()),
        f"| launches executed, all programs{but_many(measured)} | {before:,} -> {after:,} ({percent(before - after, before)} fewer) |",
        f"| mean over those of them with three or more | {100 * sum(shares) / max(1, len(shares)):.1f} % fewer |",
        f"| launch sites | {sum(row['sites'][0] for row in measured):,} -> {sum(row['sites'][1] for row in measured):,} |",
        f"| consecutive pairs of sites that run as one launch, of all | {removed} of {every} ({percent(removed, every)}) |",
        f"| of those on one path | {removed} of {on_path} ({percent(removed, on_path)}) |",
        f"| planned as one launch, and the tests at run time never hold | {refused} |",
        f"| host loops inside kernels | {sum(row['loops_in_kernels'] for row in measured)} |",
    ])


def reasons(measured):
    """Markdown: why pairs stay apart, by sites and by how often they are executed, one launch after the other and from one iteration
    of a host loop to the next.
    """
    lines = ["| reason | pairs | executed | back edges of loops | executed |", "|---|---|---|---|---|"]
    counts = {}
    for row in (row for row in measured if row["executed"][0] <= MANY_LAUNCHES):
        for missed in row["missed"]:
            entry = counts.setdefault(missed["reason"], [0, 0.0, 0, 0.0])
            entry[2 if missed["carried"] else 0] += 1
            entry[3 if missed["carried"] else 1] += missed["executed"]
    for reason, entry in sorted(counts.items(), key=lambda item: -item[1][1] - item[1][3]):
        lines.append(f"| `{reason}` | {entry[0]} | {entry[1]:,.0f} | {entry[2]} | {entry[3]:,.0f} |")
    return "\n".join(lines)


def but_many(measured):
    """Which programs are left out of a sum, since they would be all of it."""
    many = [row["program"] for row in measured if row["executed"][0] > MANY_LAUNCHES]
    return f" but {', '.join(many)}" if many else ""


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def read_json(path):
    """What stands in a file; None where it is not there or cut off."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
