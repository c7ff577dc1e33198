#include "tests/testing/random/random_module.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/registry.h"
#include "tests/testing/random/random_draft.h"

namespace hawser {

template <typename Fits>
ValueId Draft::Find(Fits fits) {
  // A few blind draws first; then the first that fits from a random start.
  const int n = computation_.num_values();
  const int start = static_cast<int>(random_->Below(n));
  for (int i = 0; i < n; ++i) {
    const ValueId v = (start + i) % n;
    if (fits(computation_.shape(v))) return v;
  }
  return kNoValue;
}

ValueId Draft::Parameter(const Shape& shape) {
  auto v =
      computation_.Append(*module_, kParameter, {},
                          {{"dtype", shape.dtype()}, {"dims", shape.dims()}});
  HAWSER_CHECK(v.ok());
  return *v;
}

ValueId Draft::Constant(Literal value) {
  auto v = computation_.Append(*module_, kConstant, {},
                               {{"value", std::move(value)}});
  HAWSER_CHECK(v.ok());
  return *v;
}

ValueId Draft::AnyOf(DTypeSet dtypes, int min_rank) {
  const ValueId found = Find([&](const Shape& s) {
    return dtypes.Has(s.dtype()) && s.rank() >= min_rank;
  });
  if (found != kNoValue) return found;
  Dims dims = random_->PickDims(options_->max_rank, options_->max_elements,
                                options_->empty_axes);
  while (static_cast<int>(dims.size()) < min_rank) dims.push_back(1);
  return Constant(
      RandomLiteral(Shape::Of(random_->PickDType(dtypes), dims), *random_));
}

ValueId Draft::AnyOfShape(const Shape& shape) {
  const ValueId found = Find([&](const Shape& s) { return s == shape; });
  if (found != kNoValue) return found;
  if (shape.num_elements() > options_->max_elements) return kNoValue;
  return Constant(RandomLiteral(shape, *random_));
}

bool Draft::Append(const OpDef& op, Proposal p) {
  std::vector<Shape> operands;
  for (const ValueId v : p.operands) {
    if (v == kNoValue) return false;
    operands.push_back(shape(v));
  }
  std::vector<const Signature*> called;
  for (const int c : p.called) called.push_back(&module_->signature(c));
  auto shapes = InferShapes({op, operands, p.attributes, called});
  if (!shapes.ok()) return false;
  for (const Shape& s : *shapes) {
    if (s.num_elements() > options_->max_elements) return false;
  }
  return computation_
      .Append(*module_, op, p.operands, std::move(p.attributes), p.called)
      .ok();
}

void Draft::Grow(absl::Span<const OpDef* const> ops) {
  constexpr int kTries = 50;
  const OpDef* op = random_->Pick(ops);
  for (int i = 0; i < kTries; ++i) {
    if (Append(*op, Propose(*op, *this))) return;
    if (i % 5 == 4) op = random_->Pick(ops);
  }
}

int Draft::Finish(absl::Span<const ValueId> results) {
  HAWSER_CHECK(computation_.SetResults(results).ok());
  return module_->Add(std::move(computation_));
}

namespace {

std::vector<const OpDef*> OpsToDraw(const RandomModuleOptions& options) {
  const auto all = AllOps();
  std::vector<const OpDef*> ops = options.ops;
  if (ops.empty()) ops.assign(all.begin(), all.end());
  ops.erase(std::remove_if(ops.begin(), ops.end(),
                           [&](const OpDef* op) {
                             return op == &kParameter ||
                                    (!options.regions && op->Is(kHasRegions));
                           }),
            ops.end());
  return ops;
}

// Values no instruction uses; at least one.
std::vector<ValueId> Unused(const Computation& computation) {
  std::vector<bool> used(computation.num_values(), false);
  for (const Instruction& i : computation.instructions()) {
    for (const ValueId v : i.operands) used[v] = true;
  }
  std::vector<ValueId> results;
  for (ValueId v = 0; v < computation.num_values(); ++v) {
    if (!used[v]) results.push_back(v);
  }
  if (results.empty()) results.push_back(computation.num_values() - 1);
  return results;
}

}  // namespace

Module RandomModule(uint64_t seed, const RandomModuleOptions& options) {
  Module module(absl::StrCat("random ", seed));
  Random random(seed);
  Draft entry(&module, &random, &options, "main");
  const std::vector<const OpDef*> ops = OpsToDraw(options);
  for (int i = 0; i < options.parameters; ++i) {
    entry.Parameter(
        Shape::Of(random.PickDType(options.dtypes),
                  random.PickDims(options.max_rank, options.max_elements,
                                  options.empty_axes)));
  }
  for (int i = 0; i < options.instructions; ++i) entry.Grow(ops);
  std::vector<ValueId> results = Unused(entry.computation());
  if (random.OneIn(4)) results.push_back(results[0]);
  entry.Finish(results);
  return module;
}

}  // namespace hawser
