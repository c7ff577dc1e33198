#include "core/sharding/part/part_plan.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser {
namespace {

// Beyond so many, all boxes of a value are one.
constexpr size_t kMostVersions = 3;

// The boxes that are made of a value of which `asked` are asked for.
std::vector<Box> VersionsOf(std::vector<Box> asked, bool computed) {
  std::vector<Box> versions;
  // True if one box is worth it in place of both.
  const auto join = [&](const Box& a, const Box& b) {
    if (2 * ElementsOf(Meet(a, b)) >= std::min(ElementsOf(a), ElementsOf(b))) {
      return true;
    }
    return computed &&
           ElementsOf(HullOf(a, b)) <= ElementsOf(a) + ElementsOf(b);
  };
  for (Box& box : asked) {
    bool merged = true;
    while (merged) {
      merged = false;
      for (size_t i = 0; i < versions.size() && !merged; ++i) {
        merged = join(versions[i], box);
        if (!merged) continue;
        box = HullOf(std::move(box), versions[i]);
        versions.erase(versions.begin() + static_cast<int64_t>(i));
      }
    }
    versions.push_back(std::move(box));
  }
  if (versions.size() <= kMostVersions) return versions;
  Box hull = versions[0];
  for (const Box& box : versions) hull = HullOf(std::move(hull), box);
  return {std::move(hull)};
}

// The elements of `value` in `box`.
absl::StatusOr<Literal> SliceOf(const Literal& value, const Box& box) {
  const Shape& shape = value.shape();
  if (box == WholeBox(shape)) return value;
  HAWSER_ASSIGN_OR_RETURN(Literal part, Literal::Allocate(ShapeOf(shape, box)));
  const size_t rank = box.size();
  const int64_t width = ByteWidth(shape.dtype());
  char* to = part.mutable_bytes().data();
  if (part.bytes().empty()) return part;
  const int64_t row = box[rank - 1].size() * width;
  Dims at;
  for (const Interval& interval : box) at.push_back(interval.begin);
  while (true) {
    int64_t from = 0;
    for (size_t i = 0; i < rank; ++i) {
      from = from * shape.dim(static_cast<int>(i)) + at[i];
    }
    std::memcpy(to, value.bytes().data() + from * width,
                static_cast<size_t>(row));
    to += row;
    size_t axis = rank - 1;  // the last one is copied by rows
    while (axis > 0 && ++at[axis - 1] == box[axis - 1].end) {
      at[axis - 1] = box[axis - 1].begin;
      --axis;
    }
    if (axis == 0) return part;
  }
}

Expression WithoutElements(ExpressionScope* scope, const Shape& shape,
                           const Box& box) {
  return Filled(scope, ShapeOf(shape, box), 0);
}

// Boxes without elements need nothing, so no rule is asked about them: it may
// divide by the sizes of its box.
bool HaveNoElements(absl::Span<const MaybeBox> boxes) {
  return std::all_of(boxes.begin(), boxes.end(), [](const MaybeBox& box) {
    return !box.has_value() || ElementsOf(*box) == 0;
  });
}

// The boxes that are there, of results numbered so.
std::vector<Piece> PiecesOf(absl::Span<const MaybeBox> boxes) {
  std::vector<Piece> pieces;
  for (size_t k = 0; k < boxes.size(); ++k) {
    if (!boxes[k].has_value()) continue;
    pieces.push_back({static_cast<int>(k), *boxes[k]});
  }
  return pieces;
}

}  // namespace

// ---- backwards ------------------------------------------------------------

absl::StatusOr<PartPlan> PartPlan::Make(const Module& module, int computation,
                                        absl::Span<const Piece> gives) {
  PartPlan plan(module, module.computation(computation), gives);
  HAWSER_RETURN_IF_ERROR(plan.Walk());
  return plan;
}

absl::Status PartPlan::Walk() {
  Asked asked(computation_->num_values());
  for (const Piece& piece : gives_) {
    if (ElementsOf(piece.box) == 0) continue;
    asked[computation_->results()[piece.value]].push_back(piece.box);
  }
  const auto& instructions = computation_->instructions();
  for (auto at = instructions.rbegin(); at != instructions.rend(); ++at) {
    std::vector<MaybeBox> wanted(at->num_results);
    if (at->op == &kParameter) continue;
    if (at->num_results == 1) {
      for (Box& box : VersionsOf(std::move(asked[at->first_result]), true)) {
        wanted[0] = std::move(box);
        HAWSER_RETURN_IF_ERROR(AddStep(*at, wanted, asked));
      }
      continue;
    }
    bool any = false;
    for (int k = 0; k < at->num_results; ++k) {
      for (const Box& box : asked[at->first_result + k]) {
        wanted[k] =
            wanted[k].has_value() ? HullOf(*std::move(wanted[k]), box) : box;
        any = true;
      }
    }
    if (any) HAWSER_RETURN_IF_ERROR(AddStep(*at, wanted, asked));
  }
  for (int i = 0; i < computation_->num_parameters(); ++i) {
    takes_.push_back(VersionsOf(std::move(asked[i]), false));
  }
  return absl::OkStatus();
}

