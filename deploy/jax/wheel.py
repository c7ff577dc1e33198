#!/usr/bin/env python3
"""Makes the wheel of hawser's plugin: deploy/wheel.sh.

    wheel.py LIBRARY PACKAGE VERSION FOLDER

LIBRARY: libhawser_pjrt.so. PACKAGE: the folder client/python/hawser. The
libraries that LIBRARY needs, but for those of every Linux, lie in hawser/lib,
where it looks for them ($ORIGIN/lib). Prints the wheel's path.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

# Those that every Linux and every Python has: of glibc and the compiler.
EVERYWHERE = re.compile(
    r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv|"
    r"libstdc\+\+|libgcc_s)\.so")
TAG = "py3-none-manylinux_2_34_x86_64"


def needed(library):
    """Yields (name, path) of the libraries that it needs, and those need."""
    listed = subprocess.run(["ldd", library], check=True, capture_output=True,
                            text=True).stdout
    for line in listed.splitlines():
        name, _, rest = line.strip().partition(" => ")
        if EVERYWHERE.match(pathlib.Path(name.split(" ")[0]).name):
            continue
        path = rest.split(" (")[0]
        if not path.startswith("/"):
            sys.exit(f"{library} needs {name}, which is not here")
        yield name, path


class Wheel:
    """A wheel under way: files, and the record of them."""

    def __init__(self, folder, version):
        self.info = f"hawser-{version}.dist-info"
        self.path = pathlib.Path(folder) / f"hawser-{version}-{TAG}.whl"
        self.zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        # One time for all, so that the same files are the same wheel.
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        self.record.append(
            f"{name},sha256={digest.decode().rstrip('=')},{len(data)}")

    def finish(self):
        name = f"{self.info}/RECORD"
        self.zip.writestr(name, "\n".join(self.record + [f"{name},,"]) + "\n")
        self.zip.close()


def main():
    library, package, version, folder = sys.argv[1:]
    wheel = Wheel(folder, version)
    for source in sorted(pathlib.Path(package).glob("*.py")):
        data = source.read_bytes()
        if source.name == "_version.py":
            data = data.replace(b"0+checkout", version.encode())
        wheel.add(f"hawser/{source.name}", data)
    wheel.add("hawser/py.typed", b"")
    wheel.add("hawser/libhawser_pjrt.so", pathlib.Path(library).read_bytes(),
              0o755)
    for name, path in sorted(needed(library)):
        wheel.add(f"hawser/lib/{name}", pathlib.Path(path).read_bytes(), 0o755)
    wheel.add(f"{wheel.info}/METADATA", (
        f"Metadata-Version: 2.1\nName: hawser\nVersion: {version}\n"
        "Summary: JAX programs compute on a GPU elsewhere, and on this CPU when "
        "it is gone\nRequires-Python: >=3.9\n").encode())
    wheel.add(f"{wheel.info}/WHEEL", (
        "Wheel-Version: 1.0\nGenerator: hawser deploy/wheel.py\n"
        f"Root-Is-Purelib: false\nTag: {TAG}\n").encode())
    wheel.add(f"{wheel.info}/entry_points.txt",
              b"[jax_plugins]\nhawser = hawser.jax_plugin\n")
    wheel.finish()
    print(wheel.path)


if __name__ == "__main__":
    main()
