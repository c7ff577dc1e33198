#!/usr/bin/env python3
"""No folder holds more source files than a reader can keep in mind."""

import collections

import source_tree

CAP = 15

# Folders that are over the cap, and by how much they may be. A count may only
# go down: a folder that has become smaller gets a smaller number here, and one
# within the cap loses its row.
EXCEPTIONS = {
    "tests/bench/gpu": 18,
}


def counts(tree):
    """Source files right in each folder; data of tests is none."""
    found = collections.Counter()
    for path in source_tree.files(tree, source_tree.SOURCE - {".txtpb"}):
        found[str(path.parent)] += 1
    return found


def violations(tree, exceptions=None):
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    found = []
    for folder, count in sorted(counts(tree).items()):
        allowed = exceptions.get(folder, CAP)
        if count > allowed:
            found.append(f"{folder}:1: {count} source files, at most {allowed}")
        elif folder in exceptions and count < allowed:
            found.append(f"{folder}:1: {count} source files now, "
                         f"folder_test.py says {allowed}: lower it")
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
