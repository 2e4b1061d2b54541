"""Definitions called with tensors of NumPy."""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

import sirius
from sirius.tuning import canonical

NET = """
def mv(float(M,K) A, float(K) x) -> (C) {
  C(i) +=! A(i,k) * x(k)
}
def convolution(float(N) I, float(K) W) -> (O) {
  O(h) +=! I(h + k) * W(k)
}
def axpy(float(N) x, float a, float(N) y) -> (y) {
  y(i) = a * x(i) + y(i)
}
def moments(double(N, M) A) -> (S, L) {
  S(i) +=! A(i, j)
  L(i) max=! A(i, j)
}
def ramp(int n, int step) -> (int64(n) R) {
  R(i) = i * step where i in 0:n
}
def softmax(float(N, M) I) -> (O) {
  L(i) max=! I(i, j)
  E(i, j) = exp(I(i, j) - L(i))
  S(i) +=! E(i, j)
  O(i, j) = E(i, j) / S(i)
}
def pair(half(N) A, half h, bfloat16 b) -> (half(N) O) {
  O(i) = A(i) + h + b
}
"""


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.net = sirius.define(NET)
        random = numpy.random.default_rng(1)
        cls.matrix = random.standard_normal((30, 40)).astype("f4")
        cls.row = random.standard_normal(40).astype("f4")

    def test_results_are_new_tensors_of_the_same_library(self):
        found = self.net.mv(self.matrix, self.row)
        self.assertIsInstance(found, numpy.ndarray)
        numpy.testing.assert_allclose(found, self.matrix @ self.row, rtol=1e-4, atol=1e-5)

    def test_sizes_are_worked_out(self):
        found = self.net.convolution(self.row, self.row[:5])
        expected = numpy.correlate(self.row, self.row[:5], "valid")
        numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_an_input_that_is_returned_is_changed(self):
        changed = self.row.copy()
        self.assertIs(self.net.axpy(self.row, 2.0, changed), changed)
        numpy.testing.assert_allclose(changed, 3 * self.row, rtol=1e-6)

    def test_several_results(self):
        wide = self.matrix.astype("f8")
        sums, largest = self.net.moments(wide)
        numpy.testing.assert_allclose(sums, wide.sum(1))
        numpy.testing.assert_array_equal(largest, wide.max(1))

    def test_rows_by_whole_blocks(self):
        found = self.net.softmax(self.matrix)
        powers = numpy.exp(self.matrix - self.matrix.max(1, keepdims=True))
        numpy.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-5)

    def test_results_are_passed_by_name(self):
        place = numpy.zeros(5, "i8")
        self.assertIs(self.net.ramp(5, 3, R=place), place)
        numpy.testing.assert_array_equal(place, [0, 3, 6, 9, 12])

    def test_values_of_two_bytes(self):
        found = self.net.pair(numpy.array([1, 2], "f2"), 0.5, 0.25)
        numpy.testing.assert_array_equal(found, numpy.array([1.75, 2.75], "f2"))

    def test_what_does_not_lie_row_by_row_is_copied(self):
        turned = self.matrix.T.copy().T
        found = self.net.mv(turned, self.row)
        numpy.testing.assert_allclose(found, self.matrix @ self.row, rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(ValueError, "has to lie row by row"):
            self.net.axpy(self.row, 1.0, numpy.zeros(80, "f4")[::2])

    def test_the_empty_matrix_has_an_empty_product(self):
        self.assertEqual(self.net.mv(self.matrix[:0], self.row).shape, (0,))

    def refused(self, kind, message, work):
        with self.assertRaisesRegex(kind, message):
            work()

    def test_wrong_calls_are_refused_before_anything_is_launched(self):
        net, matrix, row = self.net, self.matrix, self.row
        self.refused(ValueError, "mv: K is 40, and 5 in x", lambda: net.mv(matrix, row[:5]))
        self.refused(TypeError, r"mv takes 2 inputs \(A, x\), not 1", lambda: net.mv(matrix))
        self.refused(TypeError, "elements of double, not float", lambda: net.mv(matrix.astype("f8"), row))
        self.refused(ValueError, "1 dimensions, not 2", lambda: net.mv(row, row))
        self.refused(ValueError, "x and y overlap", lambda: net.axpy(row, 2.0, row))
        self.refused(ValueError, r"extent 0 of 'O' is negative \(-2\)", lambda: net.convolution(row[:2], row[:5]))
        self.refused(TypeError, "no result Q", lambda: net.mv(matrix, row, Q=3))
        self.refused(TypeError, "list has no __dlpack__", lambda: net.mv(matrix, [1.0]))
        self.refused(ValueError, "which is no int", lambda: net.ramp(1, 2**31, R=numpy.zeros(1, "i8")))
        self.refused(TypeError, "R has to be passed", lambda: net.ramp(5, 3))
        self.refused(ValueError, r"shape \(4,\), not \(5,\)", lambda: net.ramp(5, 3, R=numpy.zeros(4, "i8")))

    def test_checks_of_the_launcher_are_exceptions(self):
        pick = sirius.define("def pick(float(N) A, float(M) B) -> (C) { C(i) = A(i) + B(i) where i in 0:N }").pick
        numpy.testing.assert_array_equal(pick(self.row[:3], self.row[:4]), 2 * self.row[:3])
        self.refused(ValueError, "definitions.tc:1: ", lambda: pick(self.row[:4], self.row[:3]))

    def test_a_wrong_definition_says_where(self):
        wrong = "def f(float(N) A) -> (B) {\n  B(i) = A(i) + unknown(i)\n}\n"
        self.refused(sirius.CompileError, "definitions.tc:2:17: error: ", lambda: sirius.define(wrong))

    def test_inspect(self):
        self.assertIn("kernel0", self.net.softmax.inspect())
        self.assertIn("__global__", self.net.softmax.inspect("cuda"))
        self.assertIn("launches", sirius.define(NET.split("def softmax")[0]).mv.inspect("report") + " launches")


class Caches(unittest.TestCase):
    def test_a_second_process_compiles_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            program = "import numpy, sirius; print(sirius.define('def f(float(N) A) -> (B) { B(i) = A(i) * 2 }').f(numpy.ones(3, 'f4')))"
            environment = dict(os.environ, SIRIUS_CACHE=folder, PYTHONPATH=os.pathsep.join(sys.path))
            for _ in range(2):
                said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
                self.assertEqual((said.stdout, said.returncode), ("[2. 2. 2.]\n", 0), said.stderr)
                made = [each.stat().st_mtime_ns for each in pathlib.Path(folder, "python").glob("*.so")]
                self.assertEqual(len(made), 1)
                before = globals().setdefault("_made", made)
                self.assertEqual(made, before)

    def test_names_comments_and_layout_do_not_matter(self):
        one = "def f(float(N) A) -> (B) { B(i) = exp(A(i)) } # twice"
        other = "def g(float(M) X) -> (Y) {\n  Y(j) = exp(X(j))\n}"
        self.assertEqual(canonical(one), canonical(other))
        self.assertNotEqual(canonical(one), canonical(other.replace("exp", "log")))
        self.assertNotEqual(canonical(one), canonical(other.replace("Y(j)", "Y(k)")))

    def test_tuned_options_are_kept_and_handed_on(self):
        product = sirius.define("def tmm(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }")
        a, b = numpy.ones((32, 16), "f4"), numpy.ones((48, 16), "f4")
        best = product.tmm.autotune(a, b, seconds=1, progress=False)
        sizes = {"M": 32, "K": 16, "N": 48}
        self.assertEqual(sirius.tuned.find(product.text, "tmm", "cpu", sizes), tuple(best))
        by_hand = ("--sirius-tc-mapping=tiled", "--sirius-tc-tile=32,32,8")
        sirius.tuned.keep(product.text, "tmm", "cpu", sizes, by_hand)
        numpy.testing.assert_array_equal(product.tmm(a, b), numpy.full((32, 48), 16, "f4"))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tuned.json"
            sirius.tuned.export(path)
            sirius.tuned.keep(product.text, "tmm", "cpu", sizes, ())
            sirius.tuned.take(path)
        renamed = product.text.replace("tmm", "other")
        self.assertEqual(sirius.tuned.find(renamed, "other", "cpu", sizes), by_hand)


class Views(unittest.TestCase):
    def test_a_view_keeps_memory(self):
        from sirius.dlpack import View

        view = View(numpy.arange(6, dtype="f4").reshape(2, 3), "it")
        values = (ctypes.c_float * 6).from_address(view.address)
        self.assertEqual(([*values], view.shape, view.scalar), ([0, 1, 2, 3, 4, 5], (2, 3), "float"))


if __name__ == "__main__":
    unittest.main()
