#include "client/sdk/graph/trace.h"

#include <atomic>
#include <vector>

#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

thread_local Trace* current = nullptr;

uint64_t NextTraceId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

absl::Status LeakedError(const Tensor& tensor) {
  return InvalidArgument(
      "a traced tensor (", Describe(tensor),
      ") has no value, and no use outside the function that is traced: return "
      "it as a result of that function");
}

Trace* Trace::Current() { return current; }

Trace::Scope::Scope(Trace* trace) : previous_(current) { current = trace; }
Trace::Scope::~Scope() { current = previous_; }

Trace::Trace(std::string name, Captures captures)
    : id_(NextTraceId()),
      captures_(captures),
      parent_(current),
      lifts_all_(lifts() && (parent_ == nullptr || parent_->lifts_all_)),
      bakes_counts_(captures == Captures::kLiftButCounts ||
                    (parent_ != nullptr && parent_->bakes_counts_)),
      module_(name),
      builder_(&module_, std::move(name)) {}

Trace::~Trace() {
  if (!error().ok()) return;
  for (const Printed& printed : printed_) {
    HAWSER_LOG(kWarning) << "Print of \"" << printed.label << "\" at "
                         << printed.where.file << ":" << printed.where.line
                         << " stands in the function of a reduction: "
                            "nothing is printed there";
  }
}

Tensor Trace::Parameter(const Shape& shape, SourceLocation where) {
  const ValueId value = builder_.Parameter(shape, where);
  if (!builder_.status().ok()) return Fail(builder_.status());
  return MakeTensor({shape}, Traced{id_, value}, where);
}

std::vector<Tensor> Trace::Parameters(absl::Span<const Tensor> like,
                                      SourceLocation where) {
  std::vector<Tensor> parameters;
  for (const Tensor& t : like) {
    parameters.push_back(Parameter(t.shape(), where));
  }
  return parameters;
}

Tensor Trace::Fail(const absl::Status& status) {
  builder_.Fail(status, {});
  return MakeFailed(error(), {});
}

absl::InlinedVector<int, 2> Trace::AddRegions(absl::Span<const Region> called) {
  absl::InlinedVector<int, 2> numbers;
  Places::Called places;
  for (const Region& region : called) {
    numbers.push_back(AddRegion(*region, &module_, &regions_));
    places.push_back(region->places);
  }
  if (!called.empty()) called_places_.push_back(std::move(places));
  return numbers;
}

Tensor Trace::Add(absl::string_view function, const OpDef& op,
                  absl::Span<const Tensor> operands, Attributes attributes,
                  absl::Span<const Region> called, SourceLocation where) {
  if (!error().ok()) return MakeFailed(error(), {});
  absl::InlinedVector<ValueId, 4> values;
  {
    MutexLock lock(&graph_mutex);
    for (const Tensor& operand : operands) {
      auto value = Import(operand, where);
      if (!value.ok()) return Fail(value.status());
      values.push_back(*value);
    }
  }
  const ValueId first = builder_.Add(op, values, std::move(attributes),
                                     AddRegions(called), where);
  if (!builder_.status().ok()) {
    error_ = Annotate(builder_.status(), function);
    return MakeFailed(error_, {});
  }
  const int results = builder_.computation().instructions().back().num_results;
  Shapes shapes;
  for (int k = 0; k < results; ++k) shapes.push_back(builder_.shape(first + k));
  return MakeTensor(std::move(shapes), Traced{id_, first}, where);
}

ValueId Trace::LiftNew(const Tensor& outer) {
  const ValueId value = builder_.Parameter(outer.shape(), {});
  lifted_.push_back(outer);
  known_.emplace(Key(NodeOf(outer), ResultIndex(outer)), Known{outer, value});
  return value;
}

void Trace::Lift(const Tensor& outer) {
  if (!known_.contains(Key(NodeOf(outer), ResultIndex(outer)))) LiftNew(outer);
}

absl::StatusOr<ValueId> Trace::Import(const Tensor& tensor,
                                      SourceLocation where) {
  if (const absl::Status status = Usable(tensor); !status.ok()) {
    const bool located =
        NodeOf(tensor) != nullptr && NodeOf(tensor)->As<Failed>() != nullptr;
    return located ? status : At(status, where);
  }
  const auto* traced = NodeOf(tensor)->As<Traced>();
  if (traced != nullptr && traced->trace == id_) {
    return traced->first + ResultIndex(tensor);
  }
  const auto at = known_.find(Key(NodeOf(tensor), ResultIndex(tensor)));
  if (at != known_.end()) return at->second.value;
  if (traced == nullptr) return ImportOutside(tensor, where);
  auto value = ImportTraced(tensor);
  return value.ok() ? value : At(value.status(), where);
}

