// fft: one stage an axis, along the last one from the operand to the result or
// back, along the others where the numbers are.
#include "core/ops/linalg/fft.h"

#include <cstring>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/transforms/stages.h"
#include "kernels/cpu/transforms/ways.h"

namespace hawser::cpu {
namespace {

int64_t ProductOf(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

// Of numbers whose parts are T. Every axis has elements.
template <typename T>
class Transform {
 public:
  Transform(const KernelContext& c, const Shape& result)
      : c_(c),
        type_(*FftTypeOf(c.attributes().GetString("fft_type"))),
        lengths_(c.attributes().GetInts("fft_length")),
        complex_(type_ == FftType::kIrfft ? c.shape(0).dims() : result.dims()),
        first_(complex_.size() - lengths_.size()) {}

  absl::Status Run(T* out) const {
    const T* const in = reinterpret_cast<const T*>(c_.data(0));
    if (type_ == FftType::kIrfft) return RunToReal(in, out);
    const FftRows<T> rows = {in, out, RowCount(), lengths_.back()};
    if (type_ == FftType::kRfft) {
      HAWSER_RETURN_IF_ERROR(TransformRealRows(c_, rows));
    } else {
      const bool last = lengths_.size() == 1;
      HAWSER_RETURN_IF_ERROR(TransformRows(c_, rows, TurnOf(last)));
    }
    for (size_t i = lengths_.size() - 1; i-- > 0;) {
      HAWSER_RETURN_IF_ERROR(RunAlong(i, out, out, TurnOf(i == 0)));
    }
    return absl::OkStatus();
  }

 private:
  // Its last stage divides.
  Turn TurnOf(bool last) const {
    const bool inverse = type_ == FftType::kIfft || type_ == FftType::kIrfft;
    return {.inverse = inverse, .scale = inverse && last ? Scale() : 1};
  }
  double Scale() const { return 1 / static_cast<double>(ProductOf(lengths_)); }
  int64_t RowCount() const {
    return ProductOf(absl::MakeConstSpan(complex_).first(complex_.size() - 1));
  }

  // Along axis i of those that are transformed, which is not the last one.
  absl::Status RunAlong(size_t i, const T* from, T* to,
                        const Turn& turn) const {
    const auto dims = absl::MakeConstSpan(complex_);
    const size_t axis = first_ + i;
    return TransformColumns<T>(c_,
                               {from, to, ProductOf(dims.first(axis)),
                                lengths_[i], ProductOf(dims.subspan(axis + 1))},
                               turn);
  }

  absl::Status RunToReal(const T* in, T* out) const {
    Literal between;
    if (lengths_.size() > 1) {
      HAWSER_ASSIGN_OR_RETURN(between, c_.Allocate(c_.shape(0)));
      T* const to = reinterpret_cast<T*>(between.mutable_bytes().data());
      for (size_t i = lengths_.size() - 1; i-- > 0; in = to) {
        HAWSER_RETURN_IF_ERROR(RunAlong(i, in, to, TurnOf(false)));
      }
    }
    return InvertToRealRows<T>(c_, {in, out, RowCount(), lengths_.back()},
                               Scale());
  }

  const KernelContext& c_;
  const FftType type_;
  const absl::Span<const int64_t> lengths_;
  const Dims complex_;  // the sizes of the complex side
  const size_t first_;  // transformed axis
};

absl::StatusOr<Literals> RunFft(const KernelContext& c) {
  const Shape result = c.result_shape();
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(result));
  char* const to = out.mutable_bytes().data();
  if (result.num_elements() > 0) {
    HAWSER_RETURN_IF_ERROR(
        RealPart(result.dtype()) == DType::kF64
            ? Transform<double>(c, result).Run(reinterpret_cast<double*>(to))
            : Transform<float>(c, result).Run(reinterpret_cast<float*>(to)));
  }
  return Literals{std::move(out)};
}

double FftCost(const CostContext& c) {
  const Attributes& attributes = c.instruction.attributes;
  const FftType type = *FftTypeOf(attributes.GetString("fft_type"));
  const bool real = type == FftType::kRfft || type == FftType::kIrfft;
  const Shape complex = type == FftType::kIrfft ? c.operand(0) : c.result();
  if (complex.num_elements() == 0) return 0;
  const auto lengths = attributes.GetInts("fft_length");
  const int first = complex.rank() - static_cast<int>(lengths.size());
  double cost = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool halves = real && i + 1 == lengths.size();
    const int64_t n =
        halves && lengths[i] % 2 == 0 ? lengths[i] / 2 : lengths[i];
    const double lines =
        c.elements(complex) /
        static_cast<double>(complex.dim(first + static_cast<int>(i)));
    cost += lines * StepsOf(n);
  }
  return RealPart(complex.dtype()) == DType::kF64 ? 2 * cost : cost;
}

constexpr CpuKernel kKernels[] = {
    {&kFft, RunFft, nullptr, FftCost},
};

}  // namespace

absl::Span<const CpuKernel> FftKernels() { return kKernels; }

}  // namespace hawser::cpu
