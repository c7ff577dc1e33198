// Scans and sorts at sizes where vectors, warps, blocks, tiles and parts end,
// along every axis, in every order of the emulator's threads.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/ir/op_def.h"
#include "core/ir/text/printer.h"
#include "gtest/gtest.h"
#include "tests/kernels/gpu/emit/block_graphs.h"
#include "tests/kernels/gpu/emit/region_batch.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

// The parameter: strict.
class Blocks : public testing::TestWithParam<bool> {
 protected:
  Blocks()
      : batch_({.emit = {.strict = GetParam(), .multiprocessors = 2},
                .emu = {.every_schedule = true}}) {}
  ~Blocks() override {
    batch_.Run();
    EXPECT_TRUE(batch_.refused().empty());
  }

  void Check(const Module& module, bool extremes) {
    Random random(++seed_);
    const auto arguments =
        RandomArguments(module.signature(), random, extremes);
    ASSERT_OK_AND_ASSIGN(const plan::Plan plan,
                         plan::MakePlan(module, plan::GpuTarget()));
    const plan::Region& region = plan.entry().regions.back();
    EXPECT_EQ(region.kind, plan::RegionKind::kBlock);
    launches_.push_back(region.launches);
    batch_.Add(plan, arguments, Print(module));
  }

  RegionBatch batch_;
  std::vector<int> launches_;
  uint64_t seed_ = 0;
};

constexpr int64_t kSizes[] = {0,   1,    2,    31,   32,   33,  127,
                              128, 1023, 1024, 1025, 2049, 4097};

TEST_P(Blocks, ScansOfRows) {
  for (const int64_t n : kSizes) {
    const bool reverse = n % 2 == 1;
    Check(ScanModule(ScanBody::kSum, {DType::kF32}, {3, n}, 1, reverse), false);
    Check(ScanModule(ScanBody::kSum, {DType::kS32}, {2, n}, 1, !reverse), true);
    Check(ScanModule(ScanBody::kLargest, {DType::kBF16}, {n}, 0, reverse),
          true);
    Check(ScanModule(ScanBody::kLast, {DType::kU8}, {3, n}, 1, !reverse), true);
  }
  for (const int64_t n : {16, 17, 1000, 1028}) {
    for (const bool reverse : {false, true}) {
      Check(ScanModule(ScanBody::kProduct, {DType::kS64}, {2, n}, 1, reverse),
            true);
      Check(ScanModule(ScanBody::kSum, {DType::kF16}, {2, n}, 1, reverse),
            false);
      Check(ScanModule(ScanBody::kSum, {DType::kC64}, {2, n}, 1, reverse),
            false);
    }
  }
}

TEST_P(Blocks, ScansOfSeveralInputs) {
  for (const int64_t n : {1, 5, 33, 1000, 1025, 3000}) {
    for (const bool reverse : {false, true}) {
      Check(ScanModule(ScanBody::kRecurrence, {DType::kS32, DType::kS32},
                       {2, n}, 1, reverse),
            true);
      Check(ScanModule(ScanBody::kSumAndLargest, {DType::kU16, DType::kF64},
                       {2, n}, 1, reverse),
            true);
      Check(ScanModule(ScanBody::kSumAndLargest, {DType::kS64, DType::kBF16},
                       {n, 3}, 0, reverse),
            true);
    }
  }
  // |a| < 1, so that nothing grows.
  Check(ScanModule(ScanBody::kSumAndLargest, {DType::kF32, DType::kF32},
                   {4, 700}, 1, false),
        false);
}

TEST_P(Blocks, ScansOfColumns) {
  for (const int64_t n : {1, 31, 64, 127, 128, 129, 1025}) {
    const bool reverse = n % 2 == 0;
    Check(ScanModule(ScanBody::kSum, {DType::kF32}, {n, 5}, 0, reverse), false);
    Check(ScanModule(ScanBody::kSum, {DType::kS16}, {2, n, 3}, 1, !reverse),
          true);
    Check(ScanModule(ScanBody::kLast, {DType::kU32}, {2, n, 1}, 1, reverse),
          true);
  }
  EXPECT_TRUE(std::count(launches_.begin(), launches_.end(), 3) > 0);
}

