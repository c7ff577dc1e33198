#!/usr/bin/env python3
"""Mutation tests of any folder: see README.md.

  mutate.py build --of FOLDER_OR_FILE... [--draw N] [--seed S]
                  [--tests BAZEL_PATTERN...] [--jobs N]
  mutate.py build                  again, after a change; measures its tests
  mutate.py run [--files GLOB...] [--operators GLOB...] [--again]
                [--budget CPU_SECONDS] [--jobs N]
  mutate.py report [--files GLOB...] [--operators GLOB...]
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

import build

# Random modules of a seeded test, random graphs of the emitters', kernels that
# are compiled in one go, and regions that a test runs of those that changed.
SEEDS, GRAPHS, BATCH, NEW_CASES = 40, 90, 8, 24
# Tests that take longer than this, in CPU seconds, run alone.
LONG = 0.15
# Tests that take longer than this, in CPU and in other seconds, do not run.
LONGEST, LONGEST_WALL = 20, 60


@dataclasses.dataclass
class Test:
    target: str
    name: str      # "" is the whole of a binary that is not of GoogleTest
    cpu: float     # seconds
    wall: float
    reached: set   # numbers of sites
    binary: str    # what was measured


@dataclasses.dataclass
class Ended:
    status: object  # exit status, or "timeout"
    output: str
    cpu: float
    wall: float


class Runner:

    def __init__(self, scratch, jobs):
        self.build, self.jobs = scratch, jobs
        self.folder = scratch.folder
        self.results = self.folder / "results.jsonl"
        self.cases = self.folder / "cases.txt"
        self.tests_file = self.folder / "measured.json"
        self.kernels = self.folder / "kernels"
        self.lock = threading.Lock()
        # By (group of tests, mutated file), to run the likeliest first.
        self.runs = collections.Counter()
        self.kills = collections.Counter()

    # ---- one process

    def temporary(self):
        """What this thread's tests may write, new; the emulator's compiled
        kernels are there, as links."""
        folder = self.folder / "tmp" / str(threading.get_ident())
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if self.kernels.exists():
            subprocess.run(["cp", "-al", f"{self.kernels}/.", folder],
                           check=True)
        return folder

    def execute(self, target, names, cpu, wall, **more):
        """Runs these tests of a target within so many seconds."""
        binary, folder = self.build.binary(target), self.temporary()
        runfiles = pathlib.Path(f"{binary}.runfiles")
        told = self.build.tests[target]
        filters = folder / "flags.txt"
        filters.write_text("--gtest_filter=" + ":".join(names))
        environment = {
            **os.environ, "TEST_SRCDIR": str(runfiles),
            "TEST_WORKSPACE": "hawser", "TMPDIR": str(folder),
            "TEST_TMPDIR": str(folder), "HAWSER_MUTANT_SEEDS": str(SEEDS),
            **told["env"], "HAWSER_EMIT_GRAPHS": str(GRAPHS),
            **{k: str(v) for k, v in more.items()}}
        flags = ["--gtest_fail_fast", "--gtest_brief=1",
                 f"--gtest_flagfile={filters}"] if any(names) else []
        with (folder / "output.txt").open("wb") as output:
            start = time.monotonic()
            process = subprocess.Popen(
                ["nice", "prlimit", f"--cpu={int(cpu) + 1}",
                 f"--data={8 << 30}", "--core=0", str(binary), *flags,
                 *told["args"]], cwd=runfiles / "hawser", env=environment,
                stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)
            status, usage = wait(process, start + wall)
        self.keep_kernels(folder, more)
        text = (folder / "output.txt").read_text(errors="replace")
        return Ended(status, text, usage.ru_utime + usage.ru_stime,
                     time.monotonic() - start)

    def keep_kernels(self, folder, environment):
        if "HAWSER_MUTANT" not in environment:
            self.kernels.mkdir(exist_ok=True)
            for kernels in folder.glob("hawser-emu-*"):
                subprocess.run(["cp", "-an", kernels, self.kernels], check=True)

    # ---- before any mutant

    def names_of(self, target):
        """Of its tests; "" where it is not of GoogleTest."""
        binary = self.build.binary(target)
        listed = subprocess.run(
            [binary, "--gtest_list_tests"], capture_output=True, text=True,
            cwd=f"{binary}.runfiles/hawser", timeout=600).stdout
        suite, names = "", []
        for line in listed.splitlines():
            line = line.split("#")[0]
            if re.match(r"\S+\.\s*$", line):
                suite = line.strip()
            elif suite and line.startswith("  "):
                name = suite + line.strip()
                if not fnmatch.fnmatch(name, build.NOT_RUN):
                    names.append(name)
        return names or [""]

    def measure(self):
        """One process per test: what it reaches, and how long it takes. What
        was said of a test that cannot run, or None."""
        known = {(t.target, t.name): t for t in self.measured()}
        binaries = {t: hashlib.sha256(self.build.binary(t).read_bytes())
                    .hexdigest() for t in self.build.tests}
        todo, tests = [], []
        for target, binary in binaries.items():
            for name in self.names_of(target):
                test = known.get((target, name))
                if test and test.binary == binary:
                    tests.append(test)
                else:
                    todo.append((target, name))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for test in pool.map(lambda t: self.measure_one(*t), todo):
                if isinstance(test, str):
                    return test
                if test:
                    test.binary = binaries[test.target]
                    tests.append(test)
        self.tests_file.write_text(json.dumps(
            [dict(vars(t), reached=sorted(t.reached)) for t in tests]))
        print(f"{len(tests)} tests, {sum(t.cpu for t in tests):.0f} CPU s, "
              f"{len(set().union(*(t.reached for t in tests)))} sites reached")
        return None

    def measure_one(self, target, name):
        reached = self.folder / f"reached-{threading.get_ident()}"
        # A second run when the first had kernels to compile.
        for more in ({"HAWSER_MUTANT_WRITE_CASES": self.cases}, {}):
            reached.unlink(missing_ok=True)
            ended = self.execute(target, [name], 300, 600,
                                 HAWSER_MUTANT_REACHED=reached, **more)
            if ended.status != 0:
                if self.build.refused(ended.output):
                    return ended.output
                print(f"left out, fails: {target} {name}", flush=True)
                return None
            if ended.cpu < 1:
                break
        if ended.cpu > LONGEST or ended.wall > LONGEST_WALL:
            print(f"left out, {ended.cpu:.0f} CPU s, {ended.wall:.0f} s: "
                  f"{target} {name}", flush=True)
            return None
        content = reached.read_bytes() if reached.exists() else b""
        return Test(target, name, ended.cpu, ended.wall,
                    {m.start() for m in re.finditer(b"\x01", content)}, "")

    def measured(self):
        if not self.tests_file.exists():
            return []
        tests = [Test(**t) for t in json.loads(self.tests_file.read_text())]
        for test in tests:
            test.reached = set(test.reached)
        return tests

    # ---- mutants

    def done(self):
        """The last result of each mutant, by key."""
        results = {}
        if self.results.exists():
            for line in self.results.read_text().splitlines():
                result = json.loads(line)
                results[result["mutant"]] = result
        return results

    def run(self, mutants, again, budget):
        tests = self.measured()
        done, equivalent = self.done(), explained()

        def run_one(mutant):
            site, k = mutant
            key = build.mutant_key(site, k)
            if key in done and not (
                    again and done[key]["outcome"] in SURVIVED
                    and key not in equivalent):
                return
            start = time.monotonic()
            outcome, by = self.judge(site, site.number + k, tests, budget)
            line = json.dumps({
                "mutant": key, "outcome": outcome, "by": by,
                "seconds": round(time.monotonic() - start, 2)})
            with self.lock, self.results.open("a") as file:
                file.write(line + "\n")

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for _ in pool.map(run_one, mutants):
                pass

    def judge(self, site, mutant, tests, budget):
        groups = collections.defaultdict(list)
        for test in tests:
            if site.number in test.reached:
                alone = test.cpu > LONG or not test.name
                groups[test.target, alone and test.name].append(test)
        if not groups:
            return "not reached", ""
        more = {"HAWSER_MUTANT": mutant}
        if not site.file.endswith(".cuh"):
            more.update(HAWSER_MUTANT_CASES=self.cases,
                        HAWSER_MUTANT_BATCH=BATCH,
                        HAWSER_MUTANT_NEW_CASES=NEW_CASES)

        def cost(group):
            """CPU seconds that a kill by it takes, as far as is known; tests
            beside the source are likelier."""
            at = group, site.file
            return ((sum(t.cpu for t in groups[group]) + 0.05) *
                    (self.runs[at] + 2) / (self.kills[at] + 1) /
                    4 ** shared_folders(site.file, group[0]))

        not_run = 0
        for group in sorted(groups, key=cost):
            group_tests = groups[group]
            cpu = sum(t.cpu for t in group_tests)
            if cpu > budget:
                not_run += len(group_tests)
                continue
            budget -= cpu
            killed = self.fails(group_tests, more)
            with self.lock:
                self.runs[group, site.file] += 1
                self.kills[group, site.file] += bool(killed)
            if killed:
                return killed
        return "survived", f"{not_run} tests not run" if not_run else ""

    def fails(self, tests, more):
        """(how, which test) when a test fails, and fails again by itself."""
        target = tests[0].target
        by_name = {t.name: t for t in tests}
        while True:
            cpu = sum(t.cpu for t in by_name.values())
            wall = sum(t.wall for t in by_name.values())
            ended = self.execute(target, list(by_name), 4 * cpu + 4,
                                 10 * wall + 20, **more)
            if ended.status == 0:
                return None
            if ended.status == "timeout":
                return "timeout", f"{target} {next(iter(by_name))}".strip()
            found = [m.split(",")[0] for m in
                     re.findall(r"\[  FAILED  \] (\S+)", ended.output)]
            found = [n for n in found if n in by_name]
            how = "failed" if found else f"crash {ended.status}"
            name = found[0] if found else ""
            again = [by_name[name]] if found else by_name.values()
            second = self.execute(
                target, [t.name for t in again], 4 * cpu + 4, 10 * wall + 20,
                **more)
            if second.status != 0:
                return how, f"{target} {name}".strip()
            if not found:
                return None
            del by_name[name]
            if not by_name:
                return None


def wait(process, deadline):
    """(exit status or "timeout", what it used). What it has started and left
    behind is ended as well."""
    timeout = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline and not timeout:
            timeout = True
            os.killpg(process.pid, 9)
        time.sleep(0.005)
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.returncode = os.waitstatus_to_exitcode(status)
    # Its own limit of CPU time ends it by SIGXCPU or SIGKILL.
    if timeout or process.returncode in (-24, -9):
        return "timeout", usage
    return process.returncode, usage


SURVIVED = ("survived", "not reached")


def shared_folders(file, target):
    """Of a source and a test at the same path below tests/."""
    tested = target.removeprefix("//tests/").split(":")[0].split("/")
    pairs = zip(file.split("/")[:-1], tested)
    return len(list(itertools.takewhile(lambda p: p[0] == p[1], pairs)))


def matches(name, globs):
    return not globs or any(fnmatch.fnmatch(name, g) for g in globs)


def explained():
    """Keys of the mutants that change nothing a test could see: those below a
    line "= why". Below a line "? why" stand real ones."""
    keys, equivalent = set(), False
    path = pathlib.Path(__file__).resolve().parent / "survivors.txt"
    for line in path.read_text().splitlines():
        if line.startswith(("= ", "? ")):
            equivalent = line[0] == "="
        elif equivalent:
            keys.add(line)
    return keys


def table(name, rows, columns):
    print(f"| {name} | " + " | ".join(columns) + " | killed of the rest |")
    print("|---" * (len(columns) + 2) + "|")
    for row, counts in rows:
        killable = max(counts["run"] - counts["equivalent"], 1)
        print(f"| {row} | " + " | ".join(str(counts[c]) for c in columns) +
              f" | {100 * counts['killed'] / killable:.1f} % |")
    print()


def report(mutants, results):
    """Tables of folders and operators, and the survivors that nothing
    explains."""
    equivalent = explained()
    by = {"folder": collections.defaultdict(collections.Counter),
          "operator": collections.defaultdict(collections.Counter)}
    total, survivors = collections.Counter(), []
    for site, k in mutants:
        rows = (by["folder"]["/".join(site.file.split("/")[:2])],
                by["operator"][site.operator], total)
        key = build.mutant_key(site, k)
        outcome = results[key]["outcome"] if key in results else None
        lives = outcome in SURVIVED
        for row in rows:
            row["mutants"] += 1
            row["run"] += outcome is not None
            row["by time"] += outcome == "timeout"
            row["killed"] += outcome is not None and not lives
            row["equivalent"] += lives and key in equivalent
            row["open"] += lives and key not in equivalent
        if lives and key not in equivalent:
            survivors.append(f"line {site.line}, {outcome} "
                             f"{results[key]['by']}: {key}")
    columns = ("mutants", "run", "killed", "by time", "equivalent", "open")
    for name, rows in by.items():
        table(name, [*sorted(rows.items()), ("all", total)], columns)
    print("\n".join(survivors))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("build", "run", "report"))
    parser.add_argument("--folder", default="/tmp/mutants")
    parser.add_argument("--of", action="append", default=[])
    parser.add_argument("--draw", type=int, help="so many mutants, not all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="*", default=["//tests/..."])
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true",
                        help="survivors too, after the tests have changed")
    parser.add_argument("--budget", type=float, default=100,
                        help="CPU seconds of tests that a mutant gets")
    options = parser.parse_args()
    pathlib.Path(options.folder).mkdir(exist_ok=True)
    scratch = build.Build(options.folder)
    runner = Runner(scratch, options.jobs)
    if options.what == "build":
        scratch.begin(options.of, options.tests, options.draw, options.seed)
        scratch.make(options.jobs)
        while output := runner.measure():
            scratch.drop(scratch.refused(output), output)
            scratch.make(options.jobs)
        return
    mutants = [(s, k) for s, k in scratch.drawn()
               if matches(s.file, options.files)
               and matches(s.operator, options.operators)]
    if options.what == "run":
        runner.run(mutants, options.again, options.budget)
    else:
        report(mutants, runner.done())


if __name__ == "__main__":
    main()
