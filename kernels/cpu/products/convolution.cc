// Convolutions: by a library of these, or the windows of a few thousand results
// at a time are gathered as the rows of a matrix, and multiplied by the kernel.
#include "kernels/cpu/products/convolution.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/windows.h"
#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/conversion.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/products/gemm.h"
#include "kernels/cpu/products/library_convolution.h"

namespace hawser::cpu {
namespace {

// Windows that are gathered at once: the second cache holds them, but for rows
// that are so long that fewer would make poor products.
constexpr int64_t kChunkBytes = int64_t{1} << 20;
constexpr int64_t kLeastRows = 48;

// The sizes of a convolution. The kernel's rows are runs along its last spatial
// axis, which lie next to each other in x where nothing is dilated.
class Gatherer {
 public:
  Gatherer(const KernelContext& c, const ConvolutionSpec& spec)
      : spec_(spec),
        x_(c.shape(0).dims()),
        kernel_(c.shape(1).dims()),
        result_(c.result_shape().dims()),
        k_(static_cast<int>(spec.strides.size())),
        width_(ByteWidth(c.shape(0).dtype())),
        strides_(c.shape(0).Strides()),
        data_(c.data(0)) {
    for (int a = 0; a < k_; ++a) places_ *= kernel_[a];
  }

  int64_t features() const { return kernel_[k_]; }  // of a group
  int64_t depth() const { return places_ * features(); }
  int64_t rows() const {
    int64_t rows = 1;
    for (int a = 0; a <= k_; ++a) rows *= result_[a];
    return rows;
  }

  // Writes the windows of results [begin, end), of the group whose features
  // begin at `first`: rows of depth() elements.
  void Gather(int64_t begin, int64_t end, int64_t first, char* to) const {
    Dims at(k_ + 1);  // batch, then the result's place
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      for (int a = k_; a >= 0; --a) {
        at[a] = rest % result_[a];
        rest /= result_[a];
      }
      GatherAlong(0, at, data_ + (at[0] * strides_[0] + first) * width_, &to);
    }
  }

 private:
  // The places of axis `a` and those behind it, of which elements start at
  // `from`.
  void GatherAlong(int a, const Dims& at, const char* from, char** to) const {
    if (a + 1 == k_) return GatherRun(at, from, to);
    int64_t inner = features();
    for (int i = a + 1; i < k_; ++i) inner *= kernel_[i];
    for (int64_t p = 0; p < kernel_[a]; ++p) {
      const int64_t place = PlaceOf(a, at, p);
      if (place < 0) {
        std::memset(*to, 0, inner * width_);
        *to += inner * width_;
      } else {
        GatherAlong(a + 1, at, from + place * strides_[a + 1] * width_, to);
      }
    }
  }

  // The element of x under place `p` of axis `a`; below 0: a zero.
  int64_t PlaceOf(int a, const Dims& at, int64_t p) const {
    const int64_t spread = at[a + 1] * spec_.strides[a] +
                           p * spec_.kernel_dilations[a] - spec_.low[a];
    if (spread < 0) return -1;
    if (spec_.x_dilations[a] == 1) return spread < x_[a + 1] ? spread : -1;
    if (spread % spec_.x_dilations[a] != 0) return -1;
    const int64_t place = spread / spec_.x_dilations[a];
    return place < x_[a + 1] ? place : -1;
  }

  // The places of the last spatial axis.
  void GatherRun(const Dims& at, const char* from, char** to) const {
    const int a = k_ - 1;
    const int64_t n = kernel_[a], bytes = features() * width_;
    const int64_t step = strides_[a + 1] * width_;
    const bool is_dense = spec_.kernel_dilations[a] == 1 &&
                          spec_.x_dilations[a] == 1 && bytes == step;
    if (!is_dense) {
      for (int64_t p = 0; p < n; ++p, *to += bytes) {
        const int64_t place = PlaceOf(a, at, p);
        if (place < 0) {
          std::memset(*to, 0, bytes);
        } else {
          std::memcpy(*to, from + place * step, bytes);
        }
      }
      return;
    }
    const int64_t first = at[a + 1] * spec_.strides[a] - spec_.low[a];
    const int64_t begin = std::clamp<int64_t>(-first, 0, n);
    const int64_t end = std::clamp<int64_t>(x_[a + 1] - first, begin, n);
    std::memset(*to, 0, begin * bytes);
    if (begin < end) {
      std::memcpy(*to + begin * bytes, from + (first + begin) * step,
                  (end - begin) * bytes);
    }
    std::memset(*to + end * bytes, 0, (n - end) * bytes);
    *to += n * bytes;
  }

