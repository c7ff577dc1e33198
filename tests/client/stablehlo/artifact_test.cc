// Portable artifacts, made by ArtifactWriter: those of all versions of MLIR's
// bytecode become what their text would, and wrong ones are refused cheaply.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/stablehlo/bytecode/reader.h"
#include "client/stablehlo/stablehlo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/stablehlo/artifact_parts.h"
#include "tests/client/stablehlo/artifact_writer.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/allocation_meter.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

constexpr int64_t kArtifactMemory = int64_t{64} << 20;

// The same as text.
std::string SumTimesText() {
  return MainOf("%a: tensor<2xf32>, %b: tensor<2xf32>", "tensor<2xf32>",
                "  %0 = stablehlo.add %a, %b : tensor<2xf32>\n"
                "  %c = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>\n"
                "  %1 = stablehlo.multiply %0, %c : tensor<2xf32>\n"
                "  return %1 : tensor<2xf32>");
}

TEST(Artifact, IsWhatItsTextIs) {
  for (const int version : {5, 6}) {
    EXPECT_EQ(LoweredText(SumTimes(version)), LoweredText(SumTimesText()))
        << version;
  }
}

// Before properties there were attributes, which this one has none of.
TEST(Artifact, OfOlderFormatsIsRead) {
  for (int version = 0; version <= 6; ++version) {
    ArtifactParts p(version);
    const std::string file =
        p.File(1, {p.writer.Op({.name = "vhlo.add_v1", .results = {p.row}})});
    const auto tree = ReadArtifact(file);
    ASSERT_OK(tree) << version;
    ASSERT_EQ(tree->ops.size(), 1u);
    const Op& op = tree->ops[0].regions[0].ops[0];
    EXPECT_EQ(op.name, "stablehlo.add");
    EXPECT_EQ(op.result_types[0].text, "tensor<2xf32>");
  }
}

TEST(Artifact, IsToldFromText) {
  EXPECT_TRUE(IsArtifact(SumTimes(6)));
  EXPECT_FALSE(IsArtifact(SumTimesText()));
  EXPECT_FALSE(IsArtifact(""));
  EXPECT_FALSE(IsArtifact("ML"));
}

// The literal of a constant of that type, from these bytes.
absl::StatusOr<Elements> ElementsOf(uint64_t element,
                                    const std::vector<int64_t>& dims,
                                    absl::string_view raw) {
  ArtifactParts p;
  const int type = p.writer.Tensor(p.writer.Type(Coded(element)), dims);
  const int elements = p.writer.Elements(type, raw);
  const std::string file = p.File(1, {p.Constant(type, elements)});
  HAWSER_ASSIGN_OR_RETURN(const Tree tree, ReadArtifact(file));
  return *tree.ops[0].regions[0].ops[0].attributes[0].value->elements;
}

TEST(Artifact, BoolsStandAsBitsOrBytes) {
  const absl::string_view bits("\x05\x01", 2), bytes("\1\0\1\0\0\0\0\0\1", 9);
  const std::vector<bool> want = {true,  false, true,  false, false,
                                  false, false, false, true};
  for (const absl::string_view raw : {bits, bytes}) {
    const auto elements = ElementsOf(0, {9}, raw);
    ASSERT_OK(elements);
    const auto got = elements->value.data<bool>();
    EXPECT_EQ(std::vector<bool>(got.begin(), got.end()), want);
  }
  const auto all = ElementsOf(0, {100}, "\xFF");
  ASSERT_OK(all);
  EXPECT_TRUE(all->splat);
  EXPECT_TRUE(all->value.data<bool>()[0]);
}

