#!/usr/bin/env python3
"""Sites are found where they are, and the mutated text is what g++ should see."""

import unittest

import cpp_text
import emitted_text
import sites


def mutants(body, **more):
    """(operator, what, mutants) of a function's body."""
    source = sites.Source("a.cc", "bool F(int a, int b) {\n" + body + "\n}\n",
                          **more)
    return [(s.operator, s.what, s.mutants) for s in source.sites]


def written(body, *operators):
    """The body with the sites of these operators alone, numbered from 1."""
    source = sites.Source("a.cc", "bool F(int a, int b) {\n" + body + "\n}\n")
    number, dropped = 1, set()
    for site in source.sites:
        if site.operator in operators:
            site.number = number
            number += len(site.mutants)
        else:
            dropped.add(site.key)
    return source.mutated(dropped)[0].split("\n", 1)[1].rsplit("\n}", 1)[0]


class TextTest(unittest.TestCase):

    def regions(self, source):
        text = cpp_text.Text(source)
        return [text.plain(a, b) for a, b, _ in text.regions]

    def test_code_is_bodies_and_initializers(self):
        self.assertEqual(self.regions(
            "namespace n {\nconstexpr int kA = 3;\n"
            "template <class T, int N = 2> struct S {\n"
            "  int x = 1;\n  void F() const;\n  T G(T t = 0) { return t; }\n"
            "  bool operator==(const S&) const = default;\n };\n"
            "enum E { kOne = 1 };\nint G(int a[3]);\n}  // namespace n\n"),
            ["3", "1", "return t;"])

    def test_code_of_a_constructor_begins_with_its_members(self):
        self.assertEqual(self.regions(
            "class C {\n public:\n  explicit C(int x) : x_(x + 1) { F(); }\n};"),
            ["x_(x + 1) { F();"])

    def test_operators_and_tables(self):
        self.assertEqual(self.regions(
            "const R kRows[] = {\n    {1, \"a\"},\n};\n"
            "int V::operator()(int x) const { return x; }\n"
            "V V::operator+(V v) const { return v; }\n"),
            ['{{1, "a"},}'.replace("{{", "{\n    {")[0] + " {1, \"a\"}, }",
             "return x;", "return v;"])


class SitesTest(unittest.TestCase):

    def test_template_brackets_are_not_comparisons(self):
        self.assertEqual(mutants("  std::vector<int> v;\n  G<int>(v);"),
                         [("call", "G", ("dropped",))])

    def test_binary_operators_keep_their_precedence(self):
        self.assertEqual(written("  x = a + b * c;", "arithmetic"),
                         "  x = a + mut::Plus(1) + b * mut::Times(2) * c;")
        self.assertEqual(written("  x = a < b;", "relational"),
                         "  x = a < mut::Less(1) < b;")

    def test_pointers_and_references_are_no_operators(self):
        self.assertEqual(mutants("  const T& t = *p;\n  auto&& u = &t;"), [])

    def test_the_end_of_a_loop(self):
        self.assertEqual(
            mutants("  for (int i = a; i < b; ++i) {\n  }"),
            [("loop bound", "<", ("<=", "without the last turn"))])

    def test_logical_operators_take_whole_operands(self):
        text = written("  x = p && q;", "logical")
        self.assertEqual(text, "  x = (mut::And(1) != (mut::AndLeft(1, bool(p "
                               "))&& mut::AndRight(1, bool( q))));")

    def test_statements_that_are_dropped(self):
        self.assertEqual(
            written("  if (a)\n    G(b);\n  else\n    x += 2;", "call",
                    "assignment"),
            "  if (a)\n    if (mut::On(1)) {} else G(b);\n  else\n"
            "    if (mut::On(2)) {} else x += 2;")
        self.assertEqual(mutants("  int x = a;\n  Foo y(a);"), [])

    def test_conditions(self):
        self.assertEqual(written("  if (T t = a; t) {\n  }", "condition"),
                         "  if (T t = a; t) {\n  }")
        self.assertEqual(written("  if (a; b) {\n  }", "condition"),
                         "  if (a; mut::Condition(1, bool(b))) {\n  }")
        self.assertEqual(mutants("  if constexpr (a < b) {\n  }"), [])

    def test_arguments_change_places(self):
        self.assertEqual(written("  x = Get(a, At(b));", "argument order"),
                         "  x = (mut::On(1) ? Get(At(b), a) : Get(a, At(b)));")

    def test_a_constant_stays_one_unless_it_is_mutated(self):
        source = sites.Source("a.cc", "constexpr int kA = 3;\n"
                              "constexpr int kB = 4;\n")
        b = {s.key for s in source.sites if "kB" in s.code}
        self.assertEqual(source.mutated(b)[0].count("constexpr"), 1)
        self.assertIn("constexpr int kB = 4;", source.mutated(b)[0])

    def test_what_begins_first_ends_last(self):
        source = sites.Source("a.cc", 'void F() { G("a + 1"); }', texts=True)
        for number, site in enumerate(source.sites, 1):
            site.number = number
        call, plus, one = source.sites
        self.assertIn('mut::Text(2, mut::Text(3, "a + 1", {"a + 2", "a + 0"}), '
                      '{"a - 1"})', source.mutated({call.key})[0])
        self.assertEqual((plus.operator, one.operator),
                         ("text arithmetic", "text constant"))

    def test_lines_stay_where_they_are(self):
        source = "bool F() {\n  return a &&\n      b;\n}\n"
        mutated, places = sites.Source("a.cc", source).mutated(set())
        self.assertEqual(mutated.count("\n"), source.count("\n"))
        self.assertEqual(set(places), {2, 3})

    def test_the_dialects_half_for_devices_has_no_sites(self):
        source = sites.Source(
            "prelude.cuh",
            "bool F(int a) { return a < 1; }\n#if defined(HK_HOST)\n"
            "#include \"host.h\"\n#else\n"
            "bool G(int a) { return a < 2; }\n#endif\n"
            "bool H(int a) { return a < 3; }\n", dialect=True)
        self.assertEqual(
            [s.line for s in source.sites if s.operator == "relational"],
            [1, 7])

    def test_errors_and_checks_have_no_sites(self):
        self.assertEqual(mutants('  HAWSER_CHECK(a < 1);\n'
                                 '  y = Internal("a < ", 1 + 2);', texts=True),
                         [("assignment", "=", ("dropped",))])


class EmittedTextTest(unittest.TestCase):

    def names(self, *literals):
        return [name for _, _, names, _ in emitted_text.mutants(literals)
                for name in names]

    def test_operators_have_space_around_them(self):
        self.assertEqual(self.names('"i < n; "', '"Load<T>(p)"'), ["< to <="])
        self.assertEqual(self.names('" * "'), ["* to +"])

    def test_numbers_keep_their_suffix(self):
        (_, _, _, texts), = emitted_text.mutants(['"l = 1u"'])
        self.assertEqual(texts, ('"l = 2u"', '"l = 0u"'))
        self.assertEqual(self.names('"u32 x8"', '"0x%08xu"'), [])

    def test_neighbours_stay(self):
        (_, _, _, texts), = emitted_text.mutants(['"a"', '"b == c"'])
        self.assertEqual(texts, ('"a" "b != c"',))

    def test_barriers_and_operands(self):
        self.assertEqual(self.names('"HK_SYNC();"'), ["HK_SYNC(); to dropped"])
        self.assertEqual(self.names('"F($0, $1)"'), ["F($0, $1) to swapped"])


if __name__ == "__main__":
    unittest.main()
