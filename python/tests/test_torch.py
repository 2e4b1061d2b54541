"""Definitions with tensors of PyTorch, gradients, and models that are compiled."""

import copy
import math
import unittest

import torch
import torch.nn as nn

import sirius
import sirius.dynamo
from sirius.autograd import differentiable
from sirius.translation import BINARY, UNARY

aten = torch.ops.aten


class Definitions(unittest.TestCase):
    def test_tensors_of_torch(self):
        net = sirius.define("def mv(float(M,K) A, float(K) x) -> (C) { C(i) +=! A(i,k) * x(k) }")
        a, x = torch.randn(5, 7), torch.randn(7)
        torch.testing.assert_close(net.mv(a, x), a @ x)
        torch.testing.assert_close(net.mv(a.T.contiguous().T, x), a @ x)

    def test_bfloat16(self):
        net = sirius.define("def twice(bfloat16(N) A) -> (bfloat16(N) B) { B(i) = A(i) * 2 }")
        a = torch.randn(9).bfloat16()
        torch.testing.assert_close(net.twice(a), a * 2)

    def test_gradients(self):
        net = sirius.define(
            """
            def scaled(float(N, M) A, float(M) w, float c) -> (B) { B(i, j) = A(i, j) * w(j) * c }
            def scaled_back(float(N, M) A, float(M) w, float c, float(N, M) dB) -> (dA, dw) {
              dA(i, j) = dB(i, j) * w(j) * c
              dw(j) +=! dB(i, j) * A(i, j) * c
            }
            """
        )
        scaled = differentiable(net.scaled, net.scaled_back)
        a = torch.randn(4, 5, dtype=torch.float32, requires_grad=True)
        w = torch.randn(5, requires_grad=True)
        (scaled(a, w, 3.0) ** 2).sum().backward()
        found = a.grad.clone(), w.grad.clone()
        a.grad = w.grad = None
        ((a * w * 3.0) ** 2).sum().backward()
        torch.testing.assert_close(found, (a.grad, w.grad))


class Models(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch._dynamo.reset()
        sirius.dynamo.made.clear()

    def compare(self, model, *inputs, functions=None, kernels=None, **tolerance):
        """The same as eager; how many functions and kernels were made."""
        compiled = torch.compile(model, backend="sirius", dynamic=False)
        with torch.no_grad():
            torch.testing.assert_close(compiled(*inputs), model(*inputs), equal_nan=True, **tolerance)
        if functions is not None:
            self.assertEqual(len(sirius.dynamo.made), functions)
        if kernels is not None:
            self.assertLessEqual(sirius.dynamo.kernels(), kernels)

    def test_mlp(self):
        model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4), nn.Sigmoid())
        self.compare(model, torch.randn(8, 16), functions=1, kernels=2)

    def test_lstm_cell(self):
        self.compare(nn.LSTMCell(8, 16), torch.randn(4, 8), functions=1, kernels=3)

    def test_transformer_layer(self):
        model = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
        self.compare(model, torch.randn(2, 10, 32), functions=1, kernels=15)

    def test_normalisation_is_one_kernel(self):
        model = nn.Sequential(nn.LayerNorm(32), nn.GELU())
        self.compare(model, torch.randn(8, 32), functions=1, kernels=1)

    def test_what_is_not_taken_stays_pytorchs(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.GroupNorm(2, 4)).eval()
        self.compare(model, torch.randn(2, 3, 8, 8), functions=1)

    def test_embedding(self):
        model = nn.Sequential(nn.Embedding(20, 8), nn.LayerNorm(8), nn.Softplus(), nn.Hardswish(), nn.Hardtanh())
        self.compare(model, torch.randint(0, 20, (5, 7)), functions=1)

    def test_training(self):
        model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))
        other, inputs, classes = copy.deepcopy(model), torch.randn(8, 16), torch.arange(8) % 4
        compiled = torch.compile(other, backend="sirius", dynamic=False)
        nn.functional.cross_entropy(model(inputs), classes).backward()
        nn.functional.cross_entropy(compiled(inputs), classes).backward()
        for mine, theirs in zip(other.parameters(), model.parameters()):
            torch.testing.assert_close(mine.grad, theirs.grad)

    def test_operators_of_one_operand(self):
        strange = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1.0, 2.5, -2.5, 0.3]
        values = torch.tensor([strange, [-each for each in reversed(strange)]])

        def all_of_them(x):
            return tuple(operator(x) for operator in UNARY if operator is not aten.logical_not.default)

        self.compare(all_of_them, values, functions=1, rtol=1e-5, atol=1e-6)

    def test_operators_of_two_operands(self):
        strange = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, -1.0, 2.5, 3.0])
        one, other = strange.reshape(8, 1), strange.reshape(1, 8)

        def all_of_them(x, y):
            packets = [each for each in BINARY if each not in (aten.logical_and, aten.logical_or)]
            return (*(each(x, y) for each in packets), torch.add(x, y, alpha=3), (x < y) & (y == y), x.clamp(-1, 2))

        self.compare(all_of_them, one, other, rtol=1e-6, atol=0)

    def test_whole_numbers(self):
        one, other = torch.randint(-9, 9, (4, 5)), torch.randint(-9, 9, (4, 5))
        self.compare(lambda x, y: (x * y + 3, x - y, x < y, torch.where(x == y, x, y), -x), one, other)
        # What C++ would make of these is not what PyTorch does.
        self.compare(lambda x, y: (x / y.abs().clamp(1), x + 0.5, x // 3, x.to(torch.int8) + 100), one, other)

    def test_largest_of_what_is_no_number(self):
        values = torch.randn(4, 6)
        values[1, 2], values[2, 0] = math.nan, -math.inf
        self.compare(lambda x: (x.amax(1), x.amin(0), x.amax((0, 1)), torch.softmax(x, 1)), values)

    def test_conversions_round(self):
        values = torch.randn(4, 6)

        def rounded(x):
            return x.half().float() * 2, x.bfloat16().float() - x, x.double() + 1, (x.double() / 3).float(), x.bool()

        self.compare(rounded, values, rtol=0, atol=0)

    def test_reductions(self):
        values = torch.randn(3, 4, 5)

        def reductions(x):
            return x.sum((0, 2)), x.mean(1, keepdim=True), x.var(2), x.std(2, correction=0), (x > 0).any(1), x.sum()

        self.compare(reductions, values)

    def test_what_only_moves_indices(self):
        values = torch.randn(6, 20)

        def views(x):
            y = x + 1
            return (
                y.view(2, 3, 4, 5).permute(0, 2, 1, 3).reshape(2, 4, 15) * 2,
                y.t().reshape(4, 30) + 1,
                y[1:4, 3:] * y[2:5, :17],
                y[3].unsqueeze(0).expand(4, 20) - y[:4],
                (y.view(3, 40).view(8, 15) * 3).unsqueeze(1).squeeze(1),
                y.transpose(0, 1)[:, None, :2] * 2,
                y[-2:, -3:] * 1.5,
                torch.cat([x, y[:, :3], x * 2], 1) + 1,
                torch.cat([x, x]) * 3,
                sum(y.split(5, 1)),
            )

        self.compare(views, values)

    def test_long_chains_stay_short(self):
        def chain(x):
            for _ in range(40):
                x = torch.relu(x * x - 0.5)
            return x

        self.compare(chain, torch.randn(10), functions=1, kernels=1)
        self.assertLess(len(sirius.dynamo.made[0].definitions.text), 20_000)


if __name__ == "__main__":
    unittest.main()