TEST(Artifact, OneElementStandsForAll) {
  const auto splat = ElementsOf(4, {1000, 1000}, RawFloats({2.5F}));
  ASSERT_OK(splat);
  EXPECT_TRUE(splat->splat);
  EXPECT_EQ(splat->value.data<float>()[0], 2.5F);
  const auto one = ElementsOf(4, {1}, RawFloats({2.5F}));
  ASSERT_OK(one);
  EXPECT_FALSE(one->splat);
  const auto none = ElementsOf(4, {0}, "");
  ASSERT_OK(none);
  EXPECT_EQ(none->value.shape().num_elements(), 0);
}

TEST(Artifact, ConstantsThatClaimMoreThanTheyCarryAreRefused) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{3}, {1'000'000'000, 1'000'000'000}, {0}}) {
    EXPECT_THAT(ElementsOf(4, dims, RawFloats({1, 2})),
                StatusIs(absl::StatusCode::kInvalidArgument, "byte "));
  }
}

TEST(Artifact, OfANewerStableHloIsUnimplementedByName) {
  ArtifactParts p;
  const std::string file =
      p.writer.File({p.writer.Op({.name = "vhlo.constant_v99",
                                  .properties = {p.writer.Text("x")},
                                  .results = {p.row},
                                  .has_properties = true})});
  EXPECT_THAT(ReadArtifact(file),
              StatusIs(absl::StatusCode::kUnimplemented, "vhlo.constant_v99"));
  EXPECT_THAT(ReadArtifact(ArtifactWriter(7).File({})),
              StatusIs(absl::StatusCode::kUnimplemented, "version 7"));
}

TEST(Artifact, PropertiesThatAreLeftOverOrLackAreRefused) {
  for (const int count : {0, 2}) {
    ArtifactParts p;
    const int value = p.writer.Elements(p.row, RawFloats({1, 2}));
    const std::string file = p.writer.File(
        {p.writer.Op({.name = "vhlo.constant_v1",
                      .properties = std::vector<int>(count, value),
                      .results = {p.row},
                      .has_properties = true})});
    EXPECT_THAT(ReadArtifact(file),
                StatusIs(absl::StatusCode::kInvalidArgument, "byte "));
  }
}

void ExpectRefusedArtifact(const std::string& file, const char* error) {
  const AllocationMeter meter;
  const absl::Time start = absl::Now();
  const auto tree = ReadArtifact(file);
  const absl::Duration took = absl::Now() - start;
  EXPECT_THAT(tree, StatusIs(absl::StatusCode::kInvalidArgument, error));
  EXPECT_LT(meter.peak(), kArtifactMemory) << error;
  std::cout << error << ": " << took << "\n";
}

TEST(Artifact, RegionsNestedTooDeepAreRefused) {
  ArtifactParts p;
  std::string op = p.writer.Op({.name = "vhlo.add_v1"});
  // Not by the writer, which would copy the inner ones ten thousand times.
  const std::string head = p.writer.Op(
      {.name = "vhlo.case_v1", .regions = {p.writer.Region({}, 0, {})}});
  const std::string outer = head.substr(0, head.size() - 1) + Coded(1 << 1);
  std::string nested;
  for (int i = 0; i < 10'000; ++i) nested += outer;
  ExpectRefusedArtifact(p.writer.FileOf(Coded(1 << 1) + nested + op),
                        "nested deeper");
}

TEST(Artifact, WhatIsMadeOfItselfIsRefused) {
  ArtifactWriter writer;
  // The next attribute is a list of itself.
  const int list = writer.Vhlo(Coded(1) + Coded(1) + Coded(1));
  ASSERT_EQ(list, 1);
  const std::string file = writer.File({writer.Op(
      {.name = "vhlo.iota_v1", .properties = {list}, .has_properties = true})});
  ExpectRefusedArtifact(file, "made of itself");
  ArtifactWriter types;
  const int tuple = types.Type(Coded(23) + Coded(1) + Coded(0));
  ExpectRefusedArtifact(
      types.File({types.Op({.name = "vhlo.add_v1", .results = {tuple}})}),
      "made of itself");
}

TEST(Artifact, TuplesOfTuplesTakeLittleMemory) {
  ArtifactParts p;
  int type = p.f32;
  for (int i = 0; i < 150; ++i) {
    const auto part = static_cast<uint64_t>(type);
    type = p.writer.Type(Coded(23) + Coded(2) + Coded(part) + Coded(part));
  }
  const std::string file =
      p.File(1, {p.writer.Op({.name = "vhlo.add_v1", .results = {type}})});
  const AllocationMeter meter;
  EXPECT_OK(ReadArtifact(file));
  EXPECT_LT(meter.peak(), kArtifactMemory);
}

TEST(Artifact, CutShortAnywhereIsRefused) {
  const std::string whole = SumTimes(6);
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that a sanitizer sees a byte too many.
    const std::string part = whole.substr(0, size);
    EXPECT_THAT(ReadArtifact(part),
                StatusIs(absl::StatusCode::kInvalidArgument, "byte "))
        << size;
  }
}

