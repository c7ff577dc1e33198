#include "kernels/cpu/products/lane_convolution.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/conversion.h"

namespace hawser::cpu {
namespace {

// No library is asked about so few products: a call of it would take longer.
constexpr double kFewOfAll = 1 << 16;
// Products of a group for each of its results, up to which it has lanes.
constexpr int64_t kFewOfKernel = 16;

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

}  // namespace

bool IsSmallConvolution(const KernelContext& c) {
  const Dims& kernel = c.shape(1).dims();
  return static_cast<double>(c.result_shape().num_elements()) *
             static_cast<double>(c.shape(1).num_elements() / kernel.back()) <=
         kFewOfAll;
}

bool SuitsLanes(const KernelContext& c, const ConvolutionSpec& spec) {
  const Dims& kernel = c.shape(1).dims();
  const size_t k = spec.strides.size();
  return spec.groups > 1 &&
         kernel[k] * (kernel[k + 1] / spec.groups) <= kFewOfKernel;
}

absl::Status RunLanes(const KernelContext& c, const ConvolutionSpec& spec,
                      char* to, const GemmTail* tail) {
  return VisitDType(c.result_shape().dtype(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return Internal("a convolution of bool");
    } else {
      if constexpr (std::is_same_v<T, float>) {
        if (c.environment.numerics == runtime::Numerics::kFast &&
            IsSmallConvolution(c)) {
          return FillRows<T, double>(c, spec, to, tail);
        }
      }
      return FillRows<T, ComputeType<T>>(c, spec, to, tail);
    }
  });
}

}  // namespace hawser::cpu
