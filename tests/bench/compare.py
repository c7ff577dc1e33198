"""Compares the benches of two builds; see compare.sh, which calls it."""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile

# What one run of each bench is given: a round of it takes some seconds.
FLAGS = {
    "wire": ["--rounds=1", "--iterations=200"],
    "bulk": ["--sizes_mib=64", "--durable_mib=64", "--watched_mib=0"],
    "crowd": [],
    "cpu": ["--no_peers", "--threads=2", "--rounds=2"],
}
# Below tests/bench, where that is not its name.
FOLDERS = {"cpu": "cpu/"}
# How much slower a median or a rate may be, and a 99th percentile.
MAY_BE, P99_MAY_BE = 1.05, 1.25
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds_of(cell):
    """What a cell says, as a time or the inverse of a rate; None: neither."""
    # "!" behind a number says that it misses its bench's target.
    found = re.match(
        r"([0-9.]+(?:e[+-][0-9]+)?)!?\s*(ns|us|ms|s|GB/s|MB/s|/s|calls/s)$",
        cell)
    if not found or float(found[1]) == 0:
        return None
    number, unit = float(found[1]), found[2]
    return number * UNITS[unit] if unit in UNITS else 1 / number


def rows_of(text):
    """{(placement, what): seconds} of the tables a bench prints."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 5:
            continue
        seconds = seconds_of(cells[2])
        if seconds is not None:
            rows[cells[0], cells[1]] = seconds
    return rows


def run(build, bench, folder):
    folder_of = FOLDERS.get(bench, "")
    command = [f"{build}/tests/bench/{folder_of}{bench}_bench", *FLAGS[bench]]
    # Benches find the programs they start below bazel-bin.
    link = os.path.join(folder, "bazel-bin")
    if os.path.islink(link):
        os.unlink(link)
    os.symlink(os.path.realpath(build), link)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return {(bench, *key): value
            for key, value in rows_of(done.stdout).items()}


def spread(values):
    """The 10th and the 90th percentile."""
    values = sorted(values)
    at = max(len(values) // 10, 0)
    return values[at], values[-1 - at]


def add_round(options, bench, folder, changes, same):
    """The old one, the new one and the old one again, by row."""
    before = run(options.old, bench, folder)
    after = run(options.new, bench, folder)
    again = run(options.old, bench, folder)
    for key in before.keys() & after.keys() & again.keys():
        # The old one stands on both sides of the new one in time.
        middle = (before[key] * again[key]) ** 0.5
        changes.setdefault(key, []).append(after[key] / middle)
        same.setdefault(key, []).append(again[key] / before[key])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", required=True)
    parser.add_argument("benches", nargs="+", choices=sorted(FLAGS))
    options = parser.parse_args()
    # A shell's background job ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    changes, same = {}, {}
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            for done in range(1, options.rounds + 1):
                for bench in options.benches:
                    add_round(options, bench, folder, changes, same)
                print(f"round {done} of {options.rounds}", file=sys.stderr)
        except KeyboardInterrupt:
            done -= 1
            print(f"interrupted after {done} rounds", file=sys.stderr)
    slower = 0
    print("| bench | placement | what | new / old | old / old | |")
    print("|---|---|---|---|---|---|")
    for key in sorted(changes):
        change = statistics.median(changes[key])
        low, high = spread(same[key])
        may = P99_MAY_BE if "p99" in key[2] else MAY_BE
        verdict = ""
        if change > may and change > high:
            verdict = "slower"
            slower += 1
        elif change < 1 / may and change < low:
            verdict = "faster"
        bench, placement, what = key
        print(f"| {bench} | {placement} | {what} | {change:.2f} |"
              f" {low:.2f}-{high:.2f} | {verdict} |")
    print(f"\n{slower} of {len(changes)} became slower, by paired medians of "
          f"{done} rounds")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
