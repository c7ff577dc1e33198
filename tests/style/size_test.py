#!/usr/bin/env python3
"""No file and no function outgrows the caps of the house, section 7."""

import re

import source_tree

SOURCE_CAP, HEADER_CAP, TEST_CAP, FUNCTION_CAP = 600, 300, 800, 60

# A line that may begin a definition: not indented, and neither a comment, a
# directive, a brace nor a scope that only holds others.
HEAD = re.compile(r"(?!//|/\*|#|[{}]|namespace\b|extern \"C\" \{)\S")


def cap_of(path):
    if path.parts[0] == "tests":
        return TEST_CAP
    return HEADER_CAP if path.suffix in (".h", ".cuh") else SOURCE_CAP


def only_table(lines):
    """Whether what follows a function's head is one `return {...};`."""
    body = [line for line in lines if line.startswith("  ")]
    return (body[0] == "  return {" and
            [line for line in body if line[2] != " "] == ["  return {", "  };"])


def long_functions(lines):
    """(first line, length) of functions at namespace scope over the cap.

    Leans on clang-format: such a function ends with a brace alone in the first
    column; classes and initializers end with `};`. A function that only returns
    one table is data, however many rows it has.
    """
    start, in_body = None, False
    for number, line in enumerate(lines, 1):
        if in_body:
            if line.startswith("}"):
                length = number - start + 1
                if (line.rstrip() == "}" and length > FUNCTION_CAP
                        and not only_table(lines[start:number])):
                    yield start, length
                start, in_body = None, False
            continue
        if start is None and HEAD.match(line):
            start = number
        if start is not None:
            if line.rstrip().endswith("{"):
                in_body = True
            elif line.rstrip().endswith((";", "}")):
                start = None


def violations(tree):
    found = []
    for path in source_tree.files(tree, source_tree.CODE | {".proto", ".py"}):
        lines = source_tree.lines(tree, path)
        cap = cap_of(path)
        if len(lines) > cap:
            found.append(f"{path}:{cap}: {len(lines)} lines, the cap is {cap}")
        if path.suffix in source_tree.CODE:
            for line, length in long_functions(lines):
                found.append(
                    f"{path}:{line}: a function of {length} lines, "
                    f"the cap is {FUNCTION_CAP}")
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
