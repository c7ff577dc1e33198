#include "client/sdk/graph/node.h"

#include <pthread.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::sdk {

Mutex graph_mutex;

namespace {

// A child of fork() has no thread that could give the lock back, and may still
// look at tensors.
void Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { graph_mutex.Lock(); }
void Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { graph_mutex.Unlock(); }
const int at_fork = pthread_atfork(Lock, Unlock, Unlock);

}  // namespace

void Retain(Node* node) {
  node->references_.fetch_add(1, std::memory_order_relaxed);
}

void Release(Node* node) {
  if (node->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Freeing a node frees its operands, which comes back here: the innermost
  // calls only queue, the outermost frees, so depth costs no stack.
  thread_local std::vector<Node*>* queue = nullptr;
  if (queue != nullptr) {
    queue->push_back(node);
    return;
  }
  std::vector<Node*> waiting;
  queue = &waiting;
  delete node;
  while (!waiting.empty()) {
    Node* next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  queue = nullptr;
}

uint64_t NextWalk() {
  static uint64_t walk = 0;
  return ++walk;
}

Tensor MakeTensor(Shapes shapes, Node::State state, SourceLocation where) {
  return TensorParts::Make(
      NodeRef(new Node(std::move(shapes), std::move(state), where)), 0);
}

Tensor MakeFailed(absl::Status status, SourceLocation where) {
  return MakeTensor({}, Failed{std::move(status)}, where);
}

Tensor MakeHost(Literal value, SourceLocation where) {
  Shapes shapes = {value.shape()};
  return MakeTensor(std::move(shapes), Host{std::move(value)}, where);
}

absl::Status At(const absl::Status& status, SourceLocation where) {
  if (where.line == 0) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " (at ", where.file, ":",
                                   where.line, ")"));
}

runtime::RanOn RanOnOf(const Tensor& tensor) {
  if (NodeOf(tensor) == nullptr) return {};
  runtime::BufferPtr buffer;
  {
    MutexLock lock(&graph_mutex);
    if (const auto* host = NodeOf(tensor)->As<Host>()) return host->ran_on;
    if (const auto* ready = NodeOf(tensor)->As<Ready>()) {
      buffer = ready->buffers[ResultIndex(tensor)];
    }
  }
  return buffer == nullptr ? runtime::RanOn() : buffer->ran_on();
}

Tensor ResultOf(const Tensor& first, int k) {
  return k == 0 || NodeOf(first) == nullptr || NodeOf(first)->shapes().empty()
             ? first
             : TensorParts::Make(NodeRef(NodeOf(first)),
                                 ResultIndex(first) + k);
}

std::vector<Tensor> ResultsOf(const Tensor& first, size_t count) {
  std::vector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    results.push_back(ResultOf(first, static_cast<int>(k)));
  }
  return results;
}

absl::Status NoValueError() {
  return FailedPrecondition("a Tensor that was never given a value is used");
}

absl::Status Usable(const Tensor& tensor) {
  if (NodeOf(tensor) == nullptr) return NoValueError();
  Node* node = NodeOf(tensor);
  if (const auto* failed = node->As<Failed>()) return failed->status;
  const auto* host = node->As<Host>();
  const auto* ready = node->As<Ready>();
  const bool donated =
      (host != nullptr && !host->value.valid()) ||
      (ready != nullptr && ready->buffers[ResultIndex(tensor)] == nullptr);
  if (!donated) return absl::OkStatus();
  return FailedPrecondition("a tensor (", Describe(tensor),
                            ") is used after it was donated");
}

absl::Status Surrender(const Tensor& tensor, Literal* value) {
  HAWSER_RETURN_IF_ERROR(Usable(tensor));
  if (auto* host = NodeOf(tensor)->As<Host>()) {
    host->uploaded = nullptr;
    std::swap(host->value, *value);
    return absl::OkStatus();
  }
  auto* ready = NodeOf(tensor)->As<Ready>();
  if (ready == nullptr) return Internal("donated before it was evaluated");
  ready->fetched = Literal();
  ready->buffers[ResultIndex(tensor)] = nullptr;
  return absl::OkStatus();
}

void PutBack(const Tensor& tensor, Literal value,
             const runtime::Argument& argument) {
  if (auto* host = NodeOf(tensor)->As<Host>()) {
    host->value = std::move(value);
  } else if (auto* ready = NodeOf(tensor)->As<Ready>()) {
    ready->buffers[ResultIndex(tensor)] =
        std::get<runtime::BufferPtr>(argument);
  }
}

std::string Describe(const Tensor& tensor) {
  if (NodeOf(tensor) == nullptr) return "a Tensor without a value";
  const SourceLocation where = NodeOf(tensor)->where();
  return where.line == 0 ? tensor.shape().ToString()
                         : absl::StrCat(tensor.shape().ToString(), " made at ",
                                        where.file, ":", where.line);
}

}  // namespace hawser::sdk
