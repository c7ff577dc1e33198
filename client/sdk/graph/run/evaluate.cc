#include "client/sdk/graph/run/evaluate.h"

#include <memory>
#include <utility>
#include <vector>

#include "client/sdk/graph/run/client_state.h"
#include "client/sdk/graph/trace.h"
#include "core/base/process/forked.h"
#include "core/base/process/mapped_file.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/ir/builder.h"
#include "core/passes/optimize.h"
#include "kernels/cpu/evaluator.h"

namespace hawser::sdk {
namespace {

// The recorded instructions some tensors need, and what they stand on.
struct RecordedGraph {
  std::vector<Node*> order;      // operands before users
  std::vector<Tensor> leaves;    // its parameters
  std::vector<NodeRef> outputs;  // nodes that a Tensor still points at
};

class Walker {
 public:
  Walker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) : walk_(NextWalk()) {}

  // Errors: that of an invalid leaf.
  absl::Status Visit(const Tensor& root)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  // Nodes that are held by more than the recording itself.
  void FindOutputs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  // The number of a value: parameters count from 0 up, instructions' results
  // from -1 down.
  int64_t NumberOf(const Tensor& t) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

  RecordedGraph recording;

 private:
  // True if this walk meets the node for the first time; then clears its
  // scratch.
  bool Meet(Node* node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  absl::Status MeetOperand(const Tensor& operand, bool* descend)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

  const uint64_t walk_;
  std::vector<int> leaf_of_;  // parameter of each result of each leaf node
};

bool Walker::Meet(Node* node) {
  Node::Walk& scratch = node->scratch();
  if (scratch.walk == walk_) return false;
  scratch = {.walk = walk_, .number = -1, .uses = 0};
  return true;
}

absl::Status Walker::MeetOperand(const Tensor& operand, bool* descend) {
  HAWSER_RETURN_IF_ERROR(Usable(operand));
  Node* node = NodeOf(operand);
  const bool first = Meet(node);
  *descend = false;
  if (node->As<Recorded>() != nullptr) {
    *descend = first;
    return absl::OkStatus();
  }
  if (node->As<Traced>() != nullptr) return LeakedError(operand);
  Node::Walk& scratch = node->scratch();
  if (first) {
    scratch.number = static_cast<int>(leaf_of_.size());
    leaf_of_.resize(leaf_of_.size() + node->shapes().size(), -1);
  }
  int& leaf = leaf_of_[scratch.number + ResultIndex(operand)];
  if (leaf >= 0) return absl::OkStatus();
  leaf = static_cast<int>(recording.leaves.size());
  recording.leaves.push_back(operand);
  return absl::OkStatus();
}

absl::Status Walker::Visit(const Tensor& root) {
  HAWSER_RETURN_IF_ERROR(Usable(root));
  if (NodeOf(root)->As<Traced>() != nullptr) return LeakedError(root);
  if (NodeOf(root)->As<Recorded>() == nullptr || !Meet(NodeOf(root))) {
    return absl::OkStatus();
  }
  struct Step {
    Node* node;
    size_t next = 0;  // operand to look at
  };
  std::vector<Step> stack = {{NodeOf(root)}};
  while (!stack.empty()) {
    Step& step = stack.back();
    const Tensors& operands = step.node->As<Recorded>()->operands;
    if (step.next == operands.size()) {
      step.node->scratch().number = static_cast<int>(recording.order.size());
      recording.order.push_back(step.node);
      stack.pop_back();
      continue;
    }
    const Tensor& operand = operands[step.next++];
    bool descend;
    HAWSER_RETURN_IF_ERROR(MeetOperand(operand, &descend));
    ++NodeOf(operand)->scratch().uses;
    if (descend) stack.push_back({NodeOf(operand)});
  }
  return absl::OkStatus();
}

void Walker::FindOutputs() {
  for (Node* node : recording.order) {
    if (node->references() > node->scratch().uses) {
      recording.outputs.emplace_back(node);
    }
  }
}

int64_t Walker::NumberOf(const Tensor& t) {
  const int number = NodeOf(t)->scratch().number;
  if (NodeOf(t)->As<Recorded>() == nullptr)
    return leaf_of_[number + ResultIndex(t)];
  return -1 - (int64_t{number} * (int64_t{1} << 20) + ResultIndex(t));
}

Digest KeyOf(Walker* walker, Numerics numerics)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
  StructureKey key;
  key.Integer(static_cast<uint64_t>(numerics));
  key.Integer(walker->recording.leaves.size());
  for (const Tensor& leaf : walker->recording.leaves) key.Add(leaf.shape());
  for (Node* node : walker->recording.order) {
    const Recorded& recorded = *node->As<Recorded>();
    key.Op(*recorded.op).Integer(recorded.operands.size());
    for (const Tensor& t : recorded.operands) key.Integer(walker->NumberOf(t));
    key.Add(recorded.attributes).Integer(recorded.called.size());
    for (const Region& region : recorded.called) key.Add(region->digest);
  }
  for (const NodeRef& output : walker->recording.outputs) {
    key.Integer(output.get()->scratch().number);
  }
  return key.Finish();
}

absl::StatusOr<Module> BuildModule(Walker* walker)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
  const RecordedGraph& recording = walker->recording;
  Module module("recorded");
  RegionIndex regions;
  ComputationBuilder builder(&module, "main");
  std::vector<ValueId> first_of;  // by number of the instruction
  for (const Tensor& leaf : recording.leaves) {
    builder.Parameter(leaf.shape(), NodeOf(leaf)->where());
  }
  for (Node* node : recording.order) {
    const Recorded& recorded = *node->As<Recorded>();
    absl::InlinedVector<ValueId, 4> operands;
    for (const Tensor& t : recorded.operands) {
      const bool leaf = NodeOf(t)->As<Recorded>() == nullptr;
      operands.push_back(leaf ? static_cast<ValueId>(walker->NumberOf(t))
                              : first_of[NodeOf(t)->scratch().number] +
                                    ResultIndex(t));
    }
    absl::InlinedVector<int, 2> called;
    for (const Region& region : recorded.called) {
      called.push_back(AddRegion(*region, &module, &regions));
    }
    first_of.push_back(builder.Add(*recorded.op, operands, recorded.attributes,
                                   called, node->where()));
  }
  std::vector<ValueId> results;
  for (const NodeRef& output : recording.outputs) {
    const int number = output.get()->scratch().number;
    for (size_t k = 0; k < output.get()->shapes().size(); ++k) {
      results.push_back(first_of[number] + static_cast<ValueId>(k));
    }
  }
  HAWSER_RETURN_IF_ERROR(builder.Finish(results).status());
  return module;
}

