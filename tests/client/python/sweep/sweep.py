#!/usr/bin/env python3
"""Runs JAX's functions on a hawser device and on JAX's own CPU, and compares.

    sweep.py [--only PATTERN] [--share I/N] [--every N] [--jobs N] [--json FILE]

To be run by a Python that has JAX and finds the package hawser; HAWSER_SERVERS names
a server, else this machine computes. --every: of each primitive beyond its first 20
one in N of JAX's own harnesses is taken, and half of the cases of rare dtypes; 1 takes
all. Prints every failure, what was
left out by reason, the functions that no case calls, and last `N passed, N failed, N
left out`. Ends with 1 if a case failed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[3] / "deploy/jax"))
import workers  # pylint: disable=wrong-import-position

# A case that takes longer hangs: most take a tenth of a second.
PATIENCE = 90
# XLA's compiler for this CPU would take half of the time.
QUICK = ("--xla_backend_optimization_level=0 "
         "--xla_llvm_disable_expensive_passes=true")


def run_all(pairs, every, jobs):
    """Rows of all these cases, in their order."""
    environment = {"JAX_PLATFORMS": "hawser,cpu", "XLA_FLAGS": QUICK, **os.environ}
    answered = workers.ask_all(
        [index for index, _ in pairs],
        lambda: workers.Worker([sys.executable, HERE / "worker.py", str(every)],
                               environment, PATIENCE), jobs)
    return [{"name": case.name, "function": case.function, "outcome": outcome,
             "why": why, "seconds": seconds}
            for (_, case), (outcome, why, seconds) in zip(pairs, answered)]


def by_reason(rows):
    """Reasons why rows were left out, the frequent ones first, and how often."""
    return collections.Counter(
        row["why"] for row in rows if row["outcome"] == "left out").most_common()


def report(rows, missing, seconds):
    counts = collections.Counter(row["outcome"] for row in rows)
    for row in rows:
        if row["outcome"] == "failed":
            print(f"FAILED {row['name']}: {row['why']}")
    for reason, count in by_reason(rows):
        print(f"left out {count}: {reason}")
    tried = {row["function"] for row in rows if row["outcome"] != "no case"}
    print(f"{len(tried)} functions in {len(rows)} cases, {counts['no case']} of "
          f"which JAX's CPU refuses, {seconds:.0f} s")
    if missing:
        print(f"not tried {len(missing)}: {' '.join(missing)}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, "
          f"{counts['left out']} left out")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--share", default="0/1", help="I/N, I from 0")
    parser.add_argument("--every", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", help="all rows, counts and reasons")
    parser.add_argument("--list", action="store_true", help="names, and no more")
    options = parser.parse_args()
    if not re.fullmatch(r"\d+/\d+", options.share):
        parser.error("--share is I/N")
    # Tables that make arrays to no purpose make them on the CPU.
    os.environ["JAX_PLATFORMS"], platforms = "cpu", os.environ.get("JAX_PLATFORMS")
    import catalog  # pylint: disable=import-outside-toplevel

    if platforms is None:
        del os.environ["JAX_PLATFORMS"]
    else:
        os.environ["JAX_PLATFORMS"] = platforms
    cases = catalog.all_cases(options.every)
    pairs = catalog.chosen(cases, options.only, options.share)
    if options.list:
        print("\n".join(case.name for _, case in pairs))
        return 0
    start = time.monotonic()
    rows = run_all(pairs, options.every, options.jobs)
    missing = sorted(catalog.not_tried(cases))
    counts = report(rows, missing, time.monotonic() - start)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({
            "counts": counts, "left out": by_reason(rows), "not tried": missing,
            "rows": rows}, indent=1) + "\n")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
