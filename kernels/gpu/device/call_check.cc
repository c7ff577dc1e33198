#include "kernels/gpu/device/call_check.h"

#include <algorithm>

#include "core/base/status.h"
#include "core/base/values/dtype.h"

namespace hawser::gpu {
namespace {

absl::Status CheckMatrices(DType dtype, int64_t batch, int64_t rows,
                           int64_t columns) {
  if (batch < 1 || rows < 1 || columns < 1) {
    return InvalidArgument("linear algebra: ", batch, " matrices of ", rows,
                           " x ", columns);
  }
  if (dtype == DType::kF32 || dtype == DType::kF64 || IsComplex(dtype)) {
    return absl::OkStatus();
  }
  return Unimplemented("linear algebra: matrices of ", DTypeName(dtype));
}

// The libraries count in int32.
constexpr int64_t kMostOfAxis = (int64_t{1} << 31) - 1;

absl::Status CheckAxis(const ConvolutionAxis& a) {
  if (std::min({a.x, a.w, a.y, a.stride, a.dilation}) < 1 || a.padding < 0) {
    return InvalidArgument("convolution: an axis of ", a.x, ", ", a.w, " and ",
                           a.y, " elements by ", a.stride, " and ", a.dilation,
                           " with ", a.padding, " in front");
  }
  if (std::max({a.x, a.w, a.y, a.stride, a.dilation, a.padding}) >
      kMostOfAxis) {
    return Unimplemented("convolution: numbers beyond ", kMostOfAxis);
  }
  const int64_t last = a.x + 2 * a.padding - (a.w - 1) * a.dilation - 1;
  if (last >= 0 && last / a.stride + 1 == a.y) return absl::OkStatus();
  return InvalidArgument("convolution: no axis of ", a.y, " elements from ",
                         a.x, " under ", a.w);
}

}  // namespace

absl::Status CheckCall(const FftSpec& spec) {
  if (spec.lengths.empty() || spec.lengths.size() > 3 || spec.batch < 1 ||
      std::any_of(spec.lengths.begin(), spec.lengths.end(),
                  [](int64_t n) { return n < 1; })) {
    return InvalidArgument("fft: ", spec.batch, " transforms of ",
                           spec.lengths.size(), " lengths");
  }
  if (!IsComplex(spec.complex)) {
    return Unimplemented("fft: of ", DTypeName(spec.complex));
  }
  return absl::OkStatus();
}

absl::Status CheckCall(const FactorizationSpec& spec) {
  return CheckMatrices(spec.dtype, spec.batch, spec.size, spec.size);
}

absl::Status CheckCall(const TriangularSolveSpec& spec) {
  return CheckMatrices(spec.dtype, spec.batch, spec.rows, spec.columns);
}

absl::Status CheckCall(const QrSpec& spec) {
  if (spec.q_columns < std::min(spec.rows, spec.columns) ||
      spec.q_columns > spec.rows) {
    return InvalidArgument("qr: ", spec.q_columns, " columns of Q for ",
                           spec.rows, " x ", spec.columns);
  }
  return CheckMatrices(spec.dtype, spec.batch, spec.rows, spec.columns);
}

absl::Status CheckCall(const ConvolutionSpec& spec) {
  const size_t axes = spec.axes.size();
  if (axes < 1 || axes > 3 ||
      std::min({spec.batch, spec.groups, spec.in, spec.out}) < 1 ||
      spec.in % spec.groups != 0 || spec.out % spec.groups != 0) {
    return InvalidArgument("convolution: ", spec.batch, " of ", spec.in, " to ",
                           spec.out, " features in ", spec.groups,
                           " groups over ", axes, " axes");
  }
  if (std::max({spec.batch, spec.in, spec.out}) > kMostOfAxis) {
    return Unimplemented("convolution: numbers beyond ", kMostOfAxis);
  }
  for (const ConvolutionAxis& axis : spec.axes) {
    HAWSER_RETURN_IF_ERROR(CheckAxis(axis));
  }
  if (IsFloat(spec.dtype)) return absl::OkStatus();
  return Unimplemented("convolution: of ", DTypeName(spec.dtype));
}

CallBytes BytesOf(const FftSpec& spec) {
  int64_t outer = spec.batch;
  for (size_t i = 0; i + 1 < spec.lengths.size(); ++i) outer *= spec.lengths[i];
  const int64_t width = ByteWidth(spec.complex);
  const int64_t whole = outer * spec.lengths.back() * width;
  const int64_t half = outer * (spec.lengths.back() / 2 + 1) * width;
  switch (spec.kind) {
    case FftKind::kRealForward:
      return {{whole / 2}, {half}};
    case FftKind::kRealInverse:
      return {{half}, {whole / 2}};
    default:
      return {{whole}, {whole}};
  }
}

CallBytes BytesOf(const FactorizationSpec& spec) {
  const int64_t matrices =
      spec.batch * spec.size * spec.size * ByteWidth(spec.dtype);
  const int64_t info = spec.batch * ByteWidth(DType::kS32);
  if (spec.kind == Factorization::kCholesky) {
    return {{matrices}, {matrices, info}};
  }
  if (spec.kind == Factorization::kLu) {
    const int64_t rows = spec.batch * spec.size;
    const int64_t numbers = rows * ByteWidth(DType::kF64);
    return {{matrices, numbers},
            {matrices, rows * ByteWidth(DType::kS32), numbers, info}};
  }
  const int64_t values =
      spec.batch * spec.size * ByteWidth(RealPart(spec.dtype));
  return {{matrices}, {values, matrices, info}};
}

CallBytes BytesOf(const TriangularSolveSpec& spec) {
  const int64_t width = spec.batch * ByteWidth(spec.dtype);
  const int64_t sides = spec.rows * spec.columns * width;
  return {{spec.size() * spec.size() * width, sides}, {sides}};
}

CallBytes BytesOf(const QrSpec& spec) {
  const int64_t column = spec.batch * spec.rows * ByteWidth(spec.dtype);
  const int64_t matrices = spec.columns * column;
  return {{matrices}, {matrices, spec.q_columns * column}};
}

CallBytes BytesOf(const ConvolutionSpec& spec) {
  const int64_t width = ByteWidth(spec.dtype);
  int64_t x = spec.batch * spec.in * width;
  int64_t w = spec.out * (spec.in / spec.groups) * width;
  int64_t y = spec.batch * spec.out * width;
  for (const ConvolutionAxis& a : spec.axes) {
    x *= a.x;
    w *= a.w;
    y *= a.y;
  }
  switch (spec.direction) {
    case ConvolutionDirection::kForward:
      return {{x, w}, {y}};
    case ConvolutionDirection::kData:
      return {{w, y}, {x}};
    case ConvolutionDirection::kFilter:
      break;
  }
  return {{x, y}, {w}};
}

absl::Status CheckOperands(const CallBytes& bytes,
                           const CallOperands& operands) {
  if (operands.operands.size() == bytes.operands.size() &&
      operands.results.size() == bytes.results.size()) {
    return absl::OkStatus();
  }
  return InvalidArgument("a call with ", operands.operands.size(),
                         " operands and ", operands.results.size(),
                         " results, not ", bytes.operands.size(), " and ",
                         bytes.results.size());
}

}  // namespace hawser::gpu
