#!/usr/bin/env python3
"""Turns reference results of real Nx into case files of SDK functions.

usage: nx_to_cases.py ORACLE_FOLDER OUTPUT_FOLDER

ORACLE_FOLDER holds Nx's answers, one JSON array per category (see its README).
Writes OUTPUT_FOLDER/nx_<category>.txtpb for each category that has a case an
SDK function can answer, and prints, as rows of the table in
tests/vectors/README.md, how many cases were taken and why others were not.
"""

import collections
import json
import math
import pathlib
import struct
import sys

import nx_factors
import nx_random
from nx_refusals import REFUSALS

CATEGORIES = (
    "binary unary cast conv creation cumulative dot errors fft index large "
    "linalg nonfinite overflow promotion random reduce select_clip shape sort "
    "types window").split()
# Files about functions the SDK does not have.
WITHOUT_FUNCTIONS = "grad vectorize".split()

DTYPES = ("u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128").split()
# Text of one case above which it is not worth its place in the repository.
MAX_BYTES = 32000
COLUMNS = 80


class Leave(Exception):
    """The case is left out; the text says why."""


# ---- what cannot be the same ------------------------------------------------

NO_FUNCTION = "no such function in the SDK yet"
WEAK = "an integer that does not fit the dtype beside it is an error, not wider"
BEYOND_S32 = "Nx wraps numbers beyond s32, hawser keeps them"
ROUNDED_FIRST = "hawser rounds a number to the dtype beside it first"
U64_SUM = "Sum and Product of u64 stay u64; Nx gives s64"
BY_VALUE = "u64 beside signed compares in the promoted s64; Nx by value"
DEFINED = "hawser clamps or defines the value; Nx's default backend raises"
EMPTY_OPTION = "an option that hawser does not have"
TOO_LARGE = "above %d bytes of text" % MAX_BYTES
NX_DTYPE = "dtypes of 2 and 4 bits, f8"
SPECTRAL = "norm 2 of a matrix is Frobenius' in Nx, spectral in hawser"
INVERSE_DTYPE = "Inverse keeps f16 and bf16; Nx gives f32"
LOG_DTYPE = "log2 and log10 keep f16 and bf16; Nx gives f32"


def is_int(dtype):
    return dtype[0] in "us"


def is_float(dtype):
    return dtype in ("f16", "bf16", "f32", "f64")


def is_complex(dtype):
    return dtype[0] == "c"


def dtypes_of(case):
    return [tensor["dtype"] for tensor in case["inputs"]]


# ---- numbers as text --------------------------------------------------------

def narrowed(value, dtype):
    code = {"f16": "<e", "f32": "<f", "c64": "<f"}.get(dtype)
    if code is None:
        return value
    return struct.unpack(code, struct.pack(code, value))[0]


def float_text(value, dtype):
    """The shortest text that reads back as this element."""
    if isinstance(value, str):
        return value  # nan, inf, -inf
    value = float(value)
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if dtype in ("f16", "f32", "c64"):
        for digits in range(1, 10):
            text = "%.*g" % (digits, value)
            if narrowed(float(text), dtype) == narrowed(value, dtype):
                return text
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def element_texts(tensor, dtype):
    for value in tensor["data"]:
        if is_complex(dtype):
            parts = value if isinstance(value, list) else [value, 0.0]
            yield from (float_text(part, dtype) for part in parts)
        elif is_float(dtype):
            yield float_text(value, dtype)
        else:
            yield str(int(value))


def field_of(dtype):
    return "u" if dtype == "bool" or dtype[0] == "u" else (
        "i" if dtype[0] == "s" else "f")


def tensor_text(tensor, dtype=None, weak=False):
    dtype = dtype or tensor["dtype"]
    if dtype not in DTYPES + ["bool"]:
        raise Leave(NX_DTYPE)
    text = 'shape: "%s[%s]"' % (dtype, ",".join(map(str, tensor["shape"])))
    values = list(element_texts(tensor, dtype))
    per_element = 2 if is_complex(dtype) else 1
    if len(values) > per_element and len(set(map(tuple, zip(
            *[iter(values)] * per_element)))) == 1:
        values = values[:per_element]
    if len(values) == 1:
        text += " %s: %s" % (field_of(dtype), values[0])
    elif values:
        text += " %s: [%s]" % (field_of(dtype), ", ".join(values))
    return text + (" weak: true" if weak else "")


