"""What hawser says where Nx raises, for nx_to_cases.py."""

# What hawser says where Nx raises, behind the name of the SDK function: the
# op's own constraint where there is one.
REFUSALS = {
    "argmax/1": "axis 2", "bitcast/0": "bitcast_convert: C3",
    "bitwise_and/0": "and: C1", "bitwise_not/0": "not: C1",
    "broadcast/0": "broadcast_in_dim: C5", "concatenate/0": "concatenate: C3",
    "concatenate/1": "concatenate: C3", "dot/1": "dot_general: C8",
    "count_leading_zeros/0": "count_leading_zeros: C1",
    "dot/3": "dot_general: C3", "flatten/0": "axes [0,2] are no",
    "floor/0": "floor: C1",
    "gather/1": "index vectors have 2 components",
    "left_shift/0": "shift_left: C1", "less/0": "compare: C5",
    "max/0": "maximum: C1", "pad_outer/1": "the padding of axis 0",
    "pad/1": "pad: C3", "pad/2": "pad: C2",
    "put_slice/0": "dynamic_update_slice: C3", "remainder/1": "remainder: C1",
    "reshape/0": "reshape: C2", "reshape/1": "no size for the -1",
    "reshape/2": "two sizes are -1", "slice/2": "needs a start",
    "slice/3": "slice: C3", "solve/0": "a has 2 rows, b 3", "stack/0": "all sizes must be equal",
    "sum/1": "axis -3", "sum/2": "axis 0 is given twice",
    "take_diagonal/0": "takes rank 2 or more",
    "transpose/2": "axis 2",
}
