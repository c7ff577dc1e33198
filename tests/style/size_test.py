#!/usr/bin/env python3
"""No file, class or function outgrows the caps of the house, section 7."""

import re

import source_tree

SOURCE_CAP, HEADER_CAP, TEST_CAP, FUNCTION_CAP = 600, 300, 800, 60
CLASS_CAP = 150

# Classes that are over the cap, and how long they may be. A length may only go
# down: a class that has become shorter gets a smaller number here, and one
# within the cap loses its row.
CLASSES = {
    "client/remote/datasets/dataset_get.cc:DatasetGet": 155,
    "client/remote/bare/grpc_bare_calls.cc:GrpcBareCalls": 160,
    "client/remote/grpc/grpc_poller.cc:GrpcPoller": 163,
    "client/sdk/ops/indexing/subscript.cc:Subscript": 189,
    "tests/bench/limits_bench_main.cc:LimitsBench": 183,
    "tests/client/remote/fake_server.h:FakeServer": 153,
    "tests/client/remote/fake_transport.cc:FakeTransport": 291,
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


def long_classes(path, lines, exceptions):
    for line, name, length in classes(lines):
        row = f"{path}:{name}"
        allowed = exceptions.get(row, CLASS_CAP)
        if length > allowed:
            yield (f"{path}:{line}: class {name} of {length} lines, "
                   f"at most {allowed}")
        elif row in exceptions and length < allowed:
            yield (f"{path}:{line}: class {name} of {length} lines now, "
                   f"size_test.py says {allowed}: lower it")


def violations(tree, exceptions=None):
    exceptions = CLASSES if exceptions is None else exceptions
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
            found += long_classes(path, lines, exceptions)
    return found


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
