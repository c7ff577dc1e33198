// dense<...> of every dtype, in every form.
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/stablehlo/literals/hex.h"
#include "client/stablehlo/stablehlo.h"
#include "client/stablehlo/text/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/allocation_meter.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

using ::testing::HasSubstr;

// What stablehlo.constant holds, spelled out if it is a splat.
struct Read {
  absl::Status status;
  bool splat = false;
  Literal value;
};

Read ReadDense(const std::string& text) {
  const std::string program =
      absl::StrCat("%0 = stablehlo.constant ", text, "\n");
  const auto tree = ReadText(program);
  if (!tree.ok()) return {tree.status()};
  const Attribute* value = FindAttribute(tree->ops.at(0), "value");
  return {absl::OkStatus(), value->elements->splat, value->elements->value};
}

TEST(Literals, ListsOfEveryDType) {
  const struct {
    const char* text;
    const char* value;
  } kCases[] = {
      {"dense<[true, false]> : tensor<2xi1>", "bool[2] {true, false}"},
      {"dense<[-128, 127]> : tensor<2xi8>", "s8[2] {-128, 127}"},
      {"dense<[-32768, 0x7FFF]> : tensor<2xi16>", "s16[2] {-32768, 32767}"},
      {"dense<[-7, 8]> : tensor<2xi32>", "s32[2] {-7, 8}"},
      {"dense<-9223372036854775808> : tensor<i64>",
       "s64[] {-9223372036854775808}"},
      {"dense<[0, 255]> : tensor<2xui8>", "u8[2] {0, 255}"},
      {"dense<65535> : tensor<ui16>", "u16[] {65535}"},
      {"dense<4294967295> : tensor<ui32>", "u32[] {4294967295}"},
      {"dense<18446744073709551615> : tensor<ui64>",
       "u64[] {18446744073709551615}"},
      {"dense<[1.5, 0x7C00]> : tensor<2xf16>", "f16[2] {1.5, inf}"},
      {"dense<[1.5, 0xFF80]> : tensor<2xbf16>", "bf16[2] {1.5, -inf}"},
      {"dense<[[1.0e0, -0.0], [0x7F800000, 3]]> : tensor<2x2xf32>",
       "f32[2,2] {1, -0, inf, 3}"},
      {"dense<1.0E-300> : tensor<f64>", "f64[] {1e-300}"},
      {"dense<(1.0, -2.0)> : tensor<complex<f32>>", "c64[] {(1, -2)}"},
      {"dense<[(1.0, 0x7FF0000000000000)]> : tensor<1xcomplex<f64>>",
       "c128[1] {(1, inf)}"},
      {"dense<[]> : tensor<0xf32>", "f32[0] {}"},
      {"dense<[[], []]> : tensor<2x0xf32>", "f32[2,0] {}"},
      {"dense<> : tensor<0x3xf32>", "f32[0,3] {}"},
      {"dense<[ // a comment > here\n 1, 2 ]> : tensor<2xi32>",
       "s32[2] {1, 2}"},
  };
  for (const auto& c : kCases) {
    const Read read = ReadDense(c.text);
    ASSERT_OK(read.status) << c.text;
    EXPECT_EQ(read.value.ToString(), c.value) << c.text;
  }
}

TEST(Literals, SplatsAreOneElement) {
  const Read read = ReadDense("dense<2.5> : tensor<1000000x1000000xf32>");
  ASSERT_OK(read.status);
  EXPECT_TRUE(read.splat);
  EXPECT_EQ(read.value.ToString(), "f32[] {2.5}");
  EXPECT_TRUE(ReadDense("dense<\"0x0000803F\"> : tensor<9xf32>").splat);
  EXPECT_FALSE(ReadDense("dense<1> : tensor<1xi32>").splat);
}

TEST(Literals, RawBytesTakeTheirOwnMemoryAndLittleMore) {
  constexpr int64_t kBytes = int64_t{4} << 20;
  const std::string text = absl::StrCat(
      "func.func @main() -> (tensor<", kBytes / 4, "xi32>) {\n",
      "%0 = stablehlo.constant dense<\"0x", std::string(2 * kBytes, '5'),
      "\"> : tensor<", kBytes / 4, "xi32>\nreturn %0 : tensor<", kBytes / 4,
      "xi32>\n}\n");
  const AllocationMeter meter;
  EXPECT_OK(ReadProgram(text));
  EXPECT_LT(meter.peak(), 3 * kBytes / 2);
}

