"""Where the plugin's shared library is."""

import os
import pathlib


def path() -> str:
    """Returns the path of libhawser_pjrt.so.

    HAWSER_PJRT_LIBRARY names it; else it lies beside this file, where a wheel
    puts it.

    Raises:
      FileNotFoundError: there is none, and where it was looked for.
    """
    named = os.environ.get("HAWSER_PJRT_LIBRARY")
    found = pathlib.Path(named) if named else (
        pathlib.Path(__file__).parent / "libhawser_pjrt.so")
    if found.is_file():
        return str(found)
    raise FileNotFoundError(
        f"hawser's plugin is not at {found}; HAWSER_PJRT_LIBRARY names it")
