// Operand: an argument of an SDK function, a tensor or a C++ number, with the
// place of the call in the user's program.
#ifndef HAWSER_CLIENT_SDK_OPERAND_H_
#define HAWSER_CLIENT_SDK_OPERAND_H_

#include <optional>

#include "absl/types/span.h"
#include "client/sdk/number.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {

// Made implicitly at the call, so that `a + b` knows its file and line. Lives
// only as a function's argument: it points at the tensor.
class Operand {
 public:
  Operand(const Tensor& tensor,  // NOLINT: implicit on purpose
          SourceLocation where = SourceLocation::Current())
      : tensor_(&tensor), where_(where) {}
  template <typename T>
    requires kIsNumber<T>
  Operand(T number,  // NOLINT: implicit on purpose
          SourceLocation where = SourceLocation::Current())
      : number_(number), where_(where) {}
  Operand(Number number,  // NOLINT: implicit on purpose
          SourceLocation where = SourceLocation::Current())
      : number_(number), where_(where) {}

  bool is_number() const { return tensor_ == nullptr; }
  const Tensor& tensor() const { return *tensor_; }  // not is_number()
  const Number& number() const { return *number_; }  // is_number()
  SourceLocation where() const { return where_; }

 private:
  const Tensor* tensor_ = nullptr;
  std::optional<Number> number_;
  SourceLocation where_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPERAND_H_
