#!/usr/bin/env python3
"""Comments are contracts: they name who holds, calls and waits, and most of
them are sentences. No text is a merge that was not finished."""

import collections
import re
import sys

import source_tree

# Words that hide the subject: a thread, a caller, an owner.
HIDING = re.compile(
    r"//.*\b(anybody|everybody|nobody|somebody|whoever)\b", re.IGNORECASE)

# What git writes around the two sides of a conflict.
CONFLICT = re.compile(r"(<{7}|>{7}) ")

# The first words of fragments: a reader must guess subject and verb.
OPENERS = frozenset(
    "Of What Where As That Those Likewise Beside Behind By With Without "
    "Whether Has Had Once Else None".split())

# How many percent of the sentences in a folder's comments may be fragments.
SHARE_CAP = 3

# Folders that are over the cap, and how many percent they may have; PRODUCT is
# all of them together. A number may only go down: when a share is two points or
# more below it, a smaller number belongs here, and a folder within the cap loses
# its row. PRODUCT keeps its row.
PRODUCT = "product"
SHARES = {
    PRODUCT: 1,
}

# A comment, after code or alone. Strings that hold "//" pass for comments; they
# are few and have no sentences.
COMMENT = re.compile(r"(.*?)//+(?: (.*)|$)")

# Comments that are for a tool, headings, and the names of what a brace ends.
FORMAL = re.compile(
    r"NOLINT|namespace\b|clang-format |Copyright|SPDX-|HAWSER_\w+$|----")


def paragraphs(lines):
    """The texts of the comments: lines that begin below each other are one."""
    words, column = [], None
    for line in lines:
        match = COMMENT.match(line)
        text = (match.group(2) or "").strip() if match else ""
        if FORMAL.match(text):
            text = ""
        follows = match and not match.group(1).strip() and match.end(1) == column
        if words and not (follows and text):
            yield " ".join(words)
            words = []
        if text:
            words.append(text)
            column = match.end(1)
    if words:
        yield " ".join(words)


def sentences(lines):
    for paragraph in paragraphs(lines):
        yield from re.split(r"(?<=[.!?])\s+", paragraph)


def is_fragment(sentence):
    match = re.match(r"\W*(\w+)", sentence)
    return bool(match) and match.group(1) in OPENERS


def shares(tree):
    """(fragments, sentences) of each second-level folder of the product."""
    found = collections.defaultdict(lambda: [0, 0])
    for path in source_tree.files(tree, source_tree.CODE | {".proto"}):
        if path.parts[0] not in ("tests", "deploy"):
            here = list(sentences(source_tree.lines(tree, path)))
            for folder in ("/".join(path.parts[:-1][:2]), PRODUCT):
                found[folder][0] += sum(map(is_fragment, here))
                found[folder][1] += len(here)
    return found


def percent(fragments, total):
    return 100 * fragments / total if total else 0


def over_share(tree, exceptions):
    for folder, counts in sorted(shares(tree).items()):
        share = percent(*counts)
        allowed = exceptions.get(folder, SHARE_CAP)
        if share > allowed:
            yield (f"{folder}:1: {share:.1f} % of the comments' sentences are "
                   f"fragments, at most {allowed}")
        elif folder in exceptions and (
                share <= allowed - 2 or
                (folder != PRODUCT and share <= SHARE_CAP)):
            yield (f"{folder}:1: {share:.1f} % fragments now, prose_test.py "
                   f"says {allowed}: lower it")


def conflicts(tree):
    found = []
    for path in source_tree.files(tree, source_tree.TEXT):
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            if CONFLICT.match(line):
                found.append(f"{path}:{number}: a merge that was not finished")
    return found


def violations(tree, exceptions=None):
    exceptions = SHARES if exceptions is None else exceptions
    found = conflicts(tree)
    for path in source_tree.files(tree, source_tree.CODE | {".proto"}):
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            match = HIDING.search(line)
            if match:
                found.append(f"{path}:{number}: '{match.group(1)}' hides who it "
                             "is: a thread, a caller, an owner")
    return found + list(over_share(tree, exceptions))


def print_table(tree):
    """The share of each folder, most first."""
    rows = [(percent(*counts), folder, *counts)
            for folder, counts in shares(tree).items()]
    for share, folder, fragments, total in sorted(rows, reverse=True):
        print(f"{share:5.1f} %  {fragments:5} of {total:5}  {folder}")


def print_fragments(tree, under):
    """The fragments in files whose path begins with `under`."""
    for path in source_tree.files(tree, source_tree.CODE | {".proto"}):
        if str(path).startswith(under):
            for sentence in sentences(source_tree.lines(tree, path)):
                if is_fragment(sentence):
                    print(f"{path}: {sentence}")


if __name__ == "__main__":
    if "--table" in sys.argv:
        sys.argv.remove("--table")
        print_table(source_tree.root())
    elif "--list" in sys.argv:
        under = sys.argv.pop(sys.argv.index("--list") + 1)
        sys.argv.remove("--list")
        print_fragments(source_tree.root(), under)
    else:
        source_tree.report(violations(source_tree.root()))
