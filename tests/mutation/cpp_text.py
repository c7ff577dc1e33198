"""C++ as tokens, and which of them are code: bodies and initializers.

It leans on clang-format: a binary operator has a space on both sides, template
brackets have none.
"""

import bisect
import collections
import re

Token = collections.namedtuple("Token", "kind text start end")

PATTERN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<pp>(?:(?<=\n)|\A)[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<str>R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*")
    |(?P<chr>'(?:\\.|[^'\\\n])+')
    |(?P<num>\.?\d(?:[eEpP][+-]|[\w.'])*)
    |(?P<id>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=
      |[-+*/%&|^~!=<>?:;,.(){}\[\]\\])
    |(?P<space>\s+)""", re.VERBOSE | re.DOTALL)

OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = set(OPEN.values())
ACCESS = ("public", "private", "protected")


class Text:
    """A source: its tokens, their partners, and the regions of code."""

    def __init__(self, source):
        self.source = source
        self.tokens = []
        at = 0
        while at < len(source):
            m = PATTERN.match(source, at)
            if not m:
                raise ValueError(f"cannot read {source[at:at + 40]!r}")
            if m.lastgroup not in ("comment", "pp", "space"):
                self.tokens.append(
                    Token(m.lastgroup, m.group(), m.start(), m.end()))
            at = m.end()
        self.partner = self._partners()
        self._lines = [0] + [m.end() for m in re.finditer("\n", source)]
        # (first token, behind the last, the head's tokens) of each region.
        self.regions = []
        self._declarations(0, len(self.tokens))

    def line(self, offset):
        """Counted from 1."""
        return bisect.bisect_right(self._lines, offset)

    def column(self, offset):
        """Counted from 1."""
        return offset - self._lines[self.line(offset) - 1] + 1

    def line_text(self, number):
        return self.source.split("\n")[number - 1].strip()

    def text(self, k):
        return self.tokens[k].text if 0 <= k < len(self.tokens) else ""

    def is_binary(self, k):
        """Whether there is space on both sides of token k."""
        t, s = self.tokens[k], self.source
        return s[t.start - 1].isspace() and s[t.end:t.end + 1].isspace()

    def plain(self, first, last):
        """The source of tokens [first, last) in one line, without comments."""
        out, end = [], None
        for t in self.tokens[first:last]:
            if end is not None and t.start > end:
                out.append(" ")
            out.append(t.text)
            end = t.end
        return "".join(out)

    def _partners(self):
        partner, stack = {}, []
        for k, t in enumerate(self.tokens):
            if t.kind != "op":
                continue
            if t.text in OPEN:
                stack.append(k)
            elif t.text in CLOSE:
                partner[k], partner[stack[-1]] = stack[-1], k
                stack.pop()
        return partner

    def skip_angles(self, k):
        """Behind the brackets that token k, a '<', opens."""
        depth = 0
        while k < len(self.tokens):
            t = self.text(k)
            depth += {"<": 1, ">": -1, ">>": -2}.get(t, 0)
            k = self.partner[k] + 1 if t in OPEN else k + 1
            if depth <= 0:
                break
        return k

    def _declarations(self, k, end):
        head = k
        while k < end:
            t = self.text(k)
            if t == "template" and self.text(k + 1) == "<":
                k = head = self.skip_angles(k + 1)
            elif t == ";" or t == ":" and self.text(k - 1) in ACCESS:
                k = head = k + 1
            elif t == "operator":
                k += 3 if self.text(k + 1) == "(" else 2
            elif t == "=":
                stop = k
                while stop < end and self.text(stop) != ";":
                    stop = self.partner.get(stop, stop) + 1
                if self.text(k + 1) not in ("default", "delete") and (
                        self.text(head) not in ("using", "typedef")):
                    if self.text(k + 1) != "0" or self.text(k - 1) not in (
                            ")", "const", "override"):
                        self.regions.append((k + 1, stop, (head, k)))
                k = stop
            elif t == "{":
                k = self._braces(head, k)
                head = k
            elif t in OPEN:
                k = self.partner[k] + 1
            else:
                k += 1

    def _braces(self, head, k):
        """Looks into what token k opens; behind it."""
        close = self.partner[k]
        words = [t.text for t in self.tokens[head:k]]
        if "namespace" in words or words[:1] == ["extern"] and len(words) == 2:
            self._declarations(k + 1, close)
        elif "enum" in words:
            pass
        elif {"class", "struct", "union"} & set(words[:1]):
            self._declarations(k + 1, close)
        elif "(" in words:
            colon = self._initializers(head, k)
            self.regions.append((colon or k + 1, close, (head, k)))
        return close + 1

    def _initializers(self, head, k):
        """Of a constructor: behind the colon; else None."""
        at = head
        while at < k:
            if self.text(at) == "(":
                at = self.partner[at]
                if self.text(at + 1) == ":":
                    return at + 2
            at += 1
        return None
