"""What a case is: a function, arguments drawn by a seed, and a name.

Tables say what a function takes in a small notation, one word an argument:

    T[m,n]      the dtype of the case, and sizes that are drawn: one letter one size
    f32[3,n]+   this dtype; above it, 0.1 to 3
    u           0 to 1, both left out
    i32[k]<4    whole numbers from 0 to 3
    ^           in ascending order
    !           all different
    d           symmetric and positive definite
    key[]       the two words of a threefry key
"""

import dataclasses
import re
import zlib
from typing import Any, Callable

import ml_dtypes
import numpy as np

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
    "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
    "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64, "c64": np.complex64,
    "c128": np.complex128,
}
INTEGERS = tuple(name for name in DTYPES if re.match(r"[iu]\d", name))
FLOATS = ("f32", "f16", "bf16", "f64")
COMPLEX = ("c64", "c128")
REALS = FLOATS + INTEGERS
ALL = REALS + ("bool",) + COMPLEX
INEXACT = FLOATS + COMPLEX
# Rows of their own in JAX's tables of types only with jax_enable_x64.
WIDE = ("i64", "u64", "f64", "c128")

# Not drawn with the ends of a range: JAX's own gcd of the least i32 does not end,
# and of a mean of both ends, or a gammaln of 1 and 2, rounding is all that is left.
NOT_SPECIAL = frozenset(("i32", name) for name in (
    "gcd lcm mean nanmean average std nanstd var nanvar gammaln loggamma").split())

ARGUMENT = re.compile(r"(\w+)\[([^\]]*)\](\S*)$")


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of a table: a public function and what it is called with."""
    name: str
    takes: str
    call: Callable | None = None  # the function itself, if none is given
    dtypes: tuple[str, ...] = ("f32",)
    variants: tuple[str, ...] = ()
    jit: bool = True
    tolerance: float | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """One call of one function."""
    function: str  # as a program names it: jax.numpy.add
    label: str
    call: Callable
    arguments: Callable[[], list[Any]]
    x64: bool = False
    jit: bool = True
    tolerance: float | dict | None = None
    dtype: str = ""  # of the row that it is from
    # Makes of the results what is compared, where they are not all determined.
    settle: Callable = list

    @property
    def name(self):
        return f"{self.function} {self.label}"


def seed_of(text):
    return zlib.crc32(text.encode())


def draw(rng, dtype, shape, how):
    """An array of this dtype and shape; `how` is the suffix of the notation."""
    kind = np.dtype(dtype).kind
    count = int(np.prod(shape))
    below = re.search(r"<(\d+)", how)
    if below:
        values = rng.integers(0, int(below[1]), count)
    elif "!" in how:
        values = rng.permutation(max(count, 1))[:count] - count // 3
    elif "u" in how:
        values = rng.uniform(0.02, 0.98, count)
    elif "+" in how:
        values = rng.integers(1, 9, count) if kind in "iu" else (
            rng.uniform(0.1, 3, count))
    elif kind == "b":
        values = rng.uniform(size=count) > 0.5
    elif kind in "iu":
        values = rng.integers(0 if kind == "u" else -9, 10, count)
    else:
        values = rng.normal(size=count) * 2
    if kind == "c" and "+" not in how:
        values = values + 1j * rng.normal(size=count)
    if "^" in how:
        values = np.sort(values)
    values = values.reshape(shape)
    if "d" in how:
        values = values @ np.conj(np.swapaxes(values, -1, -2)) + (
            3 * np.eye(shape[-1]))
    return values.astype(dtype)


def make_special(rng, array):
    """Puts NaN, infinities, zeros and the ends of the range into an array."""
    if array.dtype.kind in "iu":
        ends = np.iinfo(array.dtype)
        odd = np.array([ends.min, ends.max, 0, 1], array.dtype)
    elif array.dtype.kind == "b" or not array.size:
        return array
    else:
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e4])
        odd = odd.astype(array.dtype)
    spots = rng.uniform(size=array.shape) < 0.7
    return np.where(spots, rng.choice(odd, array.shape), array)


def make_arguments(takes, dtype, variant, seed):
    """The arguments that the notation says, of these dtypes and sizes."""
    rng = np.random.default_rng(seed)
    sizes, made = {}, []
    for word in takes.split():
        kind, dims, how = ARGUMENT.match(word).groups()
        if kind == "key":
            made.append(rng.integers(0, 1 << 32, 2, np.uint32))
            continue
        shape = []
        for dim in filter(None, dims.split(",")):
            if dim.isdigit():
                shape.append(int(dim))
                continue
            size = {"one": 1, "empty": 0}.get(variant, int(rng.integers(1, 8)))
            shape.append(sizes.setdefault(dim, size))
        chosen = DTYPES[dtype if kind == "T" else kind]
        array = draw(rng, chosen, tuple(shape), how)
        if variant == "special" and kind == "T":
            array = make_special(rng, array)
        made.append(array)
    return made


def pulled_back(call):
    """The gradient of a weighted sum of what a function gives: that of a plain
    sum of a softmax is noise."""
    import jax  # pylint: disable=import-outside-toplevel

    def gradient(*arguments):
        results, pull = jax.vjp(call, *arguments)
        return pull(jax.tree_util.tree_map(
            lambda a: (a.ravel() * 0 + np.cos(np.arange(a.size))).astype(
                a.dtype).reshape(a.shape), results))
    return gradient


def cases_of(module, prefix, row):
    """The cases of a row: its dtypes, then its variants in f32 and i32."""
    import jax  # pylint: disable=import-outside-toplevel

    call = row.call
    if call is None:
        call = module
        for part in row.name.split("."):
            call = getattr(call, part)
    plans = [(dtype, "") for dtype in row.dtypes]
    plans += [(dtype, variant) for variant in row.variants
              for dtype in (("f32", "i32") if variant == "special" else ("f32",))
              if dtype in row.dtypes and (dtype, row.name) not in NOT_SPECIAL]
    for dtype, variant in plans:
        seed = seed_of(f"{prefix}.{row.name} {row.takes} {dtype} {variant}")
        takes, chosen = row.takes, call
        if variant == "vmap":
            takes = re.sub(r"(\w+)\[,?", r"\1[3,", takes)
            takes = takes.replace("key[3,", "key[")
            chosen = jax.vmap(call, tuple(
                None if word.startswith("key") else 0 for word in takes.split()))
        elif variant == "grad":
            chosen = pulled_back(call)
        yield Case(
            function=f"{prefix}.{row.name}",
            label=" ".join(filter(None, (
                row.takes.replace("T[", f"{dtype}["), variant))),
            call=chosen,
            arguments=lambda t=takes, d=dtype, v=variant, s=seed:
                make_arguments(t, d, v, s),
            x64=dtype in WIDE or "64[" in re.sub(r"c64\[", "", takes),
            jit=row.jit,
            tolerance=row.tolerance,
            dtype=dtype)
