#!/usr/bin/env python3
"""Turns Nx's answers for vectorized tensors into cases of Vmap.

usage: nx_vectorize_to_cases.py ORACLE_FOLDER OUTPUT_FILE

Each case calls an SDK function; the axes Nx hides stand in front of the tensors'
own, and their names behind the case's, as in "add/1 [x2] [y3] -> [x2,y3]". What
nx_to_cases.py cannot turn into a call is left out, and printed with the reason.
"""

import json
import pathlib
import re
import sys

import nx_to_cases

HEADER = nx_to_cases.HEADER.replace("nx_to_cases.py",
                                    "nx_vectorize_to_cases.py")


def axes_of(tensor):
    return tensor.get("vectorized_axes") or []


def axes_text(tensor):
    return "[%s]" % ",".join("%s%d" % tuple(axis) for axis in axes_of(tensor))


def with_axes(text, tensors):
    """The shapes in the text, in order, with the tensors' axes in front."""
    todo = iter(tensors)

    def full(match):
        sizes = [str(size) for _, size in axes_of(next(todo))]
        own = [size for size in match.group(2).split(",") if size]
        return '%s[%s]"' % (match.group(1), ",".join(sizes + own))

    return re.sub(r'(shape: "\w+)\[([0-9,]*)\]"', full, text)


def main(oracle, output):
    texts = []
    for case in json.loads((oracle / "vectorize.json").read_text()):
        plain = dict(case)
        for part in ("inputs", "outputs"):
            plain[part] = [{name: value for name, value in tensor.items()
                            if name != "vectorized_axes"}
                           for tensor in case[part]]
        try:
            text = nx_to_cases.converted(plain)
        except nx_to_cases.Leave as why:
            print("%s: %s" % (case["id"], why))
            continue
        axes = " ".join(axes_text(tensor) for tensor in case["inputs"])
        axes += " -> " + axes_text(case["outputs"][0])
        text = text.replace(case["id"], "%s %s" % (case["id"], axes), 1)
        texts.append(with_axes(text, case["inputs"] + case["outputs"]))
    output.write_text("\n".join([HEADER] + texts) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
