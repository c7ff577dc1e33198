#include "kernels/emu/library_calls/convolution.h"

#include <array>
#include <type_traits>
#include <vector>

#include "core/base/values/dtype.h"
#include "kernels/emu/library_calls/wide.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::emu {
namespace {

using gpu::ConvolutionAxis;
using gpu::ConvolutionDirection;
using gpu::ConvolutionSpec;

constexpr int kMostAxes = 3;
using Axes = std::array<ConvolutionAxis, kMostAxes>;
using Places = std::array<int64_t, kMostAxes>;

// Where the elements of a tensor [outer, axes..., features] lie.
struct Strides {
  int64_t outer = 0, feature = 0;
  Places axes = {};

  Strides(const Places& extents, int64_t features, bool features_first) {
    int64_t next = features_first ? 1 : features;
    for (int a = kMostAxes; a-- > 0;) {
      axes[a] = next;
      next *= extents[a];
    }
    feature = features_first ? next : 1;
    outer = features_first ? next * features : next;
  }
  int64_t At(int64_t first, const Places& at, int64_t last) const {
    int64_t offset = first * outer + last * feature;
    for (int a = 0; a < kMostAxes; ++a) offset += at[a] * axes[a];
    return offset;
  }
};

template <typename Each>
void ForEachPlace(const Places& extents, const Each& each) {
  Places at;
  for (at[0] = 0; at[0] < extents[0]; ++at[0]) {
    for (at[1] = 0; at[1] < extents[1]; ++at[1]) {
      for (at[2] = 0; at[2] < extents[2]; ++at[2]) each(at);
    }
  }
}

// A call as loops over three axes, of which the first ones may be of one
// element.
class Loops {
 public:
  explicit Loops(const ConvolutionSpec& spec)
      : spec_(spec),
        axes_(AxesOf(spec)),
        x_(Of(&ConvolutionAxis::x), spec.in, spec.features_first),
        w_(Of(&ConvolutionAxis::w), spec.in / spec.groups, spec.features_first),
        y_(Of(&ConvolutionAxis::y), spec.out, spec.features_first) {}

  // Calls add(x, w, y) with the places in memory of each product.
  template <typename Add>
  void ForEachProduct(const Add& add) const {
    const Places w_extents = Of(&ConvolutionAxis::w);
    for (int64_t b = 0; b < spec_.batch; ++b) {
      ForEachPlace(Of(&ConvolutionAxis::y), [&](const Places& r) {
        ForEachPlace(w_extents, [&](const Places& k) {
          Places under;
          if (Lies(r, k, &under)) Features(b, under, k, r, add);
        });
      });
    }
  }

 private:
  static Axes AxesOf(const ConvolutionSpec& spec) {
    Axes axes;
    const size_t count = spec.axes.size();
    for (size_t a = 0; a < count; ++a) {
      axes[kMostAxes - count + a] = spec.axes[a];
    }
    return axes;
  }
  Places Of(int64_t ConvolutionAxis::*extent) const {
    Places extents;
    for (int a = 0; a < kMostAxes; ++a) extents[a] = axes_[a].*extent;
    return extents;
  }
  // Sets `*under` to the element of x; false: there is none.
  bool Lies(const Places& r, const Places& k, Places* under) const {
    for (int a = 0; a < kMostAxes; ++a) {
      const ConvolutionAxis& axis = axes_[a];
      const int64_t at =
          r[a] * axis.stride + k[a] * axis.dilation - axis.padding;
      if (at < 0 || at >= axis.x) return false;
      (*under)[a] = at;
    }
    return true;
  }
  template <typename Add>
  void Features(int64_t b, const Places& under, const Places& k,
                const Places& r, const Add& add) const {
    const int64_t in = spec_.in / spec_.groups;
    const int64_t out = spec_.out / spec_.groups;
    for (int64_t o = 0; o < spec_.out; ++o) {
      const int64_t first = o / out * in;
      for (int64_t c = 0; c < in; ++c) {
        add(x_.At(b, under, first + c), w_.At(o, k, c), y_.At(b, r, o));
      }
    }
  }

  const ConvolutionSpec& spec_;
  const Axes axes_;
  const Strides x_, w_, y_;
};

template <typename T>
using SumOf =
    std::conditional_t<std::is_same_v<T, double>, long double, double>;

template <typename T>
SumOf<T> Widen(T x) {
  if constexpr (kIsHalf<T>) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

template <typename T>
void Convolve(const ConvolutionSpec& spec, int64_t results,
              const gpu::CallOperands& operands) {
  const T* const a = At<const T>(operands.operands[0]);
  const T* const b = At<const T>(operands.operands[1]);
  std::vector<SumOf<T>> sums(results);
  const Loops loops(spec);
  switch (spec.direction) {
    case ConvolutionDirection::kForward:
      loops.ForEachProduct([&](int64_t x, int64_t w, int64_t y) {
        sums[y] += Widen(a[x]) * Widen(b[w]);
      });
      break;
    case ConvolutionDirection::kData:
      loops.ForEachProduct([&](int64_t x, int64_t w, int64_t y) {
        sums[x] += Widen(a[w]) * Widen(b[y]);
      });
      break;
    case ConvolutionDirection::kFilter:
      loops.ForEachProduct([&](int64_t x, int64_t w, int64_t y) {
        sums[w] += Widen(a[x]) * Widen(b[y]);
      });
  }
  T* const out = At<T>(operands.results[0]);
  for (int64_t i = 0; i < results; ++i) {
    if constexpr (kIsHalf<T>) {
      out[i] = T(static_cast<float>(sums[i]));
    } else {
      out[i] = static_cast<T>(sums[i]);
    }
  }
}

}  // namespace

absl::Status RunCall(const ConvolutionSpec& spec,
                     const gpu::CallOperands& operands) {
  const int64_t results = gpu::BytesOf(spec).results[0] / ByteWidth(spec.dtype);
  switch (spec.dtype) {
    case DType::kF16:
      Convolve<Half>(spec, results, operands);
      break;
    case DType::kBF16:
      Convolve<BFloat16>(spec, results, operands);
      break;
    case DType::kF32:
      Convolve<float>(spec, results, operands);
      break;
    default:
      Convolve<double>(spec, results, operands);
  }
  return absl::OkStatus();
}

}  // namespace hawser::emu
