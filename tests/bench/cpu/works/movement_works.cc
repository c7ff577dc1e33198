// Transposes, and what goes by indices.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/sdk/ops.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

// Copies so many bytes on so many threads.
std::function<void()> Copying(int threads, int64_t bytes) {
  const auto from = Room<char>(bytes), to = Room<char>(bytes);
  return [=] {
    Split(threads, bytes, 64, [&](int64_t begin, int64_t end, int) {
      std::memcpy(to.get() + begin, from.get() + begin, end - begin);
    });
  };
}

template <typename T>
absl::StatusOr<Race> RaceTranspose(const Setting& s, const Literal& x) {
  const int64_t side = x.shape().dim(0);
  return RaceOf(
      s, {.body = [](const Tensors& p) { return Tensors{Transpose(p[0])}; },
          .arguments = {x},
          .floor = Copying(s.threads, x.shape().byte_size()),
          .check =
              [=](absl::Span<const Literal> got) {
                std::vector<T> want(side * side);
                for (int64_t r = 0; r < side; ++r) {
                  for (int64_t c = 0; c < side; ++c) {
                    want[c * side + r] = x.data<T>()[r * side + c];
                  }
                }
                return Near<T>(got[0], want);
              }});
}

absl::StatusOr<Race> RaceTransposeF32(const Setting& s) {
  const int64_t side = s.Size(4096, 64);
  return RaceTranspose<float>(s, RandomFloats({side, side}, -1, 1));
}

absl::StatusOr<Race> RaceTransposeU8(const Setting& s) {
  const int64_t side = s.Size(4096, 64);
  return RaceTranspose<uint8_t>(s, RandomBytes({side, side}));
}

constexpr float kMeans[] = {0.485f, 0.456f, 0.406f};
constexpr float kSpreads[] = {0.229f, 0.224f, 0.225f};

// Images of u8 [n, 3, side, side] -> f32 [n, side, side, 3].
Tensors Normalized(const Tensors& p) {
  const Tensor last = Transpose(p[0], {0, 2, 3, 1});
  const Tensor means = Constant({kMeans[0], kMeans[1], kMeans[2]});
  const Tensor spreads = Constant({kSpreads[0], kSpreads[1], kSpreads[2]});
  return {(Convert(last, DType::kF32) / 255.0f - means) / spreads};
}

absl::StatusOr<Race> RaceImages(const Setting& s) {
  const int64_t n = s.Size(64, 2), side = s.Size(224, 16), plane = side * side;
  const Literal x = RandomBytes({n, 3, side, side});
  const auto check = [=](absl::Span<const Literal> got) {
    std::vector<float> want(n * plane * 3);
    for (int64_t i = 0; i < n * plane * 3; ++i) {
      const int64_t at = i / 3 % plane, c = i % 3;
      const auto v = static_cast<float>(
          x.data<uint8_t>()[(i / (3 * plane) * 3 + c) * plane + at]);
      want[i] = (v / 255.0f - kMeans[c]) / kSpreads[c];
    }
    return Near<float>(got[0], want, {.absolute = 1e-6, .relative = 1e-6});
  };
  // A copy reads and writes as many as all that move here.
  const int64_t moved = x.shape().byte_size() * (1 + sizeof(float)) / 2;
  return RaceOf(s, {.body = Normalized,
                    .arguments = {x},
                    .floor = Copying(s.threads, moved),
                    .check = check});
}

constexpr int64_t kWidth = 64;

struct RowNumbers {
  explicit RowNumbers(const Setting& s)
      : rows(s.Size(1 << 17, 64)),
        count(s.Size(1 << 18, 256)),
        numbers(RandomInts({count}, static_cast<int32_t>(rows))) {}

  const int32_t* data() const { return numbers.data<int32_t>().data(); }

  int64_t rows, count;
  Literal numbers;
};