absl::StatusOr<ValueId> Trace::ImportTraced(const Tensor& tensor) {
  const uint64_t trace = NodeOf(tensor)->As<Traced>()->trace;
  const Trace* home = parent_;
  while (home != nullptr && home->id_ != trace) home = home->parent_;
  if (home == nullptr) return LeakedError(tensor);
  if (lifts()) return LiftNew(tensor);
  return InvalidArgument("the function of a reduction uses a tensor (",
                         Describe(tensor), ") that is none of its arguments");
}

absl::StatusOr<ValueId> Trace::ImportOutside(const Tensor& tensor,
                                             SourceLocation where) {
  const auto* host = NodeOf(tensor)->As<Host>();
  const bool is_count = bakes_counts_ && host != nullptr &&
                        host->value.valid() && tensor.rank() == 0 &&
                        IsInteger(tensor.dtype());
  if (lifts_all_ && !is_count) return LiftNew(tensor);
  if (NodeOf(tensor)->As<Recorded>() != nullptr) return Inline(tensor, where);
  if (host == nullptr) {
    return At(InvalidArgument("a tensor on a client (", Describe(tensor),
                              ") is captured by a traced function: pass it "
                              "as an argument"),
              where);
  }
  if (host->value.shape().byte_size() > kSmallBytes) {
    return At(
        InvalidArgument("a host tensor of ", host->value.shape().byte_size(),
                        " bytes (", Describe(tensor),
                        ") is captured by a traced function; above ",
                        kSmallBytes, " bytes pass it as an argument"),
        where);
  }
  const ValueId value = builder_.Constant(host->value, where);
  HAWSER_RETURN_IF_ERROR(builder_.status());
  known_.emplace(Key(NodeOf(tensor), ResultIndex(tensor)),
                 Known{tensor, value});
  return value;
}

absl::Status Trace::InlineOne(Node* node, SourceLocation where) {
  const Recorded& recorded = *node->As<Recorded>();
  absl::InlinedVector<ValueId, 4> operands;
  for (const Tensor& operand : recorded.operands) {
    HAWSER_ASSIGN_OR_RETURN(const ValueId value, Import(operand, where));
    operands.push_back(value);
  }
  const ValueId first =
      builder_.Add(*recorded.op, operands, recorded.attributes,
                   AddRegions(recorded.called), node->where());
  HAWSER_RETURN_IF_ERROR(builder_.status());
  const Tensor keep = TensorParts::Make(NodeRef(node), 0);
  for (int k = 0; k < static_cast<int>(node->shapes().size()); ++k) {
    known_.emplace(Key(node, k), Known{keep, first + k});
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueId> Trace::Inline(const Tensor& tensor,
                                      SourceLocation where) {
  struct Step {
    Node* node;
    size_t next = 0;  // operand to look at
  };
  std::vector<Step> stack = {{NodeOf(tensor)}};
  while (!stack.empty()) {
    Step& step = stack.back();
    const Tensors& operands = step.node->As<Recorded>()->operands;
    if (step.next < operands.size()) {
      Node* operand = NodeOf(operands[step.next++]);
      if (operand->As<Recorded>() != nullptr &&
          !known_.contains(Key(operand, 0))) {
        stack.push_back({operand});
      }
      continue;
    }
    if (!known_.contains(Key(step.node, 0))) {
      HAWSER_RETURN_IF_ERROR(InlineOne(step.node, where));
    }
    stack.pop_back();
  }
  return known_.at(Key(NodeOf(tensor), ResultIndex(tensor))).value;
}

void Trace::Return(absl::Span<const Tensor> results, SourceLocation where) {
  MutexLock lock(&graph_mutex);
  for (const Tensor& result : results) {
    auto value = Import(result, where);
    if (!value.ok()) return builder_.Fail(value.status(), {});
    results_.push_back(*value);
  }
}

absl::StatusOr<Module> Trace::Finish() {
  HAWSER_RETURN_IF_ERROR(error());
  HAWSER_RETURN_IF_ERROR(builder_.Finish(results_).status());
  return std::move(module_);
}

absl::StatusOr<Region> Trace::FinishRegion() {
  HAWSER_ASSIGN_OR_RETURN(Module module, Finish());
  return MakeRegion(std::move(module),
                    std::make_shared<const Places>(places()));
}

Places Trace::places() const {
  return {{locations().begin(), locations().end()}, called_places_};
}

}  // namespace hawser::sdk
