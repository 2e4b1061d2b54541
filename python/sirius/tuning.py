"""Which options make the fastest kernels for sizes, and what is known of that.

What is known is a file of JSON in the folder of the cache. Definitions that differ in names, comments and layout are one:
their canonical text is the key, with the device and the sizes. Invariant: options change which kernels are made, never what
they compute beyond the order in which a reduction joins its terms.
"""

import functools
import json
import os
import re
import tempfile
import time

from . import command

# Words of definitions that are no names of the user.
_WORDS = set(
    "def where in exists let concat for bool byte char short int long size_t int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "half float16 bfloat16 float double float32 float64 min max abs".split()
)


@functools.lru_cache(maxsize=256)
def canonical(text):
    """A text without comments, in which names are numbered as they are met."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", " ", text, flags=re.DOTALL)
    numbers = {}
    functions = set(re.findall(r"\bdef\s+(\w+)", text))

    def renamed(match):
        word = match.group(0)
        # What is called and was not declared is a function of CUDA's.
        is_foreign = word in _WORDS or (word in _called and word not in _declared)
        return word if is_foreign else f"n{numbers.setdefault(word, len(numbers))}"

    _called = set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", text))
    inputs = re.findall(r"\bdef\s+\w+\s*\(((?:[^()]|\([^()]*\))*)\)\s*->\s*\(((?:[^()]|\([^()]*\))*)\)", text)
    _declared = functions | {name for lists in inputs for part in lists for name in re.findall(r"[A-Za-z_]\w*", part)}
    _declared |= set(re.findall(r"\b([A-Za-z_]\w*)\s*\([^()]*\)\s*(?:=|\+=|\*=|min=|max=)", text))
    renamed_text = re.sub(r"[A-Za-z_]\w*", renamed, text)
    return " ".join(renamed_text.split())


class Tuned:
    """The best options that are known, by definition, device and sizes."""

    def __init__(self):
        self._found = None
        self._place = None

    def find(self, text, name, device, sizes):
        """The options; none where nothing is known."""
        return tuple(self._known().get(self._key(text, name, device, sizes), ()))

    def keep(self, text, name, device, sizes, options):
        """Keeps options, also those that somebody chose by hand."""
        known = self._known()
        known[self._key(text, name, device, sizes)] = list(options)
        self._write()

    def export(self, path):
        """Writes all that is known into a file."""
        with open(path, "w") as file:
            json.dump(self._known(), file, indent=1)

    def take(self, path):
        """Adds what :meth:`export` wrote elsewhere."""
        with open(path) as file:
            added = json.load(file)
        whole = all(isinstance(each, list) and all(isinstance(word, str) for word in each) for each in added.values())
        if not whole:
            raise ValueError(f"{path} is not what export wrote")
        self._known().update(added)
        self._write()

    @staticmethod
    def _key(text, name, device, sizes):
        function = _names(text).index(name)
        return json.dumps([canonical(text), function, device, list(sizes.values())])

    def _known(self):
        place = command.folder() / "tuned.json"
        if self._found is None or place != self._place:
            self._place = place
            try:
                self._found = json.loads(place.read_text())
            except (OSError, ValueError):
                self._found = {}
        return self._found

    def _write(self):
        self._place.parent.mkdir(parents=True, exist_ok=True)
        # It appears whole, since processes share it.
        handle, name = tempfile.mkstemp(dir=self._place.parent)
        with os.fdopen(handle, "w") as file:
            json.dump(self._found, file)
        os.replace(name, self._place)


@functools.lru_cache(maxsize=256)
def _names(text):
    """The names of definitions, in their order."""
    return re.findall(r"\bdef\s+(\w+)", re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", " ", text, flags=re.DOTALL))


tuned = Tuned()


class Tuner:
    """Tries options for the sizes of one call."""

    def __init__(self, definitions, name, call):
        self.definitions = definitions
        self.call = call
        self.largest = max(call.sizes.values(), default=1)

    def candidates(self):
        """Options that are worth a try: tiles that leave little over, each mapping, no tiles."""
        yield ()
        yield ("--sirius-tc-mapping=parallel",)
        for mapping in ("tiled", "auto"):
            for rows in (16, 32, 64, 128):
                for columns in (16, 32, 64, 128):
                    for strip in (8, 16, 32):
                        if rows > 2 * self.largest or columns > 2 * self.largest or rows * columns > 8192:
                            continue
                        yield (f"--sirius-tc-mapping={mapping}", f"--sirius-tc-tile={rows},{columns},{strip}")

    def search(self, seconds, progress):
        """The best options that were met in so many seconds."""
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
        return best

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
