#include "client/sdk/ops/linalg/einsum_spec.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

// Beyond that, orders are too many to look at all.
constexpr size_t kMostInAnyOrder = 8;

// A label for itself, and one where the dots stand.
constexpr Label kDots = 0;

// "ab...c", with kDots for the dots.
absl::StatusOr<Labels> ParseTerm(absl::string_view term) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.substr(i, 3) == "...") {
      if (HasLabel(labels, kDots)) {
        return InvalidArgument("\"", term, "\" has ... twice");
      }
      labels.push_back(kDots);
      i += 2;
    } else if (absl::ascii_isalpha(term[i])) {
      labels.push_back(term[i]);
    } else {
      return InvalidArgument("\"", term, "\" has something else than letters ",
                             "and ...");
    }
  }
  return labels;
}

// The dots become so many axes, numbered from the end.
Labels Expanded(const Labels& term, int dots) {
  Labels labels;
  for (const Label label : term) {
    if (label != kDots) {
      labels.push_back(label);
      continue;
    }
    for (int k = dots; k > 0; --k) labels.push_back(-k);
  }
  return labels;
}

std::string NameOf(Label label) {
  return label > 0 ? std::string(1, static_cast<char>(label))
                   : absl::StrCat("axis ", label, " of ...");
}

// Notes the sizes of an operand's labels.
absl::Status AddSizes(const Labels& labels, const Shape& shape,
                      std::map<Label, int64_t>* sizes) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const int64_t size = shape.dim(static_cast<int>(i));
    const auto [at, is_new] = sizes->emplace(labels[i], size);
    if (is_new || at->second == size) continue;
    const bool broadcasts = labels[i] < 0 && (at->second == 1 || size == 1);
    if (!broadcasts) {
      return InvalidArgument(NameOf(labels[i]), " has sizes ", at->second,
                             " and ", size);
    }
    at->second = at->second == 1 ? size : at->second;
  }
  return absl::OkStatus();
}

// Returns the labels that the result has where the text has no "->".
Labels ImpliedResult(const std::vector<Labels>& operands, int dots) {
  std::map<Label, int> count;
  for (const Labels& labels : operands) {
    for (const Label label : labels) ++count[label];
  }
  Labels result;
  for (int k = dots; k > 0; --k) result.push_back(-k);
  for (const auto& [label, times] : count) {
    if (label > 0 && times == 1) result.push_back(label);
  }
  return result;
}

absl::Status CheckResult(const EinsumSpec& spec, int dots) {
  std::set<Label> seen;
  for (const Label label : spec.result) {
    if (!seen.insert(label).second) {
      return InvalidArgument("the result has ", NameOf(label), " twice");
    }
    if (spec.sizes.count(label) == 0) {
      return InvalidArgument("the result has ", NameOf(label),
                             ", which no tensor has");
    }
  }
  if (dots > 0 && seen.count(-1) == 0) {
    return InvalidArgument("the result lacks the axes of ...");
  }
  return absl::OkStatus();
}

// The terms of the operands, with dots where they stand; how many axes these
// are.
absl::StatusOr<int> ParseOperands(absl::string_view text,
                                  absl::Span<const Shape> shapes,
                                  std::vector<Labels>* operands) {
  const std::vector<absl::string_view> terms = absl::StrSplit(text, ',');
  if (terms.size() != shapes.size() || shapes.empty()) {
    return InvalidArgument("\"", text, "\" is of ", terms.size(),
                           " tensors, and ", shapes.size(), " are given");
  }
  int dots = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(const Labels term, ParseTerm(terms[i]));
    const bool has_dots = HasLabel(term, kDots);
    const int rest =
        shapes[i].rank() - static_cast<int>(term.size()) + (has_dots ? 1 : 0);
    if (rest < 0 || (rest > 0 && !has_dots)) {
      return InvalidArgument("\"", terms[i], "\" does not fit ",
                             shapes[i].ToString());
    }
    dots = std::max(dots, has_dots ? rest : 0);
    operands->push_back(Expanded(term, rest));
  }
  return dots;
}

// What a set of operands, as bits, comes to: the labels that stay.
class Subsets {
 public:
  explicit Subsets(const EinsumSpec& spec) : spec_(spec) {}

  Labels LabelsOf(uint32_t set) const {
    Labels labels;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      for (const Label label : spec_.operands[i]) {
        if (!HasLabel(labels, label) && Stays(label, set)) {
          labels.push_back(label);
        }
      }
    }
    return labels;
  }
  // The products that multiplying two of them takes.
  double CostOf(const Labels& left, const Labels& right) const {
    double cost = 1;
    for (const Label label : left) cost *= SizeOf(label);
    for (const Label label : right) {
      if (!HasLabel(left, label)) cost *= SizeOf(label);
    }
    return cost;
  }

 private:
  double SizeOf(Label label) const {
    return static_cast<double>(spec_.sizes.at(label));
  }
  bool Stays(Label label, uint32_t set) const {
    if (HasLabel(spec_.result, label)) return true;
    // One operand alone is not summed by a product.
    if ((set & (set - 1)) == 0) return true;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      if ((set >> i & 1) == 0 && HasLabel(spec_.operands[i], label)) {
        return true;
      }
    }
    return false;
  }

  const EinsumSpec& spec_;
};

// Splits sets in all ways, the smallest first.
class BestOrder {
 public:
  explicit BestOrder(const EinsumSpec& spec)
      : count_(spec.operands.size()), subsets_(spec) {
    const uint32_t all = (uint32_t{1} << count_) - 1;
    best_.resize(all + 1);
    for (uint32_t set = 0; set <= all; ++set) {
      labels_.push_back(subsets_.LabelsOf(set));
    }
    for (uint32_t set = 1; set <= all; ++set) Split(set);
  }