absl::StatusOr<PartAnswer> AskPart(const Module& module,
                                   const Computation& computation,
                                   const Instruction& instruction,
                                   absl::Span<const MaybeBox> wanted) {
  PartAnswer answer{.asks = std::vector<MaybeBox>(instruction.operands.size()),
                    .gives = {wanted.begin(), wanted.end()},
                    .make = {}};
  if (instruction.op == &kConstant || HaveNoElements(wanted)) return answer;
  std::vector<Shape> operands, results;
  for (ValueId operand : instruction.operands) {
    operands.push_back(computation.shape(operand));
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    results.push_back(computation.shape(instruction.first_result + k));
  }
  const PartDef& part = instruction.op->part;
  if (part.kind == PartDef::kWhole) {
    answer.gives.clear();
    answer.asks.clear();
    for (const Shape& shape : operands) answer.asks.push_back(WholeBox(shape));
    for (const Shape& shape : results) answer.gives.push_back(WholeBox(shape));
    return answer;
  }
  if (part.kind != PartDef::kRule) {
    return Internal(instruction.op->name, " has no part rule");
  }
  const auto asks_of = [&](int called, absl::Span<const MaybeBox> gives) {
    return AsksOf(module, instruction.called[called], gives);
  };
  PartContext context{.instruction = instruction,
                      .operands = operands,
                      .results = results,
                      .wanted = wanted,
                      .asks = absl::MakeSpan(answer.asks),
                      .gives = absl::MakeSpan(answer.gives),
                      .make = {},
                      .asks_of = asks_of};
  HAWSER_RETURN_IF_ERROR(part.rule(context));
  answer.make = std::move(context.make);
  return answer;
}

absl::Status PartPlan::AddStep(const Instruction& instruction,
                               absl::Span<const MaybeBox> wanted,
                               Asked& asked) {
  HAWSER_ASSIGN_OR_RETURN(
      PartAnswer answer, AskPart(*module_, *computation_, instruction, wanted));
  for (size_t i = 0; i < answer.asks.size(); ++i) {
    const MaybeBox& box = answer.asks[i];
    if (box.has_value() && ElementsOf(*box) > 0) {
      asked[instruction.operands[i]].push_back(*box);
    }
  }
  steps_.push_back({&instruction, std::move(answer)});
  return absl::OkStatus();
}

// ---- forwards -------------------------------------------------------------

// The boxes that have been made of each value.
class PartPlan::Values {
 public:
  Values(const PartPlan& plan, const Building& building)
      : plan_(plan),
        building_(building),
        made_(plan.computation_->num_values()) {}

  void Add(ValueId value, const Box& box, const Expression& x) {
    made_[value].emplace_back(box, x);
  }
  Expression Find(ValueId value, const Box& box) {
    const Shape& shape = plan_.computation_->shape(value);
    if (ElementsOf(box) == 0) {
      return WithoutElements(&building_.scope, shape, box);
    }
    for (const auto& [of, x] : made_[value]) {
      if (Contains(of, box)) return SliceTo(x, of, box);
    }
    // A parameter, of which each piece is taken when it is first used.
    for (const Box& taken : plan_.takes_[value]) {
      if (!Contains(taken, box)) continue;
      Box of = taken;
      const Expression x = building_.take(value, taken, &of);
      Add(value, of, x);
      return SliceTo(x, of, box);
    }
    return Expression(&building_.scope, kNoValue);
  }

 private:
  const PartPlan& plan_;
  const Building& building_;
  std::vector<std::vector<std::pair<Box, Expression>>> made_;
};

namespace {

// The same instruction of other operands. One that takes computations alone has
// none.
void AddSame(const Instruction& instruction,
             absl::Span<const Expression> operands,
             absl::Span<const int> called, ExpressionScope& scope,
             absl::Span<Expression> results) {
  std::vector<ValueId> values;
  for (const Expression& operand : operands) values.push_back(operand.value());
  const Expression first(
      &scope, scope.builder.Add(*instruction.op, values, instruction.attributes,
                                called, SourceLocation{}));
  for (size_t k = 0; k < results.size(); ++k) {
    results[k] = ResultOf(first, static_cast<int>(k));
  }
}

}  // namespace

