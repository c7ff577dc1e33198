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
