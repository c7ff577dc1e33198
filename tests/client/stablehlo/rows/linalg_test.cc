// Factorizations by StableHLO's ops and by the targets of custom calls, with
// matrices that are factored by hand.
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/stablehlo/stablehlo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

// The results of a program on this CPU.
std::vector<Literal> ResultsOf(const std::string& program,
                               const std::vector<Literal>& arguments) {
  std::vector<Literal> out;
  const auto lowered = ReadProgram(program);
  EXPECT_OK(lowered) << program;
  if (!lowered.ok()) return out;
  const auto cpu = cpu::MakeCpuClient({.threads = 1});
  const auto step =
      cpu->Compile(std::make_shared<const Module>(lowered->module), {}, {});
  EXPECT_OK(step);
  const std::vector<runtime::Argument> given(arguments.begin(),
                                             arguments.end());
  const auto results = (*step)->Execute(given, {});
  EXPECT_OK(results);
  if (!results.ok()) return out;
  for (const auto& result : *results) {
    out.push_back(*result->Fetch({}).Await());
  }
  return out;
}

struct Target {
  std::string name, config, takes, gives;
  std::vector<Literal> arguments, want;
};

// A program that calls a target as jax.ffi does.
std::string CallOf(const Target& t) {
  std::string arguments, names, gives;
  size_t number = 0;
  for (const absl::string_view type : absl::StrSplit(t.takes, ", ")) {
    absl::StrAppend(&arguments, number == 0 ? "" : ", ", "%a", number, ": ",
                    type);
    absl::StrAppend(&names, number == 0 ? "" : ", ", "%a", number);
    ++number;
  }
  for (size_t k = 0; k < t.want.size(); ++k) {
    absl::StrAppend(&gives, k == 0 ? "" : ", ", "%0#", k);
  }
  const std::string pack =
      t.want.size() == 1 ? "%0" : absl::StrCat("%0:", t.want.size());
  if (t.want.size() == 1) gives = "%0";
  return MainOf(
      arguments, t.gives,
      absl::StrCat(pack, " = stablehlo.custom_call @", t.name, "(", names,
                   ") {mhlo.backend_config = {", t.config, "}} : (", t.takes,
                   ") -> (", t.gives, ")\nreturn ", gives, " : ", t.gives));
}

Literal Floats(std::initializer_list<float> values, Dims dims) {
  return Literal::Of<float>({values.begin(), values.size()}, dims);
}
Literal Complexes(std::initializer_list<std::complex<float>> values) {
  return Literal::Of<std::complex<float>>({values.begin(), values.size()},
                                          {2, 2});
}
Literal Ints(std::initializer_list<int32_t> values, Dims dims) {
  return Literal::Of<int32_t>({values.begin(), values.size()}, dims);
}

const char kSquare[] = "tensor<2x2xf32>", kRow[] = "tensor<2xf32>";
const char kComplexSquare[] = "tensor<2x2xcomplex<f32>>";
const char kInts[] = "tensor<2xi32>", kInfo[] = "tensor<i32>";

std::string List(std::initializer_list<absl::string_view> types) {
  return absl::StrJoin(types, ", ");
}

// Matrices and their factors.
Literal Definite() { return Floats({4, 2, 2, 5}, {2, 2}); }
Literal Factor() { return Floats({2, 0, 1, 2}, {2, 2}); }
Literal Exchanged() { return Floats({1, 2, 4, 4}, {2, 2}); }
Literal Packed() { return Floats({4, 4, 0.25, 1}, {2, 2}); }
Literal Columns() { return Floats({3, 0, 4, 5}, {2, 2}); }
Literal Reflected() { return Floats({-5, -4, 0.5, 3}, {2, 2}); }
Literal Taus() { return Floats({1.6f, 0}, {2}); }
Literal Orthogonal() { return Floats({-0.6f, -0.8f, -0.8f, 0.6f}, {2, 2}); }
Literal Diagonal() { return Floats({2, 0, 0, 3}, {2, 2}); }
Literal Exchange() { return Floats({0, 1, 1, 0}, {2, 2}); }
Literal None() { return Floats({0, 0, 0, 0}, {2, 2}); }
Literal Fine() { return Literal::Scalar<int32_t>(0); }

