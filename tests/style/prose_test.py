#!/usr/bin/env python3
"""Comments are contracts: they name who holds, calls and waits."""

import re

import source_tree

# Words that hide the subject: a thread, a caller, an owner.
HIDING = re.compile(
    r"//.*\b(anybody|everybody|nobody|somebody|whoever)\b", re.IGNORECASE)


def violations(tree):
    found = []
    for path in source_tree.files(tree, source_tree.CODE | {".proto"}):
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            match = HIDING.search(line)
            if match:
                found.append(f"{path}:{number}: '{match.group(1)}' hides who it "
                             "is: a thread, a caller, an owner")
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
