// Convolutions by the library of every kind of device, next to their definition
// on the host (kernels/emu/library_calls).
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/dtype.h"
#include "tests/kernels/cuda/device_calls.h"

namespace hawser::testing {
namespace {

using gpu::ConvolutionAxis;
using gpu::ConvolutionDirection;
using gpu::ConvolutionSpec;

constexpr ConvolutionDirection kDirections[] = {ConvolutionDirection::kForward,
                                                ConvolutionDirection::kData,
                                                ConvolutionDirection::kFilter};

std::string NameOf(const ConvolutionSpec& s) {
  std::string name = absl::StrCat(
      "direction ", static_cast<int>(s.direction), " ", DTypeName(s.dtype),
      s.features_first ? " features first " : " features last ", s.batch, " x ",
      s.in, " to ", s.out, " in ", s.groups, " groups");
  for (const ConvolutionAxis& a : s.axes) {
    absl::StrAppend(&name, "; ", a.x, " under ", a.w, " by ", a.stride, " and ",
                    a.dilation, " with ", a.padding, " gives ", a.y);
  }
  return name;
}

// An axis whose y has at least one element.
ConvolutionAxis DrawnAxis(std::mt19937_64& random) {
  const auto of = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  ConvolutionAxis a{.w = of(1, 4), .stride = of(1, 3), .dilation = of(1, 2)};
  const int64_t reach = (a.w - 1) * a.dilation + 1;
  a.padding = of(0, reach - 1);
  a.x = of(std::max<int64_t>(1, reach - 2 * a.padding), 12);
  a.y = (a.x + 2 * a.padding - reach) / a.stride + 1;
  return a;
}

ConvolutionSpec DrawnSpec(uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr DType kDTypes[] = {DType::kF32, DType::kBF16, DType::kF16,
                               DType::kF64};
  ConvolutionSpec spec{.direction = kDirections[random() % 3],
                       .dtype = kDTypes[random() % 4],
                       .features_first = random() % 2 == 0};
  spec.batch = 1 + static_cast<int64_t>(random() % 4);
  spec.groups = 1 + static_cast<int64_t>(random() % 5 / 3);
  spec.in = spec.groups * (1 + static_cast<int64_t>(random() % 16));
  spec.out = spec.groups * (1 + static_cast<int64_t>(random() % 16));
  const uint64_t axes = 1 + random() % 7 / 3;
  for (uint64_t a = 0; a < axes; ++a) spec.axes.push_back(DrawnAxis(random));
  return spec;
}

std::vector<CallBytes> ConvolutionOperandsOf(const ConvolutionSpec& spec) {
  std::vector<CallBytes> operands;
  for (const int64_t bytes : gpu::BytesOf(spec).operands) {
    operands.push_back(BytesOf(
        Drawn(bytes / ByteWidth(spec.dtype), operands.size() + 1), spec.dtype));
  }
  return operands;
}

class DeviceConvolutionTest : public DeviceCallTest {
 protected:
  // False: the device has no routine for it.
  bool IsThatOfTheDefinition(const ConvolutionSpec& spec, bool captured) {
    const std::vector<CallBytes> operands = ConvolutionOperandsOf(spec);
    const auto got = OnDevice(spec, operands, captured);
    if (got.empty()) return false;
    const bool tf32 = spec.precision == gpu::GemmPrecision::kTf32;
    ExpectNear(NumbersOf(got[0], spec.dtype),
               NumbersOf(OnHost(spec, operands)[0], spec.dtype),
               tf32 ? 1e-2 : ToleranceOf(spec.dtype));
    EXPECT_EQ(OnDevice(spec, operands)[0], got[0]) << "other bits";
    return true;
  }
};
HAWSER_ON_EVERY_DEVICE(DeviceConvolutionTest);

TEST_P(DeviceConvolutionTest, DrawnOnesAreThoseOfTheDefinition) {
  constexpr int kSeeds = 150;
  int taken = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const ConvolutionSpec spec = DrawnSpec(seed);
    SCOPED_TRACE(NameOf(spec));
    taken += IsThatOfTheDefinition(spec, seed % 4 == 0) ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  std::cout << taken << " of " << kSeeds << " drawn convolutions\n";
}

// A layer of a net for images, in each direction and dtype.
TEST_P(DeviceConvolutionTest, OrdinaryLayersAreTaken) {
  for (const ConvolutionDirection direction : kDirections) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (const bool first : {false, true}) {
        for (const int64_t stride : {1, 2}) {
          const ConvolutionAxis axis{
              .x = 8, .w = 3, .y = 8 / stride, .stride = stride, .padding = 1};
          ConvolutionSpec spec{.direction = direction,
                               .dtype = dtype,
                               .features_first = first,
                               .batch = 2,
                               .in = 32,
                               .out = 16,
                               .axes = {axis, axis}};
          SCOPED_TRACE(NameOf(spec));
          EXPECT_TRUE(IsThatOfTheDefinition(spec, true));
          spec.precision = gpu::GemmPrecision::kTf32;
          EXPECT_TRUE(IsThatOfTheDefinition(spec, false));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(DeviceConvolutionTest, NonsenseIsRefused) {
  const auto code = [&](const ConvolutionSpec& spec) {
    return device().PlanCall(spec).status().code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const ConvolutionAxis axis{.x = 5, .w = 3, .y = 3};
  EXPECT_EQ(code({}), kInvalid);
  EXPECT_EQ(code({.axes = {axis, axis, axis, axis}}), kInvalid);
  EXPECT_EQ(code({.batch = 0, .axes = {axis}}), kInvalid);
  EXPECT_EQ(code({.groups = 2, .in = 3, .out = 4, .axes = {axis}}), kInvalid);
  EXPECT_EQ(code({.axes = {{.x = 5, .w = 3, .y = 4}}}), kInvalid);
  EXPECT_EQ(code({.axes = {{.x = 2, .w = 3, .y = 1}}}), kInvalid);
  EXPECT_EQ(code({.axes = {{.x = 5, .w = 3, .y = 2, .padding = -1}}}),
            kInvalid);
  EXPECT_EQ(code({.dtype = DType::kS32, .axes = {axis}}),
            absl::StatusCode::kUnimplemented);
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(code({.axes = {{.x = huge, .y = huge}}}),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace hawser::testing
