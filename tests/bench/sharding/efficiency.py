#!/usr/bin/env python3
"""How much of three slow servers a spread program uses: kNN on Fashion-MNIST.

    bazel build //server:hawserd //client/examples:fashion_mnist_knn
    tests/bench/sharding/efficiency.py

Each server gets a part of a core (cgroup cpu.cfs_quota_us); the client runs
beside them. Efficiency: the work at one server's rate / (the time on all x the
rate of all), where the rates are those of each server alone, as measured. Needs
root and a cgroup hierarchy that can be written; else it says so and skips.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
CGROUP = pathlib.Path("/sys/fs/cgroup/cpu")
PERIOD_US = 20000


class Server:
    """A hawserd with `part` of a core."""

    def __init__(self, number, part):
        self.group = CGROUP / f"hawser-bench-{os.getpid()}-{number}"
        self.group.mkdir()
        (self.group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (self.group / "cpu.cfs_quota_us").write_text(str(int(PERIOD_US * part)))
        self.process = subprocess.Popen(
            [ROOT / "bazel-bin/server/hawserd", "--device=cpu",
             "--listen=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=lambda: (self.group / "cgroup.procs").write_text(
                str(os.getpid())))
        line = self.process.stdout.readline()
        self.address = re.match(r"hawserd ready on (\S+)", line)[1]

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.group.rmdir()


def seconds(servers, images):
    """What the program takes over these servers."""
    done = subprocess.run(
        [ROOT / "bazel-bin/client/examples/fashion_mnist_knn",
         f"--images={images}", "--batch=100"],
        env={**os.environ, "HAWSER_SPREAD": "1",
             "HAWSER_SERVERS": ",".join(s.address for s in servers)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    if "fallback" in done.stdout:
        sys.exit(done.stdout + done.stderr)
    minutes, rest = re.search(r"images in (?:(\d+)m)?([\d.]+)s",
                              done.stdout).groups()
    return 60 * int(minutes or 0) + float(rest)


def measure(parts, images):
    servers = []
    try:
        for number, part in enumerate(parts):
            servers.append(Server(number, part))
        alone = [seconds([server], images) for server in servers]
        together = min(seconds(servers, images) for _ in range(3))
    finally:
        for server in servers:
            server.stop()
    best = 1 / sum(1 / time for time in alone)
    equal = max(alone) / len(parts)
    return alone, together, best / together, best / equal


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=1000)
    images = parser.parse_args().images
    try:
        probe = CGROUP / f"hawser-bench-{os.getpid()}"
        probe.mkdir()
        (probe / "cpu.cfs_quota_us").write_text("10000")
        probe.rmdir()
    except OSError as error:
        print(f"skipped: no quota can be set: {error}")
        return
    print("| cores | each alone | all | efficiency | target | equal parts |\n"
          "|---|---|---|---|---|---|")
    for parts, target in (((0.4, 0.4, 0.4), 0.9), ((0.2, 0.4, 0.8), 0.85)):
        alone, together, efficiency, equal = measure(parts, images)
        print(f"| {' '.join(map(str, parts))} "
              f"| {' '.join(f'{time:.1f} s' for time in alone)} "
              f"| {together:.1f} s | {efficiency:.2f} | {target} "
              f"| {equal:.2f} |", flush=True)


if __name__ == "__main__":
    main()
