#include "core/ops/linalg/fft.h"

#include <iterator>
#include <utility>

#include "core/base/status.h"

namespace hawser {
namespace {

constexpr absl::string_view kNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

DType ResultOf(FftType type, DType operand) {
  if (type == FftType::kIrfft) return RealPart(operand);
  if (type != FftType::kRfft) return operand;
  return operand == DType::kF64 ? DType::kC128 : DType::kC64;
}

// Constraint 4; the sizes of the result.
absl::StatusOr<Dims> TransformedDims(const InferContext& context,
                                     FftType type) {
  const Shape& operand = context.operands[0];
  const auto lengths = context.attributes.GetInts("fft_length");
  Dims dims = operand.dims();
  const size_t first = dims.size() - lengths.size();
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool halves = type == FftType::kIrfft && i + 1 == lengths.size();
    const int64_t size =
        halves && lengths[i] >= 0 ? HalfOf(lengths[i]) : lengths[i];
    if (lengths[i] < 0 || size != dims[first + i]) {
      return Violates(4, "fft_length ", DimsToString(lengths), " of ",
                      operand.ToString(), ": axis ", first + i,
                      halves ? " has to have half the elements and one, "
                             : " has to have as many elements, ",
                      size);
    }
    dims[first + i] = lengths[i];
  }
  if (type == FftType::kRfft) dims.back() = HalfOf(dims.back());
  return dims;
}

}  // namespace

std::optional<FftType> FftTypeOf(absl::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<FftType>(i);
  }
  return std::nullopt;
}

absl::StatusOr<Shapes> InferFft(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  const absl::string_view name = context.attributes.GetString("fft_type");
  const std::optional<FftType> type = FftTypeOf(name);
  if (!type.has_value()) {
    return Violates(2, "fft_type is \"", name.substr(0, 16),
                    "\", must be FFT, IFFT, RFFT or IRFFT");
  }
  if (IsComplex(operand.dtype()) == (*type == FftType::kRfft)) {
    return Violates(2, name, " of ", DTypeName(operand.dtype()),
                    ", must be of ",
                    *type == FftType::kRfft ? "f32 or f64" : "c64 or c128");
  }
  const auto count =
      static_cast<int>(context.attributes.GetInts("fft_length").size());
  if (count < 1 || count > 3 || count > operand.rank()) {
    return Violates(3, "fft_length has ", count, " entries for rank ",
                    operand.rank(), ", must have 1 to 3, one per axis");
  }
  HAWSER_ASSIGN_OR_RETURN(const Dims dims, TransformedDims(context, *type));
  HAWSER_ASSIGN_OR_RETURN(
      Shape result, MakeResult(5, ResultOf(*type, operand.dtype()), dims));
  return Shapes{std::move(result)};
}

// Transforms do not mix.
AxisMap FftAxes(const InferContext& context, absl::Span<const Shape> results) {
  const auto count = context.attributes.GetInts("fft_length").size();
  AxisMap map = EmptyAxes(context, results);
  for (size_t i = 0; i + count < map.operands[0].size(); ++i) {
    const int factor =
        map.AddFactor(AxisKind::kParallel, results[0].dim(static_cast<int>(i)));
    map.operands[0][i] = factor;
    map.results[0][i] = factor;
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
