#include "kernels/gpu/emit/text/op_text.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"

namespace hawser::gpu {
namespace {

// The operation that an expression is written for.
struct Context {
  const Instruction& instruction;
  absl::Span<const ValueText> operands;
  DType result;
};
using ExpandFn = ValueText (*)(const Context&);

// $0, $1, $2 are the operands as they are computed, $3 the type the result is
// computed in, $4 how C's names of functions end for it. An op that needs more
// than a text has a function.
struct OpRow {
  const OpDef* op;
  const char* real;
  const char* complex = nullptr;  // nullptr: there is none
  ExpandFn expand = nullptr;
};

ValueText Converted(const Context& c) {
  return ConvertedText(c.operands[0].Computed(), c.operands[0].dtype, c.result);
}

ValueText SameBits(const Context& c) {
  return {absl::StrCat("BitCast<", TypeName(c.result), ">(",
                       c.operands[0].Stored(), ")"),
          c.result};
}

ValueText Same(const Context& c) { return c.operands[0]; }

// Halves are moved as they are when all of them are.
ValueText Selected(const Context& c) {
  const ValueText &a = c.operands[1], &b = c.operands[2];
  const bool stored = a.stored && b.stored;
  return {
      absl::StrCat(c.operands[0].text, " ? ", stored ? a.text : a.Computed(),
                   " : ", stored ? b.text : b.Computed()),
      c.result, stored};
}

ValueText Compared(const Context& c) {
  // Indexed by CompareDirection.
  constexpr absl::string_view kSigns[] = {"==", "!=", ">=", ">", "<=", "<"};
  const auto direction = CompareDirectionOf(c.instruction.attributes);
  return {absl::StrCat(c.operands[0].Computed(), " ",
                       kSigns[static_cast<int>(direction)], " ",
                       c.operands[1].Computed()),
          c.result};
}

// Takes the bits that memory holds.
ValueText Reduced(const Context& c) {
  const FloatBits bits = PrecisionOf(c.instruction.attributes, c.result);
  return {absl::StrCat("ReducePrecision<", bits.exponent, ", ", bits.mantissa,
                       ">(", c.operands[0].Stored(), ")"),
          c.result};
}

ValueText Flipped(const Context& c) {
  const std::string x = c.operands[0].text;
  return {IsBool(c.result) ? absl::StrCat("!", x)
                           : absl::StrCat("(", TypeName(c.result), ")~", x),
          c.result};
}

constexpr OpRow kRows[] = {
    {&kAbs, "Abs($0)", "Abs($0)"},
    {&kAdd, "Add($0, $1)", "Add($0, $1)"},
    {&kAnd, "($3)($0 & $1)"},
    {&kAtan2, "Atan2($0, $1)"},
    {&kBitcastConvert, "", "", SameBits},
    {&kCbrt, "cbrt$4($0)"},
    {&kCeil, "Ceil($0)"},
    {&kClamp, "Clamp($0, $1, $2)"},
    {&kCompare, "", "", Compared},
    {&kComplex, nullptr, "MakeComplex($0, $1)"},
    {&kConvert, "", "", Converted},
    {&kCosine, "Cos($0)", "Cos($0)"},
    {&kCountLeadingZeros, "CountLeadingZeros($0)"},
    {&kDivide, "Divide($0, $1)", "Divide($0, $1)"},
    {&kErf, "erf$4($0)"},
    {&kErfc, "erfc$4($0)"},
    {&kExponential, "Exp($0)", "Exp($0)"},
    {&kExponentialMinusOne, "Expm1($0)", "Expm1($0)"},
    {&kFloor, "Floor($0)"},
    {&kImag, "($3)0", "Imag($0)"},
    {&kIsFinite, "IsFinite($0)"},
    {&kLgamma, "lgamma$4($0)"},
    {&kLog, "Log($0)", "Log($0)"},
    {&kLogPlusOne, "Log1p($0)", "Log1p($0)"},
    {&kLogistic, "Logistic($0)", "Logistic($0)"},
    {&kMaximum, "Max($0, $1)"},
    {&kMinimum, "Min($0, $1)"},
    {&kMultiply, "Multiply($0, $1)", "Multiply($0, $1)"},
    {&kNegate, "Negate($0)", "Negate($0)"},
    {&kNot, "", nullptr, Flipped},
    {&kOr, "($3)($0 | $1)"},
    {&kPopcnt, "PopulationCount($0)"},
    {&kPower, "Power($0, $1)", "Power($0, $1)"},
    {&kReal, "$0", "Real($0)"},
    {&kReducePrecision, "", nullptr, Reduced},
    {&kRemainder, "Remainder($0, $1)"},
    {&kRoundNearestAfz, "round$4($0)"},
    {&kRoundNearestEven, "RoundEven($0)"},
    {&kRsqrt, "Rsqrt($0)", "Rsqrt($0)"},
    {&kSelect, "", "", Selected},
    {&kShiftLeft, "ShiftLeft($0, $1)"},
    {&kShiftRightArithmetic, "ShiftRightArithmetic($0, $1)"},
    {&kShiftRightLogical, "ShiftRightLogical($0, $1)"},
    {&kSign, "Sign($0)", "Sign($0)"},
    {&kSine, "Sin($0)", "Sin($0)"},
    {&kSqrt, "Sqrt($0)", "Sqrt($0)"},
    {&kStopGradient, "", "", Same},
    {&kSubtract, "Subtract($0, $1)", "Subtract($0, $1)"},
    {&kTan, "tan$4($0)", "Tan($0)"},
    {&kTanh, "Tanh($0)", "Tanh($0)"},
    {&kXor, "($3)($0 ^ $1)"},
};

const OpRow* FindRow(const OpDef* op) {
  static const auto& rows = *[] {
    auto* map = new absl::flat_hash_map<const OpDef*, const OpRow*>();
    for (const OpRow& row : kRows) map->emplace(row.op, &row);
    return map;
  }();
  const auto at = rows.find(op);
  return at == rows.end() ? nullptr : at->second;
}

// Returns, for each value, whether one of `wanted` depends on it.
std::vector<bool> NeededFor(const Computation& computation,
                            absl::Span<const ValueId> wanted) {
  std::vector<bool> needed(computation.num_values(), false);
  for (const ValueId v : wanted) needed[v] = true;
  const auto instructions = computation.instructions();
  for (size_t k = instructions.size(); k-- > 0;) {
    if (!needed[instructions[k].first_result]) continue;
    for (const ValueId v : instructions[k].operands) needed[v] = true;
  }
  return needed;
}

}  // namespace

bool HasOpText(const OpDef& op) { return FindRow(&op) != nullptr; }

absl::StatusOr<ValueText> OpText(const Instruction& instruction, DType result,
                                 absl::Span<const ValueText> operands,
                                 bool strict) {
  const OpRow* row = FindRow(instruction.op);
  bool complex = IsComplex(result);
  for (const ValueText& o : operands) complex |= IsComplex(o.dtype);
  const char* form = row == nullptr ? nullptr
                     : complex      ? row->complex
                                    : row->real;
  if (form == nullptr) {
    return Unimplemented(
        "no kernel computes ", instruction.op->name, " of ",
        DTypeName(operands.empty() ? result : operands[0].dtype));
  }
  if (row->expand != nullptr) {
    return row->expand({instruction, operands, result});
  }
  std::string computed[3];
  for (size_t k = 0; k < operands.size() && k < 3; ++k) {
    computed[k] = operands[k].Computed();
  }
  ValueText value{absl::Substitute(form, computed[0], computed[1], computed[2],
                                   ComputeTypeName(result),
                                   result == DType::kF64 ? "" : "f"),
                  result, false};
  if (strict) value = {value.Stored(), result};
  return value;
}

absl::StatusOr<std::vector<ValueText>> ScalarValuesText(
    const Computation& computation, absl::Span<const ValueId> wanted,
    absl::Span<const ValueText> arguments, bool strict,
    absl::string_view prefix, TextWriter* writer) {
  const std::vector<bool> needed = NeededFor(computation, wanted);
  std::vector<ValueText> values(arguments.begin(), arguments.end());
  for (const Instruction& i : computation.instructions()) {
    if (i.op == &kParameter) continue;
    if (!needed[i.first_result]) {
      values.resize(values.size() + i.num_results);
      continue;
    }
    const DType dtype = computation.shape(i.first_result).dtype();
    if (i.op == &kConstant) {
      values.push_back(ConstantText(i.attributes.GetLiteral("value")));
      continue;
    }
    std::vector<ValueText> operands;
    for (const ValueId v : i.operands) operands.push_back(values[v]);
    HAWSER_ASSIGN_OR_RETURN(ValueText value,
                            OpText(i, dtype, operands, strict));
    const std::string name = absl::StrCat(prefix, values.size());
    writer->Line("const ", value.type(), " ", name, " = ", value.text, ";");
    value.text = name;
    values.push_back(std::move(value));
  }
  std::vector<ValueText> results;
  for (const ValueId v : wanted) results.push_back(values[v]);
  return results;
}

absl::StatusOr<std::vector<ValueText>> ScalarComputationText(
    const Computation& computation, absl::Span<const ValueText> arguments,
    bool strict, absl::string_view prefix, TextWriter* writer) {
  return ScalarValuesText(computation, computation.results(), arguments, strict,
                          prefix, writer);
}

}  // namespace hawser::gpu
