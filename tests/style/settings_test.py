#!/usr/bin/env python3
"""Every variable of the environment that the product reads is a known setting.

A HAWSER_* has a row in core/environment, which says what is wrong with a value,
and one in client/README.md, or in OTHERS the place that tells of it. What is not
ours has its reason in FOREIGN. And each row of the table is read somewhere.
"""

import re

import source_tree

TABLE = "core/environment/environment.cc"
README = "client/README.md"
PRODUCT = ("client", "core", "deploy", "kernels", "proto", "server")
SUFFIXES = {".cc", ".h", ".py", ".sh", ".bzl", ".cu"}
# A call of these reads a variable: its name is a string or, in a shell, has a dollar.
READ = re.compile(
    r"(?:getenv\(|environ\.get\(|environ\.setdefault\(|environ\[|"
    r"IsSwitchedOn\(|Environment\(|Variable\(|variable\()\s*\"([A-Z_]+)\"")
OURS = re.compile(r"[\"$]\{?(HAWSER_[A-Z_]+)\b")
ROW = re.compile(r"\{\"(HAWSER_[A-Z_]+)\"")

# Settings that no program of a user has, and where they are told of.
OTHERS = {
    "HAWSER_CUDA_LIBS": "kernels/cuda/runtime/library.h",
    "HAWSER_EMU_FAULT_AT_STEP": "server/device.cc",
    "HAWSER_BUILD_CACHE_GIB": "deploy/build_cache.sh",
}
# Variables of others that the product reads, and why.
FOREIGN = {
    "BUILD_WORKSPACE_DIRECTORY": "Bazel's, for the tool that writes the op table",
    "CUDA_HOME": "where the toolkit is",
    "CUDA_PATH": "likewise",
    "PYTHONPATH": "likewise",
    "CONDA_PREFIX": "whose Python packages bring CUDA",
    "VIRTUAL_ENV": "likewise",
    "GRPC_VERBOSITY": "gRPC's own log, which is quiet unless it is set",
    "JAX_PLATFORMS": "whether JAX asks for hawser",
    "EQX_ON_ERROR": "Equinox's checks, which need a callback",
    "OPENBLAS_CORETYPE": "the library's kernels, which bits depend on",
    "OPENBLAS_NUM_THREADS": "the library's own threads, of which there is one",
    "TEST_TMPDIR": "where a test's files go",
    "TMPDIR": "where temporary files go",
    "HOME": "where caches are",
    "XDG_CACHE_HOME": "likewise",
    "PATH": "where programs are",
}
# Read by Bazel's rules and scripts while hawser is built.
BUILD = {"HAWSER_CUDA", "HAWSER_HAVE_CUDA"}
# Names of macros in texts.
MACROS = {"HAWSER_CHECK"}


def reads(tree):
    """Where each variable is read, by name."""
    found = {}
    for path in source_tree.files(tree, SUFFIXES):
        if path.parts[0] not in PRODUCT or str(path) == TABLE:
            continue
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            code = line.split("//")[0] if path.suffix in {".cc", ".h"} else line
            for name in READ.findall(code) + OURS.findall(code):
                found.setdefault(name, f"{path}:{number}")
    return found


def violations(tree):
    if not (tree / TABLE).is_file():
        return []
    rows = set(ROW.findall((tree / TABLE).read_text()))
    readme = set(re.findall(r"`(HAWSER_[A-Z_]+)`", (tree / README).read_text()))
    found = []
    all_reads = reads(tree)
    for name, where in sorted(all_reads.items()):
        if not name.startswith("HAWSER_"):
            if name not in FOREIGN:
                found.append(f"{where}: {name} is read without a reason")
            continue
        if name in BUILD | MACROS or where.startswith("deploy/") and name not in rows:
            continue
        if name not in rows:
            found.append(f"{where}: {name} has no row in {TABLE}")
        elif name not in readme and name not in OTHERS:
            found.append(f"{where}: {name} has no row in {README}")
    for name in sorted(rows - set(all_reads)):
        found.append(f"{TABLE}:1: {name} is read nowhere")
    for name, where in sorted(OTHERS.items()):
        if name not in (tree / where).read_text():
            found.append(f"{where}:1: does not tell of {name}")
    print(f"{len(all_reads)} variables are read, {len(rows)} are settings")
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
