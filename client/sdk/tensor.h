// Tensor: a value that may not have been computed yet.
#ifndef HAWSER_CLIENT_SDK_TENSOR_H_
#define HAWSER_CLIENT_SDK_TENSOR_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/client.h"
#include "client/sdk/graph/node_ref.h"
#include "client/sdk/options.h"
#include "core/base/future.h"
#include "core/base/literal.h"
#include "core/base/shape.h"

namespace hawser {

// An immutable value handle: cheap to copy, shareable between threads. Inside
// a function given to Jit it is *traced*, a value of the graph being built.
// Outside it is a host value, a value on a client, or *recorded*: an
// expression over those, run when somebody asks. Building expressions never
// blocks; an error is kept (the first one, with op, shapes and the file and
// line of the expression) and comes out of whichever call asks for the value.
//
// An evaluated tensor keeps its value; its bytes live on its client until the
// last handle dies. After a lost session, fetching gives kUnavailable or
// kDataLoss unless the client has a fallback.
//
// There is no conversion to bool or to a number (Fetch it), and == is deleted:
// Eq(a, b) compares elements.
class Tensor {
 public:
  Tensor() = default;  // no value; using it is an error

  // OK, or the first error. Local: says nothing about a server's.
  absl::Status status() const;
  // Known as soon as the tensor exists; of kInvalid dtype after an error.
  const Shape& shape() const;
  DType dtype() const { return shape().dtype(); }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape().dim(axis); }

  // Runs what was recorded. Returns when it is queued: errors of the other
  // end come out of Fetch. May block to compile. Errors: status();
  // kFailedPrecondition for a traced or donated tensor, or another client;
  // those of compiling.
  absl::Status Eval(const RunOptions& options = {}) const;
  // The value, after Eval where that is due. Blocks until it is there or the
  // deadline has passed. Errors: Eval's, and the first error of the chain that
  // was to make the value.
  absl::StatusOr<Literal> Fetch(const RunOptions& options = {}) const;
  // As Fetch; only compiling may block.
  Future<Literal> FetchAsync(const RunOptions& options = {}) const;
  // The first `rows` of axis 0; only they cross the wire. As Fetch.
  absl::StatusOr<Literal> Head(int64_t rows,
                               const RunOptions& options = {}) const;

  // Where it was computed: "cpu", "gpu-1:7070 cuda", "cpu (fallback ...)".
  // Final after Fetch; "host" for a value that never left; "" before Eval.
  std::string ran_on() const;
  // This value on `client`. Blocks when it is on another one.
  absl::StatusOr<Tensor> To(const Client& client,
                            const CallOptions& call = {}) const;

  // For the SDK itself.
  explicit Tensor(sdk::NodeRef node, int result = 0)
      : node_(std::move(node)), result_(result) {}
  sdk::Node* node() const { return node_.get(); }
  int result() const { return result_; }

 private:
  sdk::NodeRef node_;
  int result_ = 0;
};

// Elements are compared by Eq(a, b); this would compare handles.
bool operator==(const Tensor& a, const Tensor& b) = delete;

// Evaluates several tensors in one execution for all that were recorded
// together. As Tensor::Eval.
absl::Status Eval(absl::Span<const Tensor> tensors,
                  const RunOptions& options = {});

// "f32[2] {1, 2}" when the value is in this process, else what and where it
// is. Never blocks.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Literal& literal);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_TENSOR_H_
