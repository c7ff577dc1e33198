"""Writes the header and source of embed_text in embed.bzl.

usage: embed_text.py HEADER NAMESPACE OUTPUT_FOLDER CONSTANT=FILE...
"""

import pathlib
import sys

HEADER = """\
#ifndef {guard}
#define {guard}

#include "absl/strings/string_view.h"

namespace {namespace} {{

{declarations}

}}  // namespace {namespace}

#endif  // {guard}
"""

SOURCE = """\
#include "{header}"

namespace {namespace} {{

{definitions}

}}  // namespace {namespace}
"""

# The question mark because of trigraphs.
ESCAPES = {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("\n"): "\\n",
    ord("?"): "\\?",
}


def literal(data):
    """One string literal a line; octal escapes never swallow what follows."""
    lines = data.splitlines(keepends=True) or [b""]
    return "\n".join(
        '    "' + "".join(
            ESCAPES.get(byte) or
            (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
            for byte in line) + '"'
        for line in lines)


def definition(constant, data):
    return (f"const absl::string_view {constant}(\n{literal(data)},\n"
            f"    {len(data)});")


def main(header, namespace, folder, *texts):
    pairs = [text.split("=", 1) for text in texts]
    path = pathlib.Path(folder) / pathlib.Path(header).name
    guard = "HAWSER_" + "".join(
        c if c.isalnum() else "_" for c in header.upper()) + "_"
    path.write_text(HEADER.format(
        guard=guard, namespace=namespace, declarations="\n".join(
            f"extern const absl::string_view {name};" for name, _ in pairs)))
    path.with_suffix(".cc").write_text(SOURCE.format(
        header=header, namespace=namespace, definitions="\n\n".join(
            definition(name, pathlib.Path(file).read_bytes())
            for name, file in pairs)))


if __name__ == "__main__":
    main(*sys.argv[1:])
