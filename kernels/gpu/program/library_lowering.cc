#include "kernels/gpu/program/library_lowering.h"

#include <algorithm>

#include "core/base/values/dtype.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "kernels/plan/library/library_ops.h"

namespace hawser::gpu {
namespace {

using Operands = absl::Span<const Shape>;

// How many parts of the last `axes` axes there are.
int64_t BatchOf(const Shape& shape, int axes) {
  int64_t batch = 1;
  for (int i = 0; i + axes < shape.rank(); ++i) batch *= shape.dim(i);
  return batch;
}

// Indexed by FftType.
constexpr FftKind kKinds[] = {FftKind::kForward, FftKind::kInverse,
                              FftKind::kRealForward, FftKind::kRealInverse};

std::optional<LibraryCall> FftOf(Operands operands,
                                 const Attributes& attributes) {
  const Shape& x = operands[0];
  const FftType type = *FftTypeOf(attributes.GetString("fft_type"));
  const auto sizes = attributes.GetInts("fft_length");
  FftSpec spec{.kind = kKinds[static_cast<int>(type)],
               .complex = RealPart(x.dtype()) == DType::kF64 ? DType::kC128
                                                             : DType::kC64,
               .batch = BatchOf(x, static_cast<int>(sizes.size()))};
  // Axes of one element in front change nothing.
  for (const int64_t n : sizes) {
    if (n != 1 || !spec.lengths.empty()) spec.lengths.push_back(n);
  }
  // A real axis of one element has no half.
  if (x.num_elements() == 0 || spec.lengths.empty() || sizes.back() == 1) {
    return std::nullopt;
  }
  return spec;
}

FactorizationSpec Factored(Factorization kind, const Shape& a,
                           const Attributes& attributes) {
  return {.kind = kind,
          .dtype = a.dtype(),
          .batch = BatchOf(a, 2),
          .size = a.dim(-1),
          .lower = attributes.Find("lower") == nullptr ||
                   attributes.GetBool("lower")};
}

std::optional<LibraryCall> LuOf(Operands operands,
                                const Attributes& attributes) {
  if (operands[0].num_elements() == 0) return std::nullopt;
  return Factored(Factorization::kLu, operands[0], attributes);
}

std::optional<LibraryCall> CholeskyOf(Operands operands,
                                      const Attributes& attributes) {
  if (operands[0].num_elements() == 0) return std::nullopt;
  return Factored(Factorization::kCholesky, operands[0], attributes);
}

std::optional<LibraryCall> EighOf(Operands operands,
                                  const Attributes& attributes) {
  if (operands[0].num_elements() == 0) return std::nullopt;
  return Factored(Factorization::kEigh, operands[0], attributes);
}

// The operand is A^T.
std::optional<LibraryCall> QrOf(Operands operands,
                                const Attributes& attributes) {
  const Shape& a = operands[0];
  if (a.num_elements() == 0) return std::nullopt;
  const int64_t rows = a.dim(-1), columns = a.dim(-2);
  return QrSpec{.dtype = a.dtype(),
                .batch = BatchOf(a, 2),
                .rows = rows,
                .columns = columns,
                .q_columns = attributes.GetBool("full_matrices")
                                 ? rows
                                 : std::min(rows, columns)};
}

std::optional<LibraryCall> TriangularSolveOf(Operands operands,
                                             const Attributes& attributes) {
  const Shape& b = operands[1];
  if (b.num_elements() == 0) return std::nullopt;
  const auto use = attributes.GetString("transpose_a");
  return TriangularSolveSpec{
      .dtype = b.dtype(),
      .batch = BatchOf(b, 2),
      .rows = b.dim(-2),
      .columns = b.dim(-1),
      .left_side = attributes.GetBool("left_side"),
      .lower = attributes.GetBool("lower"),
      .unit_diagonal = attributes.GetBool("unit_diagonal"),
      .use = use == kTransposeOf ? MatrixUse::kTransposed
             : use == kAdjointOf ? MatrixUse::kAdjoint
                                 : MatrixUse::kAsIs};
}

// The spatial sizes of a tensor of a convolution.
absl::Span<const int64_t> SpatialOf(const Dims& dims, bool features_first) {
  return absl::MakeConstSpan(dims).subspan(features_first ? 2 : 1,
                                           dims.size() - 2);
}

std::optional<LibraryCall> ConvolutionOf(Operands operands,
                                         const Attributes& attributes) {
  const Dims& first = operands[0].dims();
  const Dims& second = operands[1].dims();
  const auto result_dims = attributes.GetInts("result_dims");
  const Dims result(result_dims.begin(), result_dims.end());
  const auto direction = attributes.GetString("direction");
  const bool forward = direction == plan::kForwardConvolution;
  const bool data = direction == plan::kDataConvolution;
  const Dims& x = data ? result : first;
  const Dims& w = forward ? second : data ? first : result;
  const Dims& y = forward ? result : second;
  const bool features_first = attributes.GetBool("features_first");
  ConvolutionSpec spec{.direction = forward ? ConvolutionDirection::kForward
                                    : data  ? ConvolutionDirection::kData
                                            : ConvolutionDirection::kFilter,
                       .dtype = operands[0].dtype(),
                       .features_first = features_first,
                       .batch = x[0],
                       .groups = attributes.GetInt("feature_group_count"),
                       .in = features_first ? x[1] : x.back(),
                       .out = w[0]};
  const auto of_x = SpatialOf(x, features_first);
  const auto of_w = SpatialOf(w, features_first);
  const auto of_y = SpatialOf(y, features_first);
  for (size_t a = 0; a < of_x.size(); ++a) {
    spec.axes.push_back({.x = of_x[a],
                         .w = of_w[a],
                         .y = of_y[a],
                         .stride = attributes.GetInts("window_strides")[a],
                         .dilation = attributes.GetInts("rhs_dilation")[a],
                         .padding = attributes.GetInts("padding")[a]});
  }
  return spec;
}

struct Row {
  const OpDef* op;
  std::optional<LibraryCall> (*call)(Operands, const Attributes&);
};
constexpr Row kRows[] = {
    {&plan::kLibraryFft, FftOf},
    {&plan::kLibraryCholesky, CholeskyOf},
    {&plan::kLibraryTriangularSolve, TriangularSolveOf},
    {&plan::kLibraryEigh, EighOf},
    {&plan::kLibraryLu, LuOf},
    {&plan::kLibraryQr, QrOf},
    {&plan::kLibraryConvolution, ConvolutionOf},
};

}  // namespace

std::optional<LibraryCall> LibraryCallOf(const OpDef& op, Operands operands,
                                         const Attributes& attributes,
                                         runtime::Numerics numerics) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return r.op == &op; });
  if (row == std::end(kRows)) return std::nullopt;
  std::optional<LibraryCall> call = row->call(operands, attributes);
  if (call && numerics == runtime::Numerics::kTf32) {
    auto* convolution = std::get_if<ConvolutionSpec>(&*call);
    if (convolution != nullptr) convolution->precision = GemmPrecision::kTf32;
  }
  return call;
}

}  // namespace hawser::gpu
