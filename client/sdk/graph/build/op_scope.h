// OpScope: the vocabulary SDK functions are written in.
#ifndef HAWSER_CLIENT_SDK_GRAPH_BUILD_OP_SCOPE_H_
#define HAWSER_CLIENT_SDK_GRAPH_BUILD_OP_SCOPE_H_

#include <initializer_list>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/graph/user_code.h"
#include "client/sdk/operand.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"

namespace hawser::sdk {

// The integers a function was given: sizes, lengths, counts.
using Integers = std::initializer_list<absl::Span<const int64_t>>;

// No axis comes near this; sums of a few such numbers do not overflow.
inline constexpr int64_t kLongestAxis = int64_t{1} << 40;

// One call of an SDK function: its name, its operands for error texts, and
// where it was called. When such functions call each other on one thread, the
// outermost is the one the user called: errors name that one, its operands and
// its place, and every tensor of the others was made there. So an SDK function
// calls another as a user does, and hands it no place. Works alike for traced
// and recorded tensors. After an error it returns invalid tensors, which every
// call passes on, so a function needs no checks between its steps. Scopes of a
// thread end in the opposite order of their beginning.
class OpScope {
 public:
  // Takes at least one operand, the first of which says where the call is. An
  // integer that is the size of an axis there is not (absent_size.h) is an
  // error, as an invalid operand is.
  OpScope(absl::string_view function,
          std::initializer_list<const Operand*> operands,
          Integers integers = {});
  OpScope(absl::string_view function, SourceLocation where,
          absl::Span<const Tensor> operands = {}, Integers integers = {});
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;
  ~OpScope();

  // While it lives, numbers are part of the structure, as those in a formula
  // `(1 - x) / 2` are that the SDK function itself brings along. The user's own
  // numbers are made tensors (As) before it.
  class Formula {
   public:
    Formula();
    ~Formula();
    Formula(const Formula&) = delete;
    Formula& operator=(const Formula&) = delete;

   private:
    const bool around_;
  };

  // The place where the user called the outermost function.
  SourceLocation where() const { return called_->where_; }
  // False when an operand or integer is invalid: return error() at once.
  bool ok() const { return ok_; }
  const Tensor& error() const { return error_; }

  // "Function: message; operands f32[2], f32[3] (at main.cc:12)"
  Tensor Fail(const absl::Status& status) const;
  // Keeps an error that already says so.
  Tensor Keep(const absl::Status& error) const;

  Tensor Add(const OpDef& op, absl::Span<const Tensor> operands,
             Attributes attributes = {},
             absl::Span<const Region> called = {}) const {
    return Record(op, operands, std::move(attributes), called);
  }
  Tensor Add(const OpDef& op, std::initializer_list<Tensor> operands,
             Attributes attributes = {},
             absl::Span<const Region> called = {}) const {
    return Record(op, absl::MakeConstSpan(operands.begin(), operands.size()),
                  std::move(attributes), called);
  }

  // The operand as a tensor of this dtype: a tensor is converted, a number
  // must fit. A number is a host value, a parameter of a recording, or in a
  // Formula a constant.
  Tensor As(const Operand& operand, DType dtype) const;
  // The same with the operand's own dtype.
  Tensor As(const Operand& operand) const;
  // Converts; to bool it is x != 0, of a complex x too.
  Tensor Convert(const Tensor& x, DType dtype) const;
  // NumPy's rule; an error when x does not broadcast to dims.
  Tensor BroadcastTo(const Tensor& x, absl::Span<const int64_t> dims) const;
  Tensor Reshape(const Tensor& x, absl::Span<const int64_t> dims) const;
  // A value the function itself brings along: part of the structure.
  Tensor Constant(Literal value) const;
  Tensor ConstantOf(Number number, DType dtype) const;
  Tensor ZerosLike(const Tensor& x) const;

 private:
  Tensor Record(const OpDef& op, absl::Span<const Tensor> operands,
                Attributes attributes, absl::Span<const Region> called) const;
  void Check(const Tensor& operand);
  void Check(Integers integers);

  const absl::string_view function_;
  const SourceLocation where_;
  const OpScope* const called_;  // the outermost scope
  Tensors operands_;
  bool ok_ = true;
  Tensor error_;
};

// The dtype several operands are computed in: tensors promote, numbers are weak
// next to a tensor; numbers alone promote by their own dtypes.
DType CommonDType(std::initializer_list<const Operand*> operands);
// The dtype an operand has alone.
DType DTypeOf(const Operand& operand);
// 0 of a number.
int RankOf(const Operand& operand);
// The operands' sizes, broadcast.
absl::StatusOr<Dims> CommonDims(std::initializer_list<const Operand*> operands);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_BUILD_OP_SCOPE_H_
