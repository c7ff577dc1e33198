#!/usr/bin/env python3
"""Turns what real Nx answers for vectorized tensors into calls below Vmap.

usage: nx_vectorize_to_cases.py ORACLE_FOLDER/vectorize.json \\
           > tests/client/sdk/functions/batch/nx_vectorize.txtpb

Case files as nx_to_cases.py makes, but a case's name goes on with the names of
the vectorized axes of each input, in their order, "-" for none:
"vectorize/add/1: x | y". In the file they are leading axes of the shape, as they
are of the outputs, which have all names in the order in which they first come.
"""

import collections
import json
import sys

import nx_to_cases


def flattened(tensor):
    """The tensor with its vectorized axes as leading ones."""
    axes = tensor.get("vectorized_axes", [])
    plain = {k: v for k, v in tensor.items() if k != "vectorized_axes"}
    return dict(plain, shape=[size for _, size in axes] + tensor["shape"])


def names(tensor):
    return " ".join(
        name for name, _ in tensor.get("vectorized_axes", [])) or "-"


def converted(case):
    name = "%s: %s" % (case["id"], " | ".join(map(names, case["inputs"])))
    return nx_to_cases.converted(dict(
        case, id=name, inputs=[flattened(t) for t in case["inputs"]],
        outputs=[flattened(t) for t in case["outputs"]]))


def main():
    texts, left = [], collections.Counter()
    for case in json.load(open(sys.argv[1])):
        try:
            texts.append(converted(case))
        except nx_to_cases.Leave as why:
            left["%s (%s)" % (why, case["op"])] += 1
    print("# proto-file: proto/case.proto")
    print("# proto-message: hawser.v1.CaseFile")
    print("# Made by tests/tools/nx_vectorize_to_cases.py; do not edit. Not here:")
    print("# " + "; ".join("%d: %s" % (n, why)
                           for why, n in left.most_common()))
    print('source: "Nx 0.13.1 on Nx.BinaryBackend"')
    print("\n" + "\n\n".join(texts))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
