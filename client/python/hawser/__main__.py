"""python -m hawser: says which servers there are and what they compute on."""

import os
import sys

from hawser import __version__
from hawser import library


def main() -> int:
    print(f"hawser {__version__}, Python {sys.version.split()[0]}")
    try:
        print(f"plugin: {library.path()}")
    except FileNotFoundError as error:
        print(error)
        return 1
    servers = os.environ.get("HAWSER_SERVERS", "")
    print(f"HAWSER_SERVERS: {servers or 'none, this CPU computes'}")
    try:
        import jax  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("jax: not installed")
        return 0
    print(f"jax {jax.__version__}")
    for device in jax.devices("hawser"):
        print(f"  {device}: {device.device_kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