std::vector<Target> Targets() {
  return {
      {"lapack_spotrf_ffi",
       "uplo = 76 : ui8",
       kSquare,
       List({kSquare, kInfo}),
       {Definite()},
       {Factor(), Fine()}},
      {"lapack_spotrf_ffi",
       "uplo = 85 : ui8",
       kSquare,
       List({kSquare, kInfo}),
       {Definite()},
       {Floats({2, 1, 0, 2}, {2, 2}), Fine()}},
      {"cusolver_potrf_ffi",
       "lower = true",
       kSquare,
       List({kSquare, kInfo}),
       {Floats({1, 2, 2, 1}, {2, 2})},
       {Floats({NAN, NAN, NAN, NAN}, {2, 2}), Literal::Scalar<int32_t>(1)}},
      {"lapack_sgetrf_ffi",
       "",
       kSquare,
       List({kSquare, kInts, kInfo}),
       {Exchanged()},
       {Packed(), Ints({2, 2}, {2}), Fine()}},
      {"hawser.lu",
       "",
       kSquare,
       List({kSquare, kInts, kInts}),
       {Exchanged()},
       {Packed(), Ints({1, 1}, {2}), Ints({1, 0}, {2})}},
      {"lapack_sgeqrf_ffi",
       "",
       kSquare,
       List({kSquare, kRow}),
       {Columns()},
       {Reflected(), Taus()}},
      {"Qr",
       "",
       kSquare,
       List({kSquare, kRow}),
       {Columns()},
       {Reflected(), Taus()}},
      {"hawser.geqrf",
       "",
       kSquare,
       List({kSquare, kRow}),
       {Columns()},
       {Reflected(), Taus()}},
      {"lapack_sorgqr_ffi",
       "",
       List({kSquare, kRow}),
       kSquare,
       {Reflected(), Taus()},
       {Orthogonal()}},
      {"ProductOfElementaryHouseholderReflectors",
       "",
       List({kSquare, kRow}),
       kSquare,
       {Reflected(), Taus()},
       {Orthogonal()}},
      {"hawser.householder_product",
       "",
       List({kSquare, kRow}),
       kSquare,
       {Reflected(), Taus()},
       {Orthogonal()}},
      {"lapack_sgesdd_ffi",
       "mode = 83 : ui8",
       kSquare,
       List({kSquare, kRow, kSquare, kSquare, kInfo}),
       {Diagonal()},
       {Diagonal(), Floats({3, 2}, {2}), Exchange(), Exchange(), Fine()}},
      {"lapack_sgesdd_ffi",
       "mode = 78 : ui8",
       kSquare,
       List({kSquare, kRow, kSquare, kSquare, kInfo}),
       {Diagonal()},
       {Diagonal(), Floats({3, 2}, {2}), None(), None(), Fine()}},
      {"hawser.svd",
       "compute_uv = true, full_matrices = false",
       kSquare,
       List({kRow, kSquare, kSquare}),
       {Diagonal()},
       {Floats({3, 2}, {2}), Exchange(), Exchange()}},
      {"hawser.svd",
       "compute_uv = false, full_matrices = false",
       kSquare,
       kRow,
       {Diagonal()},
       {Floats({3, 2}, {2})}},
      {"lapack_ssyevd_ffi",
       "mode = 86 : ui8, uplo = 76 : ui8",
       kSquare,
       List({kSquare, kRow, kInfo}),
       {Diagonal()},
       {Floats({1, 0, 0, 1}, {2, 2}), Floats({2, 3}, {2}), Fine()}},
      {"hawser.eigh",
       "lower = true",
       kSquare,
       List({kSquare, kRow}),
       {Diagonal()},
       {Floats({1, 0, 0, 1}, {2, 2}), Floats({2, 3}, {2})}},
      {"lapack_sgeev_ffi",
       "compute_left = 78 : ui8, compute_right = 86 : ui8",
       kSquare,
       List({kRow, kRow, kComplexSquare, kComplexSquare, kInfo}),
       {Diagonal()},
       {Floats({2, 3}, {2}), Floats({0, 0}, {2}), Complexes({0, 0, 0, 0}),
        Complexes({1, 0, 0, 1}), Fine()}},
      {"lapack_cgeev_ffi",
       "compute_left = 78 : ui8, compute_right = 78 : ui8",
       kComplexSquare,
       List({"tensor<2xcomplex<f32>>", kComplexSquare, kComplexSquare, kInfo}),
       {Complexes({2, 0, 0, NAN})},
       {Literal::Of<std::complex<float>>({{NAN, NAN}, {NAN, NAN}}, {2}),
        Complexes({0, 0, 0, 0}), Complexes({0, 0, 0, 0}),
        Literal::Scalar<int32_t>(1)}},
      {"hawser.eig",
       "",
       kSquare,
       List({"tensor<2xcomplex<f32>>", kComplexSquare}),
       {Diagonal()},
       {Literal::Of<std::complex<float>>({2, 3}, {2}),
        Complexes({1, 0, 0, 1})}},
      {"hawser.eig",
       "",
       kSquare,
       "tensor<2xcomplex<f32>>",
       {Diagonal()},
       {Literal::Of<std::complex<float>>({2, 3}, {2})}},
      {"lapack_strsm_ffi",
       "diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8",
       List({kSquare, kSquare}),
       kSquare,
       {Floats({2, 9, 1, 4}, {2, 2}), Floats({4, 2, 6, 5}, {2, 2})},
       {Floats({2, 1, 1, 1}, {2, 2})}},
  };
}