  const ConvolutionSpec& spec_;
  const Dims x_, kernel_, result_;
  const int k_;
  const int64_t width_;
  const Dims strides_;
  const char* const data_;
  int64_t places_ = 1;
};

// Copies `bytes` of each row; the pitches say how far apart rows begin.
void CopyColumns(const char* from, int64_t from_pitch, char* to,
                 int64_t to_pitch, int64_t rows, int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(to + r * to_pitch, from + r * from_pitch, bytes);
  }
}

// Gives the tail rows [begin, begin + count) of the result, all columns.
absl::Status RunTail(const KernelContext& c, const GemmTail& tail,
                     int64_t begin, int64_t count) {
  const int64_t out = c.result_shape().dims().back();
  return c.ForRanges(
      count, static_cast<double>(out), [&](int64_t from, int64_t to) {
        return tail({.row = begin + from, .rows = to - from, .columns = out});
      });
}

// One group of features, and the results that it has.
struct Group {
  int64_t first_feature, first_out, out;
};

// `tail` is given rows whose results are there.
absl::Status RunGroup(const KernelContext& c, const Gatherer& gatherer,
                      const Group& group, char* result, const GemmTail* tail) {
  const DType dtype = c.result_shape().dtype();
  const int64_t width = ByteWidth(dtype), depth = gatherer.depth();
  const int64_t all_out = c.result_shape().dims().back();
  const int64_t row_bytes = std::max<int64_t>(depth * width, 1);
  const int64_t rows = gatherer.rows();
  const int64_t chunk =
      std::min(rows, std::max(kLeastRows, kChunkBytes / row_bytes));
  HAWSER_ASSIGN_OR_RETURN(Literal windows,
                          c.Allocate(Shape::Of(dtype, {chunk, depth})));
  Literal part;  // the group's results, where others lie between them
  if (group.out != all_out) {
    HAWSER_ASSIGN_OR_RETURN(part,
                            c.Allocate(Shape::Of(dtype, {chunk, group.out})));
  }
  char* const gathered = windows.mutable_bytes().data();
  for (int64_t begin = 0; begin < rows; begin += chunk) {
    const int64_t count = std::min(chunk, rows - begin);
    HAWSER_RETURN_IF_ERROR(c.ForRanges(
        count, std::min(static_cast<double>(depth), kLookSteps),
        [&](int64_t from, int64_t to) {
          gatherer.Gather(begin + from, begin + to, group.first_feature,
                          gathered + from * row_bytes);
          return absl::OkStatus();
        }));
    char* const to = result + (begin * all_out + group.first_out) * width;
    const bool is_dense = group.out == all_out;
    const GemmProblem problem{
        .dtype = dtype,
        .m = count,
        .n = group.out,
        .k = depth,
        .a = {gathered, 0, depth, 1},
        .b = {c.data(1) + group.first_out * width, 0, all_out, 1},
        .c = is_dense ? to : part.mutable_bytes().data()};
    HAWSER_RETURN_IF_ERROR(
        RunGemm(problem, c.environment, Libraries::OfProcess()));
    if (!is_dense) {
      CopyColumns(problem.c, group.out * width, to, all_out * width, count,
                  group.out * width);
    }
    if (tail != nullptr) {
      HAWSER_RETURN_IF_ERROR(RunTail(c, *tail, begin, count));
    }
  }
  return absl::OkStatus();
}

// ---- groups of few features -------------------------------------------------

// Products of a group for each of its results, up to which it has lanes.
constexpr int64_t kFewProducts = 16;