def wrapped(line):
    """A long list of values over several lines."""
    start = line.find(": [")
    if len(line) <= COLUMNS or start < 0:
        return [line]
    lines, current = [line[:start + 3]], "     "
    for word in line[start + 3:].split(", "):
        piece = word if word.endswith("}") else word + ","
        if len(current) + len(piece) + 1 > COLUMNS and current.strip():
            lines.append(current)
            current = "     "
        current += " " + piece
    return lines + [current]


# ---- attributes -------------------------------------------------------------

def ints(name, values):
    body = "{ v: [%s] }" % ", ".join(map(str, values)) if values else "{ }"
    return 'attributes { name: "%s" ints %s }' % (name, body)


def integer(name, value):
    return 'attributes { name: "%s" i: %d }' % (name, value)


def flag(name, value):
    return 'attributes { name: "%s" b: %s }' % (name, str(value).lower())


def dtype_attribute(name, dtype):
    if dtype not in DTYPES:
        raise Leave(NX_DTYPE)
    return 'attributes { name: "%s" dtype: "%s" }' % (name, dtype)


def scalar(value):
    """A number as a further, weak input: a start."""
    tensor = {"dtype": "s64", "shape": [], "data": [value]}
    return "inputs { %s }" % tensor_text(tensor, weak=True)


def inputs_of(case, weak=True):
    lines = []
    for tensor in case["inputs"]:
        if "vectorized_axes" in tensor:
            raise Leave(EMPTY_OPTION)
        lines.append("inputs { %s }" % tensor_text(
            tensor, weak=weak and tensor.get("number", False)))
    return lines


def only(attrs, *known):
    """Refuses options beyond `known`."""
    if set(attrs) - set(known):
        raise Leave(EMPTY_OPTION)


# ---- one function per shape of call: case -> lines, attributes and inputs ---

def plain(case):
    only(case["attrs"])
    return inputs_of(case)


def strong(case):
    """Nx turns bare numbers into tensors first, so they are not weak."""
    only(case["attrs"])
    return inputs_of(case, weak=False)


def reduction(case):
    attrs = case["attrs"]
    only(attrs, "axes", "keep_axes", "ddof")
    lines = [ints("axes", attrs["axes"])] if "axes" in attrs else []
    if "keep_axes" in attrs:
        lines.append(flag("keep_axes", attrs["keep_axes"]))
    if "ddof" in attrs:
        lines.append(integer("ddof", attrs["ddof"]))
    return lines + inputs_of(case)


def arg_extreme(case):
    attrs = case["attrs"]
    only(attrs, "axis", "keep_axis", "tie_break", "type")
    if attrs.get("tie_break", "low") not in ("low", "high"):
        raise Leave(EMPTY_OPTION)
    lines = [integer("axis", attrs["axis"])] if "axis" in attrs else []
    if "keep_axis" in attrs:
        lines.append(flag("keep_axis", attrs["keep_axis"]))
    if attrs.get("tie_break") == "high":
        lines.append(flag("last_of_equals", True))
    if "type" in attrs:
        lines.append(dtype_attribute("dtype", attrs["type"]))
    return lines + inputs_of(case)


def sizes(case):
    """reshape and broadcast: `shape` is the result's."""
    attrs = case["attrs"]
    only(attrs, "shape", "axes")
    dims = [-1 if d == "auto" else d for d in attrs["shape"]]
    axes = [ints("axes", attrs["axes"])] if "axes" in attrs else []
    return [ints("dims", dims)] + axes + inputs_of(case)


def axes_as(name):
    def lines(case):
        only(case["attrs"], "axes")
        found = [ints(name, case["attrs"]["axes"])] if case["attrs"] else []
        return found + inputs_of(case)
    return lines


