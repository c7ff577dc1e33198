// Indices of every integer dtype at the ends of that dtype, known when a
// program is built or when it runs, and axes without entries.
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

// Entries 0 to 6, so that every one says which it is.
Tensor Entries() { return Iota(DType::kF32, {7}); }
Tensor InRows(const Tensor& index) { return Reshape(index, {1}); }

struct Reading {
  std::string name;
  // Of an index, a scalar that is known when it runs.
  std::function<Tensor(Tensor)> read;
  float last = 6;  // what stands at the last place that there is
};

const std::vector<Reading>& Readings() {
  static const auto& readings = *new std::vector<Reading>{
      {"Rows", [](Tensor i) { return Rows(Entries(), i, 1); }},
      {"Rows, two", [](Tensor i) { return Rows(Entries(), i, 2)[{0}]; }, 5},
      {"SliceAlongAxis",
       [](Tensor i) { return SliceAlongAxis(Entries(), i, 1, 0); }},
      {"DynamicSlice",
       [](Tensor i) { return DynamicSlice(Entries(), {i}, {1}); }},
      {"DynamicSlice of a matrix",
       [](Tensor i) {
         return DynamicSlice(Entries()[NewAxis()], {Scalar(0), i}, {1, 1});
       }},
      {"PutSlice",
       [](Tensor i) {
         const Tensor put = PutSlice(Entries(), {i}, T1<float>({100}));
         return Convert(ArgMax(put), DType::kF32);
       }},
      {"Take", [](Tensor i) { return Take(Entries(), i); }},
      {"Take of one", [](Tensor i) { return Take(Entries(), InRows(i)); }},
      {"TakeAlongAxis",
       [](Tensor i) { return TakeAlongAxis(Entries(), InRows(i), 0); }},
      {"Gather", [](Tensor i) { return Gather(Entries(), InRows(i)); }},
      {"a subscript", [](Tensor i) { return Entries()[i]; }},
      {"Vmap of Rows",
       [](Tensor i) {
         return Vmap([](Tensor i) { return Rows(Entries(), i, 1); })(
             Batched(InRows(i)));
       }},
      {"Vmap of Take",
       [](Tensor i) {
         return Vmap([](Tensor i) { return Take(Entries(), i); })(
             Batched(InRows(i)));
       }},
      {"a loop's Rows",
       [](Tensor i) {
         return For(1, Zeros(DType::kF32, {1}), [&](Tensor, Tensor x) {
           return x + Rows(Entries(), i, 1);
         });
       }},
      {"the gradient of Rows",
       [](Tensor i) {
         const Tensor g =
             Grad([&](Tensor x) { return Sum(Rows(x, i, 1)); })(Entries());
         return Convert(ArgMax(g), DType::kF32);
       }},
      {"the gradient of TakeAlongAxis",
       [](Tensor i) {
         const Tensor g = Grad([&](Tensor x) {
           return Sum(TakeAlongAxis(x, InRows(i), 0));
         })(Entries());
         return Convert(ArgMax(g), DType::kF32);
       }},
  };
  return readings;
}

// As a value that is known when it runs: an argument.
template <typename T>
void ExpectReads(T index, const Reading& reading, float want) {
  const auto read = [&](Tensor i) { return Reshape(reading.read(i), {}); };
  const absl::StatusOr<Tensor> got =
      Jit(read)(Constant(Literal::Scalar(index)));
  ASSERT_OK(got) << reading.name;
  const absl::StatusOr<float> value = got->Item<float>();
  ASSERT_OK(value) << reading.name;
  EXPECT_EQ(*value, want) << reading.name << " at " << +index << " of "
                          << DTypeName(kDTypeOf<T>);
}

template <typename T>
int ExpectEndsAreClamped() {
  int tried = 0;
  for (const Reading& reading : Readings()) {
    ExpectReads<T>(std::numeric_limits<T>::max(), reading, reading.last);
    ExpectReads<T>(2, reading, 2);
    tried += 2;
    if (std::is_unsigned_v<T>) continue;
    ExpectReads<T>(std::numeric_limits<T>::min(), reading, 0);
    ++tried;
  }
  return tried;
}

