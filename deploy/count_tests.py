#!/usr/bin/env python3
"""Sums the test cases of several Bazel runs.

usage: count_tests.py FOLDER, which holds for each run LABEL.json (Bazel's
build events) and LABEL.rc (its exit code), in the order they were written.

The events name exactly the test.xml files of that run; bazel-testlogs also
holds those of targets that are gone. A target that wrote no cases of its own
counts as one. Prints one line a run and the total last; exits 1 if anything
failed.
"""

import json
import pathlib
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

# Bazel's exit codes that are not failures by themselves: success, some test
# failed (its cases say so), no test matched the filters.
OK, TESTS_FAILED, NO_TESTS = 0, 3, 4


class Run:
    """One Bazel command: counted cases and the names of the failed ones."""

    def __init__(self, label):
        self.label = label
        self.passed = 0
        self.failed = []
        self.skipped = 0

    def line(self):
        text = f"{self.passed} passed, {len(self.failed)} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def cases_of(xml_path):
    """The <testcase> elements, or none if the file is absent or cut short."""
    try:
        return list(ElementTree.parse(xml_path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def count_target(run, label, status, xml_path):
    failed_before = len(run.failed)
    passed = status in ("PASSED", "FLAKY")
    cases = cases_of(xml_path)
    # Only GoogleTest gives a case a class; Bazel writes a single bare one for
    # whatever leaves no file, which is what a crash does too.
    for case in [case for case in cases if case.get("classname")]:
        if case.get("status") == "notrun":
            continue  # DISABLED_
        if case.find("failure") is not None:
            name = f"{case.get('classname')}.{case.get('name')}"
            run.failed.append(f"{label} {name}")
        elif case.find("skipped") is not None:
            run.skipped += 1
        else:
            run.passed += 1
    has_own = any(case.get("classname") for case in cases)
    if not passed and len(run.failed) == failed_before:
        run.failed.append(f"{label} ({status.lower()})")
    elif passed and not has_own:
        run.passed += 1


def local_path(outputs):
    for output in outputs:
        if output["name"] == "test.xml":
            path = urllib.parse.urlparse(output["uri"]).path
            return urllib.parse.unquote(path)
    return ""


def read_events(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def count_run(path, name):
    run = Run(name)
    tests, results = set(), {}
    for event in read_events(path.with_suffix(".json")):
        identity = event["id"]
        if "testSize" in event.get("configured", {}):
            tests.add(identity["targetConfigured"]["label"])
        if "testResult" in event:
            key = identity["testResult"]
            # A later attempt of the same shard replaces the earlier.
            results[key["label"], key.get("run"), key.get("shard")] = event
        if "completed" in event and not event["completed"].get("success"):
            label = identity["targetCompleted"]["label"]
            if label in tests:
                run.failed.append(f"{label} (not built)")
    code = int(path.read_text())
    if code not in (OK, TESTS_FAILED, NO_TESTS) and not run.failed:
        # A BUILD file that does not load has no targets to blame.
        run.failed.append(f"bazel exited with {code}")
    for (label, _, _), event in results.items():
        result = event["testResult"]
        xml_path = local_path(result.get("testActionOutput", []))
        count_target(run, label, result["status"], xml_path)
    if code == OK and not results:
        run.passed += 1  # a build that is itself the check
    return run


def main(folder):
    codes = sorted(
        folder.glob("*.rc"), key=lambda path: path.stat().st_mtime_ns)
    runs = [count_run(path, path.stem) for path in codes]
    total = Run("total")
    for run in runs:
        for name in run.failed:
            print(f"FAILED [{run.label}] {name}")
        total.passed += run.passed
        total.failed += run.failed
        total.skipped += run.skipped
    for run in runs:
        print(f"{run.label}: {run.line()}")
    if not total.passed and not total.failed:
        total.failed.append("nothing ran")
    print(total.line())
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
