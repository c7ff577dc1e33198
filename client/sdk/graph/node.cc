#include "client/sdk/graph/node.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::sdk {

Mutex graph_mutex;

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
  return Tensor(NodeRef(new Node(std::move(shapes), std::move(state), where)));
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
  if (tensor.node() == nullptr) return {};
  runtime::BufferPtr buffer;
  {
    MutexLock lock(&graph_mutex);
    if (const auto* host = tensor.node()->As<Host>()) return host->ran_on;
    if (const auto* ready = tensor.node()->As<Ready>()) {
      buffer = ready->buffers[tensor.result()];
    }
  }
  return buffer == nullptr ? runtime::RanOn() : buffer->ran_on();
}

Tensor ResultOf(const Tensor& first, int k) {
  return k == 0 || first.node() == nullptr || first.node()->shapes().empty()
             ? first
             : Tensor(NodeRef(first.node()), first.result() + k);
}

absl::Status NoValueError() {
  return FailedPrecondition("a Tensor that was never given a value is used");
}

absl::Status Usable(const Tensor& tensor) {
  if (tensor.node() == nullptr) return NoValueError();
  Node* node = tensor.node();
  if (const auto* failed = node->As<Failed>()) return failed->status;
  const auto* host = node->As<Host>();
  const auto* ready = node->As<Ready>();
  const bool donated =
      (host != nullptr && !host->value.valid()) ||
      (ready != nullptr && ready->buffers[tensor.result()] == nullptr);
  if (!donated) return absl::OkStatus();
  return FailedPrecondition("a tensor (", Describe(tensor),
                            ") is used after it was donated");
}

absl::Status Surrender(const Tensor& tensor, Literal* value) {
  HAWSER_RETURN_IF_ERROR(Usable(tensor));
  if (auto* host = tensor.node()->As<Host>()) {
    host->uploaded = nullptr;
    std::swap(host->value, *value);
    return absl::OkStatus();
  }
  auto* ready = tensor.node()->As<Ready>();
  if (ready == nullptr) return Internal("donated before it was evaluated");
  ready->fetched = Literal();
  ready->buffers[tensor.result()] = nullptr;
  return absl::OkStatus();
}

void PutBack(const Tensor& tensor, Literal value,
             const runtime::Argument& argument) {
  if (auto* host = tensor.node()->As<Host>()) {
    host->value = std::move(value);
  } else if (auto* ready = tensor.node()->As<Ready>()) {
    ready->buffers[tensor.result()] = std::get<runtime::BufferPtr>(argument);
  }
}

std::string Describe(const Tensor& tensor) {
  if (tensor.node() == nullptr) return "a Tensor without a value";
  const SourceLocation where = tensor.node()->where();
  return where.line == 0
             ? tensor.shape().ToString()
             : absl::StrCat(tensor.shape().ToString(), " made at ", where.file,
                            ":", where.line);
}

}  // namespace hawser::sdk
