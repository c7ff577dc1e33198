// FusedBodies: each computation of a fusion is written once.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/plan/fusion/emit.h"

namespace hawser::plan {
namespace {

size_t HashOf(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Literal>) {
          return absl::HashOf(
              v.shape(), absl::string_view(v.bytes().data(), v.bytes().size()));
        } else {
          return absl::HashOf(v);
        }
      },
      value);
}

size_t HashOf(const FusedBody& body) {
  size_t hash = absl::HashOf(body.results);
  for (const Shape* shape : body.parameters) hash = absl::HashOf(hash, *shape);
  for (const FusedBody::Step& step : body.steps) {
    hash = absl::HashOf(hash, step.like->op, step.operands, step.called);
    for (const auto& [name, value] : step.like->attributes) {
      hash = absl::HashOf(hash, HashOf(value));
    }
  }
  return hash;
}

bool IsStep(const FusedBody::Step& step, const Instruction& i) {
  return step.like->op == i.op && step.operands == i.operands &&
         step.called == i.called &&
         SameAttributes(step.like->attributes, i.attributes);
}

bool IsBody(const FusedBody& body, const Computation& c) {
  const size_t parameters = body.parameters.size();
  if (c.num_parameters() != static_cast<int>(parameters)) return false;
  for (size_t k = 0; k < parameters; ++k) {
    if (c.shape(static_cast<ValueId>(k)) != *body.parameters[k]) return false;
  }
  const auto steps = c.instructions().subspan(parameters);
  return std::equal(body.steps.begin(), body.steps.end(), steps.begin(),
                    steps.end(), IsStep) &&
         c.results() == absl::MakeConstSpan(body.results);
}

}  // namespace

absl::StatusOr<int> FusedBodies::Find(const FusedBody& body) {
  auto& alike = written_[HashOf(body)];
  for (const int c : alike) {
    if (IsBody(body, module_.computation(c))) return c;
  }
  HAWSER_ASSIGN_OR_RETURN(const int written, Write(body));
  alike.push_back(written);
  return written;
}

absl::StatusOr<int> FusedBodies::Write(const FusedBody& body) {
  Computation c(absl::StrCat("fused_", module_.computations().size()));
  const size_t size = body.parameters.size() + body.steps.size();
  c.Reserve(size, size);
  for (const Shape* shape : body.parameters) {
    HAWSER_RETURN_IF_ERROR(
        c.Append(module_, kParameter, {},
                 {{"dtype", shape->dtype()}, {"dims", shape->dims()}}));
  }
  for (const FusedBody::Step& step : body.steps) {
    HAWSER_RETURN_IF_ERROR(c.Append(module_, *step.like->op, step.operands,
                                    step.like->attributes, step.called));
  }
  HAWSER_RETURN_IF_ERROR(c.SetResults(body.results));
  return module_.Add(std::move(c));
}

}  // namespace hawser::plan
