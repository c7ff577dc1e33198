// Convolutions: by a library of these, or the windows of a few thousand results
// at a time are gathered as the rows of a matrix, and multiplied by the kernel.
#include "kernels/cpu/products/convolution.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/windows.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/products/gemm.h"
#include "kernels/cpu/products/lane_convolution.h"
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
struct FeatureGroup {
  int64_t first_feature, first_out, out;
};

// `tail` is given rows whose results are there.
absl::Status RunGroup(const KernelContext& c, const Gatherer& gatherer,
                      const FeatureGroup& group, char* result,
                      const GemmTail* tail) {
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

constexpr CpuKernel kConvolutionKernels[] = {
    {&kConvolution, RunRow, nullptr, ConvolutionCost},
};

}  // namespace

absl::Span<const CpuKernel> ConvolutionKernels() { return kConvolutionKernels; }

absl::Status RunConvolution(const KernelContext& c, char* to,
                            const GemmTail* tail) {
  const ConvolutionSpec spec = ConvolutionSpec::Of(c.attributes());
  if (c.result_shape().num_elements() == 0) return absl::OkStatus();
  const Dnnl* const dnnl = Libraries::OfProcess().convolutions;
  if (dnnl != nullptr && c.environment.numerics == runtime::Numerics::kFast &&
      !IsSmallConvolution(c)) {
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
