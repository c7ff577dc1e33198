#!/usr/bin/python3
"""Writes numpy_archives.h: npz files made by NumPy, each with the same arrays.

usage: make_numpy_archives.py > numpy_archives.h   (Debian's python3-numpy)
"""

import io
import zipfile

import numpy as np

X = np.arange(1, 7, dtype="<f4").reshape(2, 3)
Y = np.array([7, 8], "u1")


def saved(save):
    file = io.BytesIO()
    save(file, x=X, y=Y)
    return file.getvalue()


def streamed():
    """As written into a pipe: sizes behind each member, not in front."""

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.bytes = b""

        def writable(self):
            return True

        def write(self, data):
            self.bytes += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in (("x", X), ("y", Y)):
            with archive.open(name + ".npy", "w") as member:
                np.lib.format.write_array(member, array)
    return pipe.bytes


def wrapped(digits):
    return "\n     ".join(
        '"%s"' % digits[i:i + 70] for i in range(0, len(digits), 70))


def main():
    print("// Made by make_numpy_archives.py with NumPy %s; do not edit."
          % np.__version__)
    print("#ifndef HAWSER_TESTS_CLIENT_FORMATS_NUMPY_ARCHIVES_H_")
    print("#define HAWSER_TESTS_CLIENT_FORMATS_NUMPY_ARCHIVES_H_\n")
    print("namespace hawser {\n")
    print("// x: f32[2,3] {1, 2, 3, 4, 5, 6}, y: u8[2] {7, 8}.")
    print("struct NumpyArchive {\n  const char* name;\n"
          "  const char* file;  // hex\n};\n")
    print("inline constexpr NumpyArchive kNumpyArchives[] = {")
    for name, archive in (("savez", saved(np.savez)),
                          ("savez_compressed", saved(np.savez_compressed)),
                          ("streamed", streamed())):
        print('    {"%s",\n     %s},' % (name, wrapped(archive.hex())))
    print("};\n\n}  // namespace hawser\n"
          "#endif  // HAWSER_TESTS_CLIENT_FORMATS_NUMPY_ARCHIVES_H_")


if __name__ == "__main__":
    main()
