#include "kernels/plan/library/convolution_form.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/ops/movement/shape.h"
#include "core/ops/windows/convolution.h"
#include "kernels/plan/library/library_ops.h"

namespace hawser::plan {
namespace {

// Many times as many places of a kernel as results are those of a kernel's
// gradient, wherever its batches lie.
constexpr double kManyPlaces = 64;

double ProductOf(absl::Span<const int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 1.0,
                         std::multiplies<double>());
}

// ---- orders of axes -------------------------------------------------------

const Instruction& MakerOf(const Expression& x) {
  const Computation& c = x.scope()->builder.computation();
  return c.instructions()[c.producer(x.value())];
}

// The array that x is a transpose of, if it is one: axis i of x is axis
// order[i] of it.
struct Source {
  Expression value;
  Dims order;
};
Source SourceOf(const Expression& x) {
  Source source{x, Dims(x.rank())};
  std::iota(source.order.begin(), source.order.end(), int64_t{0});
  while (MakerOf(source.value).op == &kTranspose) {
    const Instruction& transpose = MakerOf(source.value);
    const auto permutation = transpose.attributes.GetInts("permutation");
    for (int64_t& axis : source.order) axis = permutation[axis];
    source.value = Expression(x.scope(), transpose.operands[0]);
  }
  return source;
}

// x transposed, as one transpose of what it is made of, or none.
Expression Arranged(const Expression& x, absl::Span<const int64_t> order) {
  const Source source = SourceOf(x);
  Dims merged;
  for (const int64_t axis : order) merged.push_back(source.order[axis]);
  return Transposed(source.value, merged);
}

// x reversed along these axes, in front of its transposes: there it meets the
// reverse by which a gradient was made.
Expression Turned(const Expression& x, const Dims& axes) {
  const Source source = SourceOf(x);
  Dims of_source;
  for (const int64_t axis : axes) of_source.push_back(source.order[axis]);
  std::sort(of_source.begin(), of_source.end());
  return Transposed(
      Apply(kReverse, {source.value}, {{"dimensions", of_source}}),
      source.order);
}

// `front`, then `count` axes from `first` on, then `back`.
Dims Order(Dims front, int64_t first, size_t count, const Dims& back) {
  for (size_t i = 0; i < count; ++i) {
    front.push_back(first + static_cast<int64_t>(i));
  }
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

// The axis `axis` of x as `groups` and the rest; `joined`: it and the next one
// as one.
Expression Split(const Expression& x, size_t axis, int64_t groups) {
  Dims dims = x.dims();
  dims.insert(dims.begin() + axis, groups);
  dims[axis + 1] /= groups;
  return Reshaped(x, dims);
}
Expression Joined(const Expression& x, size_t axis) {
  Dims dims = x.dims();
  dims[axis] *= dims[axis + 1];
  dims.erase(dims.begin() + axis + 1);
  return Reshaped(x, dims);
}

// ---- calls ----------------------------------------------------------------

// A call, by sizes. Each list has an entry a spatial axis.
struct Call {
  absl::string_view direction;
  DType dtype = DType::kInvalid;
  int64_t groups = 1, batch = 0, in = 0, out = 0;
  Dims x, w, y;
  Dims strides, dilations, padding;
  // Zeros that x has around it beyond the padding; negative: that are cut.
  Dims low, high;
  bool features_first = false;

  Shape Of(int64_t outer, const Dims& spatial, int64_t features) const {
    Dims dims = {outer};
    if (features_first) dims.push_back(features);
    dims.insert(dims.end(), spatial.begin(), spatial.end());
    if (!features_first) dims.push_back(features);
    return Shape::Of(dtype, dims);
  }
  Shape OfX() const { return Of(batch, x, in); }
  Shape OfW() const { return Of(out, w, in / groups); }
  Shape OfY() const { return Of(batch, y, out); }
  // The operands, then the result.
  std::array<Shape, 3> Shapes() const {
    if (direction == kForwardConvolution) return {OfX(), OfW(), OfY()};
    if (direction == kDataConvolution) return {OfW(), OfY(), OfX()};
    return {OfX(), OfY(), OfW()};
  }
  Attributes ToAttributes() const {
    return {{"direction", std::string(direction)},
            {"feature_group_count", groups},
            {"features_first", features_first},
            {"padding", padding},
            {"result_dims", Shapes()[2].dims()},
            {"rhs_dilation", dilations},
            {"window_strides", strides}};
  }

  // Adds an axis on which `front` zeros stand in front of x. The library pads
  // alike on both sides: what is missing is padded before.
  void AddAxis(int64_t of_x, int64_t of_w, int64_t of_y, int64_t stride,
               int64_t dilation, int64_t front) {
    const int64_t reach = (of_y - 1) * stride + (of_w - 1) * dilation + 1;
    const int64_t behind = reach - of_x - front;
    const bool alike = front >= 0 && front >= behind && front - behind < stride;
    const int64_t both =
        alike ? front : std::max<int64_t>(0, std::min(front, behind));
    x.push_back(alike ? of_x : reach - 2 * both);
    w.push_back(of_w);
    y.push_back(of_y);
    strides.push_back(stride);
    dilations.push_back(dilation);
    padding.push_back(both);
    low.push_back(alike ? 0 : front - both);
    high.push_back(alike ? 0 : behind - both);
  }
};

// An op that may become a call: lhs and rhs are its operands.
class Convolution {
 public:
  explicit Convolution(const LibrarySite& site)
      : target_(site.target),
        spec_(ConvolutionSpec::Of(site.instruction.attributes)),
        lhs_(site.operands[0]),
        rhs_(site.operands[1]),
        of_lhs_(lhs_.dims()),
        of_rhs_(rhs_.dims()),
        of_result_(site.result.dims()),
        k_(spec_.strides.size()) {}

  bool IsWorthACall() const;
  // The calls that do it, the best one first.
  std::vector<Call> Calls() const;
  bool Takes(const Call& call) const {
    const auto shapes = call.Shapes();
    return target_.takes_call(kLibraryConvolution,
                              absl::MakeSpan(shapes).first(2),
                              call.ToAttributes());
  }
  Expression By(const Call& call) const;

 private:
  // The number of an axis behind the spatial ones of [x, spatial..., y].
  int64_t last() const { return static_cast<int64_t>(k_) + 1; }
  double Places() const { return ProductOf(absl::MakeSpan(of_rhs_).first(k_)); }
  bool IsGradientOfKernel() const;

  Call Forward() const;
  Call OfData() const;
  Call OfFilter() const;

  Expression Made(const Call& call, const Expression& first,
                  const Expression& second) const {
    return Apply(kLibraryConvolution, {first, second}, call.ToAttributes());
  }
  Expression Padded(const Expression& x, const Call& call, int sign) const;
  Expression AsForward(const Call& call) const;
  Expression AsData(const Call& call) const;
  Expression AsFilter(const Call& call) const;
  // [outer, spatial..., features] as the call has it, and back.
  Dims ToCall(const Call& call) const;

  const Target& target_;
  const ConvolutionSpec spec_;
  const Expression lhs_, rhs_;
  const Dims of_lhs_, of_rhs_, of_result_;
  const size_t k_;
};

bool AreOnes(absl::Span<const int64_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](int64_t n) { return n == 1; });
}