  std::vector<EinsumPair> Pairs() const {
    // The sets that are left, in the order in which operands are.
    std::vector<uint32_t> left;
    for (size_t i = 0; i < count_; ++i) left.push_back(uint32_t{1} << i);
    std::vector<EinsumPair> pairs;
    Multiply(left.size() == 0 ? 0 : (uint32_t{1} << count_) - 1, &left, &pairs);
    return pairs;
  }

 private:
  struct Way {
    double cost = 0;
    uint32_t part = 0;
  };

  void Split(uint32_t set) {
    if ((set & (set - 1)) == 0) return;
    Way& best = best_[set];
    best.cost = std::numeric_limits<double>::infinity();
    for (uint32_t part = (set - 1) & set; part > 0; part = (part - 1) & set) {
      const uint32_t rest = set & ~part;
      if (part < rest) continue;
      const double cost = best_[part].cost + best_[rest].cost +
                          subsets_.CostOf(labels_[part], labels_[rest]);
      if (cost < best.cost) best = {cost, part};
    }
  }
  void Multiply(uint32_t set, std::vector<uint32_t>* left,
                std::vector<EinsumPair>* pairs) const {
    if ((set & (set - 1)) == 0) return;
    const uint32_t part = best_[set].part, rest = set & ~part;
    Multiply(part, left, pairs);
    Multiply(rest, left, pairs);
    const auto place = [&](uint32_t of) {
      return static_cast<size_t>(std::find(left->begin(), left->end(), of) -
                                 left->begin());
    };
    const size_t a = std::min(place(part), place(rest));
    const size_t b = std::max(place(part), place(rest));
    pairs->push_back({a, b});
    left->erase(left->begin() + b);
    left->erase(left->begin() + a);
    left->push_back(set);
  }

  const size_t count_;
  const Subsets subsets_;
  std::vector<Labels> labels_;
  std::vector<Way> best_;
};

// Operands as they are multiplied.
class Running {
 public:
  explicit Running(const EinsumSpec& spec) : spec_(spec), subsets_(spec) {
    // A letter twice in one operand is one axis.
    for (const Labels& operand : spec.operands) {
      left_.push_back(KeptOf(operand, {}, spec.operands, spec.result));
    }
  }

  size_t count() const { return left_.size(); }
  double CostOf(const EinsumPair& pair) const {
    return subsets_.CostOf(left_[pair.left], left_[pair.right]);
  }
  void Multiply(const EinsumPair& pair) {
    const Labels a = left_[pair.left], b = left_[pair.right];
    left_.erase(left_.begin() + pair.right);
    left_.erase(left_.begin() + pair.left);
    left_.push_back(KeptOf(a, b, left_, spec_.result));
  }

 private:
  const EinsumSpec& spec_;
  const Subsets subsets_;
  std::vector<Labels> left_;
};

}  // namespace

bool HasLabel(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels KeptOf(const Labels& left, const Labels& right,
              absl::Span<const Labels> others, const Labels& result) {
  Labels kept;
  for (const Labels* labels : {&left, &right}) {
    for (const Label label : *labels) {
      const bool stays =
          HasLabel(result, label) ||
          std::any_of(others.begin(), others.end(), [&](const Labels& other) {
            return HasLabel(other, label);
          });
      if (stays && !HasLabel(kept, label)) kept.push_back(label);
    }
  }
  return kept;
}

absl::StatusOr<EinsumSpec> ParseEinsum(absl::string_view text,
                                       absl::Span<const Shape> shapes) {
  std::string plain;
  for (const char c : text) {
    if (c != ' ') plain += c;
  }
  const std::vector<absl::string_view> sides = absl::StrSplit(plain, "->");
  if (sides.size() > 2) return InvalidArgument("\"", text, "\" has -> twice");
  EinsumSpec spec;
  HAWSER_ASSIGN_OR_RETURN(const int dots,
                          ParseOperands(sides[0], shapes, &spec.operands));
  for (size_t i = 0; i < shapes.size(); ++i) {
    HAWSER_RETURN_IF_ERROR(AddSizes(spec.operands[i], shapes[i], &spec.sizes));
  }
  if (sides.size() == 1) {
    spec.result = ImpliedResult(spec.operands, dots);
    return spec;
  }
  HAWSER_ASSIGN_OR_RETURN(const Labels term, ParseTerm(sides[1]));
  spec.result = Expanded(term, dots);
  HAWSER_RETURN_IF_ERROR(CheckResult(spec, dots));
  return spec;
}

std::vector<EinsumPair> EinsumOrder(const EinsumSpec& spec) {
  if (spec.operands.size() <= kMostInAnyOrder) return BestOrder(spec).Pairs();
  Running running(spec);
  std::vector<EinsumPair> pairs;
  while (running.count() > 1) {
    EinsumPair best{0, 1};
    for (size_t a = 0; a < running.count(); ++a) {
      for (size_t b = a + 1; b < running.count(); ++b) {
        if (running.CostOf({a, b}) < running.CostOf(best)) best = {a, b};
      }
    }
    running.Multiply(best);
    pairs.push_back(best);
  }
  return pairs;
}

double EinsumCost(const EinsumSpec& spec, absl::Span<const EinsumPair> order) {
  Running running(spec);
  double cost = 0;
  for (const EinsumPair& pair : order) {
    cost += running.CostOf(pair);
    running.Multiply(pair);
  }
  return cost;
}

}  // namespace hawser::sdk