def axis(case):
    only(case["attrs"], "axis")
    found = [integer("axis", case["attrs"]["axis"])] if case["attrs"] else []
    return found + inputs_of(case)


def to_dtype(case):
    only(case["attrs"], "type")
    return [dtype_attribute("dtype", case["attrs"]["type"])] + inputs_of(case)


def pad(case):
    only(case["attrs"], "padding_config")
    config = case["attrs"]["padding_config"]
    return [ints(name, [entry[i] for entry in config]) for i, name in
            enumerate(("low", "high", "interior"))] + inputs_of(case)


def slice_lines(case):
    attrs = case["attrs"]
    only(attrs, "start_indices", "lengths", "strides")
    lines = [ints("starts", attrs["start_indices"]),
             ints("lengths", attrs["lengths"])]
    if "strides" in attrs:
        lines.append(ints("strides", attrs["strides"]))
    return lines + inputs_of(case)


def dynamic_slice(case):
    only(case["attrs"], "dynamic_starts", "lengths")
    return [ints("lengths", case["attrs"]["lengths"])] + inputs_of(case)


def slice_along_axis(case):
    attrs = case["attrs"]
    only(attrs, "start_index", "dynamic_starts", "length", "axis", "strides")
    lines = [integer("length", attrs["length"])]
    if "axis" in attrs:
        lines.append(integer("axis", attrs["axis"]))
    if "strides" in attrs:
        lines.append(integer("stride", attrs["strides"]))
    start = [scalar(attrs["start_index"])] if "start_index" in attrs else []
    return lines + inputs_of(case) + start


def put_slice(case):
    attrs = case["attrs"]
    only(attrs, "start_indices", "dynamic_starts")
    starts = [scalar(start) for start in attrs.get("start_indices", [])]
    return inputs_of(case) + starts


def dot(case):
    attrs = case["attrs"]
    only(attrs, "contract_a", "contract_b", "batch_a", "batch_b")
    return [ints(name, attrs[name]) for name in sorted(attrs)] + inputs_of(case)


def iota(case):
    attrs = case["attrs"]
    only(attrs, "shape", "type", "axis")
    lines = [dtype_attribute("dtype", attrs["type"]),
             ints("dims", attrs["shape"])]
    return lines + ([integer("axis", attrs["axis"])] if "axis" in attrs else [])


def eye(case):
    only(case["attrs"], "shape", "type")
    dtype = dtype_attribute("dtype", case["attrs"]["type"])
    if len(case["attrs"]["shape"]) != 2:
        return [dtype, ints("dims", case["attrs"]["shape"])]
    rows, columns = case["attrs"]["shape"]
    return [dtype, integer("rows", rows), integer("columns", columns)]


def renamed(**names):
    """Integers under other names: k=offset."""
    def lines(case):
        attrs = case["attrs"]
        only(attrs, *names.values())
        return [integer(ours, attrs[theirs])
                for ours, theirs in names.items()
                if theirs in attrs] + inputs_of(case)
    return lines


def log_base(case):
    """The base is a further, weak input."""
    only(case["attrs"], "base")
    base = {"dtype": "f64", "shape": [], "data": [case["attrs"]["base"]]}
    return inputs_of(case) + ["inputs { %s }" % tensor_text(base, weak=True)]


def fill(case):
    """Of the first input the sizes count, and the result's dtype."""
    only(case["attrs"])
    result = case["outputs"][0]
    return [dtype_attribute("dtype", result["dtype"]),
            ints("dims", result["shape"])] + inputs_of(case)[1:]


def tile(case):
    only(case["attrs"], "repetitions")
    repetitions = ints("repetitions", case["attrs"]["repetitions"])
    return [repetitions] + inputs_of(case)


def tri(case):
    attrs = case["attrs"]
    only(attrs, "n", "m", "k")
    return [dtype_attribute("dtype", "u8"), integer("rows", attrs["n"]),
            integer("columns", attrs.get("m", attrs["n"])),
            integer("k", attrs.get("k", 0))]


