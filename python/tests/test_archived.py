"""Comprehensions as the Tensor Comprehensions project's tests and pages had them, in words of our own, against NumPy."""

import unittest

import numpy

import sirius

NET = """
def batched_affine(float(B,M) I, float(N,M) W, float(N) bias) -> (O) {
  O(b, n) = bias(n) where b in 0:B
  O(b, n) += I(b, m) * W(n, m)
}
def l2_norm(float(N,D) I) -> (norms) {
  squares(n) +=! I(n, d) * I(n, d)
  norms(n) = sqrt(squares(n))
}
def cosine(float(M,N) A, float(M,N) B, float eps) -> (O) {
  dots(i) +=! A(i, j) * B(i, j)
  ones(i) +=! A(i, j) * A(i, j)
  others(i) +=! B(i, j) * B(i, j)
  O(i) = dots(i) / fmax(eps, sqrt(ones(i) * others(i)))
}
def average_pool(float(B,C,H,W) I) -> (O) {
  O(b, c, h, w) +=! I(b, c, h * 2 + kh, w * 2 + kw) where kh in 0:3, kw in 0:3
  O(b, c, h, w) = O(b, c, h, w) / (3 * 3)
}
def convolution_1d(float(B,C,T) I, float(O,C,K) W, float(O) bias) -> (R) {
  R(b, o, t) +=! I(b, c, t + k) * W(o, c, k)
  R(b, o, t) = R(b, o, t) + bias(o)
}
def depthwise(float(N,C,H,W) I, float(C,KH,KW) F) -> (O) {
  O(n, c, h, w) +=! I(n, c, h + kh, w + kw) * F(c, kh, kw)
}
def batch_norm(float(N,C,H,W) I, float(C) mean0, float(C) var0) -> (O, mean, var) {
  sums(c) +=! I(n, c, h, w)
  mean(c) = 0.9 * mean0(c) + 0.1 * (sums(c) / (N * H * W))
  centred(n, c, h, w) = I(n, c, h, w) - sums(c) / (N * H * W)
  squares(c) +=! centred(n, c, h, w) * centred(n, c, h, w)
  var(c) = 0.9 * var0(c) + 0.1 * (squares(c) / (N * H * W))
  O(n, c, h, w) = centred(n, c, h, w) * rsqrt(squares(c) / (N * H * W) + 0.00001)
}
def upscale(float(N,H,W) I) -> (O) {
  O(n, h, w) = I(n, h / 2, w / 2) where h in 0:2 * H, w in 0:2 * W
}
def shuffle(float(N,A,B) I) -> (O) {
  O(n, b, a) = I(n, a, b)
}
def one_hot(int(N) labels, float(C) ramp) -> (O) {
  O(n, c) = labels(n) == c ? 1.0 : 0.0 where c in 0:C, n in 0:N, exists ramp(c)
}
def diagonal(float(N,N) A) -> (d, trace) {
  d(i) = A(i, i)
  trace +=! A(i, i)
}
def bilinear(float(B,I) x, float(O,I,J) W, float(B,J) y) -> (R) {
  R(b, o) +=! x(b, i) * W(o, i, j) * y(b, j)
}
def lower(float(N,N) A, float(N) x) -> (y) {
  y(i) +=! A(i, j) * x(j) where j in 0:i + 1
}
def argmax(float(N,M) A) -> (at) {
  best(n) max=! A(n, m)
  at(n) min=! A(n, m) == best(n) ? m : M
}
def local_response(float(N,C,H) I, float(N,P,H) padded) -> (O) {
  s(n, c, h) +=! padded(n, c + k, h) * padded(n, c + k, h) where k in 0:3
  O(n, c, h) = I(n, c, h) * pow(1 + s(n, c, h), -0.75)
}
def histogram(int(N) at, float(C) like) -> (int32(C) O) {
  O(c) +=! at(n) == c ? 1 : 0
}
def gated(float(B,D) I, float(D,D) V, float(D,D) G) -> (O) {
  value(b, o) +=! I(b, d) * V(o, d)
  gate(b, o) +=! I(b, d) * G(o, d)
  O(b, o) = value(b, o) * (1 / (1 + exp(-gate(b, o))))
}
def outer(float(N) a, float(M) b) -> (O) {
  O(i, j) = a(i) * b(j)
}
def transposed_convolution(float(N,C,H) I, float(C,O,K) W) -> (R) {
  R(n, o, h) +=! h - k >= 0 && h - k < H ? I(n, c, h - k) * W(c, o, k) : 0.0 where h in 0:H + K - 1
}
"""


def close(found, expected):
    numpy.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


