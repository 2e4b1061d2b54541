#!/usr/bin/env python3
"""PyTorch's version of a model in test_programs/models/: `time eager US` and `time compiled US` for each sample.

usage: bench/pytorch_models.py MODEL [--small] [--wait]. The networks have the structure and sizes of ours, and PyTorch's own
layers; weights are random, since only times are compared. With --wait, times are taken when a line has come in, so that
PyTorch compiles while something else runs. Needs a GPU.
"""

import sys

import torch
from torch import nn
from torch.nn import functional

WARM, SAMPLES = 5, 20


class Lstm(nn.Module):
    def __init__(self, cells, hidden):
        super().__init__()
        self.stack = nn.LSTM(hidden, hidden, cells)

    def forward(self, x):
        return self.stack(x)[0]


class Seq2seq(nn.Module):
    def __init__(self, encoders, decoders, words, hidden):
        super().__init__()
        self.encoder = nn.LSTM(hidden, hidden, encoders)
        self.decoder = nn.ModuleList(nn.LSTMCell(hidden, hidden) for _ in range(decoders))
        self.words, self.hidden = words, hidden

    def forward(self, x):
        word = self.encoder(x)[1][1][-1]
        states = [(torch.zeros_like(word), torch.zeros_like(word)) for _ in self.decoder]
        said = []
        for _ in range(self.words):
            for level, cell in enumerate(self.decoder):
                states[level] = cell(word, states[level])
                word = states[level][0]
            said.append(word)
        return torch.stack(said)


class DeepSpeech2(nn.Module):
    def __init__(self, bands, channels, layers, hidden):
        super().__init__()
        self.images = nn.Sequential(
            nn.Conv2d(1, channels, (11, 41), 2, (5, 20), bias=False), nn.ReLU6(), nn.BatchNorm2d(channels),
            nn.Conv2d(channels, channels, (11, 21), (1, 2), (5, 10), bias=False), nn.ReLU6(), nn.BatchNorm2d(channels))
        self.stack = nn.LSTM(channels * ((bands - 1) // 2 + 1), hidden, layers)
        self.norm, self.letters = nn.BatchNorm1d(hidden), nn.Linear(hidden, 29)

    def forward(self, x):
        x = self.images(x).flatten(1, 2).permute(2, 0, 1)
        return self.letters(self.norm(self.stack(x)[0].squeeze(1)))


class Bottleneck(nn.Module):
    def __init__(self, before, inner, stride, groups, changes):
        super().__init__()
        self.way = nn.Sequential(
            nn.Conv2d(before, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, inner, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, 2 * inner, 1, bias=False), nn.BatchNorm2d(2 * inner))
        around = nn.Sequential(nn.Conv2d(before, 2 * inner, 1, stride, bias=False), nn.BatchNorm2d(2 * inner))
        self.around = around if changes else nn.Identity()

    def forward(self, x):
        return functional.relu(self.way(x) + self.around(x))


def resnext(base, groups, classes, stages):
    layers = [nn.Conv2d(3, base, 7, 2, 3, bias=False), nn.BatchNorm2d(base), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = base
    for stage, blocks in enumerate(stages):
        inner = 2 * base << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            layers.append(Bottleneck(before, inner, stride, groups, block == 0))
            before = 2 * inner
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def squeeze(before, after, stride=1):
    return nn.Sequential(nn.ReLU(), nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))


def separable(channels, window, stride=1):
    def half(stride):
        return [nn.ReLU(), nn.Conv2d(channels, channels, window, stride, window // 2, groups=channels, bias=False),
                nn.Conv2d(channels, channels, 1, bias=False), nn.BatchNorm2d(channels)]
    return nn.Sequential(*half(stride), *half(1))


class Cell(nn.Module):
    def __init__(self, before, now, channels, wider):
        super().__init__()
        self.past, self.here = squeeze(before, channels, 2 if wider else 1), squeeze(now, channels)
        self.parts = nn.ModuleList(separable(channels, window) for window in (3, 3, 5, 5, 3))

    def forward(self, before, now):
        past, here = self.past(before), self.here(now)
        mean = lambda x: functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        part = self.parts
        return torch.cat([past, part[0](here) + here, part[1](past) + part[2](here), mean(here) + past,
                          mean(past) + mean(past), part[3](past) + part[4](past)], 1)


class Reduction(nn.Module):
    def __init__(self, before, now, channels):
        super().__init__()
        self.past, self.here = squeeze(before, channels), squeeze(now, channels)
        self.parts = nn.ModuleList(separable(channels, window, 2) for window in (7, 5, 7, 5))
        self.last = separable(channels, 3)

    def forward(self, before, now):
        past, here = self.past(before), self.here(now)
        most = functional.max_pool2d(here, 3, 2, 1)
        mean = functional.avg_pool2d(here, 3, 2, 1, count_include_pad=False)
        part = self.parts
        total, first = part[0](past) + part[1](here), most + part[2](past)
        around = functional.avg_pool2d(total, 3, 1, 1, count_include_pad=False)
        return torch.cat([first, mean + part[3](past), around + first, self.last(total) + most], 1)


class Nasnet(nn.Module):
    def __init__(self, filters, cells, stages):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 3 * filters, 3, 1, 1, bias=False), nn.BatchNorm2d(3 * filters))
        before = now = 3 * filters
        self.cells = nn.ModuleList()
        for stage in range(stages):
            channels, wider = filters << stage, False
            if stage:
                self.cells.append(Reduction(before, now, channels))
                before, now, wider = now, 4 * channels, True
            for _ in range(cells):
                self.cells.append(Cell(before, now, channels, wider))
                before, now, wider = now, 6 * channels, False
        self.classes = nn.Linear(now, 10)

    def forward(self, x):
        before = now = self.stem(x)
        for cell in self.cells:
            before, now = now, cell(before, now)
        return self.classes(functional.relu(now).mean((2, 3)))


def bert(layers, heads):
    width = 64 * heads
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).half()


