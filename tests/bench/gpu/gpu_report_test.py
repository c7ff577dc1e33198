#!/usr/bin/env python3
"""deploy/gpu_report.py makes the right numbers of what a GPU has printed."""

import json
import pathlib
import sys
import tempfile
import unittest

# Not resolved: in a test's own tree, deploy lies beside tests.
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "deploy"))
import gpu_report  # noqa: E402

STEPS = ("passed\tdevice\t0\tNVIDIA H200, 580.1, 143771 MiB\n"
         "passed\tdevice_suite\t12\t[  PASSED  ] 9 | 9\n")

FOUND = [
    {"row": 0, "name": "copy", "who": "copy", "bytes": 4.0e9, "flops": 0,
     "us": 1000.0},
    {"row": 6, "name": "gemm_f32", "who": "library", "bytes": 8, "flops": 1e12,
     "us": 20000.0},
    {"row": 1, "name": "chain", "who": "hawser", "bytes": 2.0e9, "flops": 0,
     "us": 625.0, "compile_ms": 40, "detail": {"launches": 1}},
    {"row": 6, "name": "gemm_f32", "who": "hawser", "bytes": 8, "flops": 1e12,
     "us": 25000.0},
    {"row": 6, "name": "gemm_tf32", "who": "hawser", "bytes": 8, "flops": 1e12,
     "skipped": "no such option"},
    {"row": 7, "name": "gemm_bf16", "who": "hawser", "bytes": 8, "flops": 1e12,
     "error": "INTERNAL: a|b"},
    {"row": 16, "name": "while", "who": "hawser", "bytes": 16, "flops": 0,
     "us": 3.5},
    {"who": "torch", "version": "torch 2.9"},
    {"row": 1, "name": "chain", "who": "torch", "us": 2500.0},
    {"row": 6, "name": "gemm_f32", "who": "torch", "us": 16000.0},
    {"row": 6, "name": "gemm_tf32", "who": "torch", "us": 2000.0},
    {"row": 16, "name": "while", "who": "torch", "error": "Boom"},
    {"who": "jax", "missing": "No module named 'jax'"},
]


class GpuReportTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_report(self, steps=STEPS, found=FOUND):
        (self.folder / "steps").write_text(steps, encoding="utf-8")
        if found is not None:
            lines = [json.dumps(f) for f in found] + ['{"row": 1, "na']
            (self.folder / "workloads.jsonl").write_text(
                "\n".join(lines), encoding="utf-8")
        code = gpu_report.main(self.folder / "steps", self.folder)
        report = json.loads((self.folder / "gpu_check.json").read_text())
        text = (self.folder / "gpu_check.md").read_text()
        return code, report, text

    def row(self, report, name):
        return next(r for r in report["workloads"] if r["workload"] == name)

    def test_bytes_are_held_against_a_copy(self):
        _, report, _ = self.run_report()
        chain = self.row(report, "chain")
        self.assertAlmostEqual(chain["rate"], 3.2)  # TB/s
        self.assertAlmostEqual(chain["ceiling"], 4.0)
        self.assertAlmostEqual(chain["of_ceiling"], 0.8)
        self.assertNotIn("of_data_sheet", chain)
        self.assertAlmostEqual(chain["peers"]["torch"]["ratio"], 0.25)

    def test_products_are_held_against_the_best_and_the_data_sheet(self):
        _, report, _ = self.run_report()
        gemm = self.row(report, "gemm_f32")
        self.assertAlmostEqual(gemm["rate"], 40)  # TFLOP/s
        self.assertAlmostEqual(gemm["ceiling"], 62.5)  # torch's
        self.assertAlmostEqual(gemm["of_ceiling"], 0.64)
        self.assertAlmostEqual(gemm["of_data_sheet"], 40 / 67)

    def test_an_unknown_chip_has_no_data_sheet(self):
        _, report, _ = self.run_report(STEPS.replace("H200", "X1"))
        self.assertNotIn("of_data_sheet", self.row(report, "gemm_f32"))

    def test_what_has_no_time_says_why(self):
        _, report, text = self.run_report()
        self.assertNotIn("rate", self.row(report, "gemm_tf32"))
        self.assertEqual(self.row(report, "gemm_tf32")["peers"]["torch"],
                         {"us": 2000.0, "ratio": None})
        self.assertEqual(self.row(report, "while")["peers"]["torch"],
                         {"why": "Boom"})
        self.assertNotIn("rate", self.row(report, "while"))
        self.assertIn("INTERNAL: a\\|b", text)

    def test_results_of_programs_are_held_against_jax(self):
        def found(name, who, *sample):
            return {"row": 0, "name": name, "who": who, "us": 2.0, "bytes": 8,
                    "flops": 0, "values": [{"n": 3, "mean": sample[0], "abs": 4,
                                            "sample": list(sample)}]}
        _, report, text = self.run_report(found=[
            found("alike", "hawser", 1.0, "nan", 4.0),
            found("alike", "jax", 1.0, "nan", 4.4),
            found("other", "hawser", 1.0, 2.0),
            found("other", "jax", "inf", 2.0),
            found("alone", "hawser", 1.0)])
        self.assertAlmostEqual(self.row(report, "alike")["off_jax"], 0.4 / 4.4)
        self.assertEqual(self.row(report, "other")["off_jax"], float("inf"))
        self.assertNotIn("off_jax", self.row(report, "alone"))
        self.assertIn("| 0.09 off JAX |", text)

    def test_the_tables(self):
        code, report, text = self.run_report()
        self.assertEqual(code, 0)
        self.assertIn("| 1 | chain | 625.0 | 40 | 3.2 TB/s | 0.80 |  | 0.25 |"
                      "  |  |  |  |\n", text)
        self.assertIn("| 6 | gemm_tf32 |  |  |  |  |  | (2000.0 us) |", text)
        self.assertIn("- jax: not here: No module named 'jax'\n", text)
        self.assertEqual(report["peers"]["torch"], "torch 2.9")
        self.assertEqual(len(report["ceilings"]), 2)

    def test_without_workloads_there_is_one_table(self):
        code, report, text = self.run_report(
            STEPS + "failed\tserver\t3\texit code 1\n", None)
        self.assertEqual(code, 1)
        self.assertEqual(report["workloads"], [])
        self.assertEqual(text, (
            "| step | verdict | seconds |  |\n| --- | --- | --- | --- |\n"
            "| device | passed | 0 | NVIDIA H200, 580.1, 143771 MiB |\n"
            "| device_suite | passed | 12 | [  PASSED  ] 9 \\| 9 |\n"
            "| server | failed | 3 | exit code 1 |\n"))


if __name__ == "__main__":
    unittest.main()