def split(case):
    attrs = case["attrs"]
    only(attrs, "split", "axis")
    at = attrs["split"]
    where = 'attributes { name: "fraction" f: %r }' % at if isinstance(
        at, float) else integer("at", at)
    return [where, integer("axis", attrs.get("axis", 0))] + inputs_of(case)


def pad_outer(case):
    attrs = case["attrs"]
    only(attrs, "mode", "padding_config")
    config = attrs["padding_config"]
    edge = 'attributes { name: "edge" s: "%s" }' % attrs.get("mode", "reflect")
    return [edge] + [ints(name, [entry[i] for entry in config])
                     for i, name in enumerate(("low", "high"))
                     ] + inputs_of(case)


def linspace(case):
    attrs = case["attrs"]
    only(attrs, "n", "endpoint")
    lines = [integer("count", attrs["n"])]
    if "endpoint" in attrs:
        lines.append(flag("endpoint", attrs["endpoint"]))
    return lines + inputs_of(case)


def all_close(case):
    attrs = case["attrs"]
    only(attrs, "atol", "rtol", "equal_nan")
    lines = ['attributes { name: "%s" f: %r }' % (ours, float(attrs[theirs]))
             for ours, theirs in (("absolute", "atol"), ("relative", "rtol"))
             if theirs in attrs]
    if "equal_nan" in attrs:
        lines.append(flag("equal_nan", attrs["equal_nan"]))
    return lines + inputs_of(case)


def running(case):
    attrs = case["attrs"]
    only(attrs, "axis", "reverse")
    lines = [integer("axis", attrs["axis"])] if "axis" in attrs else []
    if "reverse" in attrs:
        lines.append(flag("reverse", attrs["reverse"]))
    return lines + inputs_of(case)


def padding_lines(attrs):
    padding = attrs.get("padding", "valid")
    if padding == "same":
        return [flag("same_size", True)]
    if padding == "valid" or not padding:
        return []
    return [ints("low", [low for low, _ in padding]),
            ints("high", [high for _, high in padding])]


def windowed(case):
    attrs = case["attrs"]
    only(attrs, "window", "strides", "padding", "window_dilations")
    lines = [ints("window", attrs["window"])] + padding_lines(attrs)
    for ours, theirs in (("strides", "strides"),
                         ("dilations", "window_dilations")):
        if theirs in attrs:
            lines.append(ints(ours, attrs[theirs]))
    return lines + inputs_of(case)


def convolution(case):
    """Axes in another order are ours only where features are the last of all."""
    attrs = case["attrs"]
    only(attrs, "strides", "padding", "input_dilation", "kernel_dilation",
         "feature_group_size", "batch_group_size", "input_permutation",
         "kernel_permutation", "output_permutation")
    lines = padding_lines(attrs)
    for ours, theirs in (("strides", "strides"),
                         ("input_dilations", "input_dilation"),
                         ("kernel_dilations", "kernel_dilation")):
        if theirs in attrs:
            given = attrs[theirs]
            lines.append(ints(ours, given if isinstance(given, list)
                              else [given]))
    for ours, theirs in (("groups", "feature_group_size"),
                         ("batch_groups", "batch_group_size")):
        if theirs in attrs:
            lines.append(integer(ours, attrs[theirs]))
    rank = len(case["inputs"][0]["shape"])
    spatial = list(range(1, rank - 1))
    last = {"input_permutation": [0, rank - 1] + spatial,
            "kernel_permutation": [rank - 1, rank - 2] + list(range(rank - 2)),
            "output_permutation": [0, rank - 1] + spatial}
    given = {name: attrs[name] for name in last if name in attrs}
    if any(order != list(range(rank)) for order in given.values()):
        if given != last:
            raise Leave(EMPTY_OPTION)
        lines.append(flag("features_last", True))
    return lines + inputs_of(case)


