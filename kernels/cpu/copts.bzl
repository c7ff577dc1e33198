"""How code that computes on elements is compiled.

-O3 vectorizes loops of unknown length; none of the other three changes a result.
Data movement reads floats through integers of their width.
"""

ELEMENT_COPTS = [
    "-O3",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
]

# How files are compiled that Highway's foreach_target.h compiles once for each
# set of instructions. Highway's headers alone: its checks in builds with
# assert() call a library. Without instructions for vectors nothing is compiled,
# by any compiler, where Highway would emulate them for some.
LANE_COPTS = [
    "-DHWY_BROKEN_EMU128=1",
    "-DHWY_IS_DEBUG_BUILD=0",
    "-fno-trapping-math",
]