def network(name, small):
    if name == "lstm":
        cells, steps, hidden = (3, 5, 64) if small else (10, 100, 256)
        return Lstm(cells, hidden), torch.randn(steps, 1, hidden)
    if name == "seq2seq":
        encoders, decoders, steps, words, hidden = (3, 2, 5, 3, 64) if small else (8, 4, 100, 30, 128)
        return Seq2seq(encoders, decoders, words, hidden), torch.randn(steps, 1, hidden)
    if name == "deepspeech2":
        bands, frames, channels, layers, hidden = (21, 20, 8, 3, 64) if small else (171, 300, 32, 7, 256)
        return DeepSpeech2(bands, channels, layers, hidden), torch.randn(1, 1, bands, frames)
    if name == "resnext":
        size = 32 if small else 224
        return resnext(*((16, 8, 10, (2, 1)) if small else (64, 32, 1000, (3, 4, 6, 3)))), torch.randn(1, 3, size, size)
    if name == "nasnet":
        size = 16 if small else 32
        return Nasnet(*((16, 2, 1) if small else (32, 6, 3))), torch.randn(1, 3, size, size)
    if name == "bert":
        layers, heads, tokens = (2, 2, 64) if small else (12, 12, 384)
        return bert(layers, heads), torch.randn(1, tokens, 64 * heads).half()
    sys.exit(f"no model is called {name}")


def microseconds(run, x):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run(x)
    end.record()
    end.synchronize()
    return 1e3 * begin.elapsed_time(end)


def main():
    model, x = network(sys.argv[1], "--small" in sys.argv)
    model, x = model.cuda().eval(), x.cuda()
    ways = [("eager", model), ("compiled", torch.compile(model))]
    with torch.inference_mode():
        take(ways, x, WARM)
        if "--wait" in sys.argv:
            print("ready", flush=True)
            sys.stdin.readline()
            take(ways, x, WARM)
        for way, taken in take(ways, x, SAMPLES):
            print(f"time {way} {taken:.3f}")


def take(ways, x, samples):
    return [(way, microseconds(run, x)) for _ in range(samples) for way, run in ways]


if __name__ == "__main__":
    main()
