#include "kernels/plan/library/library_forms.h"

#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/matrices.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/rewritten.h"
#include "core/ops/windows/convolution.h"
#include "core/passes/canonicalize.h"
#include "core/passes/dce.h"
#include "kernels/plan/library/convolution_form.h"
#include "kernels/plan/library/library_ops.h"
#include "kernels/plan/library/library_site.h"

namespace hawser::plan {
namespace {

Expression Real(const Expression& x) { return Apply(kReal, {x}); }
Expression Imag(const Expression& x) { return Apply(kImag, {x}); }
Expression Complex(const Expression& real, const Expression& imag) {
  return Apply(kComplex, {real, imag});
}

// ---- Fourier transforms ---------------------------------------------------

// Element k of the result is element (n - k) mod n of x, along `axis`.
Expression Mirrored(const Expression& x, int64_t axis) {
  const Dims dims = x.dims();
  const auto part = [&](int64_t first, int64_t last) {
    Dims starts(dims.size(), 0), limits = dims;
    starts[axis] = first;
    limits[axis] = last;
    return Apply(kSlice, {x},
                 {{"limit_indices", limits},
                  {"start_indices", starts},
                  {"strides", Dims(dims.size(), 1)}});
  };
  if (dims[axis] < 2) return x;
  const Expression rest =
      Apply(kReverse, {part(1, dims[axis])}, {{"dimensions", Dims{axis}}});
  return Apply(kConcatenate, {part(0, 1), rest}, {{"dimension", axis}});
}

// The number of each element along the last of these axes.
Expression Counted(ExpressionScope* scope, DType dtype, const Dims& dims) {
  return Expression(
      scope, scope->builder.Add(
                 kIota, {},
                 {{"dims", dims},
                  {"dtype", dtype},
                  {"iota_dimension", static_cast<int64_t>(dims.size()) - 1}},
                 {}, SourceLocation{}));
}

// Bool, of the sizes of `half`: the elements of the last axis, of `size`
// elements in full, that are their own conjugates' places.
Expression WhereAlone(const Expression& half, int64_t size) {
  const Dims dims = half.dims();
  ExpressionScope* scope = half.scope();
  const Shape places = Shape::Of(DType::kS32, dims);
  const Expression place = Counted(scope, DType::kS32, dims);
  const auto is = [&](int64_t at) {
    return Compare(place, CompareDirection::kEq,
                   Filled(scope, places, static_cast<double>(at)));
  };
  return size % 2 == 0 ? Apply(kOr, {is(0), is(size / 2)}) : is(0);
}

// Half of the transform of real numbers that `half` stands for: the row ignores
// what other numbers have there. IRFFT takes the real part of a line's first
// and middle element, after the transforms along the axes before.
Expression HalfOfReal(const Expression& half, absl::Span<const int64_t> sizes) {
  const Expression alone = WhereAlone(half, sizes.back());
  const Expression real = Real(half), imag = Imag(half);
  if (sizes.size() == 1) {
    return Complex(real, Choose(alone, Like(imag, 0), imag));
  }
  Expression mirrored = half;
  for (size_t k = 0; k + 1 < sizes.size(); ++k) {
    mirrored = Mirrored(mirrored,
                        static_cast<int64_t>(half.rank() - sizes.size() + k));
  }
  return Complex(Choose(alone, 0.5 * (real + Real(mirrored)), real),
                 Choose(alone, 0.5 * (imag - Imag(mirrored)), imag));
}

std::optional<Expressions> Fft(const LibrarySite& site) {
  const Attributes& attributes = site.instruction.attributes;
  if (!site.Takes(kLibraryFft)) return std::nullopt;
  const FftType type = *FftTypeOf(attributes.GetString("fft_type"));
  const auto sizes = attributes.GetInts("fft_length");
  Expression x = site.operands[0];
  if (type == FftType::kIrfft) x = HalfOfReal(x, sizes);
  if (type == FftType::kIfft || type == FftType::kIrfft) {
    double n = 1;
    for (const int64_t size : sizes) n *= static_cast<double>(size);
    x = Complex((1 / n) * Real(x), (1 / n) * Imag(x));
  }
  return Expressions{site.Call(kLibraryFft, {x})};
}

// ---- linear algebra -------------------------------------------------------

// The last two axes.
Dims MatrixAxes(const Expression& x) { return {x.rank() - 2, x.rank() - 1}; }

// A value for each matrix, spread over the last axes of a value of these dims.
Expression OverMatrices(const Expression& each,
                        absl::Span<const int64_t> dims) {
  Dims axes;
  for (size_t a = each.dims().size(); a < dims.size(); ++a) {
    axes.push_back(static_cast<int64_t>(a));
  }
  return Spread(each, dims, axes);
}

// The triangle of Hermitian matrices with a real diagonal, 0 in the rest.
Expression ReadTriangle(const Expression& x, bool lower) {
  const Expression triangle = formulas::TriangleOf(x, lower);
  if (!IsComplex(x.dtype())) return triangle;
  const Expression diagonal =
      formulas::WhereColumns(x, CompareDirection::kEq, 0);
  const Expression imag = Imag(triangle);
  return Complex(Real(triangle), Choose(diagonal, Like(imag, 0), imag));
}

// Real: 0 where x is finite, else NaN.
Expression NoneOf(const Expression& x) {
  return IsComplex(x.dtype()) ? (Real(x) - Real(x)) + (Imag(x) - Imag(x))
                              : x - x;
}

// Bool for each matrix: every element is finite.
Expression AreFinite(const Expression& x) {
  const Expression none = Summed(NoneOf(x), MatrixAxes(x));
  return Compare(none, CompareDirection::kEq, Like(none, 0));
}

Expression IsZero(const Expression& info) {
  return Compare(info, CompareDirection::kEq, Like(info, 0));
}

// x of those matrices that are `good`, NaN of the others.
Expression OrNaN(const Expression& good, const Expression& x) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Expression nan;
  if (IsComplex(x.dtype())) {
    const Expression part = Like(Real(x), kNaN);
    nan = Complex(part, part);
  } else {
    nan = Like(x, kNaN);
  }
  return Choose(OverMatrices(good, x.dims()), x, nan);
}

std::optional<Expressions> Cholesky(const LibrarySite& site) {
  if (!site.Takes(kLibraryCholesky)) return std::nullopt;
  const bool lower = site.instruction.attributes.GetBool("lower");
  const Expression& a = site.operands[0];
  const Expression call = site.Call(
      kLibraryCholesky, {IsComplex(a.dtype()) ? ReadTriangle(a, lower) : a});
  const Expression factor = formulas::TriangleOf(call, lower);
  const Expression good =
      Apply(kAnd, {IsZero(ResultOf(call, 1)), AreFinite(factor)});
  return Expressions{OrNaN(good, factor)};
}

// The instruction of `site` by `op`, over parameters: a branch.
int BranchOf(const LibrarySite& site, const OpDef& op) {
  Module* const module = site.operands[0].scope()->builder.module();
  ComputationBuilder branch(module, std::string(op.name));
  std::vector<ValueId> parameters;
  for (const Expression& x : site.operands) {
    parameters.push_back(branch.Parameter(x.shape(), SourceLocation{}));
  }
  const auto index = branch.Finish({branch.Add(
      op, parameters, site.instruction.attributes, {}, SourceLocation{})});
  HAWSER_CHECK(index.ok());
  return *index;
}

// The library multiplies by inverses of blocks: what would be infinite is NaN
// there, and spreads to where the row has numbers. So the host solves where
// something is not finite, or a 0 is divided by.
std::optional<Expressions> TriangularSolve(const LibrarySite& site) {
  if (!site.target.has_host || !site.Takes(kLibraryTriangularSolve)) {
    return std::nullopt;
  }
  const Attributes& attributes = site.instruction.attributes;
  const bool unit = attributes.GetBool("unit_diagonal");
  const Expression& a = site.operands[0];
  const Expression& b = site.operands[1];
  const Expression triangle =
      formulas::TriangleOf(a, attributes.GetBool("lower"), /*strict=*/unit);
  const auto bad = [](const Expression& where) {
    return SummedAll(ConvertTo(where, DType::kS32));
  };
  const auto not_finite = [&](const Expression& x) {
    const Expression none = NoneOf(x);
    return bad(Compare(none, CompareDirection::kNe, Like(none, 0)));
  };
  Expression count = not_finite(triangle) + not_finite(b);
  if (!unit) {
    const Expression diagonal =
        formulas::WhereColumns(a, CompareDirection::kEq, 0);
    const Expression zero = Compare(a, CompareDirection::kEq, Like(a, 0));
    count = count + bad(Apply(kAnd, {diagonal, zero}));
  }
  const Expression by_host = ConvertTo(
      Compare(count, CompareDirection::kNe, Like(count, 0)), DType::kS32);
  const int branches[] = {BranchOf(site, kLibraryTriangularSolve),
                          BranchOf(site, kTriangularSolve)};
  return Expressions{Apply(kCase, {by_host, a, b}, {}, branches)};
}

std::optional<Expressions> Eigh(const LibrarySite& site) {
  if (!site.Takes(kLibraryEigh)) return std::nullopt;
  const bool lower = site.instruction.attributes.GetBool("lower");
  const Expression a = ReadTriangle(site.operands[0], lower);
  const Expression finite = AreFinite(a);
  const Expression call =
      site.Call(kLibraryEigh, {Where(OverMatrices(finite, a.dims()), a)});
  const Expression good = Apply(kAnd, {IsZero(ResultOf(call, 2)), finite});
  return Expressions{OrNaN(good, call),
                     OrNaN(good, formulas::MatrixAdjoint(ResultOf(call, 1)))};
}

// The matrices are square. One that is not finite never reaches the library:
// its pivots are those of no exchange.
std::optional<Expressions> Lu(const LibrarySite& site) {
  const Expression& a = site.operands[0];
  Dims dims = a.dims();
  if (dims.back() != dims[dims.size() - 2] || !site.Takes(kLibraryLu)) {
    return std::nullopt;
  }
  dims.pop_back();
  const Expression finite = AreFinite(a);
  const Expression x =
      formulas::MatrixTransposed(Where(OverMatrices(finite, a.dims()), a));
  const Expression call =
      site.Call(kLibraryLu, {x, Counted(a.scope(), DType::kF64, dims)});
  const Expression count = Counted(a.scope(), DType::kS32, dims);
  const Expression each = OverMatrices(finite, dims);
  return Expressions{
      OrNaN(finite, formulas::MatrixTransposed(call)),
      Choose(each, ResultOf(call, 1) - 1, count),
      Choose(each, ConvertTo(ResultOf(call, 2), DType::kS32), count)};
}

std::optional<Expressions> Qr(const LibrarySite& site) {
  if (!site.TakesTransposed(kLibraryQr)) return std::nullopt;
  const Expression& a = site.operands[0];
  const Expression finite = AreFinite(a);
  const Expression call = site.Call(
      kLibraryQr,
      {formulas::MatrixTransposed(Where(OverMatrices(finite, a.dims()), a))});
  const Expression q = formulas::MatrixTransposed(ResultOf(call, 1));
  const Expression packed = formulas::MatrixTransposed(call);
  const Expression r = formulas::TriangleOf(
      formulas::PartOf(packed, {0, q.dims().back()}, {0, a.dims().back()}),
      /*lower=*/false);
  return Expressions{OrNaN(finite, q), OrNaN(finite, r)};
}

struct Form {
  const OpDef* op;
  // nullopt: the library does not take it.
  std::optional<Expressions> (*form)(const LibrarySite& site);
};
constexpr Form kForms[] = {
    {&kFft, Fft},
    {&kCholesky, Cholesky},
    {&kTriangularSolve, TriangularSolve},
    {&kEigh, Eigh},
    {&kLu, Lu},
    {&kQr, Qr},
    {&kConvolution, ConvolutionForm},
};

const Form* FormOf(const OpDef& op) {
  for (const Form& form : kForms) {
    if (form.op == &op) return &form;
  }
  return nullptr;
}

}  // namespace

bool HasLibraryOps(const Module& module) {
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) {
      if (FormOf(*i.op) != nullptr) return true;
    }
  }
  return false;
}

absl::StatusOr<Module> WithLibraryCalls(const Module& module,
                                        const Target& target) {
  bool arranged = false;
  HAWSER_ASSIGN_OR_RETURN(
      Module with,
      Rewritten(module,
                [&](const Computation& from, const Instruction& i,
                    const Expressions& operands)
                    -> absl::StatusOr<std::optional<Expressions>> {
                  const Form* form = FormOf(*i.op);
                  if (form == nullptr) return std::nullopt;
                  auto call = form->form(
                      {target, i, operands, from.shape(i.first_result)});
                  arranged |= call.has_value() && i.op == &kConvolution;
                  return call;
                }));
  if (!arranged) return with;
  // Transposes behind a convolution meet those of the program.
  HAWSER_ASSIGN_OR_RETURN(with, Canonicalize(std::move(with), &arranged));
  return EliminateDeadCode(std::move(with), &arranged);
}

}  // namespace hawser::plan
