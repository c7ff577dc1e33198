"""The source tree as the style tests see it: root, files, and how to report."""

import os
import pathlib
import sys

FOLDERS = ("client", "core", "deploy", "kernels", "proto", "server", "tests")
CODE = {".cc", ".cu", ".cuh", ".h"}
SOURCE = CODE | {".bzl", ".proto", ".py", ".sh", ".txtpb"}
TEXT = SOURCE | {".bazel", ".md", ".txt"}


def root():
    """The argument if there is one, else the tree this file really lies in.

    Bazel runs a test through symlinks in its runfiles, so resolving them leads
    back to the checkout.
    """
    if len(sys.argv) > 1:
        return pathlib.Path(sys.argv[1]).resolve()
    return pathlib.Path(__file__).resolve().parents[2]


def files(tree, suffixes):
    """Paths relative to `tree` of its files with these suffixes, sorted."""
    found = []
    for folder in FOLDERS:
        for path, folders, names in os.walk(tree / folder):
            folders[:] = [f for f in folders if f[0] not in "._"]
            here = pathlib.Path(path).relative_to(tree)
            paths = [here / name for name in names]
            found += [path for path in paths if path.suffix in suffixes]
    return sorted(found)


def lines(tree, path):
    text = (tree / path).read_text(encoding="utf-8", errors="replace")
    return text.splitlines()


def report(violations):
    """Prints one line each and ends the process with the verdict."""
    for violation in violations:
        print(violation)
    print(f"{len(violations)} violations")
    sys.exit(1 if violations else 0)
