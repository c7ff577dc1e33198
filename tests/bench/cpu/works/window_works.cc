// Windows and convolutions of image networks, features last.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "client/sdk/functions/grad.h"
#include "client/sdk/ops.h"
#include "kernels/cpu/libraries/blas.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

using cpu::Blas;

// Images [batch, side, side, features].
struct Images {
  int64_t batch, side, features;

  Dims dims() const { return {batch, side, side, features}; }
  int64_t elements() const { return batch * side * side * features; }
};

Images ImagesOf(const Setting& s, int64_t side, int64_t features) {
  return {s.Size(16, 2), s.Size(side, 12), s.Size(features, 8)};
}

// Copies as many elements as x has.
std::function<void()> CopyOf(const Setting& s, const Literal& x) {
  const int64_t n = x.shape().num_elements();
  const auto to = Room<float>(n);
  return [=, threads = s.threads] {
    Split(threads, n, 64, [&](int64_t begin, int64_t end, int) {
      BestLoops().copy(x.data<float>().data() + begin, to.get() + begin,
                       end - begin);
    });
  };
}

// Calls `visit` with the result's place, and the place of each element of its
// window, of 3 x 3 windows at every second place, padded by one.
void ForEachPlace(const Images& x,
                  const std::function<void(int64_t to, int64_t from)>& visit) {
  const int64_t half = (x.side + 1) / 2;
  for (int64_t b = 0; b < x.batch; ++b) {
    for (int64_t p = 0; p < half * half * 9; ++p) {
      const int64_t row = p / 9 / half, column = p / 9 % half;
      const int64_t i = 2 * row + p % 9 / 3 - 1, j = 2 * column + p % 3 - 1;
      if (i < 0 || j < 0 || i >= x.side || j >= x.side) continue;
      const int64_t to = ((b * half + row) * half + column) * x.features;
      const int64_t from = ((b * x.side + i) * x.side + j) * x.features;
      for (int64_t f = 0; f < x.features; ++f) visit(to + f, from + f);
    }
  }
}

const WindowOptions& EverySecond() {
  static const auto& options = *new WindowOptions{
      .strides = {1, 2, 2, 1}, .padding = {{}, {1, 1}, {1, 1}, {}}};
  return options;
}
constexpr int64_t kThree[] = {1, 3, 3, 1};
Dims Three() { return Dims(kThree, kThree + 4); }

absl::StatusOr<Race> RaceMaxPool(const Setting& s) {
  const Images images = ImagesOf(s, 112, 64);
  const Literal x = RandomFloats(images.dims(), -1, 1);
  return RaceOf(
      s, {.body =
              [](const Tensors& t) {
                return Tensors{WindowMax(t[0], Three(), EverySecond())};
              },
          .arguments = {x},
          .floor = CopyOf(s, x),
          .check =
              [=](absl::Span<const Literal> got) {
                std::vector<float> want(got[0].shape().num_elements(), -2);
                const auto values = x.data<float>();
                ForEachPlace(images, [&](int64_t to, int64_t from) {
                  want[to] = std::max(want[to], values[from]);
                });
                return Near<float>(got[0], want);
              }});
}

absl::StatusOr<Race> RaceMeanPool(const Setting& s) {
  const Images images = ImagesOf(s, 112, 64);
  const Literal x = RandomFloats(images.dims(), -1, 1);
  return RaceOf(
      s, {.body =
              [](const Tensors& t) {
                return Tensors{WindowMean(t[0], Three(), EverySecond())};
              },
          .arguments = {x},
          .floor = CopyOf(s, x),
          .check =
              [=](absl::Span<const Literal> got) {
                std::vector<float> want(got[0].shape().num_elements(), 0);
                const auto values = x.data<float>();
                ForEachPlace(images, [&](int64_t to, int64_t from) {
                  want[to] += values[from] / 9;
                });
                return Near<float>(got[0], want, {.absolute = 1e-5});
              }});
}

// Of the sum of the largest, so that an element gets how many windows chose it.
absl::StatusOr<Race> RaceMaxPoolGradient(const Setting& s) {
  const Images images = ImagesOf(s, 112, 64);
  const Literal x = RandomFloats(images.dims(), -1, 1);
  return RaceOf(s, {.body =
                        [](const Tensors& t) {
                          return Tensors{Grad([](Tensor v) {
                            return Sum(WindowMax(v, Three(), EverySecond()));
                          })(t[0])};
                        },
                    .arguments = {x},
                    .floor = CopyOf(s, x),
                    .check =
                        [=](absl::Span<const Literal> got) {
                          const auto values = x.data<float>();
                          const int64_t half = (images.side + 1) / 2;
                          std::vector<int64_t> chosen(
                              images.batch * half * half * images.features, -1);
                          ForEachPlace(images, [&](int64_t to, int64_t from) {
                            int64_t& best = chosen[to];
                            if (best < 0 || values[from] >= values[best])
                              best = from;
                          });
                          std::vector<float> want(images.elements(), 0);
                          for (const int64_t at : chosen) want[at] += 1;
                          return Near<float>(got[0], want);
                        }});
}

struct Layer {
  int64_t side, features, out, kernel;
};

