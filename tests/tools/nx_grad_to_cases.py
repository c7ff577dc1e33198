#!/usr/bin/env python3
"""Turns gradients that real Nx computed into whole graphs of SDK functions.

usage: nx_grad_to_cases.py ORACLE_FOLDER/grad.json > tests/core/autodiff/nx_grad.txt

A case of the output, which nx_grad_test.cc reads:

    case ID PROGRAM
    by 0 2               the inputs that are differentiated by
    order 2              of the sum of all first gradients; 1: of the result
    tolerance ATOL RTOL
    input f32[2] 1 2     one line each; one value stands for all
    output f32[2] 1 2    the value, then one gradient for each of `by`
    3 f32 Sum 1 2 axes=[0] keep_axes=false   node, dtype, function, operands
    4 - Cond 3 : 1 2 | 3 3                   conditions, results of branches
    4 - While 1 2 : 1 2                      state : bodies of condition, turn
    4 f32 custom Round 3 2                   a function, 2 times whose gradient
    5 f32 elem 4 1       result 1 of node 4
    return 5             its results
    body 1               nodes and results of one follow, whose inputs are a state
"""

import collections
import json
import sys


class Leave(Exception):
    """The case is left out; the text says why."""


PLAIN = dict(pair.split() for pair in (
    "abs Abs, acos Acos, acosh Acosh, add Add, asin Asin, asinh Asinh, "
    "atan Atan, ceil Ceil, clip Clip, cos Cos, cosh Cosh, divide Divide, "
    "equal Eq, erf Erf, erfc Erfc, exp Exp, greater Gt, greater_equal Ge, "
    "is_infinity IsInfinity, less Lt, less_equal Le, log Log, max Maximum, "
    "min Minimum, multiply Multiply, negate Negate, pow Power, real Real, "
    "remainder Remainder, round Round, rsqrt Rsqrt, select Select, "
    "sigmoid Sigmoid, sin Sin, sinh Sinh, sqrt Sqrt, subtract Subtract, "
    "tanh Tanh").split(", "))
REDUCTIONS = dict(pair.split() for pair in (
    "all All, any Any, product Product, reduce_max ReduceMax, "
    "reduce_min ReduceMin, sum Sum").split(", "))


def number(value):
    if isinstance(value, list):
        return "%r,%r" % tuple(float(part) for part in value)
    return str(value) if isinstance(value, (int, str)) else repr(value)


def tensor(dtype, shape, data):
    data = data if isinstance(data, list) and (
        not data or dtype[0] != "c" or isinstance(data[0], list)) else [data]
    if len(data) > 1 and all(value == data[0] for value in data):
        data = data[:1]
    return " ".join(["%s[%s]" % (dtype, ",".join(map(str, shape)))] +
                    [number(value) for value in data])


def ints(values):
    return "[%s]" % ",".join(map(str, values))


def flag(value):
    return "true" if value else "false"


def axes_of(attrs, name="axes"):
    return [] if attrs.get(name) is None else [
        "%s=%s" % (name, ints(attrs[name]))]


def sliced(node, inputs):
    attrs = node["attrs"]
    starts, strides = attrs["start_indices"], attrs["strides"]
    if all(isinstance(start, int) for start in starts):
        return ["Slice"] + inputs + [
            "starts=" + ints(starts), "lengths=" + ints(attrs["lengths"]),
            "strides=" + ints(strides)]
    if any(stride != 1 for stride in strides):
        raise Leave("a dynamic slice with strides")
    names = ["#%d" % start if isinstance(start, int) else str(start["node"])
             for start in starts]
    return ["DynamicSlice", inputs[0]] + names + [
        "lengths=" + ints(attrs["lengths"])]


