#!/usr/bin/env python3
"""What deploy/jax_check.sh does once there is a wheel.

Runs the programs of client/examples/jax, of others (--programs) and JAX's own test
files under an unmodified JAX with this wheel, each where it can take no other down
with it, and counts.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

import workers

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "client/examples/jax"
SWEEP = ROOT / "tests/client/python/sweep/sweep.py"
NUMBER = re.compile(r"-?\d+\.\d+|\d+")


class Server:
    """A hawserd on a port of its own."""

    def __init__(self, program, log):
        self.log = open(log, "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [program, "--listen=127.0.0.1:0"], stdout=self.log,
            stderr=subprocess.STDOUT)
        while self.process.poll() is None:
            ready = re.search(r"ready on (\S+)", pathlib.Path(log).read_text())
            if ready:
                self.address = ready[1]
                return
            time.sleep(0.1)
        sys.exit(f"{program} does not start: see {log}")

    def end(self):
        """None, or how it had ended before it was told to."""
        code = self.process.poll()
        self.process.terminate()
        self.process.wait()
        self.log.close()
        return None if code is None else f"hawserd ended with {code}"


def row(part, file, name, answer):
    outcome, why, seconds = answer
    return {"part": part, "file": file, "name": name, "outcome": outcome,
            "why": why, "seconds": seconds}


def same(wants, gots):
    """Lines alike, their numbers within what f32 sums may differ."""
    return len(wants) == len(gots) and all(
        NUMBER.sub("#", one) == NUMBER.sub("#", other) and all(
            abs(float(a) - float(b)) <= 2e-4 * max(1, abs(float(a)))
            for a, b in zip(NUMBER.findall(one), NUMBER.findall(other)))
        for one, other in zip(wants, gots))


def run_example(options, program, environment):
    """(lines, why it failed) of one program."""
    try:
        done = subprocess.run(
            [options.python, program], capture_output=True, text=True,
            env=environment, timeout=4 * options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return [], "hangs"
    if done.returncode:
        return [], (done.stderr.strip() or "no words").splitlines()[-1][:400]
    return done.stdout.splitlines(), None


def examples(options, environment):
    """The programs of client/examples/jax print what they print on JAX's CPU."""
    for program in sorted(EXAMPLES.glob("*.py")):
        if not re.search(options.only, program.name):
            continue
        start = time.monotonic()
        wants, why = run_example(
            options, program, {**environment, "JAX_PLATFORMS": "cpu"})
        if why:
            answer = ("left out", f"JAX's CPU: {why}")
        else:
            gots, why = run_example(options, program, environment)
            if why is None and gots[-1:] != ["on hawser"]:
                why = f"ran {gots[-1:]}"
            elif why is None and not same(wants[:-1], gots[:-1]):
                why = f"printed {gots}, not {wants}"
            answer = ("failed", why) if why else ("passed", "")
        yield row("examples", "client/examples/jax", program.name,
                  (*answer, round(time.monotonic() - start, 1)))


def programs(options, environment):
    """Programs of others, each a folder."""
    folders = sorted(path.parent for path in pathlib.Path(options.programs).glob(
        f"*/{options.variant}") if (path.parent / "expected.npz").exists()
        and re.search(options.only, path.parent.name))
    answered = workers.ask_all(folders, lambda: workers.Worker(
        [options.python, HERE / "foreign.py", options.variant], environment,
        4 * options.timeout), options.jobs)
    for folder, answer in zip(folders, answered):
        yield row("programs", options.variant, folder.name, answer)


def test_file(options, environment, file):
    """Every test of one of JAX's files."""
    def make():
        return workers.Worker([options.python, HERE / "test_file.py", file],
                              environment, options.timeout)

    first = make()
    try:
        names = first.start()
    except workers.DoesNotStart as error:
        yield row("tests", file, file, ("failed", f"does not load: {error}", 0))
        return
    ready = [first]
    names = [name for name in names if re.search(options.only, name)]
    answered = workers.ask_all(
        names, lambda: ready.pop() if ready else make(), options.jobs)
    for name, answer in zip(names, answered):
        yield row("tests", file, name, answer)


def sweep(options, environment):
    """tests/client/python/sweep."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "rows.json"
        subprocess.run(
            [options.python, SWEEP, f"--json={report}", f"--jobs={options.jobs}",
             f"--every={options.every}"], env=environment, check=False,
            stdout=subprocess.DEVNULL)
        rows = json.loads(report.read_text())["rows"] if report.exists() else [
            {"name": "sweep", "outcome": "failed", "why": "it did not end"}]
    for one in rows:
        if one["outcome"] != "no case":
            yield row("sweep", "sweep", one["name"], (
                one["outcome"], one["why"], one.get("seconds", 0)))


def all_rows(options, environment):
    if not options.no_examples:
        yield from examples(options, environment)
    if options.programs:
        yield from programs(options, environment)
    for file in options.files:
        yield from test_file(options, environment, file)
    if options.sweep:
        yield from sweep(options, environment)


def counted(rows):
    """Counts of outcomes, and of each reason."""
    reasons = collections.defaultdict(collections.Counter)
    for one in rows:
        if one["outcome"] != "passed":
            reasons[one["outcome"]][one["why"]] += 1
    counts = collections.Counter(one["outcome"] for one in rows)
    return {**{outcome: counts[outcome]
               for outcome in ("passed", "failed", "left out")},
            "reasons": {outcome: dict(found.most_common())
                        for outcome, found in reasons.items()}}


def in_words(count):
    return (f"{count['passed']} passed, {count['failed']} failed, "
            f"{count['left out']} left out")


def report(rows, options):
    """Prints failures, reasons, a line a file and the total; writes the JSON."""
    for one in rows:
        if one["outcome"] == "failed":
            print(f"FAILED {one['file']} {one['name']}: {one['why']}")
    total = counted(rows)
    for why, count in total["reasons"].get("left out", {}).items():
        print(f"left out {count}: {why}")
    files = {}
    for one in rows:
        files.setdefault(one["file"], []).append(one)
    files = {file: counted(found) for file, found in files.items()}
    for file, count in files.items():
        print(f"{file}: {in_words(count)}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {**total, "files": files, "rows": rows}, indent=1) + "\n")
    print(in_words(total))
    return total["failed"]


def read_options():
    parser = argparse.ArgumentParser(prog="jax_check.sh")
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--python", required=True, help="one that has JAX")
    parser.add_argument("--hawserd", help="starts this server")
    parser.add_argument("--servers", help="addresses of servers that run")
    parser.add_argument("--programs", help="a folder of programs of others")
    parser.add_argument("--variant", default="program.mlirbc")
    parser.add_argument("--no-examples", action="store_true")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--every", type=int, default=16, help="as of sweep.py")
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--timeout", type=float, default=60, help="of a test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json")
    parser.add_argument("files", nargs="*", help="JAX's own test files")
    return parser.parse_args()


def main():
    options = read_options()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(options.wheel).extractall(folder)
        environment = {
            **os.environ, "JAX_PLATFORMS": "hawser,cpu", "PYTHONPATH": folder}
        server = None
        if options.hawserd:
            server = Server(options.hawserd, f"{folder}/hawserd.log")
            environment["HAWSER_SERVERS"] = server.address
        elif options.servers:
            environment["HAWSER_SERVERS"] = options.servers
        rows = list(all_rows(options, environment))
        why = server and server.end()
        if why:
            rows.append(row("server", "hawserd", "hawserd", ("failed", why, 0)))
    return 1 if report(rows, options) else 0


if __name__ == "__main__":
    sys.exit(main())