def triangular_solve(case):
    attrs = case["attrs"]
    only(attrs, "left_side", "lower", "transform_a")
    lines = [flag("left", attrs.get("left_side", True)),
             flag("lower", attrs.get("lower", True))]
    if attrs.get("transform_a") == "transpose":
        lines.append(flag("transposed", True))
    return lines + inputs_of(case)


# Nx's names of norms of matrices. Its 2 is Frobenius' for matrices, too; ours
# is spectral.
MATRIX_NORMS = {
    None: "elements", "frobenius": "elements", "nuclear": "singular_values",
    1: "largest_column", -1: "smallest_column", "inf": "largest_row",
    "neg_inf": "smallest_row", -2: "smallest_singular_value",
}


def is_matrix_norm(case):
    return len(case["inputs"][0]["shape"]) > 1 and "axes" not in case["attrs"]


def norm(case):
    attrs = case["attrs"]
    only(attrs, "ord", "axes", "keep_axes")
    order = attrs.get("ord")
    if is_matrix_norm(case):
        if order not in MATRIX_NORMS:
            raise Leave(SPECTRAL)
        return ['attributes { name: "of" s: "%s" }' % MATRIX_NORMS[order]
                ] + inputs_of(case)
    names = {"inf": math.inf, "neg_inf": -math.inf, None: 2}
    lines = ['attributes { name: "order" f: %s }' % float_text(
        float(names.get(order, order)), "f64")]
    if "axes" in attrs:
        lines.append(ints("axes", attrs["axes"]))
    if "keep_axes" in attrs:
        lines.append(flag("keep_axes", attrs["keep_axes"]))
    return lines + inputs_of(case)


def matrix_power(case):
    only(case["attrs"], "power")
    return [integer("power", case["attrs"]["power"])] + inputs_of(case)


def middle(case):
    """Median and mode: of one axis or of all."""
    attrs = case["attrs"]
    only(attrs, "axis", "keep_axis")
    lines = [ints("axes", [attrs["axis"]])] if "axis" in attrs else []
    if "keep_axis" in attrs:
        lines.append(flag("keep_axes", attrs["keep_axis"]))
    return lines + inputs_of(case)


def transform(case):
    """A length that is the next power of two is written out."""
    attrs = dict(case["attrs"])
    only(attrs, "axis", "length", "axes", "lengths")
    if attrs.get("length") == "power_of_two":
        size = case["inputs"][0]["shape"][attrs.get("axis", -1)]
        attrs["length"] = 1 << (size - 1).bit_length()
    lines = [integer(name, attrs[name]) for name in ("axis", "length")
             if name in attrs]
    lines += [ints(name, attrs[name]) for name in ("axes", "lengths")
              if name in attrs]
    return lines + inputs_of(case)


def difference(case):
    attrs = case["attrs"]
    only(attrs, "axis", "order")
    return [integer(name, attrs[name]) for name in sorted(attrs)
            ] + inputs_of(case)


def sorting(case):
    """Every order of hawser's is stable."""
    attrs = case["attrs"]
    only(attrs, "axis", "direction", "stable", "type")
    lines = [integer("axis", attrs["axis"])] if "axis" in attrs else []
    if attrs.get("direction") == "desc":
        lines.append(flag("descending", True))
    if "type" in attrs:
        lines.append(dtype_attribute("dtype", attrs["type"]))
    return lines + inputs_of(case)


