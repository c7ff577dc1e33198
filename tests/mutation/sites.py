"""Mutation sites of a source, and the source with all of its mutants in it.

A site is one place and one operator; it has one or more mutants. Of all mutants
of a program at most one runs at a time (mutant.h), so where a site cannot be an
expression around the original it holds the mutated text beside it.
"""

import dataclasses
import re

import cpp_text
import emitted_text

BINARY = {
    "<": ("Less", "relational", ("<=", ">=")),
    "<=": ("LessEqual", "relational", ("<", ">")),
    ">": ("Greater", "relational", (">=", "<=")),
    ">=": ("GreaterEqual", "relational", (">", "<")),
    "==": ("Equal", "equality", ("!=",)),
    "!=": ("NotEqual", "equality", ("==",)),
    "+": ("Plus", "arithmetic", ("-",)),
    "-": ("Minus", "arithmetic", ("+",)),
    "*": ("Times", "arithmetic", ("/",)),
    "/": ("Over", "arithmetic", ("*",)),
    "%": ("Modulo", "arithmetic", ("/",)),
    "&": ("BitAnd", "bits", ("|",)),
    "|": ("BitOr", "bits", ("&",)),
    "^": ("BitXor", "bits", ("&",)),
    "<<": ("ShiftUp", "bits", (">>",)),
    ">>": ("ShiftDown", "bits", ("<<",)),
}
ASSIGN = {
    "+=": ("PlusIs", "-="), "-=": ("MinusIs", "+="),
    "*=": ("TimesIs", "/="), "/=": ("OverIs", "*="),
    "&=": ("AndIs", "|="), "|=": ("OrIs", "&="),
    "<<=": ("UpIs", ">>="), ">>=": ("DownIs", "<<="),
}
EXTREMES = {"min": ("Min", ("max",)), "max": ("Max", ("min",)),
            "clamp": ("Clamp", ("without lower end", "without upper end"))}
# Of the dialect: a call of one for a call of the other.
CALLS = {"Max": "Min", "Min": "Max", "MaxFloat": "MinFloat",
         "MinFloat": "MaxFloat", "Highest": "Lowest", "Lowest": "Highest",
         "Add": "Subtract", "Multiply": "Divide"}
# What ends an operand of && and || to its left and right, beside brackets.
LOWER = {"?", ":", "=", ",", ";", "return", "case", "<<"} | set(ASSIGN)
KEYWORDS = {"return", "if", "for", "while", "switch", "case", "else", "do",
            "break", "continue", "const", "constexpr", "static", "using",
            "typename", "typedef", "auto", "default", "struct", "union",
            "sizeof", "static_assert", "template", "goto", "alignof"}
# Checks of what cannot be, and what builds the text of an error.
SILENT = re.compile(r"HAWSER_CHECK|static_assert|sizeof|alignof|decltype|"
                    r"Unimplemented|Internal|InvalidArgument|"
                    r"FailedPrecondition")


@dataclasses.dataclass
class Site:
    file: str
    line: int
    code: str          # the line's text
    operator: str
    what: str          # the token at hand
    mutants: tuple     # what it becomes, one word or so each
    edits: list        # (offset, end, size, text): see Source.mutated
    key: str = ""      # the same in every version of a file that keeps the line
    number: int = 0    # of the first mutant


