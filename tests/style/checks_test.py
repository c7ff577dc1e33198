#!/usr/bin/env python3
"""The style checks find what they are for, on trees made to break each rule."""

import pathlib
import tempfile
import unittest

import folder_test
import layering_test
import names_test
import prose_test
import readme_test
import size_test


class ChecksTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)

    def write(self, path, text):
        target = self.tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def expect(self, check, *starts):
        self.expect_found(check.violations(self.tree), *starts)

    def expect_found(self, found, *starts):
        self.assertEqual(len(found), len(starts), found)
        for violation, start in zip(found, starts):
            self.assertTrue(violation.startswith(start), violation)

    def test_size_caps_depend_on_the_kind_of_file(self):
        self.write("core/ir/fits.cc", "//\n" * 600)
        self.write("core/ir/long.cc", "//\n" * 601)
        self.write("core/ir/long.h", "//\n" * 301)
        self.write("tests/core/fits_test.cc", "//\n" * 800)
        self.write("tests/core/long_test.cc", "//\n" * 801)
        self.expect(size_test, "core/ir/long.cc:600:", "core/ir/long.h:300:",
                    "tests/core/long_test.cc:800:")

    def test_size_caps_functions_but_not_tables_and_classes(self):
        body = "  x();\n" * 60
        self.write("core/ir/a.cc",
                   "namespace hawser {\n\nint F(int a,\n      int b) {\n" +
                   body + "}\nint Short() {\n  return 1;\n}\n"
                   "}  // namespace hawser\n")
        self.write("core/ir/b.cc", "constexpr int k[] = {\n" + body + "};\n")
        self.write("core/ir/c.cc", "class C {\n" + body + "};\n")
        self.expect(size_test, "core/ir/a.cc:3: a function of 63 lines")

    def test_size_caps_classes_wherever_they_are(self):
        body = "  void F();\n" * 149
        self.write("core/ir/a.cc", "namespace hawser {\nnamespace {\n\n"
                   "class Long : public Base {\n" + body + "};\n\n"
                   "struct Also {\n" + body + "};\n"
                   "class Declared;\n}\n}\n")
        self.write("core/ir/b.h", "class Fits {\n" + body[12:] + "};\n")
        self.expect(size_test,
                    "core/ir/a.cc:4: class Long of 151 lines, at most 150",
                    "core/ir/a.cc:156: class Also of 151 lines, at most 150")

    def test_size_lets_a_class_on_the_list_only_shrink(self):
        self.write("core/ir/a.cc", "class Long {\n" + "  int a;\n" * 160 + "};\n")
        for listed, found in [(162, []), (161, ["at most 161"]),
                              (163, ["lower it"])]:
            got = size_test.violations(self.tree, {"core/ir/a.cc:Long": listed})
            self.assertEqual([g.endswith(f) for g, f in zip(got, found)],
                             [True] * len(found), got)
            self.assertEqual(len(got), len(found), got)

    def test_size_counts_data_members(self):
        self.write("core/ir/a.h", "class Full {\n public:\n"
                   "  Full(int a, int b_) : a_(a) { b_ = 1; }\n"
                   "  int a() const { return a_; }\n  void F(int x = 2);\n"
                   "  struct Key {\n    int in_;\n  };\n private:\n"
                   "  std::function<void(int, int)> a_;  // c_;\n"
                   "  mutable Mutex mu_;\n  static int s_;\n"
                   "  int b_ ABSL_GUARDED_BY(mu_) = F(1, 2);\n"
                   "  const std::map<int, std::string> d_{{1, \"x;\"}};\n"
                   "  Cursor<int> e_{c.e}, f_{c.f};\n  int* g_[kMany];\n};\n")
        lines = (self.tree / "core/ir/a.h").read_text().splitlines()
        self.assertEqual(size_test.members(lines), 7)
        self.write("core/ir/b.h", "struct Large {\n" +
                   "".join(f"  int m{i}_;\n" for i in range(16)) + "};\n")
        for listed, found in [({}, ["core/ir/b.h:1: class Large of 16 data"]),
                              ({"core/ir/b.h:Large": 16}, []),
                              ({"core/ir/b.h:Large": 17}, ["core/ir/b.h:1: "])]:
            got = size_test.violations(self.tree, {}, listed)
            self.expect_found(got, *found)

    def test_folders(self):
        for number in range(16):
            self.write(f"core/ir/f{number}.cc", "")
            self.write(f"core/ops/f{number}.txtpb", "")
            self.write(f"core/passes/f{number}.h", "")
        self.write("core/ir/README.md", "")
        self.write("core/ir/BUILD.bazel", "")
        for listed, found in [({}, 2), ({"core/ir": 16}, 1),
                              ({"core/ir": 15}, 2), ({"core/ir": 17}, 2),
                              ({"core/ir": 16, "core/passes": 16}, 0)]:
            got = folder_test.violations(self.tree, listed)
            self.assertEqual(len(got), found, got)

    def test_names(self):
        self.write("core/utils/a.h", "")
        self.write("core/ir/shape_helpers.cc", "")
        self.write("core/ir/graph_part2.cc", "")
        self.write("core/ir/a.h",
                   "class Commonwealth {};\nclass BufferManager {};\n")
        self.expect(names_test, "core/ir/a.h:2:", "core/ir/graph_part2.cc:1:",
                    "core/ir/shape_helpers.cc:1:", "core/utils/a.h:1:")

    def test_readme(self):
        self.write("core/ir/a.h", "")
        self.write("core/ops/a.h", "")
        self.write("core/ops/README.md", "# ops\n" + "| row |\n" * 200)
        self.write("kernels/cpu/a.h", "")
        self.write("kernels/cpu/README.md", "text\n" * 71)
        self.write("proto/graph.proto", "")
        self.expect(readme_test, "core/ir/README.md:1: missing",
                    "kernels/cpu/README.md:70:", "proto/README.md:1: missing")

    def test_prose_names_its_subject(self):
        self.write("core/ir/a.h", "int n;  // nobody reads it\n"
                   'const char k[] = "nobody";\n// A caller may.\n')
        self.write("proto/a.proto", "// Whoever asks.\n")
        self.expect_found(prose_test.violations(self.tree, {}),
                          "core/ir/a.h:1: 'nobody'", "proto/a.proto:1: 'Whoever'")

    def test_prose_counts_fragments_by_folder(self):
        self.write("core/ir/a.h", "// What it holds, what\n// it is. It is read.\n"
                   "int n;  // Where it\n        // Is.\nint m;  // NOLINT\n"
                   "//\n// As of now. Yes. No.\n}  // namespace hawser\n")
        self.write("core/ops/a.h", "// Each is a sentence. What is this?\n" +
                   "int n;  // It is.\n" * 38)
        self.write("tests/core/a.cc", "// Of no matter.\n")
        for listed, found in [
                ({}, ["core/ir:1: 50.0 %", "product:1: 8.7 %"]),
                ({"core/ir": 50, "product": 9}, []),
                ({"core/ir": 52, "product": 10}, ["core/ir:1: 50.0 % frag"]),
                ({"core/ir": 50, "core/ops": 6, "product": 9}, [
                    "core/ops:1: 2.5 % fragments now, prose_test.py says 6"])]:
            got = prose_test.violations(self.tree, listed)
            self.expect_found(got, *found)

    def test_prose_finds_unfinished_merges(self):
        self.write("core/README.md", "# core\n<<<<<<< HEAD\na\n=======\nb\n"
                   ">>>>>>> other\n")
        self.expect(prose_test, "core/README.md:2: a merge",
                    "core/README.md:6: a merge")

    def test_layering_allows_the_table(self):
        self.write("core/ops/a.cc", '#include "core/ops/a.h"\n'
                   '#include <vector>\n#include "absl/types/span.h"\n'
                   '#include "core/ir/shape.h"\n')
        self.write("kernels/cuda/a.cc", "#include <cuda_runtime_api.h>\n"
                   '#include "kernels/gpu/device/device_api.h"\n')
        self.write("client/remote/grpc/a.cc", '#include "proto/executor.grpc.pb.h"\n'
                   '#include "grpcpp/grpcpp.h"\n')
        self.write("server/main.cc", '#include "kernels/cuda/device.h"\n')
        self.expect(layering_test)

    def test_layering_refuses_the_rest(self):
        for path, header in [
            ("client/sdk/a.cc", "server/session/lease.h"),
            ("core/ir/a.h", "core/ops/registry.h"),
            ("core/passes/a.cc", "core/autodiff/gradient.h"),
            ("core/wire/a.cc", "proto/executor.grpc.pb.h"),
            ("kernels/cpu/a.cc", "cuda_runtime.h"),
            ("kernels/cuda/a.cc", "kernels/gpu/emitter.h"),
            ("kernels/gpu/a.cc", "kernels/cpu/evaluator.h"),
            ("kernels/plan/a.cc", "proto/graph.pb.h"),
            ("server/main.cc", "client/sdk/tensor.h"),
            ("server/session/a.cc", "grpcpp/grpcpp.h"),
            ("tests/core/a_test.cc", "neighbour.h"),
            ("tests/reference/rows/a.cc", "kernels/cpu/evaluator.h"),
        ]:
            self.write(path, f'// one line\n#include "{header}"\n')
        self.expect(layering_test, *[f"{path}:2:" for path in (
            "client/sdk/a.cc", "core/ir/a.h", "core/passes/a.cc",
            "core/wire/a.cc", "kernels/cpu/a.cc", "kernels/cuda/a.cc",
            "kernels/gpu/a.cc", "kernels/plan/a.cc", "server/main.cc",
            "server/session/a.cc", "tests/core/a_test.cc",
            "tests/reference/rows/a.cc")])

    def test_layering_finds_circles(self):
        self.write("core/ops/movement/a.h",
                   '#include "core/ops/gradient/b.h"\n')
        self.write("core/ops/gradient/b.h",
                   '#include "core/ops/movement/a.h"\n')
        self.expect(layering_test, "core/ops/gradient:1: includes")

    def test_layering_counts_upward_arrows(self):
        self.write("core/ops/a.h", '#include "core/ops/movement/b.h"\n')
        self.write("core/ops/movement/b.h", "")
        self.write("core/ops/movement/c.h", '#include "core/ops/a.h"\n')
        self.write("core/ops/gradient/d.h", '#include "core/ops/a.h"\n')
        for listed, found in [({}, ["core/ops/a.h:1: includes a room"]),
                              ({"core/ops/a.h": 1}, []),
                              ({"core/ops/a.h": 2}, ["core/ops/a.h:1: 1 upw"])]:
            got = list(layering_test.upward(self.tree, listed))
            self.expect_found(got, *found)

    def test_layering_asks_for_a_row(self):
        self.write("client/new/a.cc", "")
        self.write("core/new/a.h", "")
        self.write("core/new/b.h", "")
        self.write("tests/core/new/a_test.cc", "")
        self.expect(layering_test, "client/new:1:", "core/new:1:")


if __name__ == "__main__":
    unittest.main()
