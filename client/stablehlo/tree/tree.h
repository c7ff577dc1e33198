// The op tree: what a StableHLO program says, whichever form it was read from.
// Pretty forms and numbers have become generic ones: attributes under their full names,
// regions instead of shorthands.
#ifndef HAWSER_CLIENT_STABLEHLO_TREE_TREE_H_
#define HAWSER_CLIENT_STABLEHLO_TREE_TREE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/source.h"
#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"

namespace hawser::stablehlo {

// Every string_view of a tree points into the text or the bytes it was read
// from, which must outlive it, or is of `strings`. Strings stand as text writes
// them: escapes stay escapes.

// What stands nowhere in the source. They keep their addresses.
using TreeStrings = std::deque<std::string>;

// A tensor, or another type of which only the text is known.
struct Type {
  absl::string_view text;  // "tensor<2x3xf32>", "!stablehlo.token"
  bool tensor = false;
  bool dynamic = false;           // a size is "?"; it is -1 in dims
  DType dtype = DType::kInvalid;  // kInvalid: hawser has no such elements
  absl::string_view element;      // "f32", "complex<f32>"
  Dims dims;
};

inline constexpr absl::string_view kTokenText = "!stablehlo.token";

// Returns the type of what orders effects: a value without elements, as which
// JAX passes it to programs.
Type TokenType();

struct FunctionType {
  std::vector<Type> operands;
  std::vector<Type> results;
};

// The value of dense<...>. It is not decoded (not valid) where hawser lacks the
// dtype or a size is dynamic.
struct Elements {
  Type type;
  bool splat = false;  // `value` is a scalar that stands for every element
  Literal value;
};

struct Attribute;
using AttributePtr = std::shared_ptr<const Attribute>;
struct NamedAttribute {
  absl::string_view name;
  AttributePtr value;
};
using AttributeDict = std::vector<NamedAttribute>;

// A value that may be shared by many ops (an alias), so that aliases of aliases
// take no more memory than their text.
struct Attribute {
  enum Kind : uint8_t {
    kUnit,      // a name without a value
    kNumber,    // -3, 1.5e+00, 0x7F800000
    kWord,      // true, EQ of #stablehlo<comparison_direction EQ>
    kString,    // text without quotes
    kSymbol,    // text without '@' and quotes
    kInts,      // array<i64: 1, 2>, [1, 2]
    kList,      // any other list
    kDict,      // {a = 1}, #stablehlo.gather<offset_dims = [0]>
    kElements,  // dense<...>
    kType,      // of a tensor, or another
    kFunctionType,
    kOpaque,  // what nothing here needs to understand
  };
  Kind kind = kUnit;
  absl::string_view text;  // as written, without what the kinds above say
  std::vector<int64_t> ints;
  std::vector<AttributePtr> items;
  AttributeDict fields;
  std::shared_ptr<Elements> elements;
  std::shared_ptr<FunctionType> function;
};

// The name of an op's results: %name, or %name:count.
struct ResultName {
  absl::string_view name;
  int count = 1;
};

// An operand of an op: %name, or one of a pack, %name#index.
struct Operand {
  absl::string_view name;
  int index = 0;
};

struct BlockArgument {
  absl::string_view name;
  Type type;
  AttributeDict attributes = {};  // of a function's, in its pretty form
};

struct Op;

// One block: arguments, then ops, the last of which returns.
struct Region {
  std::vector<BlockArgument> arguments;
  std::vector<Op> ops;
};

struct Op {
  absl::string_view name;       // "stablehlo.add", "func.func"
  const char* where = nullptr;  // in the text
  absl::string_view location;   // what stands in loc(...), or "#loc3", or ""
  absl::InlinedVector<ResultName, 1> results;
  absl::InlinedVector<Operand, 3> operands;
  AttributeDict attributes;
  std::vector<Region> regions;
  std::vector<Type> operand_types;  // empty where the form leaves them out
  std::vector<Type> result_types;
};

struct Tree {
  Source source;
  std::shared_ptr<TreeStrings> strings;  // null: there are none
  std::vector<Op> ops;  // of the file: a module, or functions
  // "#loc3" -> what its loc(...) holds.
  absl::flat_hash_map<absl::string_view, absl::string_view> locations;
};

// ---- types ----------------------------------------------------------------

// "f32", "complex<f32>", "ui8"; kInvalid for what hawser lacks.
DType DTypeOfElement(absl::string_view element);
// "tensor<2x3xf32>".
std::string TypeText(const Shape& shape);
// "tensor<2x?xf32>" as hawser writes shapes where it can, for errors.
std::string ToString(const Type& type);

// ---- attributes -----------------------------------------------------------

// The attribute of that name, also where it is a field of an attribute that is
// a dict (dimension numbers), or nullptr.
const Attribute* FindAttribute(const Op& op, absl::string_view name);

// ---- places ---------------------------------------------------------------

// Returns where the program that was traced made the op, "model.py:12:3", or
// "".
std::string TracedPlace(const Tree& tree, const Op& op);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TREE_TREE_H_
