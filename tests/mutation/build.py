"""The scratch build: mutated sources, the tests that run them, linked as Bazel
links them.

What is not mutated is linked from bazel-bin, so the targets are to be built
there first; their link lines (`*-2.params`) say of what they consist.
"""

import concurrent.futures
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

import sites

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAZEL = "bazel-out/k8-opt/bin"
# The dialect first: its mutants' numbers stand in every compiled kernel, and
# stay when other files change.
SOURCES = ("kernels/dialect/*.cuh", "kernels/plan/**/*.cc",
           "kernels/plan/**/*.h", "kernels/gpu/emit/**/*.cc",
           "kernels/gpu/emit/**/*.h")
TARGETS = (
    "tests/kernels/plan/plan_test",
    "tests/kernels/plan/fusion/fusion_test",
    "tests/kernels/plan/region/region_test",
    "tests/kernels/plan/golden_test",
    "tests/kernels/gpu/emit/golden_kernels_test",
    "tests/kernels/gpu/emit/shapes_test",
    "tests/kernels/gpu/emit/random_regions_test",
    "tests/kernels/dialect/prelude_test",
    "tests/kernels/emu/collectives_test",
    "tests/kernels/emu/sample_kernels_test",
)
# What they read, from the folder they run in.
DATA = ("tests/kernels/plan/golden", "tests/kernels/gpu/emit/golden")
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
FLAGS = ("g++", "-std=c++20", "-w", "-fmax-errors=0", "-ffp-contract=off",
         "-fwrapv", "-fno-diagnostics-show-caret")
MESSAGE = re.compile(r"^(\S+?):(\d+):(\d+): +(?:fatal )?"
                     r"(error: |note: |required from here)(.*)")
NOT_CONSTANT = "was not initialized with a constant expression"


