#include "client/sdk/graph/run/record.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/graph/trace.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

// The client, weight and weights that follow from all operands of an
// instruction.
struct Gathered {
  Client client;
  int64_t weight = 1;  // this instruction and those it waits for
  absl::InlinedVector<int64_t, 3> weights;
};

// Errors say where.
absl::Status GatherOne(const Tensor& operand, Gathered* out)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
  HAWSER_RETURN_IF_ERROR(Usable(operand));
  if (NodeOf(operand)->As<Traced>() != nullptr) return LeakedError(operand);
  const auto* recorded = NodeOf(operand)->As<Recorded>();
  out->weights.push_back(recorded == nullptr ? 0 : recorded->weight);
  out->weight += out->weights.back();
  return Agree(ClientOf(operand), &out->client);
}

// nullptr, or the tensor that keeps the first error among the operands.
const Tensor* FindFailed(absl::Span<const Tensor> operands)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
  for (const Tensor& operand : operands) {
    if (NodeOf(operand) != nullptr &&
        NodeOf(operand)->As<Failed>() != nullptr) {
      return &operand;
    }
  }
  return nullptr;
}

std::string ShapesOf(absl::Span<const Tensor> operands) {
  return absl::StrJoin(operands, ", ", [](std::string* out, const Tensor& t) {
    out->append(t.shape().ToString());
  });
}

absl::StatusOr<Shapes> Infer(const OpDef& op, absl::Span<const Tensor> operands,
                             const Attributes& attributes,
                             absl::Span<const Region> called) {
  absl::InlinedVector<Shape, 4> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  absl::InlinedVector<const Signature*, 2> signatures;
  for (const Region& r : called) signatures.push_back(&r->module.signature());
  auto results = InferShapes({op, shapes, attributes, signatures});
  if (results.ok() || operands.empty()) return results;
  return absl::Status(results.status().code(),
                      absl::StrCat(results.status().message(), "; operands ",
                                   ShapesOf(operands)));
}

// Starts the heaviest operands until the rest fits one recording, as many at
// once as are one recording themselves: of many light ones each would cost a
// look at all others.
absl::Status Cut(absl::Span<const Tensor> operands, Gathered* gathered) {
  const auto& weights = gathered->weights;
  std::vector<size_t> order;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (weights[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return weights[a] > weights[b];
  });
  gathered->weight = CountRecorded(operands) + 1;
  auto next = order.begin();
  while (gathered->weight > kMaxRecording && next != order.end()) {
    std::vector<Tensor> started;
    int64_t taken = 0;
    do {
      started.push_back(operands[*next]);
      taken += weights[*next];
      ++next;
    } while (next != order.end() && taken + weights[*next] <= kMaxRecording &&
             gathered->weight - taken > kMaxRecording);
    HAWSER_RETURN_IF_ERROR(Evaluate(started, Execution{}));
    gathered->weight = CountRecorded(operands) + 1;
  }
  return absl::OkStatus();
}

}  // namespace

Tensor Record(absl::string_view function, const OpDef& op,
              absl::Span<const Tensor> operands, Attributes attributes,
              absl::Span<const Region> called, SourceLocation where) {
  if (Trace* trace = Trace::Current()) {
    return trace->Add(function, op, operands, std::move(attributes), called,
                      where);
  }
  Gathered gathered;
  {
    MutexLock lock(&graph_mutex);
    if (const Tensor* failed = FindFailed(operands)) return *failed;
    for (const Tensor& operand : operands) {
      const absl::Status status = GatherOne(operand, &gathered);
      if (!status.ok()) {
        return MakeFailed(At(Annotate(status, function), where), where);
      }
    }
  }
  auto shapes = Infer(op, operands, attributes, called);
  if (!shapes.ok()) {
    return MakeFailed(At(Annotate(shapes.status(), function), where), where);
  }
  if (gathered.weight > kMaxRecording) {
    const absl::Status status = Cut(operands, &gathered);
    if (!status.ok()) return MakeFailed(At(status, where), where);
  }
  Recorded recorded{.op = &op,
                    .operands = Tensors(operands.begin(), operands.end()),
                    .attributes = std::move(attributes),
                    .client = gathered.client,
                    .weight = gathered.weight};
  recorded.called.assign(called.begin(), called.end());
  return MakeTensor(*std::move(shapes), std::move(recorded), where);
}

}  // namespace hawser::sdk