// The executable of a recording: known, or the module to compile.
struct Prepared {
  RecordedGraph recording;
  Digest key;
  std::shared_ptr<runtime::Executable> executable;
  Module module;
};

absl::StatusOr<Prepared> Prepare(absl::Span<const Tensor> tensors,
                                 const Client& client, Numerics numerics) {
  MutexLock lock(&graph_mutex);
  Walker walker;
  for (const Tensor& tensor : tensors) {
    HAWSER_RETURN_IF_ERROR(walker.Visit(tensor));
  }
  Prepared out;
  if (walker.recording.order.empty()) return out;
  walker.FindOutputs();
  out.key = KeyOf(&walker, numerics);
  {
    MutexLock state_lock(&ClientState::Of(client).mu);
    if (auto* known = ClientState::Of(client).recordings.Find(out.key)) {
      out.executable = *known;
    }
  }
  if (out.executable == nullptr) {
    HAWSER_ASSIGN_OR_RETURN(out.module, BuildModule(&walker));
  }
  out.recording = std::move(walker.recording);
  return out;
}

absl::Status Compile(const Execution& execution, Prepared* prepared) {
  if (prepared->executable != nullptr) return absl::OkStatus();
  ClientState* state = &ClientState::Of(execution.client);
  HAWSER_ASSIGN_OR_RETURN(
      Module optimized,
      Optimize(prepared->module, {.evaluate = cpu::EvaluateConstants}));
  HAWSER_ASSIGN_OR_RETURN(
      prepared->executable,
      state->client->Compile(
          std::make_shared<const Module>(std::move(optimized)),
          {.numerics = execution.numerics}, execution.call));
  MutexLock lock(&state->mu);
  state->recordings.Put(prepared->key, prepared->executable);
  return absl::OkStatus();
}