# Nx's name: (SDK function, lines of the call).
FUNCTIONS = {
    "argsort": ("ArgSort", sorting), "sort": ("Sort", sorting),
    "median": ("Median", middle), "mode": ("Mode", middle),
    "top_k": ("TopK", renamed(k="k")), "diff": ("Diff", difference),
    "conv": ("Conv", convolution),
    "window_max": ("WindowMax", windowed),
    "window_mean": ("WindowMean", windowed),
    "window_min": ("WindowMin", windowed),
    "window_product": ("WindowProduct", windowed),
    "window_scatter_max": ("WindowScatterMax", windowed),
    "window_scatter_min": ("WindowScatterMin", windowed),
    "window_sum": ("WindowSum", windowed),
    "fft": ("Fft", transform), "fft2": ("Fft2", transform),
    "ifft": ("Ifft", transform), "ifft2": ("Ifft2", transform),
    "rfft": ("Rfft", transform), "irfft": ("Irfft", transform),
    "cumulative_max": ("CumulativeMax", running),
    "cumulative_min": ("CumulativeMin", running),
    "cumulative_product": ("CumulativeProduct", running),
    "cumulative_sum": ("CumulativeSum", running),
    "argmax": ("ArgMax", arg_extreme), "argmin": ("ArgMin", arg_extreme),
    "as_type": ("Convert", to_dtype), "bitcast": ("Bitcast", to_dtype),
    "broadcast": ("BroadcastTo", sizes), "clip": ("Clip", strong),
    "concatenate": ("Concatenate", axis), "dot": ("Dot", dot),
    "eye": ("Eye", eye), "fill": ("Full", fill),
    "flatten": ("Flatten", axes_as("axes")),
    "gather": ("Gather", axes_as("axes")),
    "indexed_add": ("IndexedAdd", axes_as("axes")),
    "indexed_put": ("IndexedPut", axes_as("axes")),
    "iota": ("Iota", iota), "new_axis": ("ExpandDims", axis),
    "pad": ("Pad", pad), "put_slice": ("PutSlice", put_slice),
    "reshape": ("Reshape", sizes), "reverse": ("Reverse", axes_as("axes")),
    "slice": ("Slice", slice_lines),
    "slice_along_axis": ("SliceAlongAxis", slice_along_axis),
    "squeeze": ("Squeeze", axes_as("axes")), "stack": ("Stack", axis),
    "take": ("Take", axis), "take_along_axis": ("TakeAlongAxis", axis),
    "all_close": ("AllClose", all_close),
    "covariance": ("Covariance", renamed(ddof="ddof")),
    "linspace": ("Linspace", linspace), "log_base": ("Log", log_base),
    "make_diagonal": ("MakeDiagonal", renamed(k="offset")),
    "pad_outer": ("PadOuter", pad_outer), "reflect": ("PadOuter", pad_outer),
    "put_diagonal": ("PutDiagonal", renamed(k="offset")),
    "split": ("Split", split),
    "take_diagonal": ("TakeDiagonal", renamed(k="offset")),
    "tile": ("Tile", tile), "tri": ("Tri", tri),
    "tril": ("Tril", renamed(k="k")), "triu": ("Triu", renamed(k="k")),
    "transpose": ("Transpose", axes_as("permutation")),
    "triangular_solve": ("TriangularSolve", triangular_solve),
    "matrix_power": ("MatrixPower", matrix_power),
    "matrix_rank": ("MatrixRank", plain), "pinv": ("Pinv", plain),
    "determinant": ("Determinant", plain), "invert": ("Inverse", plain),
    "solve": ("Solve", plain), "norm": ("VectorNorm", norm),
}
for pair in (
        "abs Abs, acos Acos, acosh Acosh, add Add, adjoint Adjoint, asin "
        "Asin, asinh Asinh, atan Atan, atan2 Atan2, atanh Atanh, "
        "bitwise_and BitwiseAnd, bitwise_not BitwiseNot, bitwise_or "
        "BitwiseOr, bitwise_xor BitwiseXor, cbrt Cbrt, ceil Ceil, cholesky "
        "Cholesky, complex Complex, conjugate Conjugate, cos Cos, cosh Cosh, "
        "count_leading_zeros CountLeadingZeros, divide Divide, equal Eq, "
        "erf Erf, erf_inv ErfInv, erfc Erfc, exp Exp, expm1 Expm1, "
        "floor Floor, greater Gt, "
        "greater_equal Ge, imag Imag, is_infinity IsInfinity, is_nan IsNan, "
        "left_shift LeftShift, less Lt, less_equal Le, log Log, log10 "
        "Log10, log1p Log1p, log2 Log2, logical_and LogicalAnd, logical_not "
        "LogicalNot, logical_or LogicalOr, logical_xor LogicalXor, max "
        "Maximum, min Minimum, multiply Multiply, negate Negate, not_equal "
        "Ne, outer Outer, phase Phase, population_count PopulationCount, pow "
        "Power, quotient Quotient, real "
        "Real, remainder Remainder, right_shift RightShift, round Round, "
        "rsqrt Rsqrt, select Select, sigmoid Sigmoid, sign Sign, sin Sin, "
        "sinh Sinh, sqrt Sqrt, subtract Subtract, tan Tan, "
        "tanh Tanh").split(", "):
    nx_name, sdk_name = pair.split()
    FUNCTIONS[nx_name] = (sdk_name, plain)
