"""Cases of Nx.Random as calls of the SDK's functions, each by the key it uses.

Nx splits the key inside most of its functions and gives back the first half;
the SDK's take the key they use. The halves are computed here, by Threefry-2x32
as its authors published it, in whole numbers.
"""

MASK = 0xFFFFFFFF
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key, x, y):
    """What becomes of the counters (x, y)."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = (x + keys[0]) & MASK, (y + keys[1]) & MASK
    for i in range(5):
        for by in ROTATIONS[i % 2]:
            x = (x + y) & MASK
            y = ((y << by | y >> (32 - by)) & MASK) ^ x
        x = (x + keys[(i + 1) % 3]) & MASK
        y = (y + keys[(i + 2) % 3] + i + 1) & MASK
    return x, y


def halves(key):
    """The two keys that a split gives."""
    (a, c), (b, d) = threefry(key, 0, 2), threefry(key, 1, 3)
    return [a, b], [c, d]


class Calls:
    """The functions' cases, in the text's pieces that nx_to_cases.py makes."""

    def __init__(self, pieces):
        self.pieces = pieces

    def key_of(self, case):
        return case["inputs"][0]["data"]

    def inputs(self, case, key):
        tensors = [dict(case["inputs"][0], data=key)] + case["inputs"][1:]
        return self.pieces.inputs_of(dict(case, inputs=tensors))

    def number(self, value, dtype):
        tensor = {"dtype": dtype, "shape": [], "data": [value]}
        return "inputs { %s }" % self.pieces.tensor_text(tensor, weak=True)

    def drawn(self, case, *numbers):
        """Numbers of a shape and dtype, by the second half of the key."""
        attrs, split = case["attrs"], not case["op"].endswith("_split")
        key = halves(self.key_of(case))[1] if split else self.key_of(case)
        return [self.pieces.dtype_attribute("dtype", attrs["type"]),
                self.pieces.ints("dims", attrs["shape"])] + self.inputs(
                    case, key) + list(numbers)

    def uniform(self, case):
        attrs = case["attrs"]
        return self.drawn(case, self.number(attrs["min"], "f64"),
                          self.number(attrs["max"], "f64"))

    def normal(self, case):
        attrs = case["attrs"]
        return self.drawn(case, self.number(attrs["mean"], "f64"),
                          self.number(attrs["standard_deviation"], "f64"))

    def randint(self, case):
        attrs = case["attrs"]
        return self.drawn(case, self.number(attrs["min"], "s64"),
                          self.number(attrs["max"], "s64"))

    def seed(self, case):
        return [self.number(case["attrs"]["seed"], "s64")]

    def split(self, case):
        return [self.pieces.integer("parts", case["attrs"]["parts"])
                ] + self.inputs(case, self.key_of(case))

    def fold_in(self, case):
        data = case["attrs"].get("data")
        number = [] if data is None else [self.number(data, "s64")]
        return self.inputs(case, self.key_of(case)) + number

    def mixed(self, case):
        counters, key = case["inputs"]
        return self.pieces.inputs_of(dict(case, inputs=[key, counters]))

    def shuffle(self, case):
        attrs = case["attrs"]
        return [self.pieces.integer("axis", attrs["axis"]),
                self.pieces.flag("independent", attrs["independent"])
                ] + self.inputs(case, self.key_of(case))

    def choice(self, case):
        attrs = case["attrs"]
        # An order of all entries is made by the key itself.
        whole = not attrs["replace"] and len(case["inputs"]) == 2
        key = self.key_of(case) if whole else halves(self.key_of(case))[1]
        return [self.pieces.integer("samples", attrs["samples"]),
                self.pieces.integer("axis", attrs.get("axis", 0)),
                self.pieces.flag("replace", attrs["replace"])
                ] + self.inputs(case, key)


def functions(pieces):
    """Nx's name: (SDK function, lines of the call)."""
    calls = Calls(pieces)
    return {
        "choice": ("RandomChoice", calls.choice),
        "fold_in": ("RandomFoldIn", calls.fold_in),
        "gumbel": ("RandomGumbel", calls.drawn),
        "key": ("RandomKey", calls.seed),
        "normal": ("RandomNormal", calls.normal),
        "randint": ("RandomInt", calls.randint),
        "shuffle": ("RandomShuffle", calls.shuffle),
        "split": ("RandomSplit", calls.split),
        "threefry2x32": ("Threefry2x32", calls.mixed),
        "uniform": ("RandomUniform", calls.uniform),
        "uniform_split": ("RandomUniform", calls.uniform),
    }
