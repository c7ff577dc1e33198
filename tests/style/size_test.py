#!/usr/bin/env python3
"""No file, class or function outgrows the caps of the house, section 7."""

import re

import source_tree

SOURCE_CAP, HEADER_CAP, TEST_CAP, FUNCTION_CAP = 600, 300, 800, 60
CLASS_CAP, MEMBER_CAP = 150, 15

# Classes that are over the cap, and how long they may be. A number may only go
# down: a class that has become smaller gets a smaller number here, and one
# within the cap loses its row.
CLASSES = {
    "client/remote/datasets/dataset_get.cc:DatasetGet": 155,
    "client/remote/bare/grpc_bare_calls.cc:GrpcBareCalls": 160,
    "client/sdk/ops/indexing/subscript.cc:Subscript": 189,
    "tests/bench/limits_bench_main.cc:LimitsBench": 183,
    "tests/client/remote/fake_server.h:FakeServer": 153,
    "tests/client/remote/fake_transport.cc:FakeTransport": 291,
}

# Classes that have more data members than the cap, and how many.
MEMBERS = {
    "tests/client/remote/fake_server.h:FakeServer": 31,
    "tests/testing/in_process/stream.h:InProcessStream": 33,
}

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


# The head of a class at namespace scope, which no anonymous namespace indents.
CLASS = re.compile(r"(?:class|struct|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)")


def classes(lines):
    """(first line, name, length) of the classes at namespace scope.

    Leans on clang-format, as long_functions does: such a class ends with the
    first line that begins with a brace in the first column.
    """
    start, name = None, None
    for number, line in enumerate(lines, 1):
        if start is not None:
            if line.startswith("}"):
                yield start, name, number - start + 1
                start = None
            continue
        match = CLASS.match(line)
        if match and not line.rstrip().endswith((";", "}")):
            start, name = number, match.group(1)


COMMENT = re.compile(r'//.*|"(?:\\.|[^"\\])*"')
MACRO = re.compile(r"\bABSL_\w+\([^()]*(?:\([^()]*\))?[^()]*\)")
ACCESS = re.compile(r"\b(?:public|protected|private):")
# Innermost braces: those of a function end a declaration, others initialize.
BRACES = re.compile(r"(\)|\b(?:const|final|noexcept|override))?\s*\{[^{}]*\}")
BRACKETS = re.compile(r"<[^<>]*>")
NO_MEMBER = re.compile(r"(?:friend|return|static|typedef|using)\b|.*\(", re.S)
# By the house's trailing underscores; there may be several of one type.
MEMBER = re.compile(r"[\w>*&]\s+\w+_(?:\[\w*\])?(?:,\s*\w+_)*$")


def without(pattern, replacement, text):
    while (now := pattern.sub(replacement, text)) != text:
        text = now
    return text


def members(lines):
    """How many data members the class in these lines has."""
    text = "\n".join(COMMENT.sub("", line) for line in lines)
    text = ACCESS.sub(";", MACRO.sub("", text))
    text = text.partition("{")[2].rpartition("}")[0]
    text = without(BRACES, lambda m: m[1] + ";" if m[1] else "", text)
    text = without(BRACKETS, "", text)
    count = 0
    for statement in text.split(";"):
        declared = statement.split("=")[0].strip()
        if not NO_MEMBER.match(declared) and MEMBER.search(declared):
            count += 1 + declared.count(",")
    return count


def large_classes(path, lines, lengths, counts):
    for line, name, length in classes(lines):
        inside = members(lines[line - 1:line - 1 + length])
        for size, unit, cap, listed in (
                (length, "lines", CLASS_CAP, lengths),
                (inside, "data members", MEMBER_CAP, counts)):
            row = f"{path}:{name}"
            allowed = listed.get(row, cap)
            if size > allowed:
                yield (f"{path}:{line}: class {name} of {size} {unit}, "
                       f"at most {allowed}")
            elif row in listed and size < allowed:
                yield (f"{path}:{line}: class {name} of {size} {unit} now, "
                       f"size_test.py says {allowed}: lower it")


def violations(tree, lengths=None, counts=None):
    lengths = CLASSES if lengths is None else lengths
    counts = MEMBERS if counts is None else counts
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
            found += large_classes(path, lines, lengths, counts)
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
