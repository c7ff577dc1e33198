// Sorts of more elements than one thread takes at once: stable, whatever the
// keys, and the same on any number of threads.
#include "core/ops/movement/sort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/threads/thread_pool.h"
#include "core/base/values/literal.h"
#include "core/ir/builder.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/host_allocator.h"
#include "kernels/cpu/planned/planned_program.h"
#include "kernels/cpu/sorting/part_sort.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

// Parts are cut further where one of them has more than its share.
constexpr int64_t kMany = 5 * kPartItems / 2 + 7;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What moves beside the keys: nothing, their places as an argument, or as an op
// makes them.
enum class Beside : uint8_t { kNothing, kPlaces, kIota };

// Of each operand the first `wanted`; by the planned engine, which may leave the
// rest alone, where these are not all.
std::vector<Literal> Sorted(const Literal& keys, bool descending, Beside beside,
                            int threads, int64_t wanted) {
  const Shape places = Shape::Of(DType::kS32, keys.shape().dims());
  Module module("test");
  const std::vector<DType> others(beside == Beside::kNothing ? 0 : 1,
                                  DType::kS32);
  const int less =
      AddComparator(keys.shape().dtype(), descending, others, &module);
  ComputationBuilder b(&module, "main");
  std::vector<ValueId> operands = {b.Parameter(keys.shape())};
  const ValueId given = b.Parameter(places);
  if (beside == Beside::kPlaces) operands.push_back(given);
  if (beside == Beside::kIota) {
    operands.push_back(b.Add(kIota, {},
                             {{"dims", keys.shape().dims()},
                              {"dtype", DType::kS32},
                              {"iota_dimension", int64_t{0}}}));
  }
  std::vector<ValueId> results(operands.size());
  std::iota(results.begin(), results.end(),
            b.Add(kSort, operands, {{"dimension", int64_t{0}}}, {less}));
  const bool all = wanted == keys.shape().num_elements();
  if (!all) {
    for (ValueId& result : results) {
      result = b.Add(kSlice, {result},
                     {{"start_indices", Dims{0}},
                      {"limit_indices", Dims{wanted}},
                      {"strides", Dims{1}}});
    }
  }
  const auto main = b.Finish(results);
  EXPECT_OK(main);
  Literal order = Literal::Uninitialized(places);
  std::iota(order.mutable_data<int32_t>().begin(),
            order.mutable_data<int32_t>().end(), 0);
  ThreadPool pool(threads);
  ThreadPool* const workers = threads == 1 ? nullptr : &pool;
  if (all) {
    CpuEvaluator evaluator({.pool = workers});
    auto got = evaluator.Evaluate(module, *main, {keys, order}, {});
    EXPECT_OK(got);
    return *std::move(got);
  }
  const auto allocator = HostAllocator::Make({});
  auto program = PlannedProgram::Make(module, runtime::Numerics::kStrict);
  EXPECT_OK(program);
  auto got = program->Run({keys, order},
                          {.pool = workers, .allocator = allocator.get()});
  EXPECT_OK(got);
  return *std::move(got);
}

// NaN is the largest.
template <typename T>
bool IsLess(T a, T b) {
  return std::isnan(static_cast<double>(b))
             ? !std::isnan(static_cast<double>(a))
             : a < b;
}