// The sums of one place of the result in Acc, a lane for each feature of it.
template <typename T, typename Acc>
class LaneSums {
 public:
  LaneSums(const KernelContext& c, const ConvolutionSpec& spec)
      : spec_(spec),
        x_(c.shape(0).dims()),
        kernel_(c.shape(1).dims()),
        result_(c.result_shape().dims()),
        strides_(c.shape(0).Strides()),
        k_(static_cast<int>(spec.strides.size())),
        features_(kernel_[k_]),
        out_(kernel_[k_ + 1]),
        xs_(reinterpret_cast<const T*>(c.data(0))),
        ws_(reinterpret_cast<const T*>(c.data(1))),
        feature_of_(out_),
        sums_(out_) {
    const int64_t of_a_group = out_ / spec.groups;
    for (int64_t o = 0; o < out_; ++o) {
      feature_of_[o] = o / of_a_group * features_;
    }
    is_own_ = features_ == 1 && of_a_group == 1;
    const Acc zero{};
    zeros_count_ = std::any_of(ws_, ws_ + c.shape(1).num_elements(), [&](T w) {
      return Multiply::Apply(zero, ConvertElement<Acc>(w)) != zero;
    });
  }

  // The results of row `row` of the matrix that the result is.
  void Fill(int64_t row, T* to) {
    Dims at(k_ + 1);
    for (int a = k_; a >= 0; --a) {
      at[a] = row % result_[a];
      row /= result_[a];
    }
    std::fill(sums_.begin(), sums_.end(), Acc{});
    AddPlaces(0, at, xs_ + at[0] * strides_[0], ws_);
    for (int64_t o = 0; o < out_; ++o) to[o] = ConvertElement<T>(sums_[o]);
  }

 private:
  // The places of axis `a` and those behind it, of which x starts at `x` and
  // the kernel at `w`.
  void AddPlaces(int a, const Dims& at, const T* x, const T* w) {
    if (a == k_) return AddFeatures(x, w);
    int64_t size = features_ * out_;
    for (int i = a + 1; i < k_; ++i) size *= kernel_[i];
    for (int64_t p = 0; p < kernel_[a]; ++p) {
      const int64_t spread = at[a + 1] * spec_.strides[a] +
                             p * spec_.kernel_dilations[a] - spec_.low[a];
      const int64_t place = spread / spec_.x_dilations[a];
      const bool is_zero = spread < 0 || spread % spec_.x_dilations[a] != 0 ||
                           place >= x_[a + 1];
      if (!is_zero) {
        AddPlaces(a + 1, at, x + place * strides_[a + 1], w + p * size);
      } else if (zeros_count_) {
        AddZeros(w + p * size, size);
      }
    }
  }

  // Zeros under so many of the kernel's elements.
  void AddZeros(const T* w, int64_t size) {
    for (int64_t k = 0; k < size; ++k) {
      Acc& sum = sums_[k % out_];
      sum = Sum(sum, T{}, w[k]);
    }
  }

  void AddFeatures(const T* x, const T* w) {
    Acc* const sums = sums_.data();
    if (is_own_) {
      for (int64_t o = 0; o < out_; ++o) sums[o] = Sum(sums[o], x[o], w[o]);
      return;
    }
    for (int64_t f = 0; f < features_; ++f, w += out_) {
      for (int64_t o = 0; o < out_; ++o) {
        sums[o] = Sum(sums[o], x[feature_of_[o] + f], w[o]);
      }
    }
  }

  static Acc Sum(Acc sum, T x, T w) {
    return Add::Apply(
        sum, Multiply::Apply(ConvertElement<Acc>(x), ConvertElement<Acc>(w)));
  }

  const ConvolutionSpec& spec_;
  const Dims x_, kernel_, result_, strides_;
  const int k_;
  const int64_t features_, out_;  // of a group; of all
  const T* const xs_;
  const T* const ws_;
  std::vector<int64_t> feature_of_;  // by lane: the first of its group
  std::vector<Acc> sums_;
  bool is_own_ = false;
  // An element of the kernel makes NaN of a zero.
  bool zeros_count_ = false;
};

// True if groups are so small that products of their matrices are mostly
// overhead.
bool SuitsLanes(const KernelContext& c, const ConvolutionSpec& spec) {
  const Dims& kernel = c.shape(1).dims();
  const size_t k = spec.strides.size();
  return spec.groups > 1 &&
         kernel[k] * (kernel[k + 1] / spec.groups) <= kFewProducts;
}