absl::StatusOr<Race> RaceGather(const Setting& s) {
  const RowNumbers wanted(s);
  const Literal table = RandomFloats({wanted.rows, kWidth}, -1, 1);
  const auto out = Room<float>(wanted.count * kWidth);
  const auto floor = [=, threads = s.threads] {
    Split(threads, wanted.count, 1, [&](int64_t begin, int64_t end, int) {
      BestLoops().gather_rows(table.data<float>().data(), wanted.data() + begin,
                              end - begin, kWidth, out.get() + begin * kWidth);
    });
  };
  return RaceOf(
      s, {.body = [](const Tensors& p) { return Tensors{Take(p[0], p[1])}; },
          .arguments = {table, wanted.numbers},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                return Near<float>(
                    got[0],
                    {out.get(), static_cast<size_t>(wanted.count * kWidth)});
              }});
}

// Threads take columns, so that no two of them add to an element.
absl::StatusOr<Race> RaceScatter(const Setting& s) {
  const RowNumbers wanted(s);
  const Literal updates = RandomFloats({wanted.count, kWidth}, -1, 1);
  const int64_t n = wanted.rows * kWidth;
  const auto out = Room<float>(n);
  const auto floor = [=, threads = s.threads] {
    Split(threads, n, 64, [&](int64_t begin, int64_t end, int) {
      std::memset(out.get() + begin, 0, (end - begin) * sizeof(float));
    });
    Split(threads, kWidth, 16, [&](int64_t begin, int64_t end, int) {
      BestLoops().add_rows(updates.data<float>().data() + begin, wanted.data(),
                           wanted.count, end - begin, kWidth,
                           out.get() + begin);
    });
  };
  const auto body = [rows = wanted.rows](const Tensors& p) {
    return Tensors{IndexedAdd(Zeros(DType::kF32, {rows, kWidth}),
                              ExpandDims(p[0], 1), p[1])};
  };
  return RaceOf(
      s, {.body = body,
          .arguments = {wanted.numbers, updates},
          .floor = floor,
          .check = [=](absl::Span<const Literal> got) {
            return Near<float>(got[0], {out.get(), static_cast<size_t>(n)});
          }});
}

constexpr int64_t kBins = 256;

absl::StatusOr<Race> RaceHistogram(const Setting& s) {
  const int64_t n = s.Size(1 << 20, 1024);
  const Literal x = RandomInts({n}, kBins);
  const auto bins = Room<int32_t>(s.threads * kBins);
  const auto floor = [=, threads = s.threads] {
    std::fill_n(bins.get(), threads * kBins, 0);
    Split(threads, n, 64, [&](int64_t begin, int64_t end, int part) {
      BestLoops().count(x.data<int32_t>().data() + begin, end - begin,
                        bins.get() + part * kBins);
    });
    for (int64_t v = kBins; v < threads * kBins; ++v) {
      bins[v % kBins] += bins[v];
    }
  };
  const auto body = [](const Tensors& p) {
    return Tensors{IndexedAdd(Zeros(DType::kS32, {kBins}), ExpandDims(p[0], 1),
                              Scalar(DType::kS32, 1))};
  };
  return RaceOf(
      s,
      {.body = body,
       .arguments = {x},
       .floor = floor,
       .check = [=](absl::Span<const Literal> got) {
         return Near<int32_t>(got[0], {bins.get(), static_cast<size_t>(kBins)});
       }});
}

Work IndexWork(std::string name,
               std::function<absl::StatusOr<Race>(const Setting&)> prepare) {
  return {.name = std::move(name),
          .floor = "hand-written loop, the same indices",
          .targets = {.floor = 1.5},
          .prepare = std::move(prepare)};
}

}  // namespace

std::vector<Work> MovementWorks() {
  const char* copying = "memcpy of the bytes moved";
  return {
      {"transpose_f32", copying, {.floor = 1.5}, RaceTransposeF32},
      {"transpose_u8", copying, {.floor = 2.5}, RaceTransposeU8},
      {"images_nhwc", copying, {.floor = 1.5}, RaceImages},
      IndexWork("gather_rows", RaceGather),
      IndexWork("scatter_add_rows", RaceScatter),
      IndexWork("histogram", RaceHistogram),
  };
}

}  // namespace hawser::bench
