"""Mutants of kernel code inside string literals."""

import re

# A binary operator has a space in front and a space or the literal's end behind.
OPERATORS = {
    "text relational": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "text equality": {"==": "!=", "!=": "=="},
    "text arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"},
    "text bits": {"&": "|", "|": "&", "^": "&"},
    "text logical": {"&&": "||", "||": "&&"},
    "text assignment": {"+=": "-=", "*=": "/="},
}
NAMES = {
    "lane": "line", "line": "lane", "begin": "end", "end": "begin",
    "left": "right", "right": "left", "HK_TID": "HK_BID", "HK_BID": "HK_TID",
    "HK_BID_Y": "HK_BID", "Max": "Min", "Min": "Max", "Add": "Subtract",
    "Subtract": "Add", "Multiply": "Divide", "Divide": "Multiply",
    "Sin": "Cos", "Cos": "Sin", "Exp": "Expm1", "Log": "Log1p",
    "Expm1": "Exp", "Log1p": "Log", "Floor": "Ceil", "Ceil": "Floor",
    "Maximum": "Minimum", "Minimum": "Maximum", "true": "false",
    "false": "true", "ShiftRightLogical": "ShiftRightArithmetic",
    "ShiftRightArithmetic": "ShiftRightLogical", "Real": "Imag",
    "Imag": "Real", "Sqrt": "Rsqrt", "Rsqrt": "Sqrt",
    "BlockReduce": "WarpReduce", "AtomicMax": "AtomicMin",
    "AtomicMin": "AtomicMax", "Product": "Sum", "Sum": "Product",
    "And": "Or", "Or": "And", "Tanh": "Sin", "Logistic": "Tanh",
    "kMin": "kMax",
}
PATTERN = re.compile(
    r"""(?P<format>%[-+0-9.*]*[a-zA-Z])|(?P<escape>\\.)|(?P<operand>\$\d)
    |(?P<num>\d[\w.]*)|(?P<id>[A-Za-z_]\w*)
    |(?P<op>\+=|-=|\*=|<=|>=|==|!=|&&|\|\||->|::|\+\+|--|[-+*/%&|^<>!])""",
    re.VERBOSE)


def _is_binary(content, m):
    before = content[m.start() - 1:m.start()] if m.start() else ""
    behind = content[m.end():m.end() + 1]
    return before == " " and behind in (" ", "")


def _of_literal(content):
    """(operator, what, name, content) of one literal's mutants."""
    if re.fullmatch(r"HK_SYNC(_WARP)?\(\);", content):
        yield "text barrier", content, "dropped", ""
    operands = re.findall(r"\$[01]", content)
    if "$0" in operands and "$1" in operands:
        swapped = content.translate(str.maketrans("01", "10"))
        yield "text operands", content, "swapped", swapped
    for m in PATTERN.finditer(content):
        x = m.group()

        def put(other):
            return content[:m.start()] + other + content[m.end():]

        if m.lastgroup == "num" and re.fullmatch(r"\d+(u|ull|ll)?", x):
            number, suffix = re.fullmatch(r"(\d+)(\D*)", x).groups()
            yield ("text constant", x, "+ 1", put(str(int(number) + 1) + suffix))
            if int(number) > 0:
                yield "text constant", x, "0", put("0" + suffix)
        elif m.lastgroup == "id" and x in NAMES:
            yield "text name", x, NAMES[x], put(NAMES[x])
        elif m.lastgroup == "op":
            if x == "!":
                yield "text logical", x, "dropped", put("")
            if not _is_binary(content, m):
                continue
            for operator, others in OPERATORS.items():
                if x in others:
                    yield operator, x, others[x], put(others[x])


def mutants(literals):
    """Sites of adjacent literals, quotes and all, each as (operator, what,
    names of its mutants, their literals). One site holds all mutants of one
    operator, so that a literal is wrapped once for each operator."""
    found, literals = {}, list(literals)
    for k, literal in enumerate(literals):
        if literal.startswith("R"):
            continue
        for operator, what, name, content in _of_literal(literal[1:-1]):
            text = " ".join(literals[:k] + [f'"{content}"'] + literals[k + 1:])
            found.setdefault(operator, []).append((f"{what} to {name}", text))
    for operator, of_it in found.items():
        yield (operator, " ".join(literals), tuple(name for name, _ in of_it),
               tuple(text for _, text in of_it))