def call(node):
    """The function's name, operands and attributes."""
    op, attrs = node["op"], node.get("attrs") or {}
    inputs = [str(i) for i in node.get("inputs", [])]
    shape, dtype = node.get("shape"), node.get("dtype")
    if op in PLAIN:
        return [PLAIN[op]] + inputs
    if op in REDUCTIONS:
        return [REDUCTIONS[op]] + inputs + axes_of(attrs) + [
            "keep_axes=" + flag(attrs["keep_axes"])]
    if op == "parameter":
        return ["input", str(node["index"])]
    if op in ("constant", "tensor"):
        value = node["value"] if op == "constant" else node["data"]
        return ["tensor", tensor(dtype, shape, value)]
    if op == "elem":
        return ["elem"] + inputs + [str(node["index"])]
    if op == "iota":
        axis = attrs["axis"]
        return ["Iota", "dtype=" + dtype, "dims=" + ints(shape)] + (
            [] if axis is None else ["axis=%d" % axis])
    if op == "eye" and len(shape) == 2:
        return ["Eye", "dtype=" + dtype, "rows=%d" % shape[0],
                "columns=%d" % shape[1]]
    if op == "eye":
        return ["Eye", "dtype=" + dtype, "dims=" + ints(shape)]
    if op in ("reshape", "squeeze"):
        return ["Reshape"] + inputs + ["dims=" + ints(shape)]
    if op == "as_type":
        return ["Convert"] + inputs + ["dtype=" + dtype]
    if op == "transpose":
        return ["Transpose"] + inputs + ["permutation=" + ints(attrs["axes"])]
    if op == "reverse":
        return ["Reverse"] + inputs + axes_of(attrs)
    if op in ("concatenate", "stack"):
        return [op.capitalize()] + inputs + ["axis=%d" % attrs["axis"]]
    if op == "broadcast":
        rank = len(attrs["axes"])
        if attrs["axes"] != list(range(len(shape) - rank, len(shape))):
            raise Leave("a broadcast to chosen axes")
        return ["BroadcastTo"] + inputs + ["dims=" + ints(shape)]
    if op == "pad":
        config = attrs["padding_config"]
        return ["Pad"] + inputs + [
            "%s=%s" % (name, ints([entry[i] for entry in config]))
            for i, name in enumerate(("low", "high", "interior"))]
    if op == "slice":
        return sliced(node, inputs)
    if op == "gather":
        return ["Gather"] + inputs + axes_of(attrs)
    if op == "indexed_put":
        return ["IndexedPut"] + inputs + axes_of(attrs)
    if op in ("sort", "argsort"):
        return [{"sort": "Sort", "argsort": "ArgSort"}[op]] + inputs + [
            "axis=%d" % attrs["axis"],
            "descending=" + flag(attrs["direction"] == "desc")]
    if op in ("fft", "ifft"):
        return [op.capitalize()] + inputs + [
            "%s=%d" % (name, attrs[name]) for name in ("axis", "length")]
    if op == "argmax" and attrs["axis"] is None:
        return ["ArgMax"] + inputs
    if op == "dot":
        return ["Dot"] + inputs + [
            "%s=%s" % (name, ints(attrs[name])) for name in sorted(attrs)]
    if op == "cond":
        return ["Cond"] + [str(p) for p in node["preds"]] + [":"] + " | ".join(
            " ".join(map(str, branch)) for branch in node["branches"]).split()
    raise Leave("no %s" % op)


def texts_of(graph, edit=lambda node, words: [words]):
    """The lines of a body, then those of the bodies of its loops."""
    lines, loops = [], []
    for node in needed(graph):
        if node["op"] == "while":
            first = 2 * len(loops) + 1
            loops += [node]
            words = ["While"] + [str(i) for i in node["inputs"]] + [
                ":", str(first), str(first + 1)]
        else:
            words = call(node)
        lines += [" ".join(line) for line in edit(
            node, [str(node["id"]), node.get("dtype", "-")] + words)]
    lines.append("return " + " ".join(map(str, graph["outputs"])))
    for i, loop in enumerate(loops):
        for k, name in enumerate(("cond", "body")):
            inner = loop[name]
            if any(node["op"] == "while" for node in needed(inner)):
                raise Leave("needs linear algebra")
            lines += ["body %d" % (2 * i + k + 1)] + texts_of(inner)
    return lines


def needed(graph):
    """The nodes that the result depends on."""
    by_id = {node["id"]: node for node in graph["nodes"]}
    found, waiting = set(), list(graph["outputs"])
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        node = by_id[current]
        waiting += node.get("inputs", []) + node.get("preds", [])
        for branch in node.get("branches", []):
            waiting += branch
        for start in (node.get("attrs") or {}).get("start_indices", []):
            if isinstance(start, dict):
                waiting.append(start["node"])
    return [node for node in graph["nodes"] if node["id"] in found]


def converted(case):
    graph, attrs = case["graph"], case["attrs"]
    if case.get("compare"):
        raise Leave("needs linear algebra")
    if any(case["inputs"][i]["dtype"][0] in "us" for i in attrs["wrt"]):
        raise Leave("an integer variable, which hawser refuses")
    lines = ["case %s %s" % (case["id"], case["program"]),
             "by " + " ".join(map(str, attrs["wrt"])),
             "order %d" % attrs["order"],
             "tolerance %r %r" % (case["atol"], case["rtol"])]
    for name in ("input", "output"):
        lines += ["%s %s" % (name, tensor(t["dtype"], t["shape"], t["data"]))
                  for t in case[name + "s"]]

    def edit(node, words):
        # Nx's graph shows neither where it stops nor rules of the user's.
        if case["program"] == "stop_grad" and node["op"] == "exp":
            return [["100"] + words[1:], [words[0], "f32 StopGradient 100"]]
        if case["program"].startswith("custom_grad") and node["op"] == "round":
            if "fn g -> [g * 3] end" not in case["source"]:
                raise Leave("a gradient of the user's own")
            return [words[:2] + ["custom"] + words[2:] + ["3"]]
        return [words]

    return lines + texts_of(graph, edit) + [""]


def main():
    texts, left = [], collections.Counter()
    for case in json.load(open(sys.argv[1])):
        try:
            texts += converted(case)
        except Leave as why:
            left[str(why)] += 1
    print("# Made by tests/tools/nx_grad_to_cases.py; do not edit.")
    print("# Source: Nx 0.13.1 on Nx.BinaryBackend; a case's name is its id")
    print("# there. Not here: " + "; ".join(
        "%d: %s" % (n, why) for why, n in left.most_common()))
    print("\n".join([""] + texts))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
