// Products of matrices and their like.
#include "core/ops/contraction/dot.h"

#include <utility>

#include "core/base/status.h"
#include "core/ops/rules.h"
#include "core/ops/windows/convolution.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

// The axes of one side.
struct Side {
  absl::Span<const int64_t> batch, contracting;
  Dims free;

  // Returns the operand's index.
  Dims Join(Index of_batch, Index of_free, Index of_contracting) const {
    Dims out(batch.size() + free.size() + contracting.size());
    for (size_t k = 0; k < batch.size(); ++k) out[batch[k]] = of_batch[k];
    for (size_t k = 0; k < free.size(); ++k) out[free[k]] = of_free[k];
    for (size_t k = 0; k < contracting.size(); ++k) {
      out[contracting[k]] = of_contracting[k];
    }
    return out;
  }
};

Side SideOf(const Context& c, int operand, absl::Span<const int64_t> batch,
            absl::Span<const int64_t> contracting) {
  Side side{batch, contracting, {}};
  for (int d = 0; d < c.shape(operand).rank(); ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) {
      side.free.push_back(d);
    }
  }
  return side;
}

// Sums rounded once; integers wrap.
absl::StatusOr<Values> DotGeneral(const Context& c) {
  const Attributes& a = c.attributes();
  const Side lhs = SideOf(c, 0, a.GetInts("lhs_batching_dimensions"),
                          a.GetInts("lhs_contracting_dimensions"));
  const Side rhs = SideOf(c, 1, a.GetInts("rhs_batching_dimensions"),
                          a.GetInts("rhs_contracting_dimensions"));
  Dims contracted;
  for (const int64_t d : lhs.contracting)
    contracted.push_back(c.shape(0).dim(d));
  const DType dtype = c.result_shape().dtype();
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(c.result_shape()));
  int64_t place = 0;
  HAWSER_RETURN_IF_ERROR(ForEachIndex(
      c.result_shape().dims(), c.cancel, [&](Index index) -> absl::Status {
        const Index batch = index.subspan(0, lhs.batch.size());
        const Index left = index.subspan(batch.size(), lhs.free.size());
        const Index right = index.subspan(batch.size() + left.size());
        WideComplex sum = 0;
        uint64_t bits = 0;
        HAWSER_RETURN_IF_ERROR(ForEachIndex(contracted, c.cancel, [&](Index k) {
          const Number x = At(c.operands[0], lhs.Join(batch, left, k));
          const Number y = At(c.operands[1], rhs.Join(batch, right, k));
          bits += x.bits * y.bits;
          sum += IsComplex(dtype)
                     ? ProductOf(WideOf(x), WideOf(y))
                     : WideComplex(Wide{x.value.real()} * Wide{y.value.real()});
          return absl::OkStatus();
        }));
        WriteNumber(IsInteger(dtype) ? Number::Of(bits) : InDType(sum, dtype),
                    place++, &out);
        return absl::OkStatus();
      }));
  return Values{std::move(out)};
}

// Where place `place` of the kernel lies in x for a result at `at`: false, if
// on a zero.
bool Under(const ConvolutionSpec& spec, const Shape& x, Index at, Index place,
           Dims* from) {
  for (size_t a = 0; a < spec.strides.size(); ++a) {
    const int64_t spread = at[a + 1] * spec.strides[a] +
                           place[a] * spec.kernel_dilations[a] - spec.low[a];
    if (spread < 0 || spread % spec.x_dilations[a] != 0) return false;
    const int64_t element = spread / spec.x_dilations[a];
    if (element >= x.dim(static_cast<int>(a) + 1)) return false;
    from->push_back(element);
  }
  return true;
}

// Sums rounded once; integers wrap.
absl::StatusOr<Values> Convolution(const Context& c) {
  const ConvolutionSpec spec = ConvolutionSpec::Of(c.attributes());
  const Shape& x = c.shape(0);
  const DType dtype = c.result_shape().dtype();
  Dims places = c.shape(1).dims();
  const int64_t all_out = places.back(), of_one = places[places.size() - 2];
  places.pop_back();
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(c.result_shape()));
  int64_t next = 0;
  HAWSER_RETURN_IF_ERROR(ForEachIndex(
      c.result_shape().dims(), c.cancel, [&](Index at) -> absl::Status {
        const int64_t group = at.back() / (all_out / spec.groups);
        WideComplex sum = 0;
        uint64_t bits = 0;
        HAWSER_RETURN_IF_ERROR(ForEachIndex(places, c.cancel, [&](Index place) {
          Dims from = {at[0]};
          const bool is_zero = !Under(spec, x, at, place, &from);
          from.push_back(group * of_one + place.back());
          Dims of_kernel(place.begin(), place.end());
          of_kernel.push_back(at.back());
          const Number v = is_zero ? Number() : At(c.operands[0], from);
          const Number w = At(c.operands[1], of_kernel);
          bits += v.bits * w.bits;
          sum += IsComplex(dtype)
                     ? ProductOf(WideOf(v), WideOf(w))
                     : WideComplex(Wide{v.value.real()} * Wide{w.value.real()});
          return absl::OkStatus();
        }));
        WriteNumber(IsInteger(dtype) ? Number::Of(bits) : InDType(sum, dtype),
                    next++, &out);
        return absl::OkStatus();
      }));
  return Values{std::move(out)};
}

constexpr Row kDotRows[] = {{&kDotGeneral, DotGeneral},
                            {&kConvolution, Convolution}};

}  // namespace

absl::Span<const Row> DotRows() { return kDotRows; }

}  // namespace hawser::reference
