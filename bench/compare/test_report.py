"""The report made of results that can be checked by hand. Needs nothing but Python."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import report


def result(name, method, seed, error, train_seconds, **more):
    return {"set": name, "method": method, "seed": seed, "threads": 2, "error": error, "train_seconds": train_seconds,
            "predict_seconds": 0.5, "model_bytes": 12_345, "train_rows": 800, "test_rows": 200, "version": "1.0",
            "machine": "a machine", "commit": "abc", "jobs_at_a_time": 1, "python": "3.12", **more}


def made(results):
    """The text of the report of these results; pictures are not drawn."""
    with tempfile.TemporaryDirectory() as folder:
        lines = pathlib.Path(folder) / "results.jsonl"
        lines.write_text("".join(json.dumps(line) + "\n" for line in results))
        arguments = ["report.py", str(lines), "--out", folder]
        with (mock.patch.object(sys, "argv", arguments), mock.patch.dict(sys.modules, {"pictures": None}),
              contextlib.redirect_stdout(io.StringIO())):
            report.main()
        return (pathlib.Path(folder) / "report.md").read_text()


class ReportTest(unittest.TestCase):
    def test_means_and_spread_over_seeds(self):
        text = made([result("adult", "gatewood", 0, 0.12, 1.0), result("adult", "gatewood", 1, 0.14, 3.0),
                     result("adult", "lightgbm", 0, 0.15, 8.0, log_loss=0.2781)])
        self.assertIn("| **gatewood** | 13.00 ± 1.41 | - | 2 | 2.00 | 0.50 | 12 kB |", text)
        self.assertIn("| lightgbm | 15.00 ± 0.00 | 0.2781 | 1 |", text)
        self.assertIn("Gatewood has the lowest error, 2.00 points below lightgbm. No rival trains faster.", text)
        self.assertIn("| Adult | 13.00 ± 1.41 | - | 2.00 | lightgbm | 15.00 ± 0.00 | 0.2781 | 8.00 | gatewood |", text)

    def test_a_rival_that_wins_is_named(self):
        text = made([result("convex", "gatewood", 0, 0.12, 1.0), result("convex", "svm-rbf", 0, 0.10, 0.5)])
        self.assertIn("**svm-rbf wins**, 2.00 points below Gatewood; ahead of Gatewood: svm-rbf.", text)
        self.assertIn("Faster in training than Gatewood: svm-rbf.", text)
        self.assertIn("| 0.50 | **svm-rbf** |", text)

    def test_the_last_line_of_a_job_counts_and_failures_are_told(self):
        text = made([result("convex", "gatewood", 0, 0.5, 1.0), result("convex", "gatewood", 0, 0.25, 1.0),
                     {"set": "convex", "method": "catboost", "seed": 0, "threads": 2, "failed": "did not end"}])
        self.assertIn("25.00 ± 0.00", text)
        self.assertIn("catboost: no result, did not end (1 of 1).", text)

    def test_ranks_share_places(self):
        self.assertEqual(report.ranks({"a": 0.1, "b": 0.2, "c": 0.1, "d": 0.3}), {"a": 1.5, "c": 1.5, "b": 3, "d": 4})

    def test_ranks_are_over_the_sets_that_all_have(self):
        results = [result(f"pmlb/{name}", method, 0, error, 1.0, log_loss=2 * error)
                   for name, errors in {"one": (0.1, 0.2), "two": (0.3, 0.2), "three": (0.1, 0.1)}.items()
                   for method, error in zip(("gatewood", "lightgbm-defaults"), errors)]
        text = made(results + [result("pmlb/four", "gatewood", 0, 0.9, 1.0)])
        self.assertIn("rivals' defaults, over 3 sets", text)
        self.assertIn("| lightgbm-defaults | 1.50 | 16.67 | 1 / 1 / 1 | 0.3333 | 1 / 1 / 1 | 3.00 |", text)
        self.assertIn("| three | **10.00** | **10.00** |", text)
        self.assertIn("| four | **90.00** | - |", text)
        self.assertIn("| one | **0.2000** | 0.4000 |", text)



class ClearDifferences(unittest.TestCase):
    def test_only_differences_beyond_chance_are_counted(self):
        # Sure on one set, by luck on another, and behind in the log loss on both splits of the first.
        results = [result("pmlb/a", "gatewood", 0, 0.1, 1, log_loss=0.5), result("pmlb/a", "gatewood", 1, 0.2, 1, log_loss=0.6),
                   result("pmlb/a", "x-defaults", 0, 0.2, 1, log_loss=0.4), result("pmlb/a", "x-defaults", 1, 0.3, 1, log_loss=0.5),
                   result("pmlb/b", "gatewood", 0, 0.1, 1), result("pmlb/b", "gatewood", 1, 0.2, 1),
                   result("pmlb/b", "x-defaults", 0, 0.0, 1), result("pmlb/b", "x-defaults", 1, 0.4, 1)]
        cells, _ = report.gather(results)
        self.assertEqual(report.clear_differences(cells, ["pmlb/a", "pmlb/b"], "x-defaults"), [1, 0, 0, 1])


if __name__ == "__main__":
    unittest.main()
