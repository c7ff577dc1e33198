#!/usr/bin/env python3
"""Each second-level folder with sources has a README.md of at most a page."""

import source_tree

PAGE = 70


def folders(tree):
    """Second-level folders, and proto, which has no second level."""
    found = set()
    for path in source_tree.files(tree, source_tree.SOURCE):
        depth = 1 if path.parts[0] == "proto" else 2
        if len(path.parts) > depth:
            found.add("/".join(path.parts[:depth]))
    return sorted(found)


def violations(tree):
    found = []
    for folder in folders(tree):
        readme = tree / folder / "README.md"
        if not readme.exists():
            found.append(f"{folder}/README.md:1: missing")
            continue
        # Generated tables (the ops) are looked up, not read.
        prose = [
            line for line in source_tree.lines(tree, readme.relative_to(tree))
            if not line.startswith("|")
        ]
        if len(prose) > PAGE:
            found.append(
                f"{folder}/README.md:{PAGE}: {len(prose)} lines beside tables, "
                f"a page is {PAGE}")
        if not any(line.strip() for line in prose):
            found.append(f"{folder}/README.md:1: empty")
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