TEST_P(Blocks, ScansInParts) {
  for (const int64_t n : {16384, 16385, 20000, 30001}) {
    for (const bool reverse : {false, true}) {
      Check(ScanModule(ScanBody::kSum, {DType::kF32}, {n}, 0, reverse), false);
      Check(ScanModule(ScanBody::kLast, {DType::kS32}, {2, n}, 1, reverse),
            true);
    }
  }
  Check(ScanModule(ScanBody::kSum, {DType::kBF16}, {20000}, 0, false), false);
  Check(ScanModule(ScanBody::kRecurrence, {DType::kS32, DType::kS32}, {20000},
                   0, true),
        true);
  for (const int launches : launches_) EXPECT_EQ(launches, 3);
}

TEST_P(Blocks, SortsInOneTile) {
  for (const int64_t n : {0, 1, 2, 3, 31, 32, 33, 64, 511, 512, 1024}) {
    const int64_t rows = n < 64 ? 70 : 2;
    Check(SortModule(SortBody::kAscending, {DType::kF32}, {rows, n}, 1), true);
    Check(SortModule(SortBody::kDescending, {DType::kBF16, DType::kS32},
                     {rows, n}, 1),
          true);
    Check(SortModule(SortBody::kAscending, {DType::kU8, DType::kC128},
                     {n, rows, 2}, 0),
          true);
    Check(SortModule(SortBody::kNever, {DType::kS64}, {rows, n}, 1), true);
    Check(SortModule(SortBody::kLexicographic, {DType::kBool, DType::kS8},
                     {2, n, 1}, 1),
          true);
  }
  for (const int launches : launches_) EXPECT_EQ(launches, 1);
}

constexpr DType kSortable[] = {
    DType::kBool, DType::kU8,  DType::kS8,  DType::kU16, DType::kS16,
    DType::kU32,  DType::kS32, DType::kU64, DType::kS64, DType::kF16,
    DType::kBF16, DType::kF32, DType::kF64};

// With AddComparator's orders; where many are equal the second input tells
// whether they kept their order.
TEST_P(Blocks, SortsByDigitsOfEveryDType) {
  int n = 0;
  for (const DType key : kSortable) {
    const SortBody body =
        ++n % 2 == 0 ? SortBody::kAscending : SortBody::kDescending;
    const SortBody other =
        n % 2 != 0 ? SortBody::kAscending : SortBody::kDescending;
    Check(SortModule(body, {key, DType::kU16}, {600 + n}, 0), true);
    Check(SortModule(other, {key}, {2, 513}, 1), true);
    Check(SortModule(other, {key, DType::kF64}, {4097}, 0), true);
  }
  const auto passes = [](DType key) {
    return static_cast<int>(ByteWidth(key));
  };
  for (size_t k = 0; k < launches_.size(); ++k) {
    EXPECT_EQ(launches_[k], k % 3 < 2 ? 1 : 2 * passes(kSortable[k / 3])) << k;
  }
}

TEST_P(Blocks, SortsByDigitsInOneTile) {
  for (const int64_t n : {513, 767, 768, 769, 2047, 2048, 4095, 4096}) {
    Check(SortModule(SortBody::kDescending, {DType::kF32, DType::kS32}, {2, n},
                     1),
          true);
    Check(
        SortModule(SortBody::kAscending, {DType::kU8, DType::kBool}, {n, 3}, 0),
        true);
  }
  Check(SortModule(SortBody::kAscending,
                   {DType::kF16, DType::kC128, DType::kU8}, {2, 1000, 2}, 1),
        true);
  for (const int launches : launches_) EXPECT_EQ(launches, 1);
}