TEST(Artifact, ChangedBytesAreAnErrorOrAnotherProgram) {
  const std::string whole = SumTimes(6);
  std::mt19937 random(7);
  absl::Duration longest;
  int read = 0;
  constexpr int kTries = 20'000;
  for (int i = 0; i < kTries; ++i) {
    std::string changed = whole;
    for (int k = 0; k <= i % 4; ++k) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    const AllocationMeter meter;
    const absl::Time start = absl::Now();
    const auto program = ReadProgram(changed);
    longest = std::max(longest, absl::Now() - start);
    read += program.ok();
    if (!program.ok()) {
      EXPECT_FALSE(absl::IsInternal(program.status())) << program.status();
    }
    ASSERT_LT(meter.peak(), kArtifactMemory) << i;
  }
  std::cout << read << " of " << kTries << " are still programs; the slowest "
            << longest << "\n";
}

TEST(Artifact, OperandsMustBeKnown) {
  for (const int operand : {1, 5, 1000}) {
    ArtifactParts p;
    const std::string file =
        p.writer.File({p.Main({p.row}, p.row, 2,
                              {p.writer.Op({.name = "vhlo.negate_v1",
                                            .results = {p.row},
                                            .operands = {operand}}),
                               p.Return(1)})});
    EXPECT_THAT(ReadArtifact(file),
                StatusIs(absl::StatusCode::kInvalidArgument, "byte "));
  }
}

TEST(Artifact, OfALoopIsRead) {
  EXPECT_THAT(LoweredText(Loop()), ::testing::HasSubstr("while("));
}

TEST(Artifact, FunctionsThatCallEachOtherAreRefused) {
  for (const int length : {1, 2, 3}) {
    EXPECT_THAT(ReadProgram(CallsInACircle(length)),
                StatusIs(absl::StatusCode::kResourceExhausted, "deep"));
  }
}

// It once hung at an end that it did not expect.
TEST(Artifact, EveryShorterOneIsRefused) {
  const std::string whole = SumTimes(6);
  for (size_t size = 4; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadProgram(whole.substr(0, size)).ok()) << size;
  }
}

// It once took names that were swapped for others' that are valid.
TEST(Artifact, NamesThatAreSwappedAreRefused) {
  EXPECT_FALSE(ReadProgram(SwappedNames()).ok());
}

TEST(Artifact, ErrorsOfLoweringNameTheByte) {
  ArtifactParts p;
  const std::string file = p.writer.File({p.Main(
      {p.row}, p.row, 2,
      {p.writer.Op(
           {.name = "vhlo.infeed_v1", .results = {p.row}, .operands = {0}}),
       p.Return(1)})});
  EXPECT_THAT(ReadProgram(file),
              StatusIs(absl::StatusCode::kUnimplemented, "infeed"));
  EXPECT_THAT(std::string(ReadProgram(file).status().message()),
              ::testing::MatchesRegex("byte [0-9]+: .*"));
}

}  // namespace
}  // namespace hawser::stablehlo
