"""Which options make the fastest kernels for sizes, and what is known of that.

What is known is a file of JSON in the cache, which is the compiler's own: ``sirius-rs tc --tune`` adds to it, and builds of
definitions take their options from there. An entry's key is what the compiler says of a definition (``--emit=signature``), of
which names, comments and layout are no part. Invariant: options change which kernels are made, never what they compute beyond
the order in which a reduction joins its terms.
"""

import functools
import json
import os
import tempfile
import time

from . import command


@functools.lru_cache(maxsize=256)
def _signature(text, name, device, options):
    described = command.signatures(text, device, options)
    return described[name]


class Tuned:
    """The best options that are known, by definition, device and sizes."""

    def __init__(self):
        self._entries = None
        self._read = None

    def find(self, text, name, device, sizes, options=()):
        """The options; none where nothing is known. ``options`` are those of the definitions."""
        key, numbers, _ = self._place(text, name, device, sizes, options)
        known = self._known().get((key, numbers))
        if not known:
            return ()
        # For a definition with other names, the model chooses the template again.
        lines = known.get("template") if known["name"] == name else None
        template = ("--sirius-template=" + "\n".join(lines),) if lines else ()
        return tuple(known["options"]) + template

    def keep(self, text, name, device, sizes, chosen, options=(), nanoseconds=None):
        """Keeps options, also those that somebody chose by hand."""
        key, numbers, named = self._place(text, name, device, sizes, options)
        entry = {"key": key, "name": name, "sizes": named, "options": list(chosen)}
        if nanoseconds is not None:
            entry["nanoseconds"] = float(nanoseconds)
        self._add([entry])

    def export(self, path):
        """Writes all that is known into a file."""
        with open(path, "w") as file:
            json.dump({"entries": list(self._known().values())}, file, indent=2)

    def take(self, path):
        """Adds what :meth:`export` wrote elsewhere, or ``sirius-rs tc --tune --known=``."""
        with open(path) as file:
            added = json.load(file)
        entries = added.get("entries") if isinstance(added, dict) else None
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise ValueError(f"{path} is no file of known options")
        self._add(entries)

    @staticmethod
    def _place(text, name, device, sizes, options):
        signature = _signature(text, name, device, tuple(options))
        named = [[size, sizes[size]] for size in signature["sizes"]]
        return signature["key"], tuple(number for _, number in named), named

    def _add(self, entries):
        known = self._known()
        for entry in entries:
            place = _place_of(entry)
            # The newest one stands last.
            known.pop(place, None)
            known[place] = entry
        self._write()

    def _known(self):
        file = command.known()
        try:
            state = file.stat()
            read = (file, state.st_mtime_ns, state.st_size)
        except OSError:
            read = (file, None, None)
        # The compiler and other processes add to it.
        if self._entries is None or read != self._read:
            self._read = read
            try:
                entries = json.loads(file.read_text())["entries"]
            except (OSError, ValueError, KeyError, TypeError):
                entries = []
            self._entries = {_place_of(entry): entry for entry in entries if _is_entry(entry)}
        return self._entries

    def _write(self):
        file = command.known()
        file.parent.mkdir(parents=True, exist_ok=True)
        # It appears whole, since processes share it.
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w") as made:
            json.dump({"entries": list(self._entries.values())}, made, indent=2)
        os.replace(name, file)
        state = file.stat()
        self._read = (file, state.st_mtime_ns, state.st_size)


def _is_entry(entry):
    if not isinstance(entry, dict) or not isinstance(entry.get("key"), str) or not isinstance(entry.get("name"), str):
        return False
    sizes, options = entry.get("sizes"), entry.get("options")
    pairs = isinstance(sizes, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int for pair in sizes
    )
    words = isinstance(options, list) and all(isinstance(word, str) for word in options)
    template = entry.get("template", [])
    return pairs and words and isinstance(template, list) and all(isinstance(line, str) for line in template)


def _place_of(entry):
    return entry["key"], tuple(number for _, number in entry["sizes"])


tuned = Tuned()


class Tuner:
    """Tries options for the sizes of one call."""

    def __init__(self, definitions, name, call):
        self.definitions = definitions
        self.call = call
        self.largest = max(call.sizes.values(), default=1)

    def candidates(self):
        """Options that are worth a try: each mapping, schedules of templates, no shared memory, tiles that leave little over."""
        yield ()
        yield ("--sirius-tc-mapping=parallel",)
        yield ("--sirius-tc-mapping=stitched",)
        for teams in ("elements", "blocks", "lanes", "columns"):
            yield ("--sirius-tc-mapping=stitched", f"--sirius-tc-templates={teams}")
        yield ("--sirius-tc-shared=off",)
        yield ("--sirius-tc-tensor-cores=off",)
        for stages in (2, 3):
            yield (f"--sirius-tc-stages={stages}",)
        for mapping in ("tiled", "auto"):
            for rows in (16, 32, 64, 128):
                for columns in (16, 32, 64, 128):
                    for strip in (8, 16, 32):
                        if rows > 2 * self.largest or columns > 2 * self.largest or rows * columns > 8192:
                            continue
                        yield (f"--sirius-tc-mapping={mapping}", f"--sirius-tc-tile={rows},{columns},{strip}")

    def search(self, seconds, progress):
        """The best options that were met in so many seconds, and how many nanoseconds a call took."""
        candidates = list(self.candidates())
        started, best, least = time.monotonic(), (), None
        for number, options in enumerate(_shown(candidates, progress)):
            if number > 0 and time.monotonic() - started > seconds:
                break
            try:
                taken = self.measure(options)
            except command.CompileError:
                # Tiles that do not fit are refused.
                continue
            if least is None or taken < least:
                best, least = options, taken
        return best, least * 1e9

    def measure(self, options):
        """Seconds of the fastest of a few calls."""
        library = self.definitions.library(self.call.device, options)
        times = []
        for _ in range(4):
            self._wait()
            before = time.perf_counter()
            self.call.run(library)
            self._wait()
            times.append(time.perf_counter() - before)
        return min(times[1:])

    def _wait(self):
        if self.call.device == "cuda":
            library = type(self.call.first).__module__.split(".")[0]
            module = __import__(library)
            wait = module.cuda.synchronize if library == "torch" else module.cuda.Device().synchronize
            wait()


def _shown(candidates, progress):
    if not progress:
        return candidates
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return candidates
    return tqdm(candidates, desc="autotune", unit="version", leave=False)
