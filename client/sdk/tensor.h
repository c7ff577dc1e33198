// Tensor: a value that may not have been computed yet.
#ifndef HAWSER_CLIENT_SDK_TENSOR_H_
#define HAWSER_CLIENT_SDK_TENSOR_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/client/client.h"
#include "client/sdk/client/options.h"
#include "client/sdk/node_ref.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/source_location.h"

namespace hawser {

class Index;
namespace sdk {
struct TensorParts;
}

// The elements of a tensor, or why there are none. It is a StatusOr, except
// that * on a temporary returns the vector itself and no reference into it. So
//   for (float f : *x.ToVector<float>())
// loops over a vector that lives long enough, which C++20 does not guarantee
// otherwise.
template <typename T>
class ElementsOr : public absl::StatusOr<std::vector<T>> {
 public:
  using Base = absl::StatusOr<std::vector<T>>;
  ElementsOr(Base elements)  // NOLINT: it is one
      : Base(std::move(elements)) {}
  using Base::operator*;
  using Base::value;
  std::vector<T> operator*() && { return *static_cast<Base&&>(*this); }
  std::vector<T> value() && { return static_cast<Base&&>(*this).value(); }
};

// An immutable value handle: cheap to copy, shareable between threads. Inside
// a function given to Jit it is *traced*, a value of the graph being built.
// Outside it is a host value, a value on a client, or *recorded*: an
// expression over those, which runs when its value is asked for. Building
// expressions never blocks; an error is kept (the first one, with op, shapes
// and the file and line of the expression) and comes out of the call that asks
// for the value.
//
// An evaluated tensor keeps its value; its bytes live on its client until the
// last handle dies. After a lost session, fetching gives kUnavailable or
// kDataLoss unless the client has a fallback.
//
// There is no conversion to bool or to a number (see Item), and == is deleted:
// Eq(a, b) compares elements, a < b too. && and || compute both of their sides.
class Tensor {
 public:
  Tensor() = default;  // no value; using it is an error
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  // Tensors do not change: `x[0] = row` would give the row to a copy. Say
  // `x = PutSlice(x, row, {0})`, whose result is x with that row.
  Tensor& operator=(const Tensor& use_PutSlice_instead) && = delete;

  // OK, or the first error of building it. Asks no server: an error of the
  // other end comes out of Fetch.
  absl::Status status() const;
  // Known as soon as the tensor exists; of kInvalid dtype after an error.
  const Shape& shape() const;
  DType dtype() const { return shape().dtype(); }
  int rank() const { return shape().rank(); }
  // The size of an axis; a negative one counts from the back. If there is no
  // such axis or no shape, it is a negative number: the function that is given
  // it as a size gives an error that says "dim(7) of f32[3,4]", or this
  // tensor's own error. The tensor stays as it is.
  int64_t dim(int64_t axis,
              SourceLocation where = SourceLocation::Current()) const;

  // Runs what was recorded. Returns when the execution is queued: errors of the
  // other end come out of Fetch. May block to compile. Errors: status();
  // kFailedPrecondition for a traced or donated tensor, or another client;
  // those of compiling.
  absl::Status Eval(const RunOptions& options = {}) const;
  // The value, after Eval where that is due. Blocks until it is there or the
  // deadline has passed. Errors: Eval's, and the first error of the chain that
  // was to make the value.
  absl::StatusOr<Literal> Fetch(const RunOptions& options = {}) const;
  // Fetches like Fetch; only compiling may block.
  Future<Literal> FetchAsync(const RunOptions& options = {}) const;
  // The one element of a tensor that has one, of any rank. It blocks as Fetch
  // does. Errors: its; kInvalidArgument for another number of elements, or a T
  // that is not the dtype's C++ type.
  template <typename T>
  absl::StatusOr<T> Item(
      const RunOptions& options = {},
      SourceLocation where = SourceLocation::Current()) const;
  // The elements in row-major order. It blocks and fails as Item does, but
  // takes any shape.
  template <typename T>
  ElementsOr<T> ToVector(
      const RunOptions& options = {},
      SourceLocation where = SourceLocation::Current()) const;
  // The first `rows` of axis 0; only they cross the wire. It blocks as Fetch
  // does.
  absl::StatusOr<Literal> Head(int64_t rows,
                               const RunOptions& options = {}) const;

  // Says in short where it was computed: "cpu", "gpu-1:7070 cuda", "cpu
  // (fallback: unreachable)", of which the log says more. Final after Fetch;
  // "host" for a value that never left; "" before Eval.
  std::string ran_on() const;
  // True if a client computed it that stood in for the one that was asked.
  // Final after Fetch.
  bool on_fallback() const;
  // This value on `client`. Blocks when it is on another one.
  absl::StatusOr<Tensor> To(const Client& client,
                            const CallOptions& call = {}) const;

  // A part: x[0], x[-1], x[Range(1, 5)], and x[{Range(), 0, NewAxis()}] for
  // several axes. See ops/subscript.h.
  Tensor operator[](const Index& index) const;
  Tensor operator[](std::initializer_list<Index> indices) const;

 private:
  friend struct sdk::TensorParts;
  Tensor(sdk::NodeRef node, int result)
      : node_(std::move(node)), result_(result) {}
  // Fetch for a function that gives elements of a C++ type.
  absl::StatusOr<Literal> FetchAs(const char* function, DType dtype,
                                  bool single, const RunOptions& options,
                                  SourceLocation where) const;

  sdk::NodeRef node_;
  int result_ = 0;
};

// Elements are compared by Eq(a, b); this would compare handles.
bool operator==(const Tensor& a, const Tensor& b) = delete;

// Evaluates several tensors in one execution for all that were recorded
// together. It blocks and fails as Tensor::Eval does.
absl::Status Eval(absl::Span<const Tensor> tensors,
                  const RunOptions& options = {});

// Writes a value that is in this process as "f32[2] {1, 2}", or, from rank 2
// on, its rows on lines below the shape,
//   f32[2,2]
//   {{1, 2},
//    {3, 4}}
// with "..." for the middle of long axes; for any other tensor writes what and
// where it is. Never blocks.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Literal& literal);

template <typename T>
absl::StatusOr<T> Tensor::Item(const RunOptions& options,
                               SourceLocation where) const {
  HAWSER_ASSIGN_OR_RETURN(const Literal value,
                          FetchAs("Item", kDTypeOf<T>, true, options, where));
  return value.data<T>()[0];
}

template <typename T>
ElementsOr<T> Tensor::ToVector(const RunOptions& options,
                               SourceLocation where) const {
  const absl::StatusOr<Literal> value =
      FetchAs("ToVector", kDTypeOf<T>, false, options, where);
  if (!value.ok()) return ElementsOr<T>(value.status());
  const absl::Span<const T> elements = value->data<T>();
  return ElementsOr<T>(std::vector<T>(elements.begin(), elements.end()));
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_TENSOR_H_