// Turns the outputs into ready tensors, unless another thread was first.
void Publish(const Client& client, const RecordedGraph& recording,
             std::vector<runtime::BufferPtr> buffers) {
  std::vector<Recorded> done;  // freed after the lock
  MutexLock lock(&graph_mutex);
  size_t next = 0;
  for (const NodeRef& output : recording.outputs) {
    Ready ready{.client = client};
    for (size_t k = 0; k < output.get()->shapes().size(); ++k) {
      ready.buffers.push_back(std::move(buffers[next++]));
    }
    if (auto* recorded = output.get()->As<Recorded>()) {
      done.push_back(std::move(*recorded));
      output.get()->state() = std::move(ready);
    }
  }
}

}  // namespace

Execution FromNow(const RunOptions& options) {
  return {options.client, options.call.FromNow(), options.numerics};
}

absl::Status Agree(const Client& operand, Client* client) {
  if (!operand.valid() || operand == *client) return absl::OkStatus();
  if (client->valid()) {
    return FailedPrecondition("values of two clients meet: ", client->name(),
                              " and ", operand.name(),
                              "; move one with Tensor::To");
  }
  *client = operand;
  return absl::OkStatus();
}

Client ClientOf(const Tensor& tensor) {
  if (auto* ready = NodeOf(tensor)->As<Ready>()) return ready->client;
  if (auto* recorded = NodeOf(tensor)->As<Recorded>()) return recorded->client;
  return {};
}

int64_t CountRecorded(absl::Span<const Tensor> tensors) {
  MutexLock lock(&graph_mutex);
  Walker walker;
  for (const Tensor& tensor : tensors) walker.Visit(tensor).IgnoreError();
  return static_cast<int64_t>(walker.recording.order.size());
}

absl::StatusOr<runtime::Argument> ToArgument(const Tensor& tensor,
                                             const Client& client,
                                             const runtime::CallOptions& call) {
  Literal value;
  {
    MutexLock lock(&graph_mutex);
    HAWSER_RETURN_IF_ERROR(Usable(tensor));
    Node* node = NodeOf(tensor);
    if (const auto* ready = node->As<Ready>()) {
      Client wanted = client;
      HAWSER_RETURN_IF_ERROR(Agree(ready->client, &wanted));
      return runtime::Argument(ready->buffers[ResultIndex(tensor)]);
    }
    const auto* host = node->As<Host>();
    if (host == nullptr) return Internal("neither host nor ready");
    if (host->value.shape().byte_size() <= kSmallBytes) {
      return runtime::Argument(host->value);
    }
    if (host->uploaded != nullptr && host->client == client) {
      return runtime::Argument(host->uploaded);
    }
    value = host->value;
  }
  HAWSER_RETURN_IF_ERROR(CheckUnchanged(value.bytes()));
  HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr buffer,
                          client.runtime()->Upload(value, call));
  runtime::BufferPtr replaced;  // freed after the lock
  MutexLock lock(&graph_mutex);
  if (auto* host = NodeOf(tensor)->As<Host>()) {
    replaced = std::exchange(host->uploaded, buffer);
    host->client = client;
  }
  return runtime::Argument(std::move(buffer));
}

absl::Status Evaluate(absl::Span<const Tensor> tensors,
                      const Execution& requested) {
  const TraceSpan span("sdk", "evaluate");
  Execution execution = requested;
  bool anything = false;
  {
    MutexLock lock(&graph_mutex);
    for (const Tensor& tensor : tensors) {
      HAWSER_RETURN_IF_ERROR(Usable(tensor));
      if (NodeOf(tensor)->As<Traced>()) return LeakedError(tensor);
      HAWSER_RETURN_IF_ERROR(Agree(ClientOf(tensor), &execution.client));
      anything |= NodeOf(tensor)->As<Recorded>() != nullptr;
    }
  }
  if (!anything) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  if (!execution.client.valid()) execution.client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(Prepared prepared, Prepare(tensors, execution.client,
                                                     execution.numerics));
  if (prepared.recording.order.empty()) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(Compile(execution, &prepared));
  std::vector<runtime::Argument> arguments;
  for (const Tensor& leaf : prepared.recording.leaves) {
    HAWSER_ASSIGN_OR_RETURN(arguments.emplace_back(),
                            ToArgument(leaf, execution.client, execution.call));
  }
  HAWSER_ASSIGN_OR_RETURN(
      auto buffers,
      prepared.executable->Execute(arguments, {.call = execution.call}));
  Publish(execution.client, prepared.recording, std::move(buffers));
  return absl::OkStatus();
}

}  // namespace hawser::sdk
