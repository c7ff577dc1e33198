"""Cases of factorizations, which are told by what their results satisfy.

Factors are known but for signs, angles and, of equal pivots, rows: their shapes
alone are stated. Values that are known, singular ones and eigenvalues, are Nx's.
"""


NAMES = ("lu", "qr", "svd", "eigh")


def shape_of(dtype, sizes):
    return 'outputs { shape: "%s[%s]" }' % (dtype, ",".join(map(str, sizes)))


def ascending(tensor):
    """Eigenvalues, which Nx has by descending size, complex where vectors are."""
    size = tensor["shape"][-1]
    values = [x[0] if isinstance(x, list) else x for x in tensor["data"]]
    rows = [sorted(values[k:k + size]) for k in range(0, len(values), size)]
    return {"dtype": {"c64": "f32", "c128": "f64"}.get(
        tensor["dtype"], tensor["dtype"]),
            "shape": tensor["shape"], "data": sum(rows, [])}


class Factors:
    """What stands for each, in the text's pieces that nx_to_cases.py makes."""

    def __init__(self, pieces):
        self.pieces = pieces

    def known(self, tensor):
        return "outputs { %s }" % self.pieces.tensor_text(tensor)

    def outputs(self, case):
        name, results = case["op"], case["outputs"]
        shapes = [shape_of(t["dtype"], t["shape"]) for t in results]
        if name == "lu":
            shapes[0] = shape_of("s32", results[0]["shape"][:-1])
        elif name == "svd":
            shapes[1] = self.known(results[1])
        elif name == "eigh":
            shapes[0] = self.known(ascending(results[0]))
        return shapes + ["property: " + name.upper()]

    def call(self, case):
        attrs, name = case["attrs"], case["op"]
        self.pieces.only(attrs, "mode", "full_matrices?")
        full = (attrs.get("full_matrices?", True) if name == "svd"
                else attrs.get("mode") == "complete")
        lines = [self.pieces.flag("full", True)] if full else []
        return lines + self.pieces.inputs_of(case)


def functions(pieces):
    call = Factors(pieces).call
    return {name: (name.capitalize(), call) for name in NAMES}


def outputs(pieces, case):
    """None of what is no factorization."""
    return Factors(pieces).outputs(case) if case["op"] in NAMES else None
