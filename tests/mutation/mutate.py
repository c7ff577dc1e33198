#!/usr/bin/env python3
"""Mutation tests of the planner, the emitters and the dialect: see README.md.

  mutate.py build [--tests GLOB...]   the scratch build; what each test reaches
  mutate.py run [--files GLOB...] [--operators GLOB...] [--tests GLOB...]
                [--sample N] [--seed S] [--again] [--jobs N]
  mutate.py report [--files GLOB...] [--operators GLOB...]
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import threading
import time

import build

# Random modules of a seeded test, random graphs of the emitters', kernels that
# are compiled in one go, and regions that a test runs of those that changed.
SEEDS, GRAPHS, BATCH, NEW_CASES = 40, 90, 8, 24
# Tests that run for longer than this, in seconds, run alone.
LONG = 0.15


class Unit:
    """Tests of one binary that run in one process."""

    def __init__(self, target, names, seconds, reached):
        self.target, self.names = target, names
        self.seconds, self.reached = seconds, reached
        self.kills = collections.Counter()  # by the mutated file
        self.runs = collections.Counter()

    def cost(self, file):
        """Seconds that a kill by it takes, as far as is known."""
        return ((self.seconds + 0.05) * (self.runs[file] + 2) /
                (self.kills[file] + 1))


class Runner:

    def __init__(self, scratch):
        self.build = scratch
        self.folder = scratch.folder
        self.results = self.folder / "results.jsonl"
        self.cases = self.folder / "cases.txt"
        self.units_file = self.folder / "units.json"

    def execute(self, target, names, cpu_seconds, mutant=0, **more):
        """(exit status or "timeout", output)."""
        # Kernels of the emulator: those of a mutant are of no further use.
        kernels = (self.of_mutants() if more.get("HAWSER_MUTANT_CASES")
                   else self.folder / "tmp")
        kernels.mkdir(parents=True, exist_ok=True)
        environment = dict(
            os.environ, TMPDIR=str(kernels),
            HAWSER_MUTANT=str(mutant), HAWSER_MUTANT_SEEDS=str(SEEDS),
            HAWSER_EMIT_GRAPHS=str(GRAPHS),
            **{k: str(v) for k, v in more.items()})

        process = subprocess.Popen(
            ["nice", "prlimit", f"--cpu={int(cpu_seconds) + 1}",
             f"--as={6 << 30}", "--core=0", self.build.binary(target),
             "--gtest_fail_fast", "--gtest_brief=1",
             "--gtest_filter=" + ":".join(names)],
            cwd=self.build.source, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        try:
            # It counts CPU time; who only waits is ended in the end.
            output, _ = process.communicate(timeout=60 * cpu_seconds + 300)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return "timeout", ""
        status = process.returncode
        if status in (-24, -9):  # SIGXCPU
            status = "timeout"
        return status, output.decode(errors="replace")

    def of_mutants(self):
        """Where kernels of mutants go that this thread runs."""
        return self.folder / "tmp_of_mutants" / str(threading.get_ident())

    # ---- before any mutant

    def tests_of(self, target):
        listed = subprocess.run(
            [self.build.binary(target), "--gtest_list_tests"],
            capture_output=True, text=True, check=True).stdout
        suite = ""
        for line in listed.splitlines():
            if re.match(r"\S+\.( |$)", line):
                suite = line.split()[0]
            elif line.startswith("  "):
                name = suite + line.split()[0]
                if not fnmatch.fnmatch(name, build.NOT_RUN):
                    yield name

    def measure(self, targets):
        """One process per test: what it reaches, and how long it takes."""
        tests = [t for t in self.measured() if t[0] not in targets]
        for target in targets:
            for name in self.tests_of(target):
                path = self.folder / "reached.txt"
                # A first run, to compile kernels: the second is measured.
                for more in ({"HAWSER_MUTANT_WRITE_CASES": self.cases},
                             {"HAWSER_MUTANT_REACHED": path}):
                    start = cpu_seconds()
                    status, output = self.execute(target, [name], 300, **more)
                    seconds = cpu_seconds() - start
                    if status != 0:
                        return output
                reached = [int(n) for n in path.read_text().split()]
                print(f"{seconds:6.2f} s {len(reached):5} sites  {name}",
                      flush=True)
                tests.append((target, name, seconds, reached))
        self.units_file.write_text(json.dumps(tests))
        return None

    def measured(self):
        return (json.loads(self.units_file.read_text())
                if self.units_file.exists() else [])

    def units(self):
        """Short tests of a binary together, long ones alone."""
        units, short = [], collections.defaultdict(list)
        for target, name, seconds, reached in self.measured():
            if seconds > LONG:
                units.append(Unit(target, [name], seconds, set(reached)))
            else:
                short[target].append((name, seconds, reached))
        for target, tests in short.items():
            units.append(Unit(target, [n for n, _, _ in tests],
                              sum(s for _, s, _ in tests),
                              set().union(*(r for _, _, r in tests))))
        return units

    # ---- mutants

    def done(self):
        """The last result of each mutant, by key."""
        results = {}
        if self.results.exists():
            for line in self.results.read_text().splitlines():
                result = json.loads(line)
                results[result["mutant"]] = result
        return results

    def check(self, units):
        """Tests that fail without a mutant would seem to kill them all."""
        for unit in units:
            status, output = self.execute(unit.target, unit.names, 300)
            if status != 0:
                raise SystemExit(f"without a mutant:\n{output[-4000:]}")

    def run(self, mutants, targets, again, jobs):
        units = [u for u in self.units() if u.target in targets]
        self.check(units)
        done, equivalent = self.done(), explained()
        lock = threading.Lock()

        def run_one(mutant):
            site, k = mutant
            key = mutant_key(site, k)
            if key in done and not (
                    again and done[key]["outcome"] in SURVIVED
                    and key not in equivalent):
                return
            shutil.rmtree(self.of_mutants(), ignore_errors=True)
            start = time.monotonic()
            outcome, by = self.judge(site, site.number + k, units)
            line = json.dumps({
                "mutant": key, "outcome": outcome, "by": by,
                "seconds": round(time.monotonic() - start, 2)})
            with lock, self.results.open("a") as file:
                file.write(line + "\n")

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for _ in pool.map(run_one, mutants):
                pass
        self.check(units)

    def judge(self, site, mutant, units):
        mine = [u for u in units if site.number in u.reached]
        if not mine:
            return "not reached", ""
        in_dialect = site.file.endswith(".cuh")
        more = {} if in_dialect else {
            "HAWSER_MUTANT_CASES": self.cases, "HAWSER_MUTANT_BATCH": BATCH,
            "HAWSER_MUTANT_NEW_CASES": NEW_CASES}
        for unit in sorted(mine, key=lambda u: u.cost(site.file)):
            unit.runs[site.file] += 1
            status, output = self.execute(unit.target, unit.names,
                                          4 * unit.seconds + 4, mutant, **more)
            if status == 0:
                continue
            unit.kills[site.file] += 1
            name = re.search(r"\[  FAILED  \] (\S+?)[ ,(]", output + " ")
            by = name.group(1) if name else unit.names[0]
            if status == "timeout":
                return "timeout", by
            return ("failed" if name else f"crash {status}"), by
        return "survived", ""


def cpu_seconds():
    """Of all processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


