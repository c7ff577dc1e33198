#!/usr/bin/env python3
"""Comments are contracts: they name who holds, calls and waits. No text is a
merge that was not finished."""

import re

import source_tree

# Words that hide the subject: a thread, a caller, an owner.
HIDING = re.compile(
    r"//.*\b(anybody|everybody|nobody|somebody|whoever)\b", re.IGNORECASE)

# What git writes around the two sides of a conflict.
CONFLICT = re.compile(r"(<{7}|>{7}) ")


def conflicts(tree):
    found = []
    for path in source_tree.files(tree, source_tree.TEXT):
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            if CONFLICT.match(line):
                found.append(f"{path}:{number}: a merge that was not finished")
    return found


def violations(tree):
    found = conflicts(tree)
    for path in source_tree.files(tree, source_tree.CODE | {".proto"}):
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            match = HIDING.search(line)
            if match:
                found.append(f"{path}:{number}: '{match.group(1)}' hides who it "
                             "is: a thread, a caller, an owner")
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
