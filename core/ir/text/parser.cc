#include "core/ir/text/parser.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ir/text/parser_tokens.h"
#include "core/ir/text/parser_values.h"

namespace hawser {
namespace {

// The text left of an instruction's "=".
struct Claim {
  Token token;
  Shape shape;
};

class ModuleParser {
 public:
  ModuleParser(absl::string_view text, OpLookup find_op,
               const ModuleLimits& limits)
      : in_(text),
        find_op_(find_op),
        limits_(limits),
        values_{.constant_bytes = limits.constant_bytes,
                .numbers = limits.operands},
        instructions_left_(limits.instructions),
        operands_left_(limits.operands),
        called_values_left_(limits.operands) {}

  absl::StatusOr<Module> Parse();

 private:
  absl::StatusOr<Computation> ParseComputation(const Module& module);
  absl::Status ParseParameters(const Module& module, Computation* to);
  absl::Status ParseInstruction(const Module& module, Computation* to);
  absl::Status ParseClaims(const Computation& computation);
  absl::StatusOr<const OpDef*> ParseOp();
  absl::Status ParseOperands(const Computation& computation);
  absl::StatusOr<Attributes> ParseAttributes(const OpDef& op);
  absl::Status ParseCalled(const Module& module);
  absl::Status CheckClaims(const Token& op, const Computation& computation,
                           ValueId first) const;
  absl::StatusOr<std::vector<ValueId>> ParseResults(
      const Computation& computation);
  absl::StatusOr<ValueId> ParseKnownValue(const Computation& computation);
  // "%n: shape", where n must be `number`.
  absl::StatusOr<Claim> ParseClaim(ValueId number);
  // Takes `n` off `left`. Errors: kResourceExhausted at the token at hand.
  absl::Status Spend(int64_t n, absl::string_view what, int64_t limit,
                     int64_t* left) const;

