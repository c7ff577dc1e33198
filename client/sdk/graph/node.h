// Node: what a Tensor points at, in one of five states.
#ifndef HAWSER_CLIENT_SDK_GRAPH_NODE_H_
#define HAWSER_CLIENT_SDK_GRAPH_NODE_H_

#include <atomic>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/client/client.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/tensor.h"
#include "core/base/mutex.h"
#include "core/base/values/literal.h"
#include "core/ir/op_def.h"
#include "core/ir/source_location.h"
#include "core/runtime/client.h"

namespace hawser::sdk {

// Host values up to this size are baked into a trace and ride inside an
// execution's message; larger ones are uploaded once (house, section 5).
inline constexpr int64_t kSmallBytes = 4096;

using Tensors = absl::InlinedVector<Tensor, 2>;

// The first error, kept.
struct Failed {
  absl::Status status;
};
// Values first, first + 1, ... of the trace with this number.
struct Traced {
  uint64_t trace = 0;
  ValueId first = kNoValue;
};
// In this process's memory; `uploaded` remembers a copy on a client.
struct Host {
  Literal value;  // none: donated
  Client client = {};
  runtime::BufferPtr uploaded = nullptr;
  runtime::RanOn ran_on = {"host"};
};
// The value is on a client, or on its way there.
struct Ready {
  Client client;
  // One per result; none: donated.
  absl::InlinedVector<runtime::BufferPtr, 1> buffers;
  Literal fetched = {};  // of a single small result, once fetched
  bool of_dataset = false;  // named by its token, in every session and outside
};
// An instruction that has not run.
struct Recorded {
  const OpDef* op = nullptr;
  Tensors operands = {};
  Attributes attributes = {};
  absl::InlinedVector<Region, 1> called = {};
  Client client = {};  // of the operands; none: only host values
  int64_t weight = 1;  // at least the instructions it needs to run
};

// One lock for all nodes: an expression may be shared between threads, and
// evaluating turns a Recorded node into a Ready one while others read it. A
// thread holds it for a walk over at most one recording, and never while it
// waits for anything.
extern Mutex graph_mutex;

class Node {
 public:
  using State = std::variant<Failed, Traced, Host, Ready, Recorded>;
  Node(Shapes shapes, State state, SourceLocation where)
      : shapes_(std::move(shapes)), where_(where), state_(std::move(state)) {}

  const Shapes& shapes() const { return shapes_; }  // none after an error
  SourceLocation where() const { return where_; }
  State& state() ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) { return state_; }
  template <typename T>
  T* As() ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
    return std::get_if<T>(&state_);
  }
  int references() const { return references_.load(); }

  // Scratch of the walk that has the lock: its number, this node's number in
  // it, and how often it was met.
  struct Walk {
    uint64_t walk = 0;
    int number = -1;
    int uses = 0;
  };
  Walk& scratch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
    return scratch_;
  }

 private:
  friend void Retain(Node*);
  friend void Release(Node*);
  ~Node() = default;  // Release deletes

  std::atomic<int> references_{0};
  const Shapes shapes_;
  const SourceLocation where_;
  State state_ ABSL_GUARDED_BY(graph_mutex);
  Walk scratch_ ABSL_GUARDED_BY(graph_mutex);
};

// A handle points at result `result` of a node; null: no value.
struct TensorParts {
  static Node* node(const Tensor& tensor) { return tensor.node_.get(); }
  static int result(const Tensor& tensor) { return tensor.result_; }
  static Tensor Make(NodeRef node, int result) {
    return Tensor(std::move(node), result);
  }
};
inline Node* NodeOf(const Tensor& tensor) { return TensorParts::node(tensor); }
inline int ResultIndex(const Tensor& tensor) {
  return TensorParts::result(tensor);
}

// A number no walk had before.
uint64_t NextWalk() ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

Tensor MakeTensor(Shapes shapes, Node::State state, SourceLocation where);
Tensor MakeFailed(absl::Status status, SourceLocation where);
Tensor MakeHost(Literal value, SourceLocation where);
// The error text with where in the user's program it was.
absl::Status At(const absl::Status& status, SourceLocation where);

absl::Status NoValueError();

// Returns where the tensor's value was computed; nowhere yet: "".
runtime::RanOn RanOnOf(const Tensor& tensor);

// Result k of the same instruction as `first`; an error stays itself.
Tensor ResultOf(const Tensor& first, int k);
// The first `count` results.
std::vector<Tensor> ResultsOf(const Tensor& first, size_t count);

// OK, or why there is nothing to compute with: never given a value, an error,
// donated.
absl::Status Usable(const Tensor& tensor)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

// Takes the value out of a host or ready tensor that is donated. Every handle
// to the tensor is unusable from then on, and the argument that ToArgument made
// of it holds the SDK's last reference. The value of a host tensor goes to
// `value`; PutBack takes it and that argument to undo this when nothing was
// executed.
absl::Status Surrender(const Tensor& tensor, Literal* value)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
void PutBack(const Tensor& tensor, Literal value,
             const runtime::Argument& argument)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

// "f32[2,3] made at main.cc:12"
std::string Describe(const Tensor& tensor);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_NODE_H_
