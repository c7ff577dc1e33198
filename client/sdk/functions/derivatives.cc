#include "client/sdk/functions/derivatives.h"

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/user_code.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/reduce.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

// `vectors` are of these tensors' shapes, as far as those have derivatives.
absl::Status CheckVectors(const char* what, const Values& vectors,
                          const Values& of) {
  if (vectors.size() != of.size()) {
    return InvalidArgument("there are ", vectors.size(), " ", what, "s of ",
                           of.size(), " tensors");
  }
  for (size_t i = 0; i < of.size(); ++i) {
    // An invalid tensor is reported by itself.
    if (vectors[i].dtype() == DType::kInvalid || !IsContinuous(of[i].dtype()) ||
        vectors[i].shape() == of[i].shape()) {
      continue;
    }
    return InvalidArgument("the ", what, " of tensor ", i, " is ",
                           vectors[i].shape().ToString(), ", must be ",
                           of[i].shape().ToString());
  }
  return absl::OkStatus();
}

// The sum of all elements of xs times ys, in the widest reals there are: a sum
// of which only the gradient is of use.
Tensor Inner(const OpScope& s, const Values& xs, const Values& ys) {
  const OpScope::Formula numbers;
  Tensor total = s.ConstantOf(0, DType::kF64);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!IsContinuous(xs[i].dtype())) continue;
    total = total + s.Convert(Real(Sum(xs[i] * ys[i])), DType::kF64);
  }
  return total;
}

Values WantedOf(absl::Span<const GradLeaf> leaves) {
  Values wanted;
  for (const GradLeaf& leaf : leaves) {
    if (leaf.wanted) wanted.push_back(leaf.tensor);
  }
  return wanted;
}

Differentiated WithoutFirst(Differentiated done) {
  done.results.erase(done.results.begin());
  return done;
}

}  // namespace

Differentiated PullBack(absl::Span<const GradLeaf> leaves,
                        const Values& cotangents,
                        absl::FunctionRef<Values(const Values&)> fn,
                        SourceLocation where) {
  const OpScope s("Vjp", where, cotangents);
  return WithoutFirst(Differentiate(
      leaves,
      [&](const Values& tensors) {
        const Values results = fn(tensors);
        const absl::Status fits =
            CheckVectors("cotangent", cotangents, results);
        Values given = {!s.ok()      ? s.error()
                        : !fits.ok() ? s.Fail(fits)
                                     : Inner(s, results, cotangents)};
        given.insert(given.end(), results.begin(), results.end());
        return given;
      },
      where));
}

// The results of PullBack are linear in the cotangents, so their gradient by
// the cotangents is the derivative in a direction, whatever the cotangents are.
Pushed PushForward(absl::Span<const GradLeaf> leaves, const Values& tangents,
                   absl::FunctionRef<Values(const Values&)> fn,
                   SourceLocation where) {
  const OpScope s("Jvp", where, tangents);
  Values arguments;
  for (const GradLeaf& leaf : leaves) arguments.push_back(leaf.tensor);
  Pushed pushed{.results = fn(arguments)};
  const absl::Status fits = CheckVectors("tangent", tangents, WantedOf(leaves));
  if (!s.ok() || !fits.ok()) {
    const Tensor error = s.ok() ? s.Fail(fits) : s.error();
    for (Tensor& result : pushed.results) result = error;
    pushed.tangents = pushed.results;
    return pushed;
  }
  std::vector<GradLeaf> seeds;
  for (const Tensor& result : pushed.results) {
    if (!IsContinuous(result.dtype())) continue;
    seeds.push_back({s.ZerosLike(result), 0, true});
  }
  const Differentiated done = Differentiate(
      seeds,
      [&](const Values& given) {
        size_t next = 0;
        Values cotangents;
        for (const Tensor& result : pushed.results) {
          cotangents.push_back(IsContinuous(result.dtype()) ? given[next++]
                                                            : result);
        }
        return Values{Inner(
            s, PullBack(leaves, cotangents, fn, where).gradients, tangents)};
      },
      where);
  size_t next = 0;
  for (const Tensor& result : pushed.results) {
    const bool failed = result.dtype() == DType::kInvalid;
    pushed.tangents.push_back(IsContinuous(result.dtype())
                                  ? done.gradients[next++]
                              : failed ? result
                                       : s.ZerosLike(result));
  }
  return pushed;
}

}  // namespace hawser::sdk
