"""python -m hawser: says which servers there are and what they compute on."""

import importlib.metadata
import os
import sys

from hawser import __version__
from hawser import library


def _say_devices() -> bool:
    """Asks the servers, as a program without JAX would."""
    try:
        from hawser import pjrt  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("numpy: not installed, so that servers are not asked")
        return True
    try:
        devices = pjrt.Client().status()
    except pjrt.HawserError as error:
        print(error)
        return False
    for device in devices:
        print(f"  {device.id}: {device.name}: {device.kind}, " + (
            f"answers in {device.milliseconds:.1f} ms" if device.reachable
            else f"UNREACHABLE: {device.why}"))
    return all(device.reachable for device in devices)


def _say_jax() -> bool:
    """Says what JAX makes of the plugin."""
    try:
        import jax  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("jax: not installed")
        return True
    from hawser import jax_plugin  # pylint: disable=import-outside-toplevel

    print(f"jax {jax.__version__}, "
          f"jaxlib {importlib.metadata.version('jaxlib')}")
    if not jax_plugin.is_asked_for():
        print("  uses hawser where HAWSER_SERVERS names a server, or "
              "JAX_PLATFORMS hawser")
        return True
    platforms = jax.config.jax_platforms
    if platforms and jax_plugin.PLATFORM not in platforms.split(","):
        print(f"  JAX_PLATFORMS is {platforms}: without hawser")
        return True
    try:
        devices = jax.devices(jax_plugin.PLATFORM)
    except RuntimeError as error:
        print(f"  {error}")
        return False
    for device in devices:
        print(f"  {device}: {device.device_kind}")
    return True


def main() -> int:
    """Returns 1 where something is not as it should be."""
    print(f"hawser {__version__}, Python {sys.version.split()[0]}")
    try:
        print(f"plugin: {library.path()}")
    except FileNotFoundError as error:
        print(error)
        return 1
    servers = os.environ.get("HAWSER_SERVERS", "")
    print(f"HAWSER_SERVERS: {servers or 'none, this CPU computes'}")
    there = _say_devices()
    return 0 if _say_jax() and there else 1


if __name__ == "__main__":
    sys.exit(main())