  TokenReader in_;
  const OpLookup find_op_;
  const ModuleLimits& limits_;
  ValueBudget values_;
  int64_t instructions_left_;
  int64_t operands_left_;
  int64_t called_values_left_;
  // The claims of the instruction at hand.
  std::vector<Claim> claims_;
  std::vector<ValueId> operands_;
  std::vector<int> called_;
};

absl::Status ModuleParser::Spend(int64_t n, absl::string_view what,
                                 int64_t limit, int64_t* left) const {
  *left -= n;
  if (*left >= 0) return absl::OkStatus();
  return At(in_.token(), ResourceExhausted("module has more than ", limit, " ",
                                           what));
}

absl::StatusOr<Claim> ModuleParser::ParseClaim(ValueId number) {
  const Token token = in_.token();
  const std::string wanted = absl::StrCat("'%", number, "'");
  const auto got = in_.TakeIndex(Token::kValue, wanted);
  HAWSER_RETURN_IF_ERROR(got);
  if (*got != number) {
    return At(token, InvalidArgument("expected ", wanted,
                                     ", the next free number, got ",
                                     token.ToString()));
  }
  HAWSER_RETURN_IF_ERROR(in_.Expect(':'));
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ParseShape(in_));
  return Claim{token, std::move(shape)};
}

absl::Status ModuleParser::ParseParameters(const Module& module,
                                           Computation* to) {
  HAWSER_RETURN_IF_ERROR(in_.Expect('('));
  while (!in_.Is(')')) {
    if (to->num_values() > 0 && !in_.Skip(',')) {
      return in_.Unexpected("',' or ')'");
    }
    HAWSER_RETURN_IF_ERROR(
        Spend(1, "instructions", limits_.instructions, &instructions_left_));
    HAWSER_ASSIGN_OR_RETURN(const Claim claim, ParseClaim(to->num_values()));
    const auto appended =
        to->Append(module, kParameter, {},
                   {{"dtype", claim.shape.dtype()},
                    {"dims", claim.shape.dims()}});
    if (!appended.ok()) return At(claim.token, appended.status());
  }
  in_.Advance();
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseClaims(const Computation& computation) {
  claims_.clear();
  if (in_.token().kind != Token::kValue) return absl::OkStatus();
  do {
    HAWSER_RETURN_IF_ERROR(
        Spend(1, "operands and results", limits_.operands, &operands_left_));
    const auto number =
        static_cast<ValueId>(computation.num_values() + claims_.size());
    HAWSER_ASSIGN_OR_RETURN(Claim claim, ParseClaim(number));
    claims_.push_back(std::move(claim));
  } while (in_.Skip(','));
  return in_.Expect('=');
}

absl::StatusOr<const OpDef*> ModuleParser::ParseOp() {
  const Token token = in_.token();
  if (token.kind != Token::kWord) {
    return in_.Unexpected("an instruction, 'return' or an op");
  }
  if (token.text == kParameter.name) {
    return At(token, InvalidArgument("a parameter stands in the head of its "
                                     "computation, not as an instruction"));
  }
  const OpDef* const op = find_op_(token.text);
  if (op == nullptr) {
    return At(token,
              Unimplemented("there is no op ", token.ToString(), " here"));
  }
  in_.Advance();
  return op;
}

absl::StatusOr<ValueId> ModuleParser::ParseKnownValue(
    const Computation& computation) {
  const Token token = in_.token();
  HAWSER_RETURN_IF_ERROR(
      Spend(1, "operands and results", limits_.operands, &operands_left_));
  const auto value = in_.TakeIndex(Token::kValue, "a value like %0");
  HAWSER_RETURN_IF_ERROR(value);
  if (*value < computation.num_values()) return *value;
  return At(token, InvalidArgument(token.ToString(), " is not one of the ",
                                   computation.num_values(),
                                   " values before it"));
}

absl::Status ModuleParser::ParseOperands(const Computation& computation) {
  operands_.clear();
  HAWSER_RETURN_IF_ERROR(in_.Expect('('));
  while (!in_.Is(')')) {
    if (!operands_.empty() && !in_.Skip(',')) {
      return in_.Unexpected("',' or ')'");
    }
    HAWSER_ASSIGN_OR_RETURN(const ValueId value, ParseKnownValue(computation));
    operands_.push_back(value);
  }
  in_.Advance();
  return absl::OkStatus();
}

// A word and no "=" begins the next instruction, which has no results.
absl::StatusOr<Attributes> ModuleParser::ParseAttributes(const OpDef& op) {
  Attributes attributes;
  while (in_.token().kind == Token::kWord && in_.next().Is('=')) {
    const Token token = in_.Take();
    in_.Advance();
    // The op's own spelling of the name outlives the text.
    const AttributeSpec* spec = op.FindAttribute(token.text);
    if (spec == nullptr) {
      return At(token, InvalidArgument(op.name, " has no attribute ",
                                       token.ToString()));
    }
    if (attributes.Has(spec->name)) {
      return At(token, InvalidArgument("attribute ", spec->name,
                                       " stands twice"));
    }
    HAWSER_ASSIGN_OR_RETURN(AttributeValue value,
                            ParseAttributeValue(in_, &values_));
    attributes.Set(spec->name, std::move(value));
  }
  return attributes;
}

absl::Status ModuleParser::ParseCalled(const Module& module) {
  called_.clear();
  const auto known = static_cast<int32_t>(module.computations().size());
  while (in_.token().kind == Token::kComputation) {
    const Token token = in_.token();
    const auto callee = in_.TakeIndex(Token::kComputation, "a computation");
    HAWSER_RETURN_IF_ERROR(callee);
    if (*callee >= known) {
      return At(token, InvalidArgument(token.ToString(), " is not one of the ",
                                       known, " computations before it"));
    }
    // Shape rules look at every value a called computation takes or gives.
    const Signature& signature = module.signature(*callee);
    const int64_t values =
        1 + signature.parameters.size() + signature.results.size();
    HAWSER_RETURN_IF_ERROR(Spend(values, "operands in calls", limits_.operands,
                                 &called_values_left_));
    called_.push_back(*callee);
  }
  return absl::OkStatus();
}

absl::Status ModuleParser::CheckClaims(const Token& op,
                                       const Computation& computation,
                                       ValueId first) const {
  const size_t actual = computation.num_values() - first;
  if (claims_.size() != actual) {
    return At(op, InvalidArgument(op.text, " has ", actual, " results, ",
                                  claims_.size(), " are named"));
  }
  for (size_t k = 0; k < actual; ++k) {
    const Shape& shape = computation.shape(first + static_cast<ValueId>(k));
    if (claims_[k].shape == shape) continue;
    return At(claims_[k].token,
              InvalidArgument("claims %", first + k, " is ",
                              claims_[k].shape.ToString(), ", it is ",
                              shape.ToString()));
  }
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseInstruction(const Module& module,
                                            Computation* to) {
  HAWSER_RETURN_IF_ERROR(
      Spend(1, "instructions", limits_.instructions, &instructions_left_));
  HAWSER_RETURN_IF_ERROR(ParseClaims(*to));
  const Token name = in_.token();
  HAWSER_ASSIGN_OR_RETURN(const OpDef* const op, ParseOp());
  HAWSER_RETURN_IF_ERROR(ParseOperands(*to));
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes, ParseAttributes(*op));
  HAWSER_RETURN_IF_ERROR(ParseCalled(module));
  const auto first =
      to->Append(module, *op, operands_, std::move(attributes), called_);
  if (!first.ok()) return At(name, first.status());
  return CheckClaims(name, *to, *first);
}

absl::StatusOr<std::vector<ValueId>> ModuleParser::ParseResults(
    const Computation& computation) {
  HAWSER_RETURN_IF_ERROR(in_.ExpectWord("return"));
  std::vector<ValueId> results;
  while (!in_.Is('}')) {
    if (!results.empty() && !in_.Skip(',')) {
      return in_.Unexpected("',' or '}'");
    }
    HAWSER_ASSIGN_OR_RETURN(const ValueId value, ParseKnownValue(computation));
    results.push_back(value);
  }
  in_.Advance();
  return results;
}

absl::StatusOr<Computation> ModuleParser::ParseComputation(
    const Module& module) {
  const auto index = static_cast<int32_t>(module.computations().size());
  if (index >= limits_.computations) {
    return At(in_.token(), ResourceExhausted("module has more than ",
                                             limits_.computations,
                                             " computations"));
  }
  HAWSER_RETURN_IF_ERROR(in_.ExpectWord("computation"));
  const Token number = in_.token();
  const std::string wanted = absl::StrCat("'@", index, "'");
  const auto got = in_.TakeIndex(Token::kComputation, wanted);
  HAWSER_RETURN_IF_ERROR(got);
  if (*got != index) {
    return At(number, InvalidArgument("expected ", wanted,
                                      ", the next free number, got ",
                                      number.ToString()));
  }
  HAWSER_ASSIGN_OR_RETURN(std::string name,
                          in_.TakeString("the computation's name in quotes"));
  Computation computation(std::move(name));
  HAWSER_RETURN_IF_ERROR(ParseParameters(module, &computation));
  HAWSER_RETURN_IF_ERROR(in_.Expect('{'));
  while (!in_.token().IsWord("return")) {
    HAWSER_RETURN_IF_ERROR(ParseInstruction(module, &computation));
  }
  HAWSER_ASSIGN_OR_RETURN(const auto results, ParseResults(computation));
  HAWSER_RETURN_IF_ERROR(computation.SetResults(results));
  return computation;
}

absl::StatusOr<Module> ModuleParser::Parse() {
  HAWSER_RETURN_IF_ERROR(in_.ExpectWord("module"));
  HAWSER_ASSIGN_OR_RETURN(std::string name,
                          in_.TakeString("the module's name in quotes"));
  Module module(std::move(name));
  do {
    HAWSER_ASSIGN_OR_RETURN(Computation computation, ParseComputation(module));
    module.Add(std::move(computation));
  } while (in_.token().kind != Token::kEnd);
  HAWSER_RETURN_IF_ERROR(CheckLimits(module, limits_));
  return module;
}

}  // namespace

absl::StatusOr<Module> ParseModule(absl::string_view text, OpLookup find_op,
                                   const TextLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.bytes) {
    return ResourceExhausted("text has ", text.size(), " bytes, the limit is ",
                             limits.bytes);
  }
  return ModuleParser(text, find_op, limits.module).Parse();
}

absl::StatusOr<Literal> ParseScalar(absl::string_view text, DType dtype) {
  TokenReader in(text);
  HAWSER_ASSIGN_OR_RETURN(Literal value,
                          Literal::Allocate(Shape::Scalar(dtype)));
  HAWSER_RETURN_IF_ERROR(
      ParseElement(in, dtype, value.mutable_bytes().data()));
  if (in.token().kind != Token::kEnd) return in.Unexpected("nothing more");
  return value;
}

}  // namespace hawser
