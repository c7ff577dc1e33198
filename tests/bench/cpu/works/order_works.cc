// Sorts, running values and random numbers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "client/sdk/ops.h"
#include "hwy/contrib/sort/vqsort.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

constexpr int64_t kGrain = 64;

int64_t Count(const Setting& s) { return s.Size(int64_t{1} << 24, 4096); }

// ---- sorts ------------------------------------------------------------------

// Copies the keys and sorts them, on one thread.
template <typename T>
std::function<void()> VqSort(const Literal& x) {
  const int64_t n = x.shape().num_elements();
  const auto room = Room<T>(n);
  return [=] {
    std::copy_n(x.data<T>().data(), n, room.get());
    hwy::Sorter()(room.get(), static_cast<size_t>(n), hwy::SortAscending());
  };
}

template <typename T>
absl::StatusOr<Race> RaceSort(const Setting& s, const Literal& x) {
  return RaceOf(s, {.body = [](const Tensors& p) -> Tensors {
                      return {Sort(p[0])};
                    },
                    .arguments = {x},
                    .floor = VqSort<T>(x),
                    .check = [=](absl::Span<const Literal> got) {
                      const auto keys = x.data<T>();
                      std::vector<T> want(keys.begin(), keys.end());
                      std::sort(want.begin(), want.end());
                      return Near<T>(got[0], want);
                    }});
}

absl::StatusOr<Race> RaceArgSort(const Setting& s) {
  const Literal x = RandomFloats({Count(s)}, -1, 1);
  return RaceOf(s, {.body = [](const Tensors& p) -> Tensors {
                      return {ArgSort(p[0])};
                    },
                    .arguments = {x},
                    .floor = VqSort<float>(x),
                    .check = [=](absl::Span<const Literal> got) {
                      const auto keys = x.data<float>();
                      std::vector<int32_t> want(keys.size());
                      std::iota(want.begin(), want.end(), 0);
                      std::stable_sort(want.begin(), want.end(),
                                       [&](int32_t a, int32_t b) {
                                         return keys[a] < keys[b];
                                       });
                      return Near<int32_t>(got[0], want);
                    }});
}

std::function<void()> Reading(const Setting& s, const Literal& x) {
  const auto read = Room<float>(16 * s.threads);
  return [=, threads = s.threads] {
    Split(threads, x.shape().num_elements(), kGrain,
          [&](int64_t begin, int64_t end, int part) {
            read[16 * part] =
                BestLoops().sum(x.data<float>().data() + begin, end - begin);
          });
  };
}

absl::StatusOr<Race> RaceTopK(const Setting& s) {
  const Literal x = RandomFloats({Count(s)}, -1, 1);
  const int64_t k = s.Size(1000, 10);
  return RaceOf(s, {.body = [=](const Tensors& p) -> Tensors {
                      auto [values, places] = TopK(p[0], k);
                      return {values, places};
                    },
                    .arguments = {x},
                    .floor = Reading(s, x),
                    .check = [=](absl::Span<const Literal> got) {
                      const auto keys = x.data<float>();
                      std::vector<float> want(keys.begin(), keys.end());
                      std::sort(want.rbegin(), want.rend());
                      want.resize(k);
                      return Near<float>(got[0], want);
                    }});
}

// ---- running sums -----------------------------------------------------------

absl::StatusOr<Race> RaceCumulativeSum(const Setting& s) {
  const Literal x = RandomFloats({Count(s)}, 0, 1);
  const auto y = Room<float>(Count(s));
  const auto floor = [=, threads = s.threads] {
    Split(threads, x.shape().num_elements(), kGrain,
          [&](int64_t begin, int64_t end, int) {
            BestLoops().copy(x.data<float>().data() + begin, y.get() + begin,
                             end - begin);
          });
  };
  return RaceOf(s, {.body = [](const Tensors& p) -> Tensors {
                      return {CumulativeSum(p[0])};
                    },
                    .arguments = {x},
                    .floor = floor,
                    .check = [=](absl::Span<const Literal> got) {
                      std::vector<float> want;
                      double sum = 0;
                      for (const float v : x.data<float>()) {
                        sum += v;
                        want.push_back(static_cast<float>(sum));
                      }
                      return Near<float>(got[0], want, {.relative = 1e-4});
                    }});
}

// ---- random numbers ---------------------------------------------------------

// The floor is threefry but for kNormalByHand.
enum class Numbers { kBits, kNormal, kNormalByHand };

absl::StatusOr<Race> RaceRandom(const Setting& s, Numbers numbers) {
  const int64_t n = s.Size(1000064, 4096);
  const bool normal = numbers != Numbers::kBits;
  const Literal key = Literal::Vector<uint32_t>({1, 2});
  const auto words = Room<uint32_t>(n);
  const auto normals = Room<float>(n);
  const auto floor = [=] {
    if (numbers == Numbers::kNormalByHand) {
      BestLoops().normals(1, 2, normals.get(), n);
    } else {
      BestLoops().threefry(1, 2, words.get(), n);
    }
  };
  const auto check = [=](absl::Span<const Literal> got) -> absl::Status {
    if (!normal) {
      return Near<uint32_t>(got[0], {words.get(), static_cast<size_t>(n)});
    }
    BestLoops().normals(1, 2, normals.get(), n);
    return Near<float>(got[0], {normals.get(), static_cast<size_t>(n)},
                       {.absolute = 1e-6, .relative = 1e-5});
  };
  return RaceOf(s, {.body = [=](const Tensors& p) -> Tensors {
                      return {normal ? RandomNormal(p[0], {n})
                                     : RandomBits(p[0], {n})};
                    },
                    .arguments = {key},
                    .floor = floor,
                    .check = check});
}

}  // namespace

std::vector<Work> OrderWorks() {
  return {
      {.name = "sort_f32",
       .floor = "vqsort of a copy, one thread",
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) {
             return RaceSort<float>(s, RandomFloats({Count(s)}, -1, 1));
           }},
      {.name = "sort_s32",
       .floor = "vqsort of a copy, one thread",
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) {
             return RaceSort<int32_t>(s,
                                      RandomInts({Count(s)}, 2000000000));
           }},
      {.name = "argsort",
       .floor = "vqsort of the keys alone, one thread",
       .targets = {.numpy_on_1 = 1.2, .numpy_on_2 = 1.2},
       .prepare = RaceArgSort},
      {.name = "top_k",
       .floor = "reading",
       .targets = {.floor = 1.5},
       .prepare = RaceTopK},
      {.name = "cumsum",
       .floor = "reading and writing the data once",
       .targets = {.floor = 1.5},
       .prepare = RaceCumulativeSum},
      {.name = "random_bits",
       .floor = "threefry by hand, one thread",
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) {
             return RaceRandom(s, Numbers::kBits);
           }},
      {.name = "random_normal",
       .floor = "threefry by hand, one thread",
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) {
             return RaceRandom(s, Numbers::kNormal);
           }},
      {.name = "normal_numbers",
       .floor = "the same numbers by hand, one thread",
       .prepare =
           [](const Setting& s) {
             return RaceRandom(s, Numbers::kNormalByHand);
           },
       .has_peers = false},
  };
}

}  // namespace hawser::bench