class Source:
    """One file: its sites, and its text with those of them that are kept."""

    def __init__(self, file, source, texts=False, dialect=False):
        self.t = cpp_text.Text(source)
        self.file = file
        self.texts = texts
        self.dialect = dialect
        self.sites = []
        # (offset, end, new text, key, end of the initializer) of `constexpr`
        self.constants = []
        for first, last, head in self.t.regions:
            self._region(first, last, head)
        if dialect:
            self._leave_out_device_half(source)
        count = {}
        for s in self.sites:
            key = f"{s.file}: {s.code}: {s.operator}: {s.what}"
            count[key] = count.get(key, 0) + 1
            s.key = f"{key}: {count[key]}"

    # ---- finding

    def _leave_out_device_half(self, source):
        """What the host's g++ never sees."""
        half = re.search(r"#if defined\(HK_HOST\).*?#else(.*?)#endif", source,
                         re.DOTALL)
        if half:
            self.sites = [s for s in self.sites
                          if not half.start(1) <= s.edits[0][0] < half.end(1)]

    def _region(self, first, last, head):
        words = [self.t.text(k) for k in range(*head)]
        if "constexpr" in words and self.t.text(head[1]) == "=":
            if self.dialect and words[-1] != "kCommutes":
                return  # what its templates decide by
            self._constant(head, last, True)
        self._returns_bool = "bool" in words
        self._walk(first, last)

    def _constant(self, head, last, in_class):
        """`constexpr` made `const`, so that its initializer, which ends before
        token `last`, may ask."""
        for k in range(*head):
            if self.t.text(k) == "constexpr":
                token = self.t.tokens[k]
                words = [self.t.text(n) for n in range(*head)]
                new = ("inline const" if "static" in words
                       and "inline" not in words and in_class else "const")
                self.constants.append(
                    (token.start, token.end, new,
                     f"{self.file}: constexpr {words[-1]}",
                     self.t.tokens[last - 1].end))

    def _add(self, k, operator, what, mutants, *edits):
        start = self.t.tokens[k].start
        line = self.t.line(start)
        self.sites.append(
            Site(self.file, line, self.t.line_text(line), operator, what,
                 tuple(mutants), list(edits)))

    def _wrap(self, first, last, before, after):
        """Edits that put texts around tokens [first, last)."""
        a, b = self.t.tokens[first].start, self.t.tokens[last - 1].end
        return (a, a, b - a, before), (b, b, a - b, after)

    def _after(self, k, text):
        end = self.t.tokens[k].end
        return end, end, 0, text

    def _walk(self, first, last):
        """Sites of tokens [first, last)."""
        t, k = self.t, first
        statement = True  # whether a statement may begin here
        loops = set()     # comparisons that end a loop
        inside = ["{"]    # brackets around token k
        while k < last:
            token = t.tokens[k]
            x = token.text
            skip = self._skipped(k, last)
            if skip > k:
                statement = inside[-1] == "{"
                k = skip
                continue
            if statement:
                self._statement(k, last)
            if x == "constexpr":
                at = k
                while t.text(at) not in ("=", ";", "{"):
                    at += 1
                if t.text(at) == "=":
                    behind = at
                    while t.text(behind) != ";":
                        behind = t.partner.get(behind, behind) + 1
                    self._constant((k, at), behind, False)
            if x == "for":
                self._for(k, loops)
            if token.kind == "str":
                k = self._string(k, last)
                statement = False
                continue
            self._token(k, first, last, loops)
            if x in cpp_text.OPEN:
                inside.append(x)
            elif x in cpp_text.CLOSE:
                inside.pop()
            statement = inside[-1] == "{" and (
                x in (";", "{", "}", "else")
                or x == ":" and t.text(k - 1) == "default"
                or x == ")" and t.text(t.partner[k] - 1) in
                ("if", "for", "while", "switch"))
            k += 1

    def _skipped(self, k, last):
        """Behind what has no sites, when that begins at token k."""
        t, x = self.t, self.t.text(k)
        if x == "if" and t.text(k + 1) == "constexpr":
            return t.partner[k + 2] + 1
        if x in ("case", "using", "typedef"):
            while t.text(k) not in (":", ";") and k < last:
                k += 1
            return k + 1
        if SILENT.fullmatch(x) and t.text(k + 1) == "(":
            return t.partner[k + 1] + 1
        return k

    def _token(self, k, first, last, loops):
        t = self.t
        token, x = t.tokens[k], t.text(k)
        if token.kind == "num":
            self._number(k)
        elif x in ("true", "false"):
            self._add(k, "boolean", x, ("true" if x == "false" else "false",),
                      *self._wrap(k, k + 1, "mut::Flag(@, ", ")"))
        elif x in ("&&", "||") and t.is_binary(k):
            self._logical(k, first, last)
        elif x in BINARY and t.is_binary(k):
            name, operator, others = BINARY[x]
            if k in loops:
                name, operator, others = ("LoopLess", "loop bound",
                                          ("<=", "without the last turn"))
            self._add(k, operator, x, others,
                      self._after(k, f" mut::{name}(@) {x}"))
        elif x in ASSIGN:
            name, other = ASSIGN[x]
            self._add(k, "assignment operator", x, (other,),
                      self._after(k, f" mut::{name}(@) {x}"))
        elif x == "!" :
            self._add(k, "negation", x, ("dropped",),
                      (token.start, token.start, 0, "mut::Not(@) ->* "))
        elif x == "-" and not t.is_binary(k) and self._is_prefix(k):
            self._add(k, "sign", x, ("dropped",),
                      (token.start, token.start, 0, "mut::Negated(@) ->* "))
        elif x in ("if", "while") and t.text(k + 1) == "(":
            self._condition(k)
        elif x == "?":
            self._choice(k, first)
        elif x == "return":
            self._return(k)
        elif x in ("break", "continue") and t.text(k + 1) == ";":
            other = "continue" if x == "break" else "break"
            self._add(k, "jump", x, (other,),
                      (token.start, t.tokens[k + 1].end, 0,
                       f"{{ if (mut::On(@)) {other}; {x}; }}"))
        elif token.kind == "id":
            self._call(k)

    def _is_prefix(self, k):
        before = self.t.tokens[k - 1]
        return (before.text in ("return", "?", ":", "=", ",", "(", "{", "[")
                or before.text in BINARY or before.text in ("&&", "||"))

    def _number(self, k):
        x = self.t.text(k)
        if re.fullmatch(r"0[uUlL]*", x):
            self._add(k, "constant", x, ("+ 1",),
                      *self._wrap(k, k + 1, "mut::Next(@, ", ")"))
        else:
            self._add(k, "constant", x, ("+ 1", "0"),
                      *self._wrap(k, k + 1, "mut::NextOrZero(@, ", ")"))

    def _operand(self, k, step, stops, first, last):
        """The last token in this direction that belongs to k's operand."""
        t = self.t
        at = k + step
        while first <= at < last:
            x = t.text(at)
            if x in (cpp_text.CLOSE if step > 0 else cpp_text.OPEN):
                break
            if x in stops and (x != "<<" or t.is_binary(at)):
                break
            at = t.partner.get(at, at) + step
        return at - step

    def _logical(self, k, first, last):
        t, x = self.t, self.t.text(k)
        word = "And" if x == "&&" else "Or"
        right = LOWER | {"||"} | ({"&&"} if x == "&&" else set())
        left = LOWER | ({"||"} if x == "&&" else set())
        a = self._operand(k, -1, left, first, last)
        b = self._operand(k, 1, right, first, last)
        if a >= k or b <= k:
            return
        start, end = t.tokens[a].start, t.tokens[b].end
        self._add(
            k, "logical", x,
            ("||" if x == "&&" else "&&", "without left", "without right"),
            (start, start, end - start,
             f"(mut::And(@) != (mut::{word}Left(@, bool("),
            (t.tokens[k].start, t.tokens[k].start, 0, "))"),
            self._after(k, f" mut::{word}Right(@, bool("),
            (end, end, start - end, "))))"))

    def _condition(self, k):
        t = self.t
        first, close = k + 2, t.partner[k + 1]
        at = first
        while at < close:
            if t.text(at) == ";":
                first = at + 1
            if t.text(at) == "=":
                return
            at = t.partner[at] + 1 if t.text(at) in cpp_text.OPEN else at + 1
        if t.text(k) == "while":
            call, mutants = "Never", ("false",)
        else:
            call, mutants = "Condition", ("true", "false")
        self._add(k, "condition", t.text(k), mutants,
                  *self._wrap(first, close, f"mut::{call}(@, bool(", "))"))

    def _choice(self, k, first):
        stops = {"?", ":", "=", ",", ";", "return"} | set(ASSIGN)
        a = self._operand(k, -1, stops, first, k)
        if a >= k:
            return
        self._add(k, "condition", "?", ("true", "false"),
                  *self._wrap(a, k, "mut::Condition(@, bool(", "))"))

    def _return(self, k):
        t = self.t
        end = k
        while t.text(end) != ";":
            end = t.partner.get(end, end) + 1
        if (end == k + 1 or t.text(k + 1) in ("{", "true", "false")
                or not self._may_return_bool(k)):
            return
        self._add(k, "return", "return", ("true", "false"),
                  *self._wrap(k + 1, end, "mut::Returned(@, ", ")"))

    def _may_return_bool(self, k):
        """By the type in the head of the function or lambda around."""
        t, at = self.t, k
        while at >= 0:
            at = t.partner[at] - 1 if t.text(at) in cpp_text.CLOSE else at - 1
            if t.text(at) != "{":
                continue
            head = at - 1
            while head >= 0 and t.text(head) not in (
                    ")", ";", "{", "}", "=", "else"):
                head -= 1
            if t.text(head) != ")":
                continue
            before = t.partner[head] - 1
            if t.text(before) == "]":
                kind = {t.text(n) for n in range(head, at)}
                return not self.dialect and (
                    "->" not in kind or "bool" in kind)
        return self._returns_bool

    def _string(self, k, last):
        """Adjacent literals are one; behind them."""
        t, end = self.t, k
        while end < last and t.tokens[end].kind == "str":
            end += 1
        if self.texts:
            literals = [t.text(n) for n in range(k, end)]
            for operator, what, names, texts in emitted_text.mutants(literals):
                self._add(k, operator, what, names,
                          *self._wrap(k, end, "mut::Text(@, ",
                                      ", {" + ", ".join(texts) + "})"))
        return end

    # ---- statements and calls

    def _chain(self, k, last):
        """Behind the names, members, calls and subscripts from token k."""
        t = self.t
        if t.tokens[k].kind != "id" or t.text(k) in KEYWORDS:
            return k
        while k < last:
            x = t.text(k)
            if t.tokens[k].kind == "id" or x in ("::", ".", "->"):
                if (t.tokens[k].kind == "id" and
                        t.tokens[k + 1].kind == "id"):
                    return k + 1
                k += 1
            elif x in ("(", "["):
                k = t.partner[k] + 1
            elif x == "<" and not t.is_binary(k):
                k = t.skip_angles(k)
                if t.tokens[k].kind == "id":
                    return k
            else:
                return k
        return k

    def _statement(self, k, last):
        """Calls, assignments and loops over ranges that can be left out."""
        t, x = self.t, self.t.text(k)
        if x == "for":
            close = t.partner[k + 1]
            if not any(t.text(n) == ";" for n in range(k + 2, close)):
                self._drop(k, k + 1, "loop", x)
            return
        start = k + 1 if x in ("++", "--", "*") else k
        end = self._chain(start, last)
        if end == start or SILENT.match(x) or x == "HAWSER_ASSIGN_OR_RETURN":
            return
        stop = t.text(end)
        if stop == ";" and t.text(end - 1) == ")":
            self._drop(k, end + 1, "call", t.text(k))
        elif x in ("++", "--") and stop == ";":
            self._drop(k, end + 1, "assignment", x)
        elif stop == "=" or stop in ASSIGN:
            while t.text(end) != ";":
                end = t.partner.get(end, end) + 1
            self._drop(k, end + 1, "assignment", stop)

    def _drop(self, first, last, operator, what):
        start = self.t.tokens[first].start
        size = self.t.tokens[last - 1].end - start + 1
        self._add(first, operator, what, ("dropped",),
                  (start, start, size, "if (mut::On(@)) {} else "))

    def _for(self, k, loops):
        t, close, at = self.t, self.t.partner[k + 1], k + 2
        part = 0
        while at < close:
            x = t.text(at)
            part += x == ";"
            if part == 1 and x == "<" and t.is_binary(at):
                loops.add(at)
            at = t.partner[at] + 1 if x in cpp_text.OPEN else at + 1

    def _call(self, k):
        t, x = self.t, self.t.text(k)
        if x in EXTREMES and t.text(k - 1) == "::" and t.text(k - 2) == "std":
            method, mutants = EXTREMES[x]
            self._add(k, "extreme", x, mutants,
                      (t.tokens[k - 2].start, t.tokens[k].end, 0,
                       f"mut::Extremes(@).{method}"))
            return
        behind = k + 1
        if t.text(behind) == "<" and not t.is_binary(behind):
            behind = t.skip_angles(behind)
        if (t.text(behind) != "(" or x in KEYWORDS or x.isupper()
                or x.startswith(("HAWSER", "HK_"))):
            return
        close = t.partner[behind]
        begin = k
        while (t.text(begin - 1) in ("::", ".", "->")):
            begin -= 2
            if t.text(begin) in (")", "]"):
                begin = t.partner[begin] - 1
            if begin < 0 or t.tokens[begin].kind != "id":
                return
        if t.tokens[begin - 1].kind == "id" and t.text(begin - 1) not in (
                "return", "else"):
            return  # a declaration
        if self.dialect and x in CALLS:
            self._instead(k, begin, close, "function", x, CALLS[x],
                          t.plain(begin, k) + CALLS[x] +
                          t.plain(k + 1, close + 1))
        elif self.dialect and x not in ("Combine", "Clamp"):
            return  # a template for one type would not compile for the next
        self._swap(k, begin, behind, close)

    def _swap(self, k, begin, behind, close):
        """The first two arguments of a call exchanged."""
        t, commas, at = self.t, [], behind + 1
        while at < close:
            if t.text(at) == ",":
                commas.append(at)
            elif t.text(at) == "<" and not t.is_binary(at):
                at = t.skip_angles(at)
                continue
            at = t.partner[at] + 1 if t.text(at) in cpp_text.OPEN else at + 1
        if not commas or len(commas) > 3 or self._makes_text(k):
            return
        end = commas[1] if len(commas) > 1 else close
        a = t.plain(behind + 1, commas[0])
        b = t.plain(commas[0] + 1, end)
        if a == b or "[" in (a + b)[:1]:
            return
        self._instead(k, begin, close, "argument order", t.text(k), "swapped",
                      f"{t.plain(begin, behind + 1)}{b}, {a}"
                      f"{t.plain(end, close + 1)}")

    def _makes_text(self, k):
        return self.t.text(k) in ("StrCat", "StrAppend", "Line", "Open",
                                  "StrFormat", "combine")

    def _instead(self, k, begin, close, operator, what, name, text):
        self._add(k, operator, what, (name,),
                  *self._wrap(begin, close + 1, f"(mut::On(@) ? {text} : ",
                              ")"))

    # ---- writing

    def mutated(self, dropped):
        """The text with its sites but those of `dropped`, by key.

        Returns it and, by line, (column, key) of what was put in. At one offset
        outer texts come before inner ones where they begin, and behind where
        they end: `size` is the length of what a text stands in front of, and
        negative behind it.
        """
        kept = [s for s in self.sites if s.key not in dropped]
        edits = [(start, end, 0, 0, text, key)
                 for start, end, text, key, last in self.constants
                 if key not in dropped
                 and any(start < s.edits[0][0] < last for s in kept)]
        for s in kept:
            edits += [(a, b, size, s.number, text.replace("@", str(s.number)),
                       s.key) for a, b, size, text in s.edits]
        edits.sort(key=_edit_order)
        out, places, at, line, column = [], {}, 0, 1, 1
        for start, end, _, _, text, key in edits:
            for piece, owner in ((self.t.source[at:start], None), (text, key)):
                if owner:
                    places.setdefault(line, []).append((column, owner))
                out.append(piece)
                newline = piece.rfind("\n")
                line += piece.count("\n")
                column = (len(piece) - newline if newline >= 0
                          else column + len(piece))
            at = max(at, end)
        out.append(self.t.source[at:])
        return "".join(out), places


def _edit_order(edit):
    start, _, size, number, _, _ = edit
    if size < 0:
        return start, 0, -size, -number
    return start, 1, -size, number
