#include "core/passes/cse.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "core/ir/leaves.h"
#include "core/passes/rewrite/rewriter.h"

namespace hawser {
namespace {

size_t HashOf(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Literal>) {
          return absl::HashOf(v.shape(), absl::string_view(v.bytes().data(),
                                                           v.bytes().size()));
        } else {
          return absl::HashOf(v);
        }
      },
      value);
}

// The identity of an instruction: two with equal keys compute the same values.
struct Key {
  const OpDef* op;
  absl::InlinedVector<ValueId, 3> operands;
  const Attributes* attributes;
  absl::InlinedVector<int, 1> called;

  bool operator==(const Key& o) const {
    return op == o.op && operands == o.operands && called == o.called &&
           SameAttributes(*attributes, *o.attributes);
  }
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    h = H::combine(std::move(h), k.op, k.operands, k.called);
    for (const auto& [name, value] : *k.attributes) {
      h = H::combine(std::move(h), name, HashOf(value));
    }
    return h;
  }
};

// `attributes` must outlive the key.
Key KeyOf(const OpDef* op, absl::InlinedVector<ValueId, 3> operands,
          const Attributes& attributes, absl::InlinedVector<int, 1> called) {
  if (op->Is(kCommutative)) std::sort(operands.begin(), operands.end());
  return {op, std::move(operands), &attributes, std::move(called)};
}

Key KeyOf(const Instruction& i) {
  return KeyOf(i.op, i.operands, i.attributes, i.called);
}

bool SameComputation(const Computation& a, const Computation& b) {
  return std::equal(a.results().begin(), a.results().end(),
                    b.results().begin(), b.results().end()) &&
         std::equal(a.instructions().begin(), a.instructions().end(),
                    b.instructions().begin(), b.instructions().end(),
                    [](const Instruction& x, const Instruction& y) {
                      return KeyOf(x) == KeyOf(y);
                    });
}

size_t HashOf(const Computation& c) {
  std::vector<size_t> parts;
  for (const Instruction& i : c.instructions()) {
    parts.push_back(absl::HashOf(KeyOf(i)));
  }
  return absl::HashOf(parts, c.results());
}

absl::StatusOr<Computation> MergeInstructions(const Computation& from,
                                              const Module& to,
                                              absl::Span<const int> called,
                                              bool* changed) {
  Rewriter rewriter(from, to, called);
  // Keys point at the attributes of `from`, which stay where they are.
  absl::flat_hash_map<Key, ValueId> first;
  for (const Instruction& i : from.instructions()) {
    if (i.op != &kParameter) {
      auto [at, is_new] = first.try_emplace(
          KeyOf(i.op, rewriter.MappedOperands(i), i.attributes,
                rewriter.MappedCalls(i)),
          rewriter.to().num_values());
      if (!is_new) {
        rewriter.Replace(i, at->second);
        *changed = true;
        continue;
      }
    }
    HAWSER_RETURN_IF_ERROR(rewriter.Keep(i));
  }
  return rewriter.Finish();
}

}  // namespace

absl::StatusOr<Module> EliminateCommonSubexpressions(Module module,
                                                     bool* changed) {
  Module to(module.name());
  bool merged = false;
  std::vector<int> called;
  absl::flat_hash_map<size_t, std::vector<int>> by_hash;
  const int count = static_cast<int>(module.computations().size());
  for (int c = 0; c < count; ++c) {
    HAWSER_ASSIGN_OR_RETURN(
        Computation rebuilt,
        MergeInstructions(module.computation(c), to, called, &merged));
    std::vector<int>& alike = by_hash[HashOf(rebuilt)];
    const auto same =
        std::find_if(alike.begin(), alike.end(), [&](int other) {
          return SameComputation(to.computation(other), rebuilt);
        });
    const bool entry = c + 1 == count;
    if (same != alike.end() && !entry) {
      called.push_back(*same);
      merged = true;
      continue;
    }
    alike.push_back(to.Add(std::move(rebuilt)));
    called.push_back(alike.back());
  }
  if (!merged) return module;
  *changed = true;
  return to;
}

}  // namespace hawser