class Archived(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.net = sirius.define(NET)
        cls.random = numpy.random.default_rng(7)

    def numbers(self, *shape):
        return self.random.standard_normal(shape).astype("f4")

    def test_affine(self):
        I, W, bias = self.numbers(5, 7), self.numbers(9, 7), self.numbers(9)
        close(self.net.batched_affine(I, W, bias), I @ W.T + bias)

    def test_norms(self):
        A, B = self.numbers(6, 33), self.numbers(6, 33)
        close(self.net.l2_norm(A), numpy.linalg.norm(A, axis=1))
        lengths = numpy.linalg.norm(A, axis=1) * numpy.linalg.norm(B, axis=1)
        close(self.net.cosine(A, B, 1e-8), (A * B).sum(1) / lengths)

    def test_pooling(self):
        I = self.numbers(2, 3, 9, 11)
        windows = numpy.lib.stride_tricks.sliding_window_view(I, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
        close(self.net.average_pool(I), windows.mean((4, 5)))

    def test_convolutions(self):
        I, W, bias = self.numbers(2, 3, 10), self.numbers(4, 3, 3), self.numbers(4)
        windows = numpy.lib.stride_tricks.sliding_window_view(I, 3, axis=2)
        close(self.net.convolution_1d(I, W, bias), numpy.einsum("bctk,ock->bot", windows, W) + bias[:, None])
        I, W = self.numbers(2, 3, 6, 7), self.numbers(3, 2, 3)
        windows = numpy.lib.stride_tricks.sliding_window_view(I, (2, 3), axis=(2, 3))
        close(self.net.depthwise(I, W), numpy.einsum("nchwij,cij->nchw", windows, W))
        I, W = self.numbers(2, 3, 5), self.numbers(3, 4, 3)
        expected = numpy.zeros((2, 4, 7), "f4")
        for k in range(3):
            expected[:, :, k : k + 5] += numpy.einsum("nch,co->noh", I, W[:, :, k])
        close(self.net.transposed_convolution(I, W), expected)

    def test_batch_norm(self):
        I, mean, var = self.numbers(3, 4, 5, 2), self.numbers(4), self.numbers(4)
        O, next_mean, next_var = self.net.batch_norm(I, mean, var)
        own = I.mean((0, 2, 3)), I.var((0, 2, 3))
        close(next_mean, 0.9 * mean + 0.1 * own[0])
        close(next_var, 0.9 * var + 0.1 * own[1])
        close(O, (I - own[0][:, None, None]) / numpy.sqrt(own[1] + 1e-5)[:, None, None])

    def test_indices_alone(self):
        I = self.numbers(2, 3, 4)
        close(self.net.upscale(I), I.repeat(2, 1).repeat(2, 2))
        close(self.net.shuffle(I), I.transpose(0, 2, 1))
        A = self.numbers(6, 6)
        d, trace = self.net.diagonal(A)
        close(d, numpy.diag(A))
        close(trace, numpy.trace(A))

    def test_whole_numbers(self):
        labels = numpy.array([3, 0, 4, 3], "i4")
        close(self.net.one_hot(labels, self.numbers(5)), numpy.eye(5)[labels])
        found = self.net.histogram(labels, self.numbers(5))
        numpy.testing.assert_array_equal(found, numpy.bincount(labels, minlength=5))
        A = self.numbers(5, 17)
        numpy.testing.assert_array_equal(self.net.argmax(A), A.argmax(1))

    def test_products(self):
        x, W, y = self.numbers(3, 4), self.numbers(5, 4, 6), self.numbers(3, 6)
        close(self.net.bilinear(x, W, y), numpy.einsum("bi,oij,bj->bo", x, W, y))
        A, x = self.numbers(8, 8), self.numbers(8)
        close(self.net.lower(A, x), numpy.tril(A) @ x)
        close(self.net.outer(x, A[0, :5]), numpy.outer(x, A[0, :5]))
        I, V, G = self.numbers(4, 6), self.numbers(6, 6), self.numbers(6, 6)
        close(self.net.gated(I, V, G), (I @ V.T) / (1 + numpy.exp(-(I @ G.T))))

    def test_local_response(self):
        I = self.numbers(2, 5, 3)
        padded = numpy.pad(I, ((0, 0), (1, 1), (0, 0)))
        sums = sum((padded * padded)[:, k : k + 5] for k in range(3))
        with self.assertRaises(sirius.CompileError):
            sirius.define("def wrong(float(N,C + 2) A) -> (O) { O(n) +=! A(n, c) }")
        close(self.net.local_response(I, padded), I * (1 + sums) ** -0.75)


if __name__ == "__main__":
    unittest.main()