TEST_P(Blocks, SortsByDigitsInTiles) {
  for (const int64_t n : {4097, 8191, 8192, 8193}) {
    Check(SortModule(SortBody::kAscending, {DType::kF32}, {n}, 0), true);
    Check(SortModule(SortBody::kDescending, {DType::kU8, DType::kF64}, {n}, 0),
          true);
    Check(SortModule(SortBody::kAscending, {DType::kF16, DType::kBool}, {2, n},
                     1),
          true);
  }
  // Places, three operands, and runs whose neighbours are of other runs.
  Check(SortModule(SortBody::kDescending,
                   {DType::kS16, DType::kC64, DType::kU8}, {2, 4200, 2}, 1),
        true);
  Check(SortModule(SortBody::kAscending, {DType::kS64, DType::kU16},
                   {2, 4500, 3}, 1),
        true);
  // Tiles of 2048.
  for (const int64_t n : {2048, 2049, 4096}) {
    Check(SortModule(SortBody::kAscending, {DType::kF64, DType::kS64}, {n}, 0),
          true);
  }
}

// Of comparators that are written otherwise, and of two keys.
TEST_P(Blocks, SortsByDigitsOfOtherOrders) {
  for (const int64_t n : {600, 5000}) {
    for (const SortBody body : {SortBody::kLess, SortBody::kTurned}) {
      Check(SortModule(body, {DType::kS16, DType::kF32}, {n}, 0), true);
    }
    Check(SortModule(SortBody::kBySum, {DType::kU8, DType::kU8}, {n}, 0), true);
    Check(SortModule(SortBody::kBySum, {DType::kS16, DType::kS16, DType::kC64},
                     {n, 2}, 0),
          true);
  }
  EXPECT_EQ(launches_, (std::vector<int>{1, 1, 1, 1, 4, 4, 2, 4}));
}

// So many that a launch of its own adds up their counts.
TEST_P(Blocks, SortsByDigitsInManyTiles) {
  Check(SortModule(SortBody::kDescending, {DType::kU8, DType::kS16},
                   {2, 131073}, 1),
        true);
  Check(SortModule(SortBody::kAscending, {DType::kBF16}, {135168}, 0), true);
  EXPECT_EQ(launches_, (std::vector<int>{3, 6}));
}

// Other comparators, by a network.
TEST_P(Blocks, SortsByExchanges) {
  for (const int64_t n : {1025, 2048, 2049, 4097}) {
    Check(SortModule(SortBody::kLess, {DType::kF32, DType::kS32}, {n}, 0),
          false);
    Check(SortModule(SortBody::kLexicographic, {DType::kS8, DType::kU8}, {2, n},
                     1),
          true);
  }
  Check(SortModule(SortBody::kNever, {DType::kS32}, {1500, 2}, 0), true);
  // Keys too wide for a tile of 1024.
  Check(SortModule(SortBody::kLexicographic,
                   {DType::kF64, DType::kS64, DType::kC128}, {1100}, 0),
        false);
}

// Any shape, axis, dtypes, body and direction.
TEST_P(Blocks, OfDrawnKinds) {
  Random random(GetParam() ? 11 : 12);
  for (int n = 0; n < 60; ++n) {
    Dims dims;
    for (int64_t axes = random.Between(1, 3), left = 3000; axes > 0; --axes) {
      dims.push_back(random.Between(1, random.OneIn(2) ? left : 1 + left % 40));
      left = std::max<int64_t>(1, left / dims.back());
    }
    const int64_t axis = random.Below(static_cast<int64_t>(dims.size()));
    const std::vector<DType> dtypes = {random.PickDType(kReals),
                                       random.PickDType(kReals)};
    if (random.OneIn(2)) {
      const SortBody body = random.Pick(
          std::vector<SortBody>{SortBody::kAscending, SortBody::kDescending,
                                SortBody::kLexicographic, SortBody::kNever});
      // With NaN no order.
      Check(SortModule(body, dtypes, dims, axis),
            body != SortBody::kLexicographic);
      continue;
    }
    const bool reverse = random.OneIn(2);
    if (random.OneIn(2)) {
      Check(
          ScanModule(ScanBody::kSumAndLargest,
                     {random.PickDType(kInts), dtypes[1]}, dims, axis, reverse),
          true);
    } else {
      Check(ScanModule(random.OneIn(2) ? ScanBody::kLast : ScanBody::kLargest,
                       {dtypes[0]}, dims, axis, reverse),
            true);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Numerics, Blocks, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Strict" : "Fast";
                         });

}  // namespace
}  // namespace hawser::gpu