TEST(Literals, RawBytes) {
  const struct {
    const char* text;
    const char* value;
  } kCases[] = {
      {R"(dense<"0x0000803F000000C0"> : tensor<2xf32>)", "f32[2] {1, -2}"},
      {R"(dense<"0x01020304fF"> : tensor<5xui8>)", "u8[5] {1, 2, 3, 4, 255}"},
      {R"(dense<"0x000100"> : tensor<3xi1>)", "bool[3] {false, true, false}"},
      // Packed, the first in the lowest bit.
      {R"(dense<"0x0501"> : tensor<9xi1>)",
       "bool[9] {true, false, true, false, false, false, false, false, true}"},
      {R"(dense<"0x0000803F00000040"> : tensor<1xcomplex<f32>>)",
       "c64[1] {(1, 2)}"},
  };
  for (const auto& c : kCases) {
    const Read read = ReadDense(c.text);
    ASSERT_OK(read.status) << c.text;
    EXPECT_EQ(read.value.ToString(), c.value) << c.text;
  }
}

TEST(Literals, ErrorsSayWhere) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"dense<[1, 2]> : tensor<3xi32>", "1:36: expected ','"},
      {"dense<[1, 2, 3]> : tensor<2xi32>", "1:36: expected ']'"},
      {"dense<[1, x]> : tensor<2xi32>", "1:35: 'x' is no element of s32"},
      {"dense<300> : tensor<ui8>", "'300' is no element of u8"},
      {"dense<-1> : tensor<ui8>", "'-1' is no element of u8"},
      {"dense<0x1FFFF> : tensor<f16>", "'0x1FFFF' is no element of f16"},
      {"dense<1> : tensor<complex<f32>>", "expected '('"},
      {"dense<[1]> : tensor<1000000000000xi32>", "too few elements"},
      {"dense<> : tensor<2xi32>", "too few elements"},
      {R"(dense<"0x00"> : tensor<2xf32>)", "2 hexadecimal digits for f32[2]"},
      {R"(dense<"0x0000803"> : tensor<f32>)", "7 hexadecimal digits"},
      {R"(dense<"0x0000803G"> : tensor<f32>)", "no hexadecimal digits"},
      {"dense<1> : tensor<4611686018427387904x4xi32>", "shape"},
      {"dense<[1, 2", "expected '>', got the end of the text"},
  };
  for (const auto& c : kCases) {
    const Read read = ReadDense(c.text);
    EXPECT_THAT(read.status,
                StatusIs(absl::StatusCode::kInvalidArgument, c.error))
        << c.text;
    EXPECT_THAT(std::string(read.status.message()), HasSubstr(":")) << c.text;
  }
}

TEST(Literals, DecimalsOfHalvesRoundOnce) {
  // Between 1 + 2^-11, which ties to 1, and the next float: up.
  const Read read =
      ReadDense("dense<[1.00048828125, 1.000488281250001]> : tensor<2xf16>");
  ASSERT_OK(read.status);
  EXPECT_EQ(read.value.data<Half>()[0].bits, 0x3C00);
  EXPECT_EQ(read.value.data<Half>()[1].bits, 0x3C01);
  // Nearer to the middle than a double sees.
  const Read nearer = ReadDense(
      "dense<[1.003906250000000000000001, 1.003906249999999999999999]> : "
      "tensor<2xbf16>");
  ASSERT_OK(nearer.status);
  EXPECT_EQ(nearer.value.data<BFloat16>()[0].bits, 0x3F81);
  EXPECT_EQ(nearer.value.data<BFloat16>()[1].bits, 0x3F80);
}

TEST(Literals, ResourcesOfTheTrailer) {
  const std::string program =
      "%0 = stablehlo.constant dense_resource<w> : tensor<2xf32>\n"
      "{-# dialect_resources: { builtin: {\n"
      "  w: \"0x040000000000803F000000C0\" } } #-}\n";
  const auto tree = ReadText(program);
  ASSERT_OK(tree);
  EXPECT_EQ(FindAttribute(tree->ops.at(0), "value")->elements->value.ToString(),
            "f32[2] {1, -2}");
  EXPECT_THAT(ReadText("%0 = stablehlo.constant dense_resource<w> : "
                       "tensor<2xf32>"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "1:40: the resource 'w' has no bytes"));
}

TEST(Literals, EveryPairOfHexDigits) {
  std::string digits;
  for (int byte = 0; byte < 256; ++byte) {
    absl::StrAppend(&digits, absl::Hex(byte, absl::kZeroPad2));
  }
  for (const size_t size : {256, 255, 254, 253, 1, 0}) {
    std::string bytes(size, '?');
    ASSERT_TRUE(DecodeHex(digits.substr(0, 2 * size), absl::MakeSpan(bytes)));
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(static_cast<uint8_t>(bytes[i]), i);
    }
  }
  for (int c = 0; c < 256; ++c) {
    for (size_t at = 0; at < 10; ++at) {
      std::string text = "0123456789";
      text[at] = static_cast<char>(c);
      std::string bytes(5, '?');
      EXPECT_EQ(DecodeHex(text, absl::MakeSpan(bytes)),
                absl::ascii_isxdigit(static_cast<unsigned char>(c)))
          << c << " at " << at;
    }
  }
}

}  // namespace
}  // namespace hawser::stablehlo