// A product does it at once where windows that are written out are no more than
// what they are made of; and a loop does it for groups of few products.
bool Convolution::IsWorthACall() const {
  const double results = ProductOf(of_result_), elements = ProductOf(of_lhs_);
  const double of_one = static_cast<double>(of_rhs_[k_]);
  if (!IsFloat(lhs_.dtype()) ||
      results * Places() * of_one < target_.least_convolution || results == 0 ||
      elements == 0 || of_one * Places() == 0) {
    return false;
  }
  if (spec_.groups > 1 &&
      of_rhs_[k_] * (of_rhs_.back() / spec_.groups) <= kFewProducts) {
    return false;
  }
  const double written = results / static_cast<double>(of_rhs_.back()) *
                         Places() * static_cast<double>(of_lhs_.back());
  return !AreOnes(spec_.x_dilations) || written > elements;
}

// The kernel of a forward convolution is small beside its results. In memory
// the batches, which are added up here, lie outermost.
bool Convolution::IsGradientOfKernel() const {
  const double results = ProductOf(absl::MakeSpan(of_result_).subspan(1, k_));
  return Places() > kManyPlaces * results ||
         (Places() > results &&
          (of_lhs_.back() == spec_.groups || spec_.groups > 1 ||
           SourceOf(lhs_).order[last()] == 0));
}

std::vector<Call> Convolution::Calls() const {
  Call call;
  bool filter = false;
  if (AreOnes(spec_.x_dilations)) {
    filter = IsGradientOfKernel();
    call = filter ? OfFilter() : Forward();
  } else if (AreOnes(spec_.strides)) {
    call = OfData();
  } else {
    return {};
  }
  call.dtype = lhs_.dtype();
  call.groups = spec_.groups;
  // Units for products of halves want features last. Otherwise the array in
  // memory is taken as it is.
  const Dims order = SourceOf(lhs_).order;
  const bool stands_first = order[filter ? 0 : last()] == 1;
  call.features_first = stands_first && BitWidth(call.dtype) >= 32;
  std::vector<Call> calls = {call, call};
  calls[1].features_first = !call.features_first;
  return calls;
}

Call Convolution::Forward() const {
  Call call{.direction = kForwardConvolution,
            .batch = of_lhs_[0],
            .in = of_lhs_.back(),
            .out = of_rhs_.back()};
  for (size_t a = 0; a < k_; ++a) {
    call.AddAxis(of_lhs_[a + 1], of_rhs_[a], of_result_[a + 1],
                 spec_.strides[a], spec_.kernel_dilations[a], spec_.low[a]);
  }
  return call;
}

