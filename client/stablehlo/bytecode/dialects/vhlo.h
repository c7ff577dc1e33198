// VHLO: the names that StableHLO's versioned dialect writes as numbers.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_VHLO_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_VHLO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hawser::stablehlo::vhlo {

// The newest StableHLO whose artifacts were read in tests. A plugin that
// announces it is sent nothing newer.
inline constexpr absl::string_view kNewestTested = "1.20";

// Codes of types and attributes that have parts; of the others there are only
// names.
enum TypeCode : uint64_t {
  kComplex = 1,
  kFunction = 8,
  kTensor = 20,
  kTensorWithEncoding = 21,
  kTuple = 23,
  kUnrankedTensor = 25,
  kNone = 33,
};
enum AttributeCode : uint64_t {
  kArray = 1,
  kBoolean = 2,
  kDictionary = 6,
  kFloat = 8,
  kInteger = 9,
  kString = 14,
  kElements = 15,
  kType = 17,
};

// "f32" of the type's number; empty: not a type without parts.
absl::string_view TypeName(uint64_t code);
// "EQ" of an enum attribute's number and value. Empty: no enum, or no value of
// it.
absl::string_view EnumWord(uint64_t code, uint64_t value);

// Returns what an op of VHLO is called in StableHLO: "stablehlo.add" of
// "vhlo.add_v1". Any other name stays.
std::string StableHloName(absl::string_view name);
// Returns the attributes that the op declares, in the order of its properties.
// Null: hawser does not know that it declares any.
const std::vector<absl::string_view>* DeclaredAttributes(
    absl::string_view name);

}  // namespace hawser::stablehlo::vhlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_VHLO_H_