absl::Status PartPlan::RunStep(const Step& step, const Building& building,
                               Values& values) const {
  const Instruction& instruction = *step.instruction;
  const PartAnswer& answer = step.answer;
  if (instruction.op == &kConstant) {
    const Literal& whole = instruction.attributes.GetLiteral("value");
    HAWSER_ASSIGN_OR_RETURN(const Literal part,
                            SliceOf(whole, *answer.gives[0]));
    values.Add(instruction.first_result, *answer.gives[0],
               ConstantOf(&building.scope, part));
    return absl::OkStatus();
  }
  std::vector<Expression> operands(instruction.operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (const MaybeBox& box = answer.asks[i]) {
      operands[i] = values.Find(instruction.operands[i], *box);
    }
  }
  const auto whole = [&](int called) {
    return building.copy.Of(instruction.called[called]);
  };
  std::vector<Expression> results(instruction.num_results);
  if (answer.make) {
    const auto part_of = [&](int called, absl::Span<const MaybeBox> takes,
                             absl::Span<const MaybeBox> gives) {
      return AddPart(*module_, instruction.called[called], takes, gives,
                     building.copy);
    };
    PartScope scope{.scope = building.scope,
                    .operands = operands,
                    .results = absl::MakeSpan(results),
                    .offset = building.offset,
                    .whole = whole,
                    .part_of = part_of};
    HAWSER_RETURN_IF_ERROR(answer.make(scope));
  } else {
    absl::InlinedVector<int, 1> called;
    for (size_t i = 0; i < instruction.called.size(); ++i) {
      HAWSER_ASSIGN_OR_RETURN(called.emplace_back(),
                              whole(static_cast<int>(i)));
    }
    AddSame(instruction, operands, called, building.scope,
            absl::MakeSpan(results));
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    if (const MaybeBox& box = answer.gives[k]) {
      values.Add(instruction.first_result + k, *box, results[k]);
    }
  }
  return absl::OkStatus();
}

absl::Status PartPlan::Build(const Building& building,
                             absl::Span<Expression> results) const {
  Values values(*this, building);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    HAWSER_RETURN_IF_ERROR(RunStep(*step, building, values));
  }
  for (size_t k = 0; k < gives_.size(); ++k) {
    const auto& [result, box] = gives_[k];
    results[k] = values.Find(computation_->results()[result], box);
  }
  return building.scope.builder.status();
}

absl::StatusOr<std::vector<MaybeBox>> AsksOf(const Module& module,
                                             int computation,
                                             absl::Span<const MaybeBox> gives) {
  HAWSER_ASSIGN_OR_RETURN(const PartPlan plan,
                          PartPlan::Make(module, computation, PiecesOf(gives)));
  std::vector<MaybeBox> asks;
  for (const std::vector<Box>& boxes : plan.takes()) {
    asks.push_back(HullOf(std::vector<MaybeBox>(boxes.begin(), boxes.end())));
  }
  return asks;
}

absl::StatusOr<int> AddPart(const Module& module, int computation,
                            absl::Span<const MaybeBox> takes,
                            absl::Span<const MaybeBox> gives,
                            ModuleCopy& copy) {
  const std::vector<Piece> pieces = PiecesOf(gives);
  HAWSER_ASSIGN_OR_RETURN(const PartPlan plan,
                          PartPlan::Make(module, computation, pieces));
  const Computation& source = module.computation(computation);
  ComputationBuilder builder(copy.to(), source.name());
  ExpressionScope scope{builder, copy.monoids()};
  std::vector<Expression> parameters(takes.size());
  for (size_t i = 0; i < takes.size(); ++i) {
    if (!takes[i].has_value()) continue;
    const Shape& shape = source.shape(static_cast<ValueId>(i));
    parameters[i] = Expression(
        &scope, builder.Parameter(ShapeOf(shape, *takes[i]), SourceLocation{}));
  }
  const auto take = [&](int parameter, const Box&, Box* of) {
    *of = *takes[parameter];
    return parameters[parameter];
  };
  const auto offset = [&](int64_t value) {
    return ConstantOf(&scope, Literal::Scalar<int64_t>(value));
  };
  std::vector<Expression> results(pieces.size());
  HAWSER_RETURN_IF_ERROR(
      plan.Build({.scope = scope, .copy = copy, .take = take, .offset = offset},
                 absl::MakeSpan(results)));
  std::vector<ValueId> values;
  for (const Expression& result : results) values.push_back(result.value());
  return builder.Finish(values);
}

}  // namespace hawser