for pair in (
        "all All, any Any, logsumexp LogSumExp, mean Mean, product Product, "
        "reduce_max ReduceMax, reduce_min ReduceMin, standard_deviation "
        "StandardDeviation, sum Sum, variance Variance, weighted_mean "
        "WeightedMean").split(", "):
    nx_name, sdk_name = pair.split()
    FUNCTIONS[nx_name] = (sdk_name, reduction)

for nx_name, call in nx_random.functions(sys.modules[__name__]).items():
    FUNCTIONS["random/" + nx_name] = call
FUNCTIONS.update(nx_factors.functions(sys.modules[__name__]))

# Nx has no bool and answers u8; the values are the same.
PREDICATES = (
    "all all_close any equal greater greater_equal is_infinity is_nan "
    "less less_equal logical_and logical_not logical_or logical_xor "
    "not_equal").split()
COMPARISONS = "equal greater greater_equal less less_equal not_equal".split()


def name_of(case):
    """Nx's name of what is called; Nx.Random's functions behind theirs."""
    is_random = case["id"].startswith("random/")
    return ("random/" if is_random else "") + case["op"]


def widens(case):
    """Whether an integer number does not fit the integers it stands beside."""
    operands = case["inputs"][1 if case["op"] == "select" else 0:]
    numbers = [t["data"][0] for t in operands
               if t.get("number") and t["dtype"] == "s32"]
    for dtype in (t["dtype"] for t in operands if not t.get("number")):
        bits = int(dtype[1:]) if dtype[0] in "us" else 0
        low = 0 if dtype[0] == "u" else -(1 << (bits - 1)) if bits else 0
        if bits and any(not low <= n < low + (1 << bits) for n in numbers):
            return True
    return False


def starts_outside(case):
    """Whether a part starts where it is not inside of the tensor: Nx clamps it,
    hawser when it is asked to."""
    if case["op"] not in ("put_slice", "slice", "slice_along_axis"):
        return False
    attrs, inputs = case["attrs"], case["inputs"]
    sizes, lengths = inputs[0]["shape"], attrs.get("lengths")
    given = attrs.get("start_indices")
    dynamic = inputs[1:]
    if case["op"] == "put_slice":
        lengths, dynamic = inputs[1]["shape"], inputs[2:]
    elif case["op"] == "slice_along_axis":
        sizes, lengths = [sizes[attrs.get("axis", 0)]], [attrs["length"]]
        given = [attrs["start_index"]] if "start_index" in attrs else None
    starts = given or [t["data"][0] for t in dynamic]
    return any(not 0 <= start <= size - length for start, length, size in
               zip(starts, lengths, sizes))


def check_differences(case):
    """Raises Leave where hawser differs from Nx on purpose."""
    op, dtypes = case["op"], dtypes_of(case)
    numbers = [t["data"][0] for t in case["inputs"] if t.get("number")]
    integers = [n for n in numbers if isinstance(n, int)]
    if any(not -1 << 31 <= n < 1 << 31 for n in integers):
        raise Leave(BEYOND_S32)
    if "f16" in dtypes and any(abs(n) > 65504 for n in integers):
        raise Leave(ROUNDED_FIRST)
    if op != "clip" and widens(case):
        raise Leave(WEAK)
    if op in ("sum", "product") and dtypes == ["u64"]:
        raise Leave(U64_SUM)
    if op in ("log2", "log10") and dtypes[0] in ("f16", "bf16"):
        raise Leave(LOG_DTYPE)
    if op == "invert" and dtypes[0] in ("f16", "bf16"):
        raise Leave(INVERSE_DTYPE)
    if op in COMPARISONS and "u64" in dtypes and any(
            d[0] == "s" for d in dtypes):
        raise Leave(BY_VALUE)


