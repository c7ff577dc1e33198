#!/usr/bin/python3
"""Writes numpy_files.h: npy files made by NumPy, and what is in them.

usage: make_numpy_files.py > numpy_files.h   (Debian's python3-numpy)
"""

import io

import numpy as np
from numpy.lib import format as npy

NAMES = {"b": "bool", "u": "u%d", "i": "s%d", "f": "f%d", "c": "c%d"}


def shape_of(array):
    name = NAMES[array.dtype.kind]
    if "%" in name:
        name %= 8 * array.dtype.itemsize
    return "%s[%s]" % (name, ",".join(map(str, array.shape)))


def row(name, array, version=None):
    file = io.BytesIO()
    npy.write_array(file, array, version=version)
    little = array.astype(array.dtype.newbyteorder("<"))
    as_written = version is None and array.flags.c_contiguous and (
        array.dtype.str[0] != ">")
    return '    {"%s", "%s",\n     %s,\n     "%s", %s},' % (
        name, shape_of(array), wrapped(file.getvalue().hex()),
        little.tobytes("C").hex(), "true" if as_written else "false")


def wrapped(digits):
    return "\n     ".join(
        '"%s"' % digits[i:i + 70] for i in range(0, len(digits), 70))


def arrays():
    yield "bool", np.array([True, False, True])
    for code in "u1 u2 u4 u8 i1 i2 i4 i8".split():
        info = np.iinfo(code)
        yield code, np.array([info.min, 1, info.max], "<" + code)
    for code in "f2 f4 f8".split():
        yield code, np.array([1.5, -0.0, np.inf, np.nan], "<" + code)
    for code in "c8 c16".split():
        yield code, np.array([1 + 2j, -3.5j], "<" + code)
    yield "scalar", np.array(7.0, "<f4")
    yield "empty", np.zeros((2, 0, 3), "<f4")
    yield "matrix", np.arange(6, dtype="<i4").reshape(2, 3)
    yield "rank5", np.arange(6, dtype="<u2").reshape(1, 2, 1, 3, 1)
    yield "fortran", np.asfortranarray(np.arange(6, dtype="<i4").reshape(2, 3))
    yield "fortran3", np.asfortranarray(
        np.arange(24, dtype="<u1").reshape(2, 3, 4))
    yield "big", np.array([1, -2, 300], ">i2")
    yield "big_complex", np.array([1 + 2j], ">c8")
    yield "big_fortran", np.asfortranarray(
        np.arange(4, dtype=">f8").reshape(2, 2))


def main():
    print("// Made by make_numpy_files.py with NumPy %s; do not edit."
          % np.__version__)
    print("#ifndef HAWSER_TESTS_CLIENT_FORMATS_NUMPY_FILES_H_")
    print("#define HAWSER_TESTS_CLIENT_FORMATS_NUMPY_FILES_H_\n")
    print("namespace hawser {\n")
    print("struct NumpyFile {\n  const char* name;\n  const char* shape;\n"
          "  const char* file;   // hex\n"
          "  const char* data;   // hex, row-major, little-endian\n"
          "  bool as_written;    // what WriteNpy makes of the data, too\n};\n")
    print("inline constexpr NumpyFile kNumpyFiles[] = {")
    for name, array in arrays():
        print(row(name, array))
    print(row("format2", np.arange(3, dtype="<f4"), (2, 0)))
    print(row("format3", np.arange(3, dtype="<f4"), (3, 0)))
    print("};\n\n}  // namespace hawser\n"
          "#endif  // HAWSER_TESTS_CLIENT_FORMATS_NUMPY_FILES_H_")


if __name__ == "__main__":
    main()