TEST(Linalg, TargetsOfCustomCalls) {
  for (const Target& t : Targets()) {
    SCOPED_TRACE(absl::StrCat(t.name, " ", t.config));
    const auto got = ResultsOf(CallOf(t), t.arguments);
    ASSERT_EQ(got.size(), t.want.size());
    for (size_t k = 0; k < got.size(); ++k) {
      EXPECT_THAT(got[k], LiteralNear(t.want[k], Tolerance{.atol = 1e-6}));
    }
  }
}

TEST(Linalg, OpsOfStableHlo) {
  const std::string cholesky =
      MainOf("%a: tensor<2x2xf32>", kSquare,
             "%0 = \"stablehlo.cholesky\"(%a) {lower = true} : "
             "(tensor<2x2xf32>) -> tensor<2x2xf32>\n"
             "%1 = stablehlo.cholesky %0, lower = true : tensor<2x2xf32>\n"
             "return %0 : tensor<2x2xf32>");
  EXPECT_THAT(
      ResultsOf(cholesky, {Floats({4, 2, 2, 5}, {2, 2})}),
      testing::ElementsAre(LiteralEquals(Floats({2, 0, 1, 2}, {2, 2}))));
  const std::string solve = MainOf(
      "%a: tensor<2x2xbf16>, %b: tensor<2x1xbf16>", "tensor<2x1xbf16>",
      "%0 = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = "
      "true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = "
      "false}> : (tensor<2x2xbf16>, tensor<2x1xbf16>) -> tensor<2x1xbf16>\n"
      "return %0 : tensor<2x1xbf16>");
  const auto halves = [](std::initializer_list<float> values, Dims dims) {
    std::vector<BFloat16> all;
    for (const float v : values) all.emplace_back(v);
    return Literal::Of<BFloat16>(all, dims);
  };
  EXPECT_THAT(
      ResultsOf(solve, {halves({2, 9, 1, 4}, {2, 2}), halves({4, 6}, {2, 1})}),
      testing::ElementsAre(LiteralEquals(halves({1.25, 1.5}, {2, 1}))));
}

TEST(Linalg, RefusesWhatTargetsLack) {
  const auto refused = [](absl::string_view target, absl::string_view config) {
    return LoweredText(
        MainOf("%a: tensor<2x2xf32>", kSquare,
               absl::StrCat("%0 = stablehlo.custom_call @", target,
                            "(%a) {mhlo.backend_config = {", config,
                            "}} : (tensor<2x2xf32>) -> tensor<2x2xf32>\n"
                            "return %0 : tensor<2x2xf32>")));
  };
  EXPECT_THAT(refused("hawser.eigh", ""), testing::HasSubstr("has no lower"));
  EXPECT_THAT(refused("lapack_spotrf_ffi", "uplo = 76 : ui8"),
              testing::HasSubstr("gives 2 results, has 1"));
  EXPECT_THAT(refused("lapack_sgees_ffi", ""),
              testing::HasSubstr("lapack_sgees_ffi"));
}

}  // namespace
}  // namespace hawser::stablehlo