class Build:
    """Everything under `folder`; `sites` by number once it is settled."""

    def __init__(self, folder, anew):
        """`anew`: from the sources as they are, not as they were built."""
        self.folder = pathlib.Path(folder)
        self.original = self.folder / "original"
        self.source = self.folder / "src"
        self.objects = self.folder / "obj"
        self.dropped_file = self.folder / "dropped.json"
        self.dropped = (set(json.loads(self.dropped_file.read_text()))
                        if self.dropped_file.exists() else set())
        self.parsed = {}
        number = 1
        if anew:
            shutil.rmtree(self.original, ignore_errors=True)
            for pattern in SOURCES:
                for path in ROOT.glob(pattern):
                    copy = self.original / path.relative_to(ROOT)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(path.read_bytes())
        for pattern in SOURCES:
            for path in sorted(self.original.glob(pattern)):
                file = str(path.relative_to(self.original))
                parsed = sites.Source(file, path.read_text(),
                                      texts="/emit/" in file,
                                      dialect=file.endswith(".cuh"))
                for site in parsed.sites:
                    site.number = number
                    number += len(site.mutants)
                self.parsed[file] = parsed
        if number >= 1 << 16:
            raise ValueError(f"{number} mutants; mutant.cc counts to 65,535")
        self.places = {}

    def sites(self):
        return [s for parsed in self.parsed.values() for s in parsed.sites
                if s.key not in self.dropped]

    # ---- writing

    def _write(self, file, text):
        path = self.source / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def write(self, file):
        text, self.places[file] = self.parsed[file].mutated(self.dropped)
        include = '#include "tests/mutation/mutant.h"'
        if file.endswith("prelude.cuh"):
            include = f'#include "{ROOT}/tests/mutation/mutant.h"'
        if not file.endswith(("complex.cuh", "reduce.cuh")):
            first = re.search("^#", text, re.MULTILINE).start()
            text = f"{text[:first]}{include}\n#line " \
                   f"{text.count(chr(10), 0, first) + 1}\n{text[first:]}"
        self._write(file, text)

    def write_all(self):
        for file in self.parsed:
            self.write(file)
        told = {}
        for file, pattern, replacement in TOLD:
            text = told.get(file) or (ROOT / file).read_text()
            told[file], count = re.subn(pattern, replacement, text)
            if count == 0:
                sys.exit(f"{file} has no {pattern!r}")
        for file, text in told.items():
            first = text.index("\n#include") + 1
            self._write(file, text[:first] +
                        '#include "tests/mutation/known_cases.h"\n' +
                        text[first:])
        for folder in DATA:
            shutil.copytree(ROOT / folder, self.source / folder,
                            dirs_exist_ok=True)
        subprocess.run(
            [sys.executable, ROOT / "deploy/bazel/embed_text.py",
             "kernels/dialect/texts.h", "hawser::dialect::internal",
             self.source / "kernels/dialect",
             f"kComplexText={self.source}/kernels/dialect/complex.cuh",
             f"kHostContextText={ROOT}/kernels/dialect/host_context.h",
             f"kHostText={ROOT}/kernels/dialect/host.h",
             f"kPreludeText={self.source}/kernels/dialect/prelude.cuh",
             f"kReduceText={self.source}/kernels/dialect/reduce.cuh"],
            check=True)

    # ---- compiling

    def _find(self, file):
        mine = self.source / file
        return mine if mine.exists() else ROOT / file

    def command(self, file, *flags):
        return [*FLAGS, *flags, f"-I{self.source}", f"-I{ROOT}",
                f"-I{ROOT}/{BAZEL}", str(self._find(file))]

    def _settle_file(self, file):
        """Drops the sites that g++ refuses; whether it took all that is left."""
        stamp = self.folder / "settled" / file.replace("/", "__")
        stamp.parent.mkdir(exist_ok=True)
        content = self._headers() + (self.source / file).read_text()
        if stamp.exists() and stamp.read_text() == content:
            return True
        kind = ("-x", "c++") if file.endswith((".h", ".cuh")) else ()
        if file.endswith(".cuh"):
            file, kind = "tests/kernels/dialect/prelude_test.cc", ()
        done = subprocess.run(self.command(file, "-fsyntax-only", *kind),
                              capture_output=True, text=True)
        if done.returncode == 0:
            stamp.write_text(content)
            return True
        refused = self.refused(done.stderr)
        if not refused:
            sys.exit(f"no site of {file} is at fault:\n{done.stderr[:4000]}")
        self.dropped |= refused
        return False

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
            if place[0] and (kind == "error: " or NOT_CONSTANT in text):
                found.add(self._site_at(*place, found))
            if kind == "error: ":
                from_here = None
        return found - {None}

    def _mutated_file(self, path):
        for file in self.parsed:
            if path == str(self.source / file) or path == pathlib.Path(file).name:
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

    def settle(self, jobs=1):
        """Drops sites until everything compiles."""
        self.write_all()
        files = [f for f in self.parsed if f.endswith(".h")]
        files += [f for f in self.parsed if f.endswith(".cc")]
        files += ["kernels/dialect/prelude.cuh"]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            while files:
                before = len(self.dropped)
                fine = list(pool.map(self._settle_file, files))
                for file in self.parsed:
                    self.write(file)
                files = [f for f, ok in zip(files, fine) if not ok]
                print(f"{len(self.dropped) - before} sites dropped, "
                      f"{len(files)} files again", flush=True)
                self.save_dropped()

    def save_dropped(self):
        self.dropped_file.write_text(json.dumps(sorted(self.dropped), indent=1))

    def _headers(self):
        hasher = hashlib.sha256()
        for path in sorted((self.source / "kernels").rglob("*.h")):
            hasher.update(path.read_bytes())
        hasher.update((ROOT / "tests/mutation/mutant.h").read_bytes())
        return hasher.hexdigest()

    def _object(self, file, headers):
        text = self._find(file).read_bytes()
        if file.endswith("prelude_test.cc"):
            for cuh in sorted((self.source / "kernels/dialect").glob("*.cuh")):
                text += cuh.read_bytes()
        if "known_cases.h" in text.decode():
            text += (ROOT / "tests/mutation/known_cases.h").read_bytes()
        stamp = hashlib.sha256(headers.encode() + text).hexdigest()
        out = self._object_of(file)
        mark = out.with_suffix(".stamp")
        if out.exists() and mark.exists() and mark.read_text() == stamp:
            return out
        level = "-O0" if file.startswith("tests/kernels/gpu") else "-O1"
        subprocess.run(self.command(file, level, "-c", "-o", str(out)),
                       check=True)
        mark.write_text(stamp)
        return out

    def _link_line(self, target):
        """Objects to compile here, by file, and the line with their names."""
        line = (ROOT / BAZEL / f"{target}-2.params").read_text().split("\n")
        sources, out = [], []
        for word in line[2:]:
            m = re.fullmatch(rf"{BAZEL}/(.*)/_objs/[^/]+/(.*)\.o", word)
            file = f"{m.group(1)}/{m.group(2)}.cc" if m else ""
            if file.endswith("_unity.cc"):  # of a unity_test: what it includes
                unity = (ROOT / BAZEL / file).read_text()
                for part in re.findall('#include "(.*)"', unity):
                    sources.append(part)
                    out.append(str(self._object_of(part)))
                continue
            if m and (self.source / file).exists() or (
                    (ROOT / file).is_file()
                    and (file.startswith("tests/kernels/")
                         or not (ROOT / word).exists())):
                sources.append(file)
                out.append(str(self._object_of(file)))
            elif word.startswith(BAZEL):
                out.append(str(ROOT / word))
            elif word:
                out.append(word)
        for file in self._included_tests(sources):
            sources.append(file)
            out.insert(0, str(self._object_of(file)))
        return sources, out

    def _included_tests(self, files):
        """Sources of headers beside the tests that the line does not know yet."""
        found, left = [], list(files)
        while left:
            text = self._find(left.pop()).read_text()
            for header in re.findall(r'#include "(tests/kernels/.*)\.h"', text):
                file = header + ".cc"
                if (ROOT / file).exists() and file not in files + found:
                    found.append(file)
                    left.append(file)
        return found

    def _object_of(self, file):
        return self.objects / (file.replace("/", "__") + ".o")

    def link(self, targets, jobs=1):
        self.objects.mkdir(parents=True, exist_ok=True)
        headers = self._headers()
        lines = {t: self._link_line(t) for t in targets}
        files = {f for sources, _ in lines.values() for f in sources}
        files.add("tests/mutation/mutant.cc")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda f: self._object(f, headers), sorted(files)))
        mutant = str(self._object_of("tests/mutation/mutant.cc"))
        for target, (_, line) in lines.items():
            done = subprocess.run(["g++", "-o", str(self.binary(target)),
                                   "-rdynamic", mutant, *line],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"bazel build //{target} first:\n{done.stderr}")

    def binary(self, target):
        return self.folder / target.replace("/", "__")

