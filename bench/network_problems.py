#!/usr/bin/env python3
"""Writes the launch graphs of four networks as problems for planners, into tests/planners/networks/.

The networks are those of Zhou et al. (Transferable Graph Optimizers for ML Compilers, table 1): AmoebaNet, NMT, RNNLM and
Transformer-XL, a few steps, layers or cells of each, at the granularity of the kernels that a framework launches without
a compiler: each product, each operator on elements and each step of a reduction is a kernel. Figures follow from sizes of
tensors in single precision. A dependence stays in a thread where two kernels on elements have one grid, in a block where a
reduction or a product and a kernel on elements have one grid, and else needs the whole grid.

usage: python3 bench/network_problems.py
"""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/planners/networks"
THREADS = 256
TILE = 64


def up(number, part):
    return -(-number // part)


class Tensor:
    """Rows and columns of floats, and the kernel that makes them; `None` for weights and inputs."""

    def __init__(self, rows, columns, made_by=None):
        self.rows, self.columns, self.made_by = rows, columns, made_by

    @property
    def elements(self):
        return self.rows * self.columns


class Graph:
    def __init__(self):
        self.nodes, self.edges = [], []

    def add(self, name, kind, inputs, output, *, work, blocks, registers, shared=0, waits=630, everywhere=False):
        node = len(self.nodes)
        self.nodes.append(
            {
                "name": f"{name}_{node}",
                "class": kind,
                "work": round(work),
                "bytes": 4 * (sum(each.elements for each in inputs) + output.elements),
                "blocks": blocks,
                "threads": THREADS,
                "shared_bytes": shared,
                "registers": registers,
                "block_nanoseconds": round(waits),
            }
        )
        for source in dict.fromkeys(each.made_by for each in inputs if each.made_by is not None):
            before = self.nodes[source]
            needs_all = everywhere or before["blocks"] != blocks or before["class"] in ("column_reduction", "scalar_reduction")
            of_elements = before["class"] == kind == "elementwise"
            scope = "global" if needs_all else "thread" if of_elements else "block"
            size = 4 * max(each.elements for each in inputs if each.made_by == source)
            self.edges.append({"source": source, "sink": node, "kind": "flow", "bytes": size, "scope": scope, "temporary": True})
        return Tensor(output.rows, output.columns, node)

    def map(self, name, *inputs, like=None, blocks=None, instructions=12, registers=24, everywhere=False):
        """An operator on elements; `blocks` where its grid is that of a reduction or product."""
        output = like or inputs[0]
        return self.add(
            name,
            "elementwise",
            inputs,
            output,
            work=instructions * output.elements,
            blocks=blocks or up(output.elements, THREADS),
            registers=registers,
            waits=500 + 130 * len(inputs),
            everywhere=everywhere,
        )

    def product(self, name, left, right, batch=1):
        """A product of matrices in tiles; `batch` of them, whose rows lie one after the other."""
        output = Tensor(left.rows, right.columns)
        of_left = left.rows // batch
        return self.add(
            name,
            "batched_product" if batch > 1 else "product",
            [left, right],
            output,
            work=left.elements * right.columns / 4,
            blocks=batch * up(of_left, TILE) * up(right.columns, TILE),
            registers=128,
            shared=32 << 10,
            waits=600 + 12 * left.columns,
            everywhere=True,
        )

    def row_reduction(self, name, source):
        output = Tensor(source.rows, 1)
        work = 10 * source.elements
        waits = 900 + 2.5 * up(source.columns, THREADS) * 100
        return self.add(name, "row_reduction", [source], output, work=work, blocks=source.rows, registers=28, shared=1 << 10, waits=waits)

    def by_rows(self, name, *inputs, **more):
        return self.map(name, *inputs, blocks=inputs[0].rows, **more)

    def softmax(self, scores):
        largest = self.row_reduction("row_max", scores)
        powers = self.by_rows("exp", scores, largest, instructions=24)
        total = self.row_reduction("row_sum", powers)
        return self.by_rows("divide", powers, total)

    def layer_norm(self, rows):
        mean = self.row_reduction("mean", rows)
        centred = self.by_rows("centre", rows, mean)
        variance = self.row_reduction("variance", centred)
        return self.by_rows("normalise", centred, variance, instructions=20)

    def write(self, name):
        # Each kernel that reads what an earlier one read, too.
        latest, shared = {}, []
        flows = {(edge["source"], edge["sink"]) for edge in self.edges}
        for edge in self.edges:
            before = latest.get(edge["source"])
            if before is not None and (before, edge["sink"]) not in flows:
                shared.append({"source": before, "sink": edge["sink"], "kind": "shared", "bytes": edge["bytes"], "scope": "thread"})
            latest[edge["source"]] = edge["sink"]
        lines = lambda rows: ",\n".join(" " + json.dumps(row, separators=(",", ":")) for row in rows)
        text = f'{{"version":1,"device":{{}},"unanswered":"estimated","nodes":[\n{lines(self.nodes)}\n],"edges":[\n{lines(self.edges + shared)}\n]}}\n'
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.json").write_text(text)
        print(name, len(self.nodes), "kernels")


def lstm_cell(graph, source, state, memory, width):
    """A cell as frameworks launch it: both products, their sum, four gates, the new memory and the new state."""
    gates = Tensor(source.rows, 4 * width)
    of_source = graph.product("of_source", source, Tensor(source.columns, 4 * width))
    of_state = graph.product("of_state", state, Tensor(width, 4 * width))
    total = graph.map("add_bias", of_source, of_state, like=gates)
    part = Tensor(source.rows, width)
    split = graph.map("split", total, like=gates, everywhere=True)
    names = ("sigmoid_in", "sigmoid_forget", "sigmoid_out", "tanh_new")
    enters, forgets, leaves, new = (graph.map(name, split, like=part, instructions=40, everywhere=True) for name in names)
    kept = graph.map("keep", forgets, memory, like=part)
    added = graph.map("enter", enters, new, like=part)
    memory = graph.map("memory", kept, added, like=part)
    bent = graph.map("tanh", memory, like=part, instructions=40)
    return graph.map("state", leaves, bent, like=part), memory


def rnnlm(batch=64, width=1024, layers=2, steps=5, words=10_000):
    graph = Graph()
    states = [(Tensor(batch, width), Tensor(batch, width)) for _ in range(layers)]
    for _ in range(steps):
        at = graph.map("look_up", Tensor(batch, width))
        for layer in range(layers):
            at = graph.map("dropout", at, instructions=30, registers=32)
            states[layer] = lstm_cell(graph, at, *states[layer], width)
            at = states[layer][0]
        at = graph.map("dropout", at, instructions=30, registers=32)
        scores = graph.product("of_words", at, Tensor(width, words))
        scores = graph.by_rows("add_bias", scores)
        chances = graph.softmax(scores)
        graph.row_reduction("loss", chances)
    graph.write("rnnlm")


def nmt(batch=128, width=512, steps=3):
    graph = Graph()
    start = lambda: (Tensor(batch, width), Tensor(batch, width))
    words = [graph.map("look_up", Tensor(batch, width)) for _ in range(steps)]
    forward, backward = start(), start()
    of_steps = []
    for step in range(steps):
        forward = lstm_cell(graph, words[step], *forward, width)
        backward = lstm_cell(graph, words[-1 - step], *backward, width)
        of_steps.append(graph.map("join", forward[0], backward[0]))
    encoded = Tensor(batch * steps, width)
    encoded = graph.map("stack", *of_steps, like=encoded, everywhere=True)
    keys = graph.product("keys", encoded, Tensor(width, width))
    decoder = start()
    for _ in range(steps):
        word = graph.map("look_up", Tensor(batch, width))
        decoder = lstm_cell(graph, word, *decoder, width)
        query = graph.product("query", decoder[0], Tensor(width, width))
        mixed = graph.map("add_query", keys, query, everywhere=True)
        mixed = graph.map("tanh", mixed, instructions=40)
        weighed = graph.map("weigh", mixed)
        scores = graph.row_reduction("score", weighed)
        scores = graph.map("gather", scores, like=Tensor(batch, steps), everywhere=True)
        weights = graph.softmax(scores)
        context = graph.product("context", Tensor(batch, batch * steps, weights.made_by), encoded)
        together = graph.map("join", context, decoder[0], like=Tensor(batch, 2 * width), everywhere=True)
        out = graph.product("attend", together, Tensor(2 * width, width))
        out = graph.map("tanh", out, instructions=40)
        scores = graph.product("of_words", out, Tensor(width, 8_000))
        graph.softmax(scores)
    graph.write("nmt")


def transformer_xl(batch=4, length=128, memory=128, width=512, heads=8, layers=5):
    graph = Graph()
    rows, all_rows, head = batch * length, batch * (length + memory), width // heads
    at = graph.map("look_up", Tensor(rows, width))
    at = graph.map("scale", at)
    positions = graph.map("positions", Tensor(length + memory, width), instructions=60, registers=40)
    for _ in range(layers):
        whole = graph.map("with_memory", at, like=Tensor(all_rows, width), everywhere=True)
        query = graph.product("query", at, Tensor(width, width))
        key = graph.product("key", whole, Tensor(width, width))
        value = graph.product("value", whole, Tensor(width, width))
        of_places = graph.product("of_places", positions, Tensor(width, width))
        tiles = graph.nodes[query.made_by]["blocks"]
        by_content = graph.map("content_bias", query, blocks=tiles)
        by_place = graph.map("place_bias", query, blocks=tiles)
        flat = lambda tensor: Tensor(rows * heads, head, tensor.made_by)
        scores = Tensor(head, length + memory, key.made_by)
        content = graph.product("content", flat(by_content), scores, batch * heads)
        place = graph.product("place", flat(by_place), Tensor(head, length + memory, of_places.made_by), batch * heads)
        place = graph.map("shift", place, everywhere=True)
        scores = graph.map("add", content, place)
        scores = graph.map("scale", scores)
        scores = graph.by_rows("mask", scores)
        chances = graph.softmax(scores)
        chances = graph.by_rows("dropout", chances, instructions=30, registers=32)
        mixed = graph.product("mix", chances, Tensor(length + memory, head, value.made_by), batch * heads)
        out = graph.product("out", Tensor(rows, width, mixed.made_by), Tensor(width, width))
        out = graph.by_rows("dropout", out, instructions=30, registers=32)
        at = graph.by_rows("residual", out, at)
        at = graph.layer_norm(at)
        wide = graph.product("widen", at, Tensor(width, 4 * width))
        wide = graph.map("add_bias", wide, blocks=graph.nodes[wide.made_by]["blocks"])
        wide = graph.map("relu", wide, blocks=graph.nodes[wide.made_by]["blocks"])
        back = graph.product("narrow", wide, Tensor(4 * width, width))
        back = graph.by_rows("add_bias", back)
        back = graph.by_rows("dropout", back, instructions=30, registers=32)
        at = graph.by_rows("residual", back, at)
        at = graph.layer_norm(at)
    graph.write("transformer_xl")


def amoebanet(size=28, channels=64, cells=4):
    graph = Graph()

    def normed(source, name, columns):
        made = graph.product(name, source, Tensor(source.columns, columns))
        made = graph.map("batch_norm", made, blocks=graph.nodes[made.made_by]["blocks"])
        return made

    def separable(source, width):
        for _ in range(2):
            source = graph.map("relu", source)
            spread = graph.map("depthwise", source, instructions=8 * width * width, registers=48, everywhere=True)
            source = normed(spread, "pointwise", channels)
        return source

    def factored(source):
        source = graph.map("relu", source)
        narrow = normed(source, "narrow_1x1", channels // 4)
        for name in ("row_1x7", "column_7x1"):
            narrow = graph.map("relu", narrow)
            narrow = normed(narrow, name, channels // 4)
        narrow = graph.map("relu", narrow)
        return normed(narrow, "widen_1x1", channels)

    def pool(source, name):
        return graph.map(name, source, instructions=60, registers=32, everywhere=True)

    def cell(before, last):
        states = []
        for source in (before, last):
            source = graph.map("relu", source)
            states.append(normed(source, "squeeze_1x1", channels))
        one = states[0]
        two = states[1]
        # The operators of AmoebaNet-A's normal cell.
        states.append(graph.map("add", pool(one, "average_3x3"), pool(two, "max_3x3")))
        states.append(graph.map("add", two, pool(one, "average_3x3")))
        states.append(graph.map("add", separable(one, 5), separable(states[2], 3)))
        states.append(graph.map("add", separable(states[3], 3), two))
        states.append(graph.map("add", pool(states[2], "average_3x3"), factored(states[3])))
        return graph.map("concatenate", *states[4:], like=Tensor(one.rows, 3 * channels), everywhere=True)

    pixels = 8 * size * size
    image = graph.map("scale", Tensor(pixels, 3))
    stem = normed(image, "stem_3x3", channels)
    before, last = stem, stem
    for _ in range(cells):
        before, last = last, cell(before, last)
    pooled = graph.add(
        "mean", "column_reduction", [last], Tensor(8, last.columns), work=10 * last.elements, blocks=up(last.columns, 32) * 8,
        registers=30, shared=4 << 10, waits=400 + 2 * size * size,
    )
    scores = graph.product("classes", pooled, Tensor(pooled.columns, 1_000))
    scores = graph.by_rows("add_bias", scores)
    graph.softmax(scores)
    graph.write("amoebanet")


if __name__ == "__main__":
    amoebanet()
    nmt()
    rnnlm()
    transformer_xl()
