// What normalizes rows, and reductions: the data passes once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/ops.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

// ---- rows -----------------------------------------------------------------

Tensors SoftmaxOf(const Tensors& p) { return {Softmax(p[0])}; }

Tensors LayerNormOf(const Tensors& p) { return {LayerNorm(p[0], p[1], p[2])}; }

Tensors RmsNorm(const Tensors& p) {
  const Over row = {.axes = {-1}, .keep_axes = true};
  return {p[0] * Rsqrt(Mean(Square(p[0]), row) + 1e-5f) * p[1]};
}

// (scores, labels) -> the mean loss, and its gradient by the scores.
Tensors CrossEntropy(const Tensors& p) {
  const auto loss = [](Tensor scores, Tensor labels) {
    const Tensor is_class =
        Eq(ExpandDims(labels, 1), Iota(DType::kS32, {1, scores.dim(1)}));
    const Tensor right = Sum(Select(is_class, scores, 0), {.axes = {1}});
    return Mean(LogSumExp(scores, {.axes = {1}}) - right);
  };
  const auto [value, gradient] = ValueAndGrad(loss)(p[0], p[1]);
  return {value, gradient};
}

// A row of `width` elements, in f64.
using RowLoop = std::function<void(const float* x, float* y, int64_t width)>;

double ShiftedSum(const float* x, int64_t width, double most) {
  double sum = 0;
  for (int64_t c = 0; c < width; ++c) sum += std::exp(x[c] - most);
  return sum;
}

void SoftmaxRow(const float* x, float* y, int64_t width) {
  const double most = *std::max_element(x, x + width);
  const double sum = ShiftedSum(x, width, most);
  for (int64_t c = 0; c < width; ++c) {
    y[c] = static_cast<float>(std::exp(x[c] - most) / sum);
  }
}

void NormalizedRow(const float* x, float* y, int64_t width, bool centers) {
  double mean = 0, square = 0;
  for (int64_t c = 0; centers && c < width; ++c) mean += x[c];
  mean /= static_cast<double>(width);
  for (int64_t c = 0; c < width; ++c) square += (x[c] - mean) * (x[c] - mean);
  const double by = 1 / std::sqrt(square / static_cast<double>(width) + 1e-5);
  for (int64_t c = 0; c < width; ++c) {
    y[c] = static_cast<float>((x[c] - mean) * by);
  }
}

// Rows of f32, written as they are by the floor, and by `expected` for a check.
class Rows {
 public:
  explicit Rows(const Setting& s)
      : threads_(s.threads),
        rows_(s.Size(8192, 32)),
        width_(s.Size(1024, 64)),
        x_(RandomFloats({rows_, width_}, -4, 4)),
        y_(Room<float>(rows_ * width_)) {}

  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  const Literal& x() const { return x_; }

  std::function<void()> Copying() const {
    return [self = *this] {
      Split(self.threads_, self.rows_ * self.width_, kGrain,
            [&](int64_t begin, int64_t end, int) {
              BestLoops().copy(self.x_.data<float>().data() + begin,
                               self.y_.get() + begin, end - begin);
            });
    };
  }

  // Whether `got` is what `loop` makes of each row.
  absl::Status Check(const Literal& got, const RowLoop& loop,
                     Within within) const {
    for (int64_t r = 0; r < rows_; ++r) {
      loop(x_.data<float>().data() + r * width_, y_.get() + r * width_, width_);
    }
    return Near<float>(got, {y_.get(), static_cast<size_t>(rows_ * width_)},
                       within);
  }

 private:
  int threads_;
  int64_t rows_, width_;
  Literal x_;
  std::shared_ptr<float[]> y_;
};

absl::StatusOr<Race> RaceSoftmax(const Setting& s) {
  const Rows rows(s);
  return RaceOf(s, {.body = SoftmaxOf,
                    .arguments = {rows.x()},
                    .floor = rows.Copying(),
                    .check = [=](absl::Span<const Literal> got) {
                      return rows.Check(got[0], SoftmaxRow, {.relative = 1e-5});
                    }});
}

absl::StatusOr<Race> RaceNorm(const Setting& s, bool centers) {
  const Rows rows(s);
  const Literal scale = RandomFloats({rows.width()}, 0.5, 1.5);
  const Literal shift = RandomFloats({rows.width()}, -0.5, 0.5);
  std::vector<Literal> arguments = {rows.x(), scale};
  if (centers) arguments.push_back(shift);
  const RowLoop loop = [=](const float* x, float* y, int64_t width) {
    NormalizedRow(x, y, width, centers);
    for (int64_t c = 0; c < width; ++c) {
      y[c] = y[c] * scale.data<float>()[c] +
             (centers ? shift.data<float>()[c] : 0);
    }
  };
  return RaceOf(s, {.body = centers ? LayerNormOf : RmsNorm,
                    .arguments = arguments,
                    .floor = rows.Copying(),
                    .check = [=](absl::Span<const Literal> got) {
                      return rows.Check(got[0], loop,
                                        {.absolute = 1e-5, .relative = 1e-5});
                    }});
}

