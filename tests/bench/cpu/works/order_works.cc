// Sorts, running values, random numbers and Fourier transforms.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "client/sdk/ops.h"
#include "hwy/contrib/sort/vqsort.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

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
  return RaceOf(
      s, {.body = [](const Tensors& p) -> Tensors { return {Sort(p[0])}; },
          .arguments = {x},
          .floor = VqSort<T>(x),
          .check =
              [=](absl::Span<const Literal> got) {
                const auto keys = x.data<T>();
                std::vector<T> want(keys.begin(), keys.end());
                std::sort(want.begin(), want.end());
                return Near<T>(got[0], want);
              }});
}

absl::StatusOr<Race> RaceArgSort(const Setting& s) {
  const Literal x = RandomFloats({Count(s)}, -1, 1);
  return RaceOf(
      s, {.body = [](const Tensors& p) -> Tensors { return {ArgSort(p[0])}; },
          .arguments = {x},
          .floor = VqSort<float>(x),
          .check =
              [=](absl::Span<const Literal> got) {
                const auto keys = x.data<float>();
                std::vector<int32_t> want(keys.size());
                std::iota(want.begin(), want.end(), 0);
                std::stable_sort(
                    want.begin(), want.end(),
                    [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
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
                    .check =
                        [=](absl::Span<const Literal> got) {
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
                    .check =
                        [=](absl::Span<const Literal> got) {
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
  return RaceOf(
      s, {.body = [=](const Tensors& p) -> Tensors {
            return {normal ? RandomNormal(p[0], {n}) : RandomBits(p[0], {n})};
          },
          .arguments = {key},
          .floor = floor,
          .check = check});
}

// ---- Fourier transforms -----------------------------------------------------

// Complex numbers, or real ones, of these sizes: 2^20 or fewer.
struct Transforms {
  Tensor (*run)(const Tensor&);
  bool real;
  int64_t rows, length;
  int64_t small_rows, small_length;
};

Tensor FftOfRows(const Tensor& x) { return Fft(x); }
Tensor Both(const Tensor& x) { return Fft2(x); }
Tensor OfReals(const Tensor& x) { return Rfft(x); }

// Element 0 of a transform is the sum of what it is made of.
absl::Status CheckSums(const Literal& got, const Literal& x, int64_t sums) {
  const auto parts = got.shape().dtype() == DType::kC64
                         ? got.data<std::complex<float>>()
                         : absl::Span<const std::complex<float>>();
  const auto step = static_cast<int64_t>(parts.size()) / sums;
  const auto* numbers = reinterpret_cast<const float*>(x.bytes().data());
  const int width = x.shape().dtype() == DType::kC64 ? 2 : 1;
  const int64_t count = x.shape().num_elements() / sums;
  for (int64_t k = 0; k < sums; ++k) {
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) {
      sum += numbers[(k * count + j) * width];
    }
    if (step > 0 && std::abs(parts[k * step].real() - sum) < 0.01) continue;
    return DataLoss("element 0 of transform ", k, " is not ", sum);
  }
  return absl::OkStatus();
}

absl::StatusOr<Race> RaceTransforms(const Setting& s, const Transforms& t) {
  const int64_t rows = s.Size(t.rows, t.small_rows);
  const int64_t length = s.Size(t.length, t.small_length);
  const Literal x =
      t.real ? RandomFloats({rows, length}, -1, 1)
             : RandomFloats({rows, length, 2}, -1, 1)
                   .Reinterpret(Shape::Of(DType::kC64, {rows, length}));
  const int64_t floats = rows * length * (t.real ? 1 : 2);
  const auto y = Room<float>(floats);
  const auto floor = [=, threads = s.threads] {
    const auto* from = reinterpret_cast<const float*>(x.bytes().data());
    Split(threads, floats, kGrain, [&](int64_t begin, int64_t end, int) {
      BestLoops().copy(from + begin, y.get() + begin, end - begin);
    });
  };
  return RaceOf(
      s, {.body = [=](const Tensors& p) -> Tensors { return {t.run(p[0])}; },
          .arguments = {x},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                return CheckSums(got[0], x, t.run == Both ? 1 : rows);
              }});
}

// `most`: times what scipy takes.
Work TransformWork(std::string name, double most, const Transforms& t) {
  return {.name = std::move(name),
          .floor = "reading and writing the data once",
          .targets = {.numpy_on_1 = most, .numpy_on_2 = most},
          .prepare = [t](const Setting& s) { return RaceTransforms(s, t); }};
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
             return RaceSort<int32_t>(s, RandomInts({Count(s)}, 2000000000));
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
           [](const Setting& s) { return RaceRandom(s, Numbers::kBits); }},
      {.name = "random_normal",
       .floor = "threefry by hand, one thread",
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) { return RaceRandom(s, Numbers::kNormal); }},
      TransformWork("fft_rows", 2, {FftOfRows, false, 1024, 1024, 4, 64}),
      TransformWork("fft_one", 2, {FftOfRows, false, 1, 1 << 20, 1, 4096}),
      TransformWork("fft_square", 2, {Both, false, 1024, 1024, 12, 64}),
      TransformWork("fft_primes", 4, {FftOfRows, false, 1024, 1009, 4, 61}),
      TransformWork("rfft_rows", 2, {OfReals, true, 1024, 2048, 4, 64}),
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
