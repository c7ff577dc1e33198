"""The scratch checkout: the tree with the drawn mutants in it, built by Bazel.

Bazel says which tests depend on the mutated files, compiles what they change
and links it; nothing here lists sources or tests.
"""

import concurrent.futures
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys

import sites

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = (".cuh", ".h", ".cc")
# What `bazel test` leaves out as well.
LEFT_OUT = r"\b(gpu|slow|manual)\b"
# They find what they change by the text of the prelude, which is another here.
NOT_RUN = "*PlantedBug*"
# What the tests of the scratch build are told (known_cases.h): file, pattern,
# replacement. Each has to be found.
TOLD = (
    # Most of a mutant's time is the compiler's.
    ("kernels/emu/launch/host_compiler.cc", r'"-O1"', '"-O0"'),
    ("tests/kernels/plan/region/points_test.cc", r"seed < (\d+)",
     r"seed < (uint64_t)mut::Seeds(\1)"),
    ("tests/kernels/plan/buffers_test.cc", r"seed < (\d+)",
     r"seed < (uint64_t)mut::Seeds(\1)"),
    ("tests/kernels/plan/fusion/fused_values_test.cc", r"seed < (\d+)",
     r"seed < (uint64_t)mut::Seeds(\1)"),
    ("tests/kernels/gpu/emit/region_batch.h", r"kernels_at_once = 400",
     "kernels_at_once = mut::KernelsAtOnce()"),
    ("tests/kernels/gpu/emit/region_batch.cc",
     r"cases_\.push_back\(std::move\(c\)\);",
     "if (mut::IsKnown(c)) {\n"
     "    for (const EmittedKernel& k : *kernels) pending_.erase(k.name);\n"
     "    return;\n  }\n  cases_.push_back(std::move(c));"),
)
CHECK = ("g++", "-std=c++20", "-w", "-fmax-errors=0", "-fsyntax-only",
         "-fno-diagnostics-show-caret")
MESSAGE = re.compile(r"^(\S+?):(\d+):(\d+): +(?:fatal )?"
                     r"(error: |note: |required from here)(.*)")
NOT_CONSTANT = re.compile(
    "was not (initialized with a constant expression|declared .constexpr)")


