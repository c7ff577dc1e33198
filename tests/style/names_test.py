#!/usr/bin/env python3
"""No file, folder or class is named after nothing in particular."""

import re

import source_tree

# They say that something belongs together without saying what it is.
EMPTY = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}
TYPE = re.compile(r"^\s*(?:class|struct|enum class)\s+(?:\[\[\w+\]\]\s+)?(\w+)")
CAMEL_WORD = re.compile(r"[A-Z][a-z0-9]*")
PART = re.compile(r"_part_?\d+$")


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


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
