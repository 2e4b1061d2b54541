"""Definitions called with tensors of NumPy."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

import sirius

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

TMM = "def tmm(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"


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


class Templates(unittest.TestCase):
    def test_a_template_says_which_kernels_there_are(self):
        text = "def softmax" + NET.split("def softmax")[1].split("def pair")[0]
        one = "template softmax { kernel row 1 { L: block E: block S: block O: thread } }"
        two = (
            "template softmax { kernel row 1 threads 32 rows 8 { L: warp E: thread } "
            "kernel row 1 threads 16 rows 8 { S: warp O: thread } }"
        )
        matrix = numpy.random.default_rng(2).standard_normal((5, 70)).astype("f4")
        powers = numpy.exp(matrix - matrix.max(1, keepdims=True))
        for template, kernels in ((one, 1), (two, 2)):
            net = sirius.define(text, template=template)
            self.assertEqual(net.softmax.inspect("cuda").count("static __global__"), kernels)
            numpy.testing.assert_allclose(net.softmax(matrix), powers / powers.sum(1, keepdims=True), rtol=1e-5)
        chosen = sirius.define(text).softmax.inspect("template")
        self.assertIn("template softmax {", chosen)
        self.assertEqual(sirius.define(text, template=chosen).softmax.inspect("template"), chosen)

    def test_wrong_templates_are_refused(self):
        for template, message in (
            ("template other { kernel elements { C: thread } }", "there is no definition 'other'"),
            ("template tmm { kernel rows 1 { C: thread } }", "error: "),
            ("tmm.template", "a template is written as"),
        ):
            with self.assertRaisesRegex(sirius.CompileError, message):
                sirius.define(TMM, template=template)
        short = sirius.define(TMM, template="template tmm { kernel row 2 { C: thread } }")
        with self.assertRaisesRegex(sirius.CompileError, "template:1:"):
            short.tmm.compile("cpu")


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
        options = ("--sirius-tc-mapping=parallel",)
        sirius.tuned.keep(one, "f", "cpu", {"N": 3}, options)
        self.assertEqual(sirius.tuned.find(other, "g", "cpu", {"M": 3}), options)
        self.assertEqual(sirius.tuned.find(other, "g", "cpu", {"M": 4}), ())
        self.assertEqual(sirius.tuned.find(other.replace("exp", "log"), "g", "cpu", {"M": 3}), ())
        ordered = ("--sirius-tc-reductions=ordered",)
        self.assertEqual(sirius.tuned.find(other, "g", "cpu", {"M": 3}, ordered), ())

    def test_tuned_options_are_kept_and_handed_on(self):
        product = sirius.define(TMM)
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
            path.write_text('{"entries": [{"key": 1}]}')
            with self.assertRaisesRegex(ValueError, "no file of known options"):
                sirius.tuned.take(path)
        renamed = product.text.replace("tmm", "other")
        self.assertEqual(sirius.tuned.find(renamed, "other", "cpu", sizes), by_hand)

    def test_the_compiler_and_the_package_know_the_same(self):
        def compiler(*words):
            words = [str(sirius.compiler()), "tc", source, "--sirius-device=cpu", *words]
            return subprocess.run(words, capture_output=True, text=True, check=True).stdout

        with tempfile.TemporaryDirectory() as folder:
            source, path = pathlib.Path(folder, "net.tc"), pathlib.Path(folder, "known.json")
            source.write_text(TMM)
            # Found by the command line, and taken here: from its file, and from the cache.
            compiler("--tune=M=24,K=8,N=40", f"--known={path}")
            sizes = {"M": 24, "K": 8, "N": 40}
            self.assertEqual(sirius.tuned.find(TMM, "tmm", "cpu", sizes), ())
            sirius.tuned.take(path)
            found = sirius.tuned.find(TMM, "tmm", "cpu", sizes)
            self.assertEqual(list(found), json.loads(path.read_text())["entries"][0]["options"])
            product = sirius.define(TMM).tmm(numpy.ones((24, 8), "f4"), numpy.ones((40, 8), "f4"))
            numpy.testing.assert_array_equal(product, numpy.full((24, 40), 8, "f4"))
            compiler("--tune=M=25,K=8,N=40")
            self.assertNotEqual(sirius.tuned.find(TMM, "tmm", "cpu", dict(sizes, M=25)), ())
            # Kept here, and taken by the command line: from the cache, and from a file.
            by_hand = ("--sirius-tc-mapping=tiled", "--sirius-tc-tile=16,32,4")
            sirius.tuned.keep(TMM, "tmm", "cpu", dict(sizes, M=77), by_hand)
            self.assertIn("if (M == 77 && K == 8 && N == 40) {", compiler())
            self.assertIn("16 m x 32 n, and takes 4 k", compiler())
            sirius.tuned.export(path)
            self.assertEqual(compiler(f"--sirius-tc-known={path}"), compiler())
            self.assertNotIn("M == 77", compiler("--sirius-tc-known=off"))
            entries = compiler("--tune=M=77,K=8,N=40", f"--known={path}", "--emit=options")
            self.assertEqual(json.loads(entries)["entries"][0]["options"], list(by_hand))

    def test_a_known_template_is_for_definitions_of_its_name(self):
        text = "def softmax" + NET.split("def softmax")[1].split("def pair")[0]
        renamed = text.replace("softmax", "rows")
        sizes = {"N": 5, "M": 71}
        stitched = ["--sirius-tc-mapping=stitched"]
        sirius.tuned.keep(text, "softmax", "cpu", sizes, stitched)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tuned.json"
            sirius.tuned.export(path)
            entries = [each for each in json.loads(path.read_text())["entries"] if each["sizes"] == [*map(list, sizes.items())]]
            self.assertEqual(len(entries), 1)
            # One that no model would choose: a kernel for each statement.
            teams = ("L: warp", "E: thread", "S: warp", "O: thread")
            entries[0]["template"] = [
                "template softmax {",
                *(f"  kernel row 1 threads 32 rows 8 {{ {each} }}" for each in teams),
                "}",
            ]
            path.write_text(json.dumps({"entries": entries}))
            sirius.tuned.take(path)
        found = sirius.tuned.find(text, "softmax", "cpu", sizes)
        self.assertEqual(found, (*stitched, "--sirius-template=" + "\n".join(entries[0]["template"])))
        self.assertEqual(sirius.tuned.find(renamed, "rows", "cpu", sizes), (*stitched,))
        for net, name, kernels in ((sirius.define(text), "softmax", 4), (sirius.define(renamed), "rows", 1)):
            known = sirius.tuned.find(net.text, name, "cpu", sizes)
            made = getattr(sirius.define(net.text, options=known), name).inspect("cuda")
            self.assertEqual(made.count("static __global__"), kernels)
        matrix = numpy.random.default_rng(3).standard_normal((5, 71)).astype("f4")
        powers = numpy.exp(matrix - matrix.max(1, keepdims=True))
        numpy.testing.assert_allclose(sirius.define(text).softmax(matrix), powers / powers.sum(1, keepdims=True), rtol=1e-5)

    def test_options_of_another_compiler_cost_nothing_but_speed(self):
        twice = sirius.define("def f(float(N) A) -> (B) { B(i) = A(i) * 2 }")
        sirius.tuned.keep(twice.text, "f", "cpu", {"N": 3}, ("--sirius-tc-mapping=spiral",))
        numpy.testing.assert_array_equal(twice.f(numpy.ones(3, "f4")), numpy.full(3, 2, "f4"))


class Toolkits(unittest.TestCase):
    def test_wheels_are_a_toolkit_where_all_are_there(self):
        from sirius.command import toolkit

        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "nvidia", "cu13")
            parts = ("include/cuda_runtime.h", "include/crt/host_config.h", "bin/ptxas", "bin/fatbinary")
            for part in (*parts, "nvvm/libdevice/libdevice.10.bc"):
                self.assertIsNone(toolkit(folder))
                (root / part).parent.mkdir(parents=True, exist_ok=True)
                (root / part).touch()
            self.assertEqual(toolkit(folder), root)


class Views(unittest.TestCase):
    def test_a_view_keeps_memory(self):
        from sirius.dlpack import View

        view = View(numpy.arange(6, dtype="f4").reshape(2, 3), "it")
        values = (ctypes.c_float * 6).from_address(view.address)
        self.assertEqual(([*values], view.shape, view.scalar), ([0, 1, 2, 3, 4, 5], (2, 3), "float"))


if __name__ == "__main__":
    unittest.main()
