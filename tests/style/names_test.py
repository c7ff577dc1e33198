#!/usr/bin/env python3
"""No file, folder or class is named after nothing in particular."""

import collections
import re
import sys

import source_tree

# They say that something belongs together without saying what it is.
EMPTY = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}
TYPE = re.compile(r"^\s*(?:class|struct|enum class)\s+(?:\[\[\w+\]\]\s+)?(\w+)")
CAMEL_WORD = re.compile(r"[A-Z][a-z0-9]*")
PART = re.compile(r"_part_?\d+$")
# A type that is defined at namespace scope, which nothing indents: neither a
# declaration nor a specialization, nor a nested one that its class is named for.
DEFINED = re.compile(
    r"(?:class|struct|union|enum(?: class)?)\s+(?:\[\[\w+\]\]\s+)?"
    r"(\w+)\b(?!\s*(?:::|<|\(|;|\*|&))")
# A language of its own, whose names are no C++ of the house.
DEVICE_LANGUAGE = ("kernels", "dialect")


def violations(tree):
    found = []
    for path in source_tree.files(tree, source_tree.SOURCE):
        for part in path.with_suffix("").parts:
            for word in EMPTY & set(re.split(r"[_.\-]", part.lower())):
                found.append(f"{path}:1: '{word}' in a name says nothing")
            if PART.search(part):
                found.append(f"{path}:1: split by noun, not by part number")
        if path.suffix not in source_tree.CODE:
            continue
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            match = TYPE.match(line)
            words = CAMEL_WORD.findall(match.group(1)) if match else []
            for word in EMPTY & {word.lower() for word in words}:
                found.append(
                    f"{path}:{number}: '{word}' in a name says nothing")
    return found


def repeated_types(tree):
    """Where types of the product are, by name, for names that several have."""
    where = collections.defaultdict(list)
    for path in source_tree.files(tree, {".cc", ".h"}):
        if path.parts[0] == "tests" or path.parts[:2] == DEVICE_LANGUAGE:
            continue
        lines = source_tree.lines(tree, path)
        for number, line in enumerate(lines, 1):
            match = DEFINED.match(line)
            rest = " ".join(lines[number - 1:number + 2])
            if match and "{" in rest.partition(";")[0]:
                where[match.group(1)].append(f"{path}:{number}")
    return {name: there for name, there in where.items() if len(there) > 1}


def print_repeated_types(tree):
    found = sorted(repeated_types(tree).items(), key=lambda row: -len(row[1]))
    for name, there in found:
        print(f"{name}: {' '.join(there)}")
    print(f"{len(found)} type names defined more than once")


if __name__ == "__main__":
    if "--types" in sys.argv:
        sys.argv.remove("--types")
        print_repeated_types(source_tree.root())
        sys.exit(0)
    source_tree.report(violations(source_tree.root()))
