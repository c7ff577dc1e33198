"""A process that runs the tests of one of JAX's own test files, asked by name.

    test_file.py FILE

Greets with the names of its tests. The file's folder, and the one above, where
JAX's tests look for their helpers, are on the path.
"""

import importlib.util
import os
import pathlib
import sys
import unittest

import answers


def load(path):
    """The module of this file, as if it had been imported by its name."""
    folder = path.resolve().parent
    sys.path[:0] = [str(folder), str(folder.parent)]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.argv = [str(path)]  # JAX and absl read their flags there
    spec.loader.exec_module(module)
    return module


def parse_flags():
    """What absltest.main would have done; JAX_* variables hold JAX's flags."""
    # pylint: disable=import-outside-toplevel
    import jax
    from absl import flags

    jax.config.parse_flags_with_absl()
    if not flags.FLAGS.is_parsed():
        flags.FLAGS(sys.argv[:1])


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


class Verdict(unittest.TestResult):
    """The outcome of one test, and of its subtests the worst."""

    def __init__(self):
        super().__init__()
        self.expected = False

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.expected = True

    def said(self):
        bad = self.errors + self.failures
        for _, text in bad:
            reason = answers.refusal(text)
            if reason is None:
                return "failed", last_words(text)
        if bad:
            return "left out", answers.refusal(bad[0][1])
        if self.unexpectedSuccesses:
            return "failed", "passes, and is marked as one that fails"
        if self.skipped:
            return "left out", f"skipped by JAX: {self.skipped[0][1]}"[:200]
        return "passed", ""


def last_words(text):
    """The error at the end of a traceback: its first lines that say something."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines)
              if line and not line.startswith((" ", "-", "^"))]
    start = max((number for number in starts
                 if lines[number].split(":")[0].endswith(
                     ("Error", "Exception", "Interrupt"))),
                default=len(lines) - 1)
    return " | ".join(line.strip() for line in lines[start:start + 8])[:600]


def main():
    path = pathlib.Path(sys.argv[1])
    module = load(path)
    parse_flags()
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    tests = {test.id(): test for test in tests_of(suite)}

    def verdict(name):
        result = Verdict()
        # In a suite of its own, so that fixtures of its class run too.
        unittest.TestSuite([tests[name]]).run(result)
        return result.said()

    os.chdir(path.resolve().parent)
    answers.answer(list(tests), verdict)


if __name__ == "__main__":
    main()