def type_merge(case):
    """The dtype of two tensors that are joined, without any elements."""
    a, b = case["attrs"]["a"], case["attrs"]["b"]
    empty = [{"dtype": d, "shape": [0], "data": []} for d in (a, b)]
    result = {"dtype": case["result"], "shape": [0], "data": []}
    return {"id": case["id"], "op": "concatenate", "attrs": {"axis": 0},
            "inputs": empty, "outputs": [result], "atol": 0, "rtol": 0}


def expectation(case, function):
    if "error" in case:
        refusal = REFUSALS.get(case["id"].split("/", 1)[1])
        if refusal is None:
            raise Leave(DEFINED)
        return ['error { code: "INVALID_ARGUMENT" contains: "%s: %s" }' % (
            function, refusal)]
    dtype = "bool" if case["op"] in PREDICATES else None
    # Behind random numbers Nx gives the next key.
    is_random = name_of(case).startswith("random/")
    answers = case["outputs"][:1] if is_random else case["outputs"]
    lines = (nx_factors.outputs(sys.modules[__name__], case) or
             ["outputs { %s }" % tensor_text(t, dtype) for t in answers])
    for name in ("atol", "rtol"):
        if case[name]:
            lines.append("%s: %s" % (name, repr(case[name])))
    return lines


def converted(case):
    """The text of the case, or Leave."""
    if case["op"] == "type_merge":
        case = type_merge(case)
    name = name_of(case)
    if name not in FUNCTIONS:
        raise Leave(NO_FUNCTION)
    check_differences(case)
    function, call = FUNCTIONS[name]
    if case["op"] == "slice" and case["attrs"].get("dynamic_starts"):
        function, call = "DynamicSlice", dynamic_slice
    if case["op"] == "norm" and is_matrix_norm(case):
        function = "MatrixNorm"
    if case["op"] == "pad_outer" and "mode" not in case["attrs"]:
        config = [[low, high, 0] for low, high in
                  case["attrs"]["padding_config"]]
        case = dict(case, attrs={"padding_config": config})
        function, call = "Pad", pad
    lines = ['name: "%s"' % case["id"], 'fn: "%s"' % function]
    if "error" not in case and starts_outside(case):
        lines.append(flag("clamp", True))
    lines += call(case) + expectation(case, function)
    text = ["cases {"]
    for line in lines:
        text += wrapped("  " + line)
    text = "\n".join(text + ["}"])
    if len(text) > MAX_BYTES:
        raise Leave(TOO_LARGE)
    return text


def convert_file(path):
    """The texts of a file's cases, and a count of reasons for the others."""
    texts, left = [], collections.Counter()
    for case in json.loads(path.read_text()):
        try:
            texts.append(converted(case))
        except Leave as why:
            left[str(why)] += 1
    return texts, left


HEADER = """# Made by tests/tools/nx_to_cases.py; do not edit.
# proto-file: proto/case.proto
# proto-message: hawser.v1.CaseFile
source: "Nx 0.13.1 on Nx.BinaryBackend; a case's name is its id there"
"""


def main(oracle, output):
    for category in sorted(CATEGORIES + WITHOUT_FUNCTIONS):
        texts, left = convert_file(oracle / (category + ".json"))
        if category in CATEGORIES:
            target = output / ("nx_%s.txtpb" % category)
            target.write_text("\n".join([HEADER] + texts) + "\n")
        else:
            left = {NO_FUNCTION: len(texts) + sum(left.values())}
            texts = []
        why = "; ".join("%d: %s" % (n, text) for text, n in
                        sorted(left.items(), key=lambda entry: -entry[1]))
        print("| %s | %d | %d | %s |" % (
            category, len(texts), sum(left.values()), why))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