SURVIVED = ("survived", "not reached")


def matches(name, globs):
    return not globs or any(fnmatch.fnmatch(name, g) for g in globs)


def mutant_key(site, k):
    return f"{site.key}: {site.mutants[k]}"


def mutants_of(found):
    return [(s, k) for s in found for k in range(len(s.mutants))]


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


def report(found, results):
    """The table of operators, and the survivors that nothing explains."""
    equivalent = explained()
    rows = collections.defaultdict(collections.Counter)
    survivors = []
    for site, k in mutants_of(found):
        row = rows[site.operator]
        row["mutants"] += 1
        row["sites"] += k == 0
        key = mutant_key(site, k)
        if key not in results:
            continue
        row["run"] += 1
        outcome = results[key]["outcome"]
        row["by time"] += outcome == "timeout"
        row["killed"] += outcome not in SURVIVED
        if outcome in SURVIVED:
            row["equivalent"] += key in equivalent
            if key not in equivalent:
                survivors.append(f"line {site.line}, {outcome}: {key}")
    columns = ("sites", "mutants", "run", "killed", "by time", "equivalent")
    print("| operator | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    total = collections.Counter()
    for operator in sorted(rows):
        total.update(rows[operator])
        print(f"| {operator} | " +
              " | ".join(str(rows[operator][c]) for c in columns) + " |")
    print("| all | " + " | ".join(str(total[c]) for c in columns) + " |")
    killable = max(total["run"] - total["equivalent"], 1)
    print(f"\n{100 * total['killed'] / killable:.1f} % of those that are not "
          "equivalent are killed\n")
    print("\n".join(survivors))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("build", "run", "report"))
    parser.add_argument("--folder", default="/tmp/mutants")
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="*", default=[],
                        help="of build.TARGETS, those that match")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true",
                        help="survivors too, after the tests have changed")
    options = parser.parse_args()
    pathlib.Path(options.folder).mkdir(exist_ok=True)
    scratch = build.Build(options.folder, options.what == "build")
    runner = Runner(scratch)
    found = [s for s in scratch.sites()
             if matches(s.file, options.files)
             and matches(s.operator, options.operators)]
    targets = [t for t in build.TARGETS
               if matches(t, options.tests)]
    if options.what == "build":
        scratch.settle(options.jobs)
        scratch.link(targets, options.jobs)
        while output := runner.measure(targets):
            refused = scratch.refused(output)
            if not refused:
                raise SystemExit(output[-4000:])
            print(f"{len(refused)} sites dropped in kernels", flush=True)
            scratch.dropped |= refused
            scratch.save_dropped()
            scratch.write_all()
            scratch.link(targets, options.jobs)
    elif options.what == "run":
        mutants = mutants_of(found)
        if options.sample is not None:
            random.Random(options.seed).shuffle(mutants)
            mutants = mutants[:options.sample]
        runner.run(mutants, targets, options.again, options.jobs)
    else:
        report(found, runner.done())


if __name__ == "__main__":
    main()