// Compares the first and the last row of the first image with sums in f64.
absl::Status CheckRows(const Images& images, int64_t k, const Literal& x,
                       const Literal& w, const Literal& bias,
                       const Literal& got) {
  const int64_t out = bias.shape().num_elements();
  const int64_t depth = k * k * images.features;
  const auto xs = x.data<float>(), ws = w.data<float>();
  const auto bs = bias.data<float>(), values = got.data<float>();
  for (const int64_t row : {int64_t{0}, images.side - 1}) {
    for (int64_t p = 0; p < images.side * out; ++p) {
      const int64_t column = p / out, o = p % out;
      double sum = bs[o];
      for (int64_t q = 0; q < depth; ++q) {
        const int64_t f = q % images.features, at = q / images.features;
        const int64_t i = row + at / k - k / 2, j = column + at % k - k / 2;
        if (i < 0 || j < 0 || i >= images.side || j >= images.side) continue;
        sum += static_cast<double>(
                   xs[(i * images.side + j) * images.features + f]) *
               ws[q * out + o];
      }
      const double value = values[(row * images.side + column) * out + o];
      const double want = std::max(sum, 0.0);
      if (std::abs(value - want) > 1e-3) {
        return DataLoss("row ", row, ", column ", column, ", feature ", o,
                        " is ", value, " instead of ", want);
      }
    }
  }
  return absl::OkStatus();
}

// Beside the product of its windows and its kernel, if the windows were there.
absl::StatusOr<Race> RaceConvolution(const Setting& s, const Layer& full) {
  const Blas* blas = cpu::FindBlas();
  if (blas == nullptr) return FailedPrecondition("no BLAS on this machine");
  const Images images = ImagesOf(s, full.side, full.features);
  const int64_t k = full.kernel, out = s.Size(full.out, 8);
  const int64_t places = images.batch * images.side * images.side;
  const int64_t depth = k * k * images.features;
  const Literal x = RandomFloats(images.dims(), -1, 1);
  const Literal w = RandomFloats({k, k, images.features, out}, -1, 1, 1);
  const Literal bias = RandomFloats({out}, -1, 1, 2);
  const auto windows = Room<float>(places * depth);
  const auto result = Room<float>(places * out);
  std::fill_n(windows.get(), places * depth, 0.5f);
  const auto floor = [=, threads = s.threads] {
    Split(threads, places, 16, [&](int64_t begin, int64_t end, int) {
      blas->sgemm(Blas::kRowMajor, Blas::kNoTrans, Blas::kNoTrans,
                  static_cast<int>(end - begin), static_cast<int>(out),
                  static_cast<int>(depth), 1, windows.get() + begin * depth,
                  static_cast<int>(depth), w.data<float>().data(),
                  static_cast<int>(out), 0, result.get() + begin * out,
                  static_cast<int>(out));
    });
  };
  return RaceOf(
      s, {.body =
              [](const Tensors& t) {
                const Tensor y = Conv(
                    t[0], t[1],
                    {.same_size = true, .layout = ConvLayout::kFeaturesLast});
                return Tensors{Maximum(y + t[2], 0)};
              },
          .arguments = {x, w, bias},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                return CheckRows(images, k, x, w, bias, got[0]);
              }});
}

// Each feature by a kernel of its own.
absl::StatusOr<Race> RaceDepthwise(const Setting& s) {
  const Images images = ImagesOf(s, 56, 128);
  const Literal x = RandomFloats(images.dims(), -1, 1);
  const Literal w = RandomFloats({3, 3, 1, images.features}, -1, 1, 1);
  return RaceOf(
      s, {.body =
              [groups = images.features](const Tensors& t) {
                return Tensors{Conv(t[0], t[1],
                                    {.strides = {2, 2},
                                     .padding = {{1, 1}, {1, 1}},
                                     .groups = groups,
                                     .layout = ConvLayout::kFeaturesLast})};
              },
          .arguments = {x, w},
          .floor = CopyOf(s, x),
          .check =
              [=](absl::Span<const Literal> got) {
                std::vector<float> want(got[0].shape().num_elements(), 0);
                std::vector<int> place(want.size(), 0);
                const auto values = x.data<float>(), ws = w.data<float>();
                const int64_t half = (images.side + 1) / 2;
                ForEachPlace(images, [&](int64_t to, int64_t from) {
                  const int64_t row = to / images.features / half % half;
                  const int64_t column = to / images.features % half;
                  const int64_t i =
                      from / images.features / images.side % images.side;
                  const int64_t j = from / images.features % images.side;
                  const int64_t at =
                      (i - 2 * row + 1) * 3 + (j - 2 * column + 1);
                  want[to] += values[from] *
                              ws[at * images.features + to % images.features];
                });
                return Near<float>(got[0], want, {.absolute = 1e-4});
              }});
}

Work OfConvolution(const char* name, double target, const Layer& layer) {
  return {.name = name,
          .floor = "the product of its windows",
          .targets = {.floor = target},
          .prepare =
              [layer](const Setting& s) { return RaceConvolution(s, layer); },
          .has_peers = false};
}

Work OfWindows(const char* name, double target,
               absl::StatusOr<Race> (*prepare)(const Setting&)) {
  return {.name = name,
          .floor = "copying the images",
          .targets = {.floor = target},
          .prepare = prepare,
          .has_peers = false};
}

}  // namespace

std::vector<Work> WindowWorks() {
  return {
      OfWindows("max_pool", 3.3, RaceMaxPool),
      OfWindows("mean_pool", 3.3, RaceMeanPool),
      OfWindows("max_pool_gradient", 7, RaceMaxPoolGradient),
      OfWindows("conv_depthwise", 3.3, RaceDepthwise),
      OfConvolution("conv_1x1", 1.11, {56, 64, 256, 1}),
      OfConvolution("conv_3x3", 1.11, {56, 64, 64, 3}),
      OfConvolution("conv_5x5_few", 1.11, {28, 8, 16, 5}),
  };
}

}  // namespace hawser::bench
