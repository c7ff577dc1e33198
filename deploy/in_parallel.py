#!/usr/bin/env python3
"""One command many times beside itself, each with a part of the work.

usage: in_parallel.py [--files FOLDER PATTERN] SECONDS COMMAND...

As many parts as there are processors, less two. COMMAND is a test of GoogleTest,
which is told its shard; or, with --files, anything that takes files and ends with
"N passed, N failed". Prints what each prints, and as its last line the sums.
Exits with 1 when a part fails, or is not done after SECONDS.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


def parts():
    return max(len(os.sched_getaffinity(0)) - 2, 2)


def commands(arguments):
    """(command, environment) of each part, and how many seconds they have."""
    files = None
    if arguments[0] == "--files":
        found = pathlib.Path(arguments[1]).rglob(arguments[2])
        # The longest first, so that the parts are about as long.
        files = [str(f) for f in sorted(found, key=lambda f: -f.stat().st_size)]
        if not files:
            sys.exit(f"in_parallel: no {arguments[2]} in {arguments[1]}")
        arguments = arguments[3:]
    seconds, command, n = float(arguments[0]), arguments[1:], parts()
    if files is not None:
        n = min(n, len(files))
        return seconds, [(command + files[i::n], os.environ) for i in range(n)]
    shards = [{"GTEST_TOTAL_SHARDS": str(n), "GTEST_SHARD_INDEX": str(i)}
              for i in range(n)]
    return seconds, [(command, {**os.environ, **shard}) for shard in shards]


def counts(output):
    """(passed, failed, skipped) of one part."""
    told = re.search(r"^(\d+) passed, (\d+) failed", output, re.M)
    if told:
        return int(told[1]), int(told[2]), 0
    return tuple(len(re.findall(rf"^\[ *{word} *\].*\(\d+ ms\)$", output, re.M))
                 for word in ("OK", "FAILED", "SKIPPED"))


def main(arguments):
    seconds, work = commands(arguments)
    end = time.monotonic() + seconds
    running = []
    for command, environment in work:
        # A file: in a pipe that is not read yet a process would stand still.
        log = tempfile.TemporaryFile("w+", errors="replace")
        running.append((log, subprocess.Popen(
            command, env=environment, stdout=log, stderr=subprocess.STDOUT)))
    sums, failed, late = [0, 0, 0], False, 0
    for log, process in running:
        try:
            process.wait(timeout=max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            late += 1
        log.seek(0)
        output = log.read()
        print(output)
        failed = failed or process.returncode != 0
        sums = [a + b for a, b in zip(sums, counts(output))]
    print("%d passed, %d failed, %d skipped" % tuple(sums) +
          (f"; {late} of {len(running)} parts not done" if late else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