TEST(FarIndices, AreClampedWhateverTheirDType) {
  int tried = 0;
  tried += ExpectEndsAreClamped<uint8_t>() + ExpectEndsAreClamped<int8_t>();
  tried += ExpectEndsAreClamped<uint16_t>() + ExpectEndsAreClamped<int16_t>();
  tried += ExpectEndsAreClamped<uint32_t>() + ExpectEndsAreClamped<int32_t>();
  tried += ExpectEndsAreClamped<uint64_t>() + ExpectEndsAreClamped<int64_t>();
  std::cout << tried << " reads at the ends of dtypes\n";
}

TEST(FarIndices, OfWritesAreDropped) {
  const auto add = [](Tensor i) {
    return IndexedAdd(Entries(), Reshape(i, {1, 1}), T1<float>({100}));
  };
  const auto put = [](Tensor i) {
    return IndexedPut(Entries(), Reshape(i, {1, 1}), T1<float>({100}));
  };
  for (const uint64_t index : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{7}}) {
    const Tensor i = Constant(Literal::Scalar(index));
    EXPECT_VALUE(*Jit(add)(i), F({0, 1, 2, 3, 4, 5, 6}));
    EXPECT_VALUE(*Jit(put)(i), F({0, 1, 2, 3, 4, 5, 6}));
  }
  // Of a table that is far larger than what is written.
  const Tensor table = Zeros(DType::kBF16, {1 << 19});
  const Tensor at = Constant(
      Literal::Of<uint64_t>({~uint64_t{0}, 3, uint64_t{1} << 63, 3}, {4, 1}));
  const Tensor sum = IndexedAdd(table, at, Ones(DType::kBF16, {4}));
  EXPECT_VALUE(Convert(Sum(sum), DType::kF32), Literal::Scalar<float>(2));
  EXPECT_VALUE(Convert(sum[{3}], DType::kF32), Literal::Scalar<float>(2));
}

TEST(FarIndices, OfAxesWithoutEntries) {
  const Tensor none = Zeros(DType::kF32, {0}),
               rows = Zeros(DType::kF32, {0, 3});
  const Tensor no_index = Zeros(DType::kS32, {0});
  const auto [values, places] = TopK(none, 0);
  const std::pair<Tensor, Dims> cases[] = {
      {values, {0}},
      {places, {0}},
      {TopK(Zeros(DType::kF32, {2, 0}), 0).first, {2, 0}},
      {TopK(Zeros(DType::kF32, {2, 3}), 0).second, {2, 0}},
      {Take(none, no_index), {0}},
      {Take(rows, no_index), {0, 3}},
      {Take(rows, Zeros(DType::kS32, {2, 0})), {2, 0, 3}},
      {Take(Zeros(DType::kF32, {2, 0, 3}), no_index, 1), {2, 0, 3}},
      {Take(Ones(DType::kF32, {4}), no_index), {0}},
      {TakeAlongAxis(none, no_index, 0), {0}},
      {TakeAlongAxis(rows, Zeros(DType::kS32, {0, 3}), 0), {0, 3}},
      {Gather(none, Zeros(DType::kS32, {0, 1})), {0}},
      {Gather(rows, Zeros(DType::kS32, {0, 1})), {0, 3}},
      {Gather(rows, Zeros(DType::kS32, {0, 2})), {0}},
      {none[no_index], {0}},
      {Rows(none, 0, 0), {0}},
      {DynamicSlice(rows, {0, 1}, {0, 2}), {0, 2}},
      {IndexedAdd(none, Zeros(DType::kS32, {0, 1}), none), {0}},
      {IndexedPut(rows, Zeros(DType::kS32, {0, 1}), rows), {0, 3}},
      {Sort(none), {0}},
      {ArgSort(none), {0}},
      {Grad([&](Tensor x) { return Sum(Take(x, no_index)); })(none), {0}},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    const auto value = cases[i].first.Fetch();
    ASSERT_OK(value) << i;
    EXPECT_EQ(value->shape().dims(), cases[i].second) << i;
  }
  std::cout << std::size(cases) << " uses of axes without entries\n";
  // What is not there is not taken.
  EXPECT_FALSE(Take(none, T1<int32_t>({0})).status().ok());
  EXPECT_FALSE(TopK(none, 1).first.status().ok());
}

}  // namespace
}  // namespace hawser
