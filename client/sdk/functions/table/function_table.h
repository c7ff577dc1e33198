// The SDK functions by name, for `hawser check` and for other languages.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_TABLE_FUNCTION_TABLE_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_TABLE_FUNCTION_TABLE_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/number.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/ir/attributes.h"
#include "core/ir/source_location.h"

namespace hawser {

// A tensor, or a number that is weak next to tensors.
using FunctionArgument = std::variant<Tensor, Number>;

// One call by name: hands out arguments and attributes and notes what was
// asked for, so that an attribute no function reads is an error.
class FunctionCall {
 public:
  FunctionCall(absl::Span<const FunctionArgument> arguments,
               const Attributes& attributes, SourceLocation where)
      : arguments_(arguments), attributes_(attributes), where_(where) {}

  // The place of the call, for error texts.
  SourceLocation where() const { return where_; }

  Operand operator[](size_t i) const;
  // Returns the arguments from number i on, as tensors.
  std::vector<Tensor> Tensors(size_t i = 0) const;
  std::vector<Operand> Operands(size_t i) const;

  // An attribute; when it is not there, the fallback, or where there is none
  // an error.
  Dims Ints(absl::string_view name);
  Dims Ints(absl::string_view name, Dims fallback);
  int64_t Int(absl::string_view name);
  int64_t Int(absl::string_view name, int64_t fallback);
  bool Bool(absl::string_view name, bool fallback);
  double Float(absl::string_view name, double fallback);
  std::string Text(absl::string_view name);
  DType Type(absl::string_view name);
  DType Type(absl::string_view name, DType fallback);
  bool Has(absl::string_view name) const { return attributes_.Has(name); }

  // The first error of an attribute: missing, of another kind, unread.
  absl::Status Check() const;

 private:
  template <typename T>
  T Get(absl::string_view name, const T* fallback);

  absl::Span<const FunctionArgument> arguments_;
  const Attributes& attributes_;
  const SourceLocation where_;
  std::vector<absl::string_view> read_;
  absl::Status error_;
};

struct FunctionEntry {
  absl::string_view name;  // "Exp"
  // The IR op it stands for ("exponential"), or "" for a composite.
  absl::string_view op;
  size_t min_arguments;
  size_t max_arguments;
  std::vector<Tensor> (*call)(FunctionCall&);
};

// Sorted by name.
absl::Span<const FunctionEntry> AllFunctions();
// nullptr for an unknown name.
const FunctionEntry* FindFunction(absl::string_view name);

// Errors: kInvalidArgument for a wrong number of arguments, or an attribute
// that is missing, unknown or of another kind; what the function says comes
// with its results, as an error at `where`.
absl::StatusOr<std::vector<Tensor>> CallFunction(
    const FunctionEntry& function, absl::Span<const FunctionArgument> arguments,
    const Attributes& attributes, SourceLocation where = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_TABLE_FUNCTION_TABLE_H_