// Of so few products no library is asked: a call of it would take longer.
constexpr double kFewOfAll = 1 << 16;

bool IsFast(const KernelContext& c) {
  return c.environment.numerics == runtime::Numerics::kFast;
}
bool IsSmall(const KernelContext& c) {
  const Dims& kernel = c.shape(1).dims();
  return static_cast<double>(c.result_shape().num_elements()) *
             static_cast<double>(c.shape(1).num_elements() / kernel.back()) <=
         kFewOfAll;
}

template <typename T, typename Acc>
absl::Status FillRows(const KernelContext& c, const ConvolutionSpec& spec,
                      char* to, const GemmTail* tail) {
  const int64_t out = c.shape(1).dims().back();
  const double steps = static_cast<double>(c.shape(1).num_elements());
  return c.ForMetered(
      c.result_shape().num_elements() / out, steps,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        LaneSums<T, Acc> sums(c, spec);
        T* const results = reinterpret_cast<T*>(to);
        for (int64_t row = begin; row < end; ++row) {
          HAWSER_RETURN_IF_ERROR(meter->Begin(steps));
          sums.Fill(row, results + row * out);
        }
        if (tail == nullptr) return absl::OkStatus();
        return (*tail)({.row = begin, .rows = end - begin, .columns = out});
      });
}

// Results of one place are summed side by side, place after place of the
// kernel, halves in f32, and f32 in f64 where that costs nothing.
absl::Status RunLanes(const KernelContext& c, const ConvolutionSpec& spec,
                      char* to, const GemmTail* tail) {
  return VisitDType(c.result_shape().dtype(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return Internal("a convolution of bool");
    } else {
      if constexpr (std::is_same_v<T, float>) {
        if (IsFast(c) && IsSmall(c)) {
          return FillRows<T, double>(c, spec, to, tail);
        }
      }
      return FillRows<T, ComputeType<T>>(c, spec, to, tail);
    }
  });
}

// ---- the row ----------------------------------------------------------------

absl::StatusOr<Literals> RunRow(const KernelContext& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal result, c.Allocate(c.result_shape()));
  HAWSER_RETURN_IF_ERROR(
      RunConvolution(c, result.mutable_bytes().data(), nullptr));
  return Literals{std::move(result)};
}

double ConvolutionCost(const CostContext& c) {
  const Dims& kernel = c.operand(1).dims();
  double depth = 1;
  for (size_t a = 0; a + 1 < kernel.size(); ++a) {
    depth *= static_cast<double>(kernel[a]);
  }
  const double results = c.elements(c.result());
  const double windows =
      kernel.back() == 0 ? 0
                         : results / static_cast<double>(kernel.back()) * depth;
  return results * depth * GemmSteps(c.result().dtype()) + windows +
         ResultCost(c);
}

constexpr CpuKernel kKernels[] = {
    {&kConvolution, RunRow, nullptr, ConvolutionCost},
};

}  // namespace

absl::Span<const CpuKernel> ConvolutionKernels() { return kKernels; }

absl::Status RunConvolution(const KernelContext& c, char* to,
                            const GemmTail* tail) {
  const ConvolutionSpec spec = ConvolutionSpec::Of(c.attributes());
  if (c.result_shape().num_elements() == 0) return absl::OkStatus();
  const Dnnl* const dnnl = Libraries::OfProcess().convolutions;
  if (dnnl != nullptr && IsFast(c) && !IsSmall(c)) {
    const absl::Status status = RunLibraryConvolution(c, spec, *dnnl, to, tail);
    if (!absl::IsUnimplemented(status)) return status;
  }
  if (SuitsLanes(c, spec)) return RunLanes(c, spec, to, tail);
  const Gatherer gatherer(c, spec);
  const int64_t out = c.result_shape().dims().back() / spec.groups;
  for (int64_t g = 0; g < spec.groups; ++g) {
    HAWSER_RETURN_IF_ERROR(RunGroup(c, gatherer,
                                    {g * gatherer.features(), g * out, out}, to,
                                    g + 1 == spec.groups ? tail : nullptr));
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