def write_if_other(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Build:
    """Everything under `folder`. The draw (`draw.json`) is made once, by the
    first build: which folders, how many mutants, in which random order."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.original = self.folder / "original"
        self.tree = self.folder / "tree"
        self.bin = self.tree / "bazel-bin"
        self.parsed = {}  # by file
        self.places = {}
        self.draw = self._load("draw.json", {})
        self.dropped = set(self._load("dropped.json", []))
        self.tests = self._load("tests.json", {})  # target: args, env
        if self.draw:
            self._parse()

    def _load(self, name, otherwise):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else otherwise

    def _save(self, name, value):
        (self.folder / name).write_text(json.dumps(value, indent=1))

    # ---- the draw

    def begin(self, of, tests, most, seed):
        """Copies the tree, and draws when there is no draw yet."""
        if of and self.draw:
            sys.exit(f"{self.folder} has a draw; take another --folder")
        if not of and not self.draw:
            sys.exit("--of FOLDER")
        if not self.draw:
            self.draw = {"of": of, "tests": tests, "most": most, "seed": seed,
                         "order": [], "numbers": {}}
        self._copy()
        self._parse()
        known = set(self.draw["order"])
        new = [k for k in self.by_key if k not in known]
        random.Random(self.draw["seed"]).shuffle(new)
        self.draw["order"] += new
        self._number()
        self._save("draw.json", self.draw)
        print(f"seed {self.draw['seed']}: {len(self.drawn())} drawn of "
              f"{len(self.by_key)} mutants in {len(self.parsed)} files",
              flush=True)

    def _copy(self):
        """What is mutated to `original`, all else to the tree."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
            capture_output=True, text=True, check=True).stdout.splitlines()
        listed = {f for f in listed if (ROOT / f).is_file()}
        mutated = {f for f in listed if f.endswith(SUFFIXES) and any(
            f == of or f.startswith(of.rstrip("/") + "/")
            for of in self.draw["of"])}
        for folder, files in ((self.original, mutated), (self.tree, listed)):
            if folder.exists():
                for path in folder.rglob("*"):
                    name = str(path.relative_to(folder))
                    if (not name.startswith("bazel-") and path.is_file()
                            and name not in files):
                        path.unlink()
            for file in files - (mutated if folder == self.tree else set()):
                write_if_other(folder / file, (ROOT / file).read_bytes())
                (folder / file).chmod((ROOT / file).stat().st_mode)

    def _parse(self):
        """The dialect first: its mutants' numbers stand in every compiled
        kernel, and stay when other files change."""
        paths = [p for p in self.original.rglob("*") if p.is_file()]
        self.by_key = {}
        for path in sorted(paths, key=lambda p: (p.suffix != ".cuh", p)):
            file = str(path.relative_to(self.original))
            parsed = sites.Source(file, path.read_text(),
                                  texts="/emit/" in file,
                                  dialect=file.endswith(".cuh"))
            self.parsed[file] = parsed
            for site in parsed.sites:
                site.number = self.draw["numbers"].get(site.key, 0)
                for k in range(len(site.mutants)):
                    self.by_key[mutant_key(site, k)] = site, k

    def _number(self):
        """A site keeps its number for good."""
        numbers = self.draw["numbers"]
        after = self.draw.get("after", 1)
        for parsed in self.parsed.values():
            for site in parsed.sites:
                if site.key not in numbers:
                    numbers[site.key] = after
                    after += len(site.mutants)
                site.number = numbers[site.key]
        self.draw["after"] = after
        if after >= 1 << 18:
            raise ValueError(f"{after} mutants; mutant.cc counts to 2^18")

    def drawn(self):
        """(site, which of its mutants), in random order. A drawn mutant whose
        line has changed since is not replaced by another."""
        drawn, left = [], self.draw["most"] or len(self.draw["order"])
        for key in self.draw["order"]:
            if left == 0:
                break
            if key.rsplit(": ", 1)[0] not in self.dropped:
                left -= 1
                if key in self.by_key:
                    drawn.append(self.by_key[key])
        return drawn

    # ---- writing

    def write(self):
        """The drawn sites into the tree; the files that have any."""
        kept = {site.key for site, _ in self.drawn()}
        include = (self.tree / "tests/mutation/mutant.h").read_text()
        mutated = []
        for file, parsed in self.parsed.items():
            others = {s.key for s in parsed.sites} - kept
            if len(others) == len(parsed.sites):
                text = (self.original / file).read_text()
            else:
                text, self.places[file] = parsed.mutated(others | self.dropped)
                if not file.endswith(("complex.cuh", "reduce.cuh")):
                    text = self._with(include, file, text)
                mutated.append(file)
            write_if_other(self.tree / file, text.encode())
        return mutated

    def _with(self, include, file, text):
        """`include` in front of the first directive: a file of its own would
        have to be among the sources that Bazel knows of."""
        first = re.search("^#", text, re.MULTILINE).start()
        return (f'{text[:first]}#line 1 "mutant.h"\n{include}\n'
                f'#line {text.count(chr(10), 0, first) + 1} "{file}"\n'
                f"{text[first:]}")

    def write_told(self):
        told = {}
        for file, pattern, replacement in TOLD:
            text = told.get(file) or (ROOT / file).read_text()
            told[file], count = re.subn(pattern, replacement, text)
            if count == 0:
                sys.exit(f"{file} has no {pattern!r}")
        include = (ROOT / "tests/mutation/known_cases.h").read_text()
        for file, text in told.items():
            write_if_other(self.tree / file,
                           self._with(include, file, text).encode())

    # ---- building

    def make(self, jobs):
        """Drops sites until everything compiles, and links the tests."""
        self.write()
        self.write_told()
        self._ask_bazel()
        generated = self._bazel(
            "query", f"kind(genrule, deps(set({' '.join(self.tests)})))")
        flags = (f"--jobs={jobs}", "--copt=-w", "--copt=-O1",
                 "--linkopt=-rdynamic", f"--linkopt={self._mutant_object()}")
        self._bazel("build", *flags, *generated.stdout.split())
        while True:
            self._settle(jobs)
            done = self._bazel("build", "--keep_going", *flags, *self.tests,
                               check=False)
            if done.returncode == 0:
                return
            self.drop(self.refused(done.stderr), done.stderr)

    def _bazel(self, command, *arguments, check=True):
        done = subprocess.run(
            ["nice", "bazel", command, "--noshow_progress", "--color=no",
             "--curses=no", *arguments], cwd=self.tree, capture_output=True,
            text=True)
        if check and done.returncode != 0:
            sys.exit(done.stderr[-4000:])
        return done

    def _ask_bazel(self):
        """The tests that depend on what is mutated, and how they are run."""
        tests = f"set({' '.join(self.draw['tests'])})"
        listed = self._bazel(
            "query", f"kind(cc_test, rdeps({tests}, set("
            f"{' '.join(self.parsed)}))) intersect {tests} "
            f"except attr(tags, '{LEFT_OUT}', {tests})").stdout.split()
        answer = json.loads(self._bazel("cquery", "--output=jsonproto",
                                        f"set({' '.join(listed)})").stdout)
        self.tests = {}
        for result in answer["results"]:
            rule = result["target"]["rule"]
            values = {a["name"]: a for a in rule["attribute"]}
            package = rule["name"][2:].split(":")[0]
            self.tests[rule["name"]] = {
                "args": [self._location(package, word) for word in
                         values["args"].get("stringListValue", [])],
                "env": {e["key"]: e["value"] for e in
                        values["env"].get("stringDictValue", [])}}
        self._save("tests.json", self.tests)

    def _location(self, package, word):
        def path(m):
            label = m.group(1)
            return (label[2:].replace(":", "/") if label.startswith("//")
                    else f"{package}/{label.lstrip(':')}")
        return re.sub(r"\$\(location (.*?)\)", path, word)

    def _mutant_object(self):
        source = self.tree / "tests/mutation/mutant.cc"
        content = source.read_bytes() + source.with_suffix(".h").read_bytes()
        name = f"mutant-{hashlib.sha256(content).hexdigest()[:8]}.o"
        subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-c", source,
                        f"-I{self.tree}", "-o", self.folder / name], check=True)
        return self.folder / name

    # ---- what g++ refuses

    def _settle(self, jobs):
        """Drops the sites that a file cannot have, headers first."""
        checked = self._load("checked.json", {})

        def check(file):
            """What g++ says, when it does not take the file."""
            kind = ("-x", "c++") if file.endswith(".h") else ()
            source = ("tests/kernels/dialect/prelude_test.cc"
                      if file.endswith(".cuh") else file)
            done = subprocess.run(
                ["nice", *CHECK, *kind, "-I.", "-Ibazel-bin", source],
                cwd=self.tree, capture_output=True, text=True)
            return done.stderr if done.returncode != 0 else ""

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            while True:
                files = {f: hashlib.sha256((self.tree / f).read_bytes())
                         .hexdigest() for f in self.write()}
                files = {f: t for f, t in files.items() if checked.get(f) != t}
                headers = [f for f in files if not f.endswith(".cc")]
                batch = headers or list(files)
                if not batch:
                    return
                found = set()
                for file, errors in zip(batch, pool.map(check, batch)):
                    checked[file] = files[file]
                    if errors:
                        found |= self.refused(errors) or sys.exit(errors[:4000])
                self._save("checked.json", checked)
                self.drop(found, "")

    def drop(self, refused, errors):
        """`errors` have to speak of some site."""
        if not refused and errors:
            sys.exit(errors[-8000:])
        if refused:
            print(f"{len(refused)} sites dropped", flush=True)
        self.dropped |= refused
        self._save("dropped.json", sorted(self.dropped))

    def refused(self, messages):
        """Keys of the sites that the messages of g++ speak of."""
        found, from_here = set(), None
        for line in messages.splitlines():
            m = MESSAGE.match(line)
            if not m:
                continue
            path, row, column, kind, text = m.groups()
            place = self._mutated_file(path), int(row), int(column)
            if kind == "required from here":
                from_here = place
                continue
            if kind == "error: " and place[0] is None:
                place = from_here or place
            if place[0] and (kind == "error: " or NOT_CONSTANT.search(text)):
                found.add(self._site_at(*place, found))
            if kind == "error: ":
                from_here = None
        return found - {None}

    def _mutated_file(self, path):
        for file in self.places:
            if path in (file, str(self.tree / file)) or (
                    file.endswith(".cuh") and path == pathlib.Path(file).name):
                return file
        return None

    def _site_at(self, file, row, column, found):
        """The nearest one to the left on the line, else to the right, else on
        the lines above."""
        for line in range(row, max(row - 12, 0), -1):
            here = self.places[file].get(line, [])
            here = [p for p in here if p[1] not in found] or here
            left = [p for p in here if line < row or p[0] <= column]
            if left:
                return max(left)[1]
            if here:
                return min(here)[1]
        return None

    def binary(self, target):
        return self.bin / target[2:].replace(":", "/")


def mutant_key(site, k):
    return f"{site.key}: {site.mutants[k]}"
