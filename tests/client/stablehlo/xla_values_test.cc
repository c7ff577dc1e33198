// What XLA says of StableHLO where its text leaves it open, on its CPU (jaxlib
// 0.10.2): bits of generators, and windows that lie partly outside.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/check/self_check.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"

namespace hawser::stablehlo {
namespace {

// A function without arguments whose checks must hold.
void ExpectHolds(const std::string& ops) {
  const SelfCheck check =
      RunSelfCheck(absl::StrCat("func.func @main() {\n", ops, "  return\n}\n"),
                   *cpu::MakeCpuClient());
  EXPECT_EQ(check.outcome, SelfCheck::kPassed) << check.what << "\n" << ops;
  EXPECT_GT(check.checks, 0);
}

struct GeneratorCase {
  const char* algorithm;
  const char* type;
  uint64_t next;  // counter
  const char* bits;
};

// From key 0x0123456789ABCDEF and counter 2^64 - 2, which runs over.
constexpr GeneratorCase kGenerators[] = {
    {"THREE_FRY", "5x3xui32", 7u,
     "[[2968789339, 188576916, 2862930057], [3784990900, 2901984476, "
     "1798685940], [1973758215, 902882801, 2083461592], [3554510355, "
     "2396094436, 42261475], [3732519869, 2963079838, 1822680882]]"},
    {"THREE_FRY", "3x4xui32", 4u,
     "[[2968789339, 3784990900, 188576916, 2901984476], [2862930057, "
     "1798685940, 1973758215, 3554510355], [902882801, 2396094436, 2083461592, "
     "42261475]]"},
    {"THREE_FRY", "ui32", 18446744073709551615u, "2968789339"},
    {"THREE_FRY", "2x3xui64", 4u,
     "[[16256412134126395739, 12463928418108273812, 7725297290937948297], "
     "[15266505729992108295, 10291147241650447857, 181511655089183192]]"},
    {"THREE_FRY", "5xui8", 1u, "[91, 180, 148, 220, 137]"},
    {"THREE_FRY", "3x2xui16", 1u,
     "[[8539, 24756], [29844, 50396], [55433, 50420]]"},
    {"PHILOX", "5x3xui32", 2u,
     "[[172511636, 1103493126, 3598856174], [948282324, 1105943027, "
     "812877280], [1535849353, 2724394620, 1879495268], [3609187550, "
     "989808270, 1085667176], [886725905, 2728716375, 4236367353]]"},
    {"PHILOX", "3x4xui32", 1u,
     "[[172511636, 1103493126, 3598856174, 948282324], [1105943027, 812877280, "
     "1535849353, 2724394620], [1879495268, 3609187550, 989808270, "
     "1085667176]]"},
    {"PHILOX", "ui32", 18446744073709551615u, "172511636"},
    {"PHILOX", "2x3xui64", 1u,
     "[[4739466887703318932, 4072841572553732078, 3491281334367377907], "
     "[11701185795834196873, 15501342494259860068, 4662905016250484366]]"},
    {"PHILOX", "5xui8", 0u, "[148, 6, 238, 212, 243]"},
    {"PHILOX", "3x2xui16", 0u,
     "[[20884, 63494], [12270, 41940], [23027, 34272]]"},
    {"DEFAULT", "5x3xui32", 2u,
     "[[172511636, 1103493126, 3598856174], [948282324, 1105943027, "
     "812877280], [1535849353, 2724394620, 1879495268], [3609187550, "
     "989808270, 1085667176], [886725905, 2728716375, 4236367353]]"},
    {"DEFAULT", "3x4xui32", 1u,
     "[[172511636, 1103493126, 3598856174, 948282324], [1105943027, 812877280, "
     "1535849353, 2724394620], [1879495268, 3609187550, 989808270, "
     "1085667176]]"},
    {"DEFAULT", "ui32", 18446744073709551615u, "172511636"},
    {"DEFAULT", "2x3xui64", 1u,
     "[[4739466887703318932, 4072841572553732078, 3491281334367377907], "
     "[11701185795834196873, 15501342494259860068, 4662905016250484366]]"},
    {"DEFAULT", "5xui8", 0u, "[148, 6, 238, 212, 243]"},
    {"DEFAULT", "3x2xui16", 0u,
     "[[20884, 63494], [12270, 41940], [23027, 34272]]"},
};

TEST(XlaValues, OfRandomBits) {
  for (const GeneratorCase& one : kGenerators) {
    const std::string type = absl::StrCat("tensor<", one.type, ">");
    ExpectHolds(absl::StrCat(
        "  %s = stablehlo.constant dense<[81985529216486895, "
        "18446744073709551614]> : tensor<2xui64>\n"
        "  %n, %b = stablehlo.rng_bit_generator %s, algorithm = ",
        one.algorithm, " : (tensor<2xui64>) -> (tensor<2xui64>, ", type,
        ")\n  %next = stablehlo.constant dense<[81985529216486895, ", one.next,
        "]> : tensor<2xui64>\n  %bits = stablehlo.constant dense<", one.bits,
        "> : ", type,
        "\n  check.expect_eq %n, %next : tensor<2xui64>\n"
        "  check.expect_eq %b, %bits : ",
        type, "\n"));
  }
}

TEST(XlaValues, OfProductsOfBools) {
  ExpectHolds(
      "  %a = stablehlo.constant dense<[[true, true], [false, true]]> : "
      "tensor<2x2xi1>\n"
      "  %b = stablehlo.constant dense<[[true, false], [true, false]]> : "
      "tensor<2x2xi1>\n"
      "  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
      "(tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>\n"
      "  %w = stablehlo.constant dense<[[true, false], [true, false]]> : "
      "tensor<2x2xi1>\n"
      "  check.expect_eq %c, %w : tensor<2x2xi1>\n");
}

// Adds windows of `updates` to zeros.
std::string Scattered(const std::string& input, const std::string& indices,
                      const std::string& updates, const std::string& numbers,
                      const std::string& want) {
  return absl::StrCat(
      "  %x = stablehlo.constant dense<0.0> : ", input,
      "\n  %i = stablehlo.constant ", indices, "\n  %u = stablehlo.constant ",
      updates, "\n  %y = \"stablehlo.scatter\"(%x, %i, %u) <{", numbers,
      "}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %s = stablehlo.add %a, %b : tensor<f32>\n"
      "    stablehlo.return %s : tensor<f32>\n  }) : (",
      input, ", ", indices.substr(indices.rfind("tensor<")), ", ",
      updates.substr(updates.rfind("tensor<")), ") -> ", input,
      "\n  %w = stablehlo.constant dense<", want, "> : ", input,
      "\n  check.expect_eq %y, %w : ", input, "\n");
}

constexpr char kAlongOne[] =
    "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>";

TEST(XlaValues, OfWindowsPartlyOutsideAreDroppedWhole) {
  const std::string updates =
      "dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], "
      "[10.0, 11.0, 12.0], [13.0, 14.0, 15.0], [16.0, 17.0, 18.0]]> : "
      "tensor<6x3xf32>";
  for (const char* type : {"i8", "i32", "i64"}) {
    ExpectHolds(Scattered(
        "tensor<6xf32>",
        absl::StrCat("dense<[[-1], [4], [5], [2], [3], [-7]]> : tensor<6x1x",
                     type, ">"),
        updates, kAlongOne, "[0.0, 0.0, 10.0, 24.0, 26.0, 15.0]"));
  }
  ExpectHolds(Scattered("tensor<6xf32>",
                        "dense<[[255], [4], [250], [2], [3], [6]]> : "
                        "tensor<6x1xui8>",
                        updates, kAlongOne,
                        "[0.0, 0.0, 10.0, 24.0, 26.0, 15.0]"));
}

TEST(XlaValues, OfAWindowThatIsOutsideAlongOneAxis) {
  ExpectHolds(Scattered(
      "tensor<4x5xf32>",
      "dense<[[0, 0], [3, 0], [2, 4], [2, 3], [-1, 1]]> : tensor<5x2xi32>",
      "dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], "
      "[[9.0, 10.0], [11.0, 12.0]], [[13.0, 14.0], [15.0, 16.0]], "
      "[[17.0, 18.0], [19.0, 20.0]]]> : tensor<5x2x2xf32>",
      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, "
      "2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>",
      "[[1.0, 2.0, 0.0, 0.0, 0.0], [3.0, 4.0, 0.0, 0.0, 0.0], "
      "[0.0, 0.0, 0.0, 13.0, 14.0], [0.0, 0.0, 0.0, 15.0, 16.0]]"));
}

// One index without an axis of index vectors.
TEST(XlaValues, OfOneWindow) {
  for (const auto& [at, want] :
       {std::pair("-1", "[0.0, 0.0, 0.0]"), std::pair("1", "[0.0, 1.0, 2.0]"),
        std::pair("2", "[0.0, 0.0, 0.0]")}) {
    ExpectHolds(Scattered(
        "tensor<3xf32>", absl::StrCat("dense<", at, "> : tensor<i32>"),
        "dense<[1.0, 2.0]> : tensor<2xf32>",
        "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
        "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>",
        want));
  }
}

}  // namespace
}  // namespace hawser::stablehlo
