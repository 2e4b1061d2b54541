#!/usr/bin/env python3
"""Whether objects are the same with precompiled headers and without. `scripts/bench objects` runs this.

Every source is compiled for the CUDA device twice under the same name: with no cache and no precompiled headers, and with the
headers precompiled that CUDA sources begin with. What comes out goes into bench/results/objects.json and docs/compile_time.md.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import random
import tempfile

import compile as single

RESULTS = single.ROOT / "bench/results/objects.json"


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench objects", description=__doc__.split("\n")[0])
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="of a folder, those whose path there matches")
    arguments.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="the longest that a compilation takes (120)")
    arguments.add_argument("--at-random", type=int, metavar="N", help="so many sources of each place, drawn at random")
    arguments.add_argument("places", nargs="+", type=pathlib.Path, metavar="LIST|FOLDER", help="sources and options, a line each; or programs with Makefiles")
    options = arguments.parse_args()
    ours = single.ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"files": {}}
    results["date"] = datetime.date.today().isoformat()
    for place in options.places:
        commands = single.commands_of(place.absolute(), options.programs)
        random.Random(0).shuffle(commands)
        for name, folder, command in commands[: options.at_random]:
            if name in results["files"]:
                continue
            found = compared(ours, folder, command, options.limit)
            print(found, name, flush=True)
            results["files"][name] = found
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(sentence(results))
    single.draw()


def compared(ours, folder, command, limit):
    """`equal` or `differ`; `fails` where it does not compile in time; `none` where no headers were precompiled."""
    line = [ours, "--sirius-device=cuda", *single.defaults_for(command), "-c", *command]
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as cache:
        made = pathlib.Path(made) / "object.o"

        def compiled(cache, headers, *more):
            variables = {"SIRIUS_PRECOMPILED_HEADERS": headers}
            ended = single.timed([*line, "-o", made, *more], folder, limit, cache, variables)
            return bool(ended and ended["ended"])

        if not compiled("off", "off"):
            return "fails"
        without = digest(made)
        # Headers are precompiled for options that are met a second time.
        for _ in range(2):
            compiled(cache, cache, "--sirius-stop-after=program")
        if not list(pathlib.Path(cache).glob("*.headers")):
            return "none"
        if not compiled(cache, cache):
            return "differ"
        return "equal" if digest(made) == without else "differ"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sentence(results):
    """How many objects are equal, and the names of the others."""
    by = lambda kind: sorted(name for name, found in results["files"].items() if found == kind)
    both = len(by("equal")) + len(by("differ"))
    text = f"Of {both} objects, compiled with precompiled headers and without, {len(by('equal'))} are equal to the last byte"
    return text + (f"; these are not: {', '.join(by('differ'))}." if by("differ") else ".")


if __name__ == "__main__":
    main()