// Of each use: by the standard library's stable sort.
template <typename T>
void ExpectSorted(const std::vector<T>& keys, bool descending) {
  std::vector<int32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return descending ? IsLess(keys[b], keys[a]) : IsLess(keys[a], keys[b]);
  });
  std::vector<T> want;
  for (const int32_t place : order) want.push_back(keys[place]);
  Literal x = Literal::Uninitialized(
      Shape::Of(kDTypeOf<T>, {static_cast<int64_t>(keys.size())}));
  std::copy(keys.begin(), keys.end(), x.mutable_data<T>().begin());
  const auto size = static_cast<int64_t>(keys.size());
  const auto expect = [&](Beside beside, int threads, int64_t wanted) {
    SCOPED_TRACE(testing::Message()
                 << wanted << " wanted, " << threads << " threads, "
                 << static_cast<int>(beside));
    const auto got = Sorted(x, descending, beside, threads, wanted);
    // By bytes: zeros of both signs keep their order too.
    ASSERT_EQ(std::memcmp(got[0].bytes().data(), want.data(),
                          wanted * sizeof(T)),
              0);
    if (beside == Beside::kNothing) return;
    ASSERT_TRUE(std::equal(order.begin(), order.begin() + wanted,
                           got[1].data<int32_t>().begin()));
  };
  for (const int threads : {1, 3}) {
    expect(Beside::kNothing, threads, size);
    expect(Beside::kPlaces, threads, size);
    expect(Beside::kIota, threads, size);
  }
  for (const int64_t wanted : {size / 4, int64_t{1000}, int64_t{1}}) {
    expect(Beside::kNothing, 3, wanted);
    expect(Beside::kIota, 3, wanted);
  }
}

// `draw` gives a key of 64 random bits.
template <typename T, typename Draw>
std::vector<T> Keys(int64_t n, Draw draw) {
  std::mt19937_64 random(3);
  std::vector<T> keys(n);
  for (T& key : keys) key = static_cast<T>(draw(random()));
  return keys;
}

TEST(LargeSortTest, OfWordsAllDifferent) {
  const auto any = [](uint64_t bits) { return bits; };
  ExpectSorted(Keys<int32_t>(kMany, any), false);
  ExpectSorted(Keys<int64_t>(kMany, any), true);
  ExpectSorted(Keys<uint8_t>(kMany, any), false);
}

TEST(LargeSortTest, OfFloatsWithNanInfinitiesAndZeros) {
  const float odd[] = {kNan, -kNan, 0.0f, -0.0f, HUGE_VALF, -HUGE_VALF};
  const auto mixed = [&](uint64_t bits) {
    return bits % 5 == 0 ? odd[bits / 5 % 6]
                         : static_cast<float>(static_cast<int64_t>(bits));
  };
  for (const bool descending : {false, true}) {
    ExpectSorted(Keys<float>(kMany, mixed), descending);
    ExpectSorted(Keys<double>(kMany, mixed), descending);
  }
}

TEST(LargeSortTest, OfKeysThatDoNotSplitWell) {
  // All equal; a few; nine of ten equal; half of them above all samples.
  ExpectSorted(std::vector<int32_t>(kMany, 7), false);
  ExpectSorted(Keys<int32_t>(kMany, [](uint64_t b) { return b % 3; }), true);
  ExpectSorted(Keys<int32_t>(
                   kMany, [](uint64_t b) { return b % 10 != 0 ? 5 : b >> 40; }),
               false);
  std::vector<int32_t> rising(kMany);
  for (int64_t i = 0; i < kMany; ++i) {
    rising[i] = static_cast<int32_t>(i % 2 == 0 ? 0 : i);
  }
  ExpectSorted(rising, true);
}

TEST(LargeSortTest, OfWhichTheSampleSaysNothing) {
  // What the sample looks at are the largest keys, or the smallest.
  for (const int32_t sampled : {1 << 30, -(1 << 30)}) {
    auto keys = Keys<int32_t>(1 << 14, [](uint64_t b) { return b >> 40; });
    for (size_t i = 0; i < keys.size(); i += 16) keys[i] = sampled;
    ExpectSorted(keys, false);
    ExpectSorted(keys, true);
  }
}

TEST(LargeSortTest, AroundTheSizeOfAPart) {
  const auto any = [](uint64_t bits) { return bits >> 50; };
  for (const int64_t n : {kPartItems - 1, kPartItems, kPartItems + 1}) {
    ExpectSorted(Keys<int32_t>(n, any), false);
  }
}

}  // namespace
}  // namespace hawser::cpu
