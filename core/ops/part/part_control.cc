// Parts of loops and branches: their computations in parts.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/part/part.h"

namespace hawser {
namespace {

// Widens `box` by `other`. False: it was wide enough.
bool Widen(MaybeBox& box, const MaybeBox& other) {
  if (!other.has_value()) return false;
  if (box.has_value() && Contains(*box, *other)) return false;
  box = box.has_value() ? HullOf(*std::move(box), *other) : *other;
  return true;
}

// The boxes of a condition's result: all of it.
std::vector<MaybeBox> Truth() {
  std::vector<MaybeBox> truth(1);
  truth[0].emplace();
  return truth;
}

// The operands that are there.
std::vector<Expression> Present(absl::Span<const Expression> operands) {
  std::vector<Expression> present;
  for (const Expression& operand : operands) {
    if (operand.present()) present.push_back(operand);
  }
  return present;
}

}  // namespace

// The smallest boxes of the state over which condition and body close; state
// that neither needs goes. An axis that grows twice is taken whole, so that
// what a body shifts by one in each iteration ends soon.
absl::Status WhilePart(PartContext& c) {
  const size_t state = c.results.size();
  std::vector<MaybeBox> boxes(c.operands.size());
  for (size_t k = 0; k < state; ++k) boxes[k] = c.wanted[k];
  std::vector<absl::InlinedVector<int, 4>> grown(c.operands.size());
  const std::vector<MaybeBox> truth = Truth();
  for (bool wider = true; wider;) {
    wider = false;
    HAWSER_ASSIGN_OR_RETURN(auto condition, c.asks_of(0, truth));
    HAWSER_ASSIGN_OR_RETURN(
        auto body, c.asks_of(1, absl::MakeConstSpan(boxes).subspan(0, state)));
    for (const auto* asked : {&condition, &body}) {
      for (size_t i = 0; i < boxes.size(); ++i) {
        const MaybeBox before = boxes[i];
        if (!Widen(boxes[i], (*asked)[i])) continue;
        wider = true;
        grown[i].resize(boxes[i]->size());
        for (size_t a = 0; before.has_value() && a < before->size(); ++a) {
          if ((*before)[a] == (*boxes[i])[a]) continue;
          if (++grown[i][a] < 2) continue;
          (*boxes[i])[a] = {0, c.operands[i].dim(static_cast<int>(a))};
        }
      }
    }
  }
  int64_t invariant = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    c.asks[i] = boxes[i];
    if (i < state) c.gives[i] = boxes[i];
    if (i >= state && boxes[i].has_value()) ++invariant;
  }
  c.make = [boxes, state, invariant](PartScope& s) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const int condition, s.part_of(0, boxes, Truth()));
    HAWSER_ASSIGN_OR_RETURN(
        const int body,
        s.part_of(1, boxes, absl::MakeConstSpan(boxes).subspan(0, state)));
    const Expression first =
        Apply(kWhile, Present(s.operands), {{"num_invariant", invariant}},
              {condition, body});
    for (size_t k = 0, next = 0; k < state; ++k) {
      if (!boxes[k].has_value()) continue;
      s.Give(static_cast<int>(k), ResultOf(first, static_cast<int>(next++)));
    }
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

// Asks for all that any of the branches asks for.
absl::Status CasePart(PartContext& c) {
  const size_t branches = c.instruction.called.size();
  std::vector<MaybeBox> boxes(c.operands.size() - 1);
  for (size_t i = 0; i < branches; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const auto asked,
                            c.asks_of(static_cast<int>(i), c.wanted));
    for (size_t k = 0; k < boxes.size(); ++k) Widen(boxes[k], asked[k]);
  }
  c.asks[0].emplace();
  std::copy(boxes.begin(), boxes.end(), c.asks.begin() + 1);
  std::vector<MaybeBox> wanted(c.wanted.begin(), c.wanted.end());
  c.make = [boxes, wanted, branches](PartScope& s) -> absl::Status {
    std::vector<int> called;
    for (size_t i = 0; i < branches; ++i) {
      HAWSER_ASSIGN_OR_RETURN(called.emplace_back(),
                              s.part_of(static_cast<int>(i), boxes, wanted));
    }
    const Expression first = Apply(kCase, Present(s.operands), {}, called);
    for (size_t k = 0, next = 0; k < wanted.size(); ++k) {
      if (!wanted[k].has_value()) continue;
      s.Give(static_cast<int>(k), ResultOf(first, static_cast<int>(next++)));
    }
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

}  // namespace hawser