absl::StatusOr<Race> RaceCrossEntropy(const Setting& s) {
  const Rows rows(s);
  const Literal labels =
      RandomInts({rows.rows()}, static_cast<int32_t>(rows.width()));
  const auto check = [=](absl::Span<const Literal> got) -> absl::Status {
    double loss = 0;
    int64_t r = 0;
    const double part = 1 / static_cast<double>(rows.rows());
    const RowLoop loop = [&](const float* x, float* y, int64_t width) {
      const int32_t label = labels.data<int32_t>()[r++];
      const double most = *std::max_element(x, x + width);
      const double sum = ShiftedSum(x, width, most);
      loss += (std::log(sum) + most - x[label]) * part;
      for (int64_t c = 0; c < width; ++c) {
        const double p = std::exp(x[c] - most) / sum;
        y[c] = static_cast<float>((p - (c == label ? 1 : 0)) * part);
      }
    };
    HAWSER_RETURN_IF_ERROR(
        rows.Check(got[1], loop, {.absolute = 1e-6 * part, .relative = 1e-4}));
    const auto want = static_cast<float>(loss);
    return Near<float>(got[0], {&want, 1}, {.relative = 1e-5});
  };
  return RaceOf(s, {.body = CrossEntropy,
                    .arguments = {rows.x(), labels},
                    .floor = rows.Copying(),
                    .check = check});
}

Work RowWork(std::string name,
             std::function<absl::StatusOr<Race>(const Setting&)> prepare) {
  return {.name = std::move(name),
          .floor = "reading and writing the data once",
          .targets = {.floor = 1.3, .torch = 1},
          .prepare = std::move(prepare)};
}

// ---- reductions -----------------------------------------------------------

// An array seen as [outer, reduced, inner], of which the middle axis goes.
struct Reduced {
  const char* name;
  Dims dims, axes;
  int64_t outer, size, inner;
};

std::vector<Reduced> AllReduced(bool small) {
  const int64_t a = small ? 64 : 4096, b = small ? 16 : 256;
  return {{"all", {a, a}, {}, 1, a * a, 1},
          {"rows", {a, a}, {1}, a, a, 1},
          {"columns", {a, a}, {0}, 1, a, a},
          {"middle", {b, b, b}, {1}, b, b, b}};
}

enum class Kind { kSum, kMax, kArgMax };

Body BodyOf(Kind kind, const Reduced& r) {
  return [kind, axes = r.axes](const Tensors& p) -> Tensors {
    if (kind == Kind::kSum) return {Sum(p[0], {.axes = axes})};
    if (kind == Kind::kMax) return {ReduceMax(p[0], {.axes = axes})};
    ArgOptions options;
    if (!axes.empty()) options.axis = axes[0];
    return {ArgMax(p[0], options)};
  };
}

absl::Status CheckReduced(Kind kind, const Reduced& r, const Literal& x,
                          const Literal& got) {
  const float* from = x.data<float>().data();
  std::vector<double> sums(r.outer * r.inner);
  std::vector<float> most(r.outer * r.inner, -1);
  std::vector<int32_t> where(r.outer * r.inner);
  for (int64_t o = 0; o < r.outer; ++o) {
    for (int64_t k = 0; k < r.size; ++k) {
      for (int64_t i = 0; i < r.inner; ++i, ++from) {
        const int64_t to = o * r.inner + i;
        sums[to] += *from;
        if (*from <= most[to]) continue;
        most[to] = *from;
        where[to] = static_cast<int32_t>(k);
      }
    }
  }
  if (kind == Kind::kMax) return Near<float>(got, most);
  if (kind == Kind::kArgMax) return Near<int32_t>(got, where);
  const std::vector<float> rounded(sums.begin(), sums.end());
  return Near<float>(got, rounded, {.relative = 1e-5});
}

absl::StatusOr<Race> RaceReduction(const Setting& s, Kind kind,
                                   const Reduced& r) {
  const Literal x = RandomFloats(r.dims, 0, 1);
  const int64_t n = x.shape().num_elements();
  const auto read = Room<float>(16 * s.threads);
  const auto floor = [=, threads = s.threads] {
    Split(threads, n, kGrain, [&](int64_t begin, int64_t end, int part) {
      // What is read has to go somewhere.
      read[16 * part] =
          BestLoops().sum(x.data<float>().data() + begin, end - begin);
    });
  };
  return RaceOf(s, {.body = BodyOf(kind, r),
                    .arguments = {x},
                    .floor = floor,
                    .check = [=](absl::Span<const Literal> got) {
                      return CheckReduced(kind, r, x, got[0]);
                    }});
}

Work ReductionWork(Kind kind, const char* name, size_t which) {
  return {.name = absl::StrCat(name, "_", AllReduced(true)[which].name),
          .floor = "reading",
          .targets = {.floor = 1.2},
          .prepare = [=](const Setting& s) {
            return RaceReduction(s, kind, AllReduced(s.small)[which]);
          }};
}

}  // namespace

Tensor LayerNorm(const Tensor& x, const Tensor& scale, const Tensor& shift) {
  const Over row = {.axes = {-1}, .keep_axes = true};
  const Tensor centered = x - Mean(x, row);
  const Tensor variance = Mean(Square(centered), row);
  return centered * Rsqrt(variance + 1e-5f) * scale + shift;
}

std::vector<Work> RowWorks() {
  std::vector<Work> works = {
      RowWork("softmax", RaceSoftmax),
      RowWork("layer_norm", [](const Setting& s) { return RaceNorm(s, true); }),
      RowWork("rms_norm", [](const Setting& s) { return RaceNorm(s, false); }),
      RowWork("cross_entropy", RaceCrossEntropy),
  };
  for (size_t which = 0; which < AllReduced(true).size(); ++which) {
    works.push_back(ReductionWork(Kind::kSum, "sum", which));
    works.push_back(ReductionWork(Kind::kMax, "max", which));
    works.push_back(ReductionWork(Kind::kArgMax, "argmax", which));
  }
  return works;
}

}  // namespace hawser::bench