// The left side is y, the right side w, turned around.
Call Convolution::OfData() const {
  Call call{.direction = kDataConvolution,
            .batch = of_lhs_[0],
            .in = of_rhs_.back(),
            .out = of_lhs_.back()};
  for (size_t a = 0; a < k_; ++a) {
    const int64_t dilation = spec_.kernel_dilations[a];
    call.AddAxis(of_result_[a + 1], of_rhs_[a], of_lhs_[a + 1],
                 spec_.x_dilations[a], dilation,
                 (of_rhs_[a] - 1) * dilation - spec_.low[a]);
  }
  return call;
}

// The left side is x, with batches for features; the right side is y, and
// strides and dilations have changed places.
Call Convolution::OfFilter() const {
  Call call{.direction = kFilterConvolution,
            .batch = of_lhs_.back() / spec_.groups,
            .in = of_lhs_[0] * spec_.groups,
            .out = of_rhs_.back()};
  for (size_t a = 0; a < k_; ++a) {
    call.AddAxis(of_lhs_[a + 1], of_result_[a + 1], of_rhs_[a],
                 spec_.kernel_dilations[a], spec_.strides[a], spec_.low[a]);
  }
  return call;
}

// ---- what stands around a call --------------------------------------------

Dims Convolution::ToCall(const Call& call) const {
  return call.features_first ? Order({0, last()}, 1, k_, {})
                             : Order({0}, 1, k_, {last()});
}

// x with the zeros that the call does not add; sign -1: without them.
Expression Convolution::Padded(const Expression& x, const Call& call,
                               int sign) const {
  Dims low(x.rank()), high(x.rank());
  const size_t first = call.features_first ? 2 : 1;
  for (size_t a = 0; a < k_; ++a) {
    low[first + a] = sign * call.low[a];
    high[first + a] = sign * call.high[a];
  }
  const Dims none(x.rank());
  if (low == none && high == none) return x;
  return Apply(kPad, {x, Filled(x.scope(), Shape::Scalar(x.dtype()), 0)},
               {{"edge_padding_high", high},
                {"edge_padding_low", low},
                {"interior_padding", none}});
}

Expression Convolution::AsForward(const Call& call) const {
  const int64_t k = static_cast<int64_t>(k_);
  const Dims order = ToCall(call);
  const Expression w =
      Arranged(rhs_, call.features_first ? Order({k + 1, k}, 0, k_, {})
                                         : Order({k + 1}, 0, k_, {k}));
  const Expression x = Padded(Arranged(lhs_, order), call, 1);
  return Transposed(Made(call, x, w), InversePermutation(order));
}

// w has the results of the right side as its features, and its features, of
// each group, as results.
Expression Convolution::AsData(const Call& call) const {
  const int64_t k = static_cast<int64_t>(k_);
  const Expression turned = Turned(rhs_, Order({}, 0, k_, {}));
  Expression w;
  if (spec_.groups == 1) {
    w = Arranged(turned, call.features_first ? Order({k, k + 1}, 0, k_, {})
                                             : Order({k}, 0, k_, {k + 1}));
  } else {
    w = Transposed(Split(turned, k_ + 1, spec_.groups),
                   call.features_first ? Order({k + 1, k, k + 2}, 0, k_, {})
                                       : Order({k + 1, k}, 0, k_, {k + 2}));
    w = Joined(w, 0);
  }
  const Dims order = ToCall(call);
  const Expression x = Made(call, w, Arranged(lhs_, order));
  return Transposed(Padded(x, call, -1), InversePermutation(order));
}

Expression Convolution::AsFilter(const Call& call) const {
  const int64_t k = static_cast<int64_t>(k_);
  const bool first = call.features_first;
  Expression x;
  if (spec_.groups == 1) {
    x = Arranged(lhs_, first ? Order({k + 1, 0}, 1, k_, {})
                             : Order({k + 1}, 1, k_, {0}));
  } else {
    x = Transposed(Split(lhs_, k_ + 1, spec_.groups),
                   first ? Order({k + 2, k + 1, 0}, 1, k_, {})
                         : Order({k + 2}, 1, k_, {k + 1, 0}));
    x = Joined(x, first ? 1 : k_ + 1);
  }
  const Expression y = Arranged(
      rhs_, first ? Order({k, k + 1}, 0, k_, {}) : Order({k}, 0, k_, {k + 1}));
  return Transposed(
      Made(call, Padded(x, call, 1), y),
      first ? Order({1}, 2, k_, {0}) : Order({k + 1}, 1, k_, {0}));
}

Expression Convolution::By(const Call& call) const {
  if (call.direction == kForwardConvolution) return AsForward(call);
  return call.direction == kDataConvolution ? AsData(call) : AsFilter(call);
}

}  // namespace

std::optional<Expressions> ConvolutionForm(const LibrarySite& site) {
  const Convolution convolution(site);
  if (!convolution.IsWorthACall()) return std::nullopt;
  for (const Call& call : convolution.Calls()) {
    if (convolution.Takes(call)) return Expressions{convolution.By(call)};
  }
  return std::nullopt;
}

}  // namespace hawser::plan
