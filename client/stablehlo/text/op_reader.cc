#include "client/stablehlo/text/op_reader.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/text/pretty_form.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

// The longest pack: "%0:100000".
constexpr int kMostResults = 1 << 16;

absl::string_view Unquoted(absl::string_view text) {
  return text.size() < 2 ? text : text.substr(1, text.size() - 2);
}

}  // namespace

int NumResults(const Op& op) {
  int count = 0;
  for (const ResultName& result : op.results) count += result.count;
  return count;
}

absl::Status OpReader::ReadOperand(Op* op) {
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view text,
                          tokens_.Expect(Token::kValue, "a value"));
  const size_t hash = text.find('#');
  Operand operand{text.substr(0, hash), 0};
  if (hash != absl::string_view::npos &&
      !absl::SimpleAtoi(text.substr(hash + 1), &operand.index)) {
    return tokens_.source().Invalid(text.data(), Quoted(text),
                                    " is no value of a pack");
  }
  op->operands.push_back(operand);
  return absl::OkStatus();
}

absl::Status OpReader::ReadArguments(std::vector<BlockArgument>* arguments) {
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("("));
  bool first = true;
  while (!tokens_.TakeIf(")")) {
    if (!first) HAWSER_RETURN_IF_ERROR(tokens_.Expect(","));
    first = false;
    BlockArgument argument;
    if (tokens_.ahead().kind == Token::kValue) {
      argument.name = tokens_.Take().text;
      HAWSER_RETURN_IF_ERROR(tokens_.Expect(":"));
    }
    HAWSER_ASSIGN_OR_RETURN(argument.type, types_.Read());
    if (tokens_.ahead().Is("{")) {
      HAWSER_RETURN_IF_ERROR(attributes_.ReadDict(&argument.attributes));
    }
    HAWSER_RETURN_IF_ERROR(types_.SkipNotes());
    arguments->push_back(std::move(argument));
  }
  return absl::OkStatus();
}

absl::Status OpReader::ReadRegion(Region* region) {
  HAWSER_RETURN_IF_ERROR(tokens_.Enter());
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("{"));
  if (tokens_.ahead().kind == Token::kBlock) {
    tokens_.Take();
    if (tokens_.ahead().Is("(")) {
      HAWSER_RETURN_IF_ERROR(ReadArguments(&region->arguments));
    }
    HAWSER_RETURN_IF_ERROR(tokens_.Expect(":"));
  }
  while (!tokens_.TakeIf("}")) {
    if (tokens_.ahead().kind == Token::kBlock) {
      return tokens_.Expected("one block in a region");
    }
    HAWSER_ASSIGN_OR_RETURN(Op op, ReadOp());
    region->ops.push_back(std::move(op));
  }
  tokens_.Leave();
  return absl::OkStatus();
}

absl::Status OpReader::ReadTypes(Op* op) {
  if (tokens_.ahead().Is("(")) {
    HAWSER_ASSIGN_OR_RETURN(FunctionType type, types_.ReadFunction());
    op->operand_types = std::move(type.operands);
    op->result_types = std::move(type.results);
    return absl::OkStatus();
  }
  std::vector<Type> types;
  do {
    HAWSER_ASSIGN_OR_RETURN(Type type, types_.Read());
    types.push_back(std::move(type));
  } while (tokens_.TakeIf(","));
  if (tokens_.TakeIf("->")) {
    op->operand_types = std::move(types);
    return types_.ReadList(&op->result_types);
  }
  const auto results = static_cast<size_t>(NumResults(*op));
  if (results == 0) {
    // One type is that of all.
    if (types.size() == 1) types.resize(op->operands.size(), types[0]);
    op->operand_types = std::move(types);
  } else if (types.size() >= results) {
    op->result_types.assign(types.end() - static_cast<int64_t>(results),
                            types.end());
  } else {
    op->result_types.assign(results, types.back());
  }
  return absl::OkStatus();
}

absl::Status OpReader::ReadResultNames(Op* op) {
  if (tokens_.ahead().kind != Token::kValue) return absl::OkStatus();
  do {
    ResultName result;
    HAWSER_ASSIGN_OR_RETURN(result.name,
                            tokens_.Expect(Token::kValue, "a result"));
    if (tokens_.TakeIf(":")) {
      const Token count = tokens_.ahead();
      if (!absl::SimpleAtoi(count.text, &result.count) || result.count < 1 ||
          result.count > kMostResults) {
        return tokens_.Expected("how many results a pack has");
      }
      tokens_.Take();
    }
    op->results.push_back(result);
  } while (tokens_.TakeIf(","));
  return tokens_.Expect("=");
}

// `"dialect.op"(%a) <{properties}> ({region}) {attributes} : types`.
absl::Status OpReader::ReadGeneric(Op* op) {
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("("));
  while (!tokens_.TakeIf(")")) {
    if (!op->operands.empty()) HAWSER_RETURN_IF_ERROR(tokens_.Expect(","));
    HAWSER_RETURN_IF_ERROR(ReadOperand(op));
  }
  if (tokens_.TakeIf("<")) {
    HAWSER_RETURN_IF_ERROR(attributes_.ReadDict(&op->attributes));
    HAWSER_RETURN_IF_ERROR(tokens_.Expect(">"));
  }
  if (tokens_.TakeIf("(")) {
    do {
      HAWSER_RETURN_IF_ERROR(ReadRegion(&op->regions.emplace_back()));
    } while (tokens_.TakeIf(","));
    HAWSER_RETURN_IF_ERROR(tokens_.Expect(")"));
  }
  if (tokens_.ahead().Is("{")) {
    HAWSER_RETURN_IF_ERROR(attributes_.ReadDict(&op->attributes));
  }
  HAWSER_RETURN_IF_ERROR(tokens_.Expect(":"));
  return ReadTypes(op);
}

absl::Status OpReader::ReadLocation(Op* op) {
  if (!tokens_.TakeWordIf("loc")) return absl::OkStatus();
  if (!tokens_.ahead().Is("(")) return tokens_.Expected("'('");
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view text, tokens_.TakeBrackets());
  op->location = Unquoted(text);
  return absl::OkStatus();
}

absl::StatusOr<Op> OpReader::ReadOp() {
  Op op;
  HAWSER_RETURN_IF_ERROR(ReadResultNames(&op));
  const Token name = tokens_.ahead();
  if (name.kind != Token::kString && name.kind != Token::kWord) {
    return tokens_.Expected("an op");
  }
  tokens_.Take();
  op.where = name.text.data();
  if (name.kind == Token::kString) {
    op.name = Unquoted(name.text);
    HAWSER_RETURN_IF_ERROR(ReadGeneric(&op));
  } else {
    op.name = name.text;
    HAWSER_RETURN_IF_ERROR(ReadPretty(*this, &op));
  }
  HAWSER_RETURN_IF_ERROR(ReadLocation(&op));
  const auto named = static_cast<size_t>(NumResults(op));
  if (named != 0 && named != op.result_types.size()) {
    return tokens_.source().Invalid(op.where, Quoted(op.name), " has ",
                                    op.result_types.size(),
                                    " results, of which ", named, " are named");
  }
  return op;
}

// "#name = attribute" or "!name = type".
absl::Status OpReader::ReadAlias(Tree* tree) {
  const Token name = tokens_.Take();
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("="));
  if (name.kind == Token::kTypeName) {
    HAWSER_ASSIGN_OR_RETURN(Type type, types_.Read());
    types_.Define(name.text, std::move(type));
    return absl::OkStatus();
  }
  const bool location = tokens_.ahead().IsWord("loc");
  HAWSER_ASSIGN_OR_RETURN(AttributePtr value, attributes_.Read());
  if (location) {
    tree->locations[name.text] = absl::StripPrefix(value->text, "loc");
  }
  attributes_.Define(name.text, std::move(value));
  return absl::OkStatus();
}

// `{-# dialect_resources: { builtin: { name: "0x..." } } #-}`: of all of it the
// names with strings of digits.
absl::Status OpReader::ReadTrailer() {
  tokens_.Take();
  while (!tokens_.TakeIf("#-}")) {
    if (tokens_.ahead().kind == Token::kEnd) return tokens_.Expected("'#-}'");
    const Token name = tokens_.Take();
    if (!tokens_.TakeIf(":")) continue;
    if (tokens_.ahead().kind != Token::kString) continue;
    absl::string_view digits = Unquoted(tokens_.Take().text);
    if (!absl::ConsumePrefix(&digits, "0x")) continue;
    blobs_[name.kind == Token::kString ? Unquoted(name.text) : name.text] =
        digits;
  }
  return absl::OkStatus();
}

absl::StatusOr<Tree> OpReader::ReadFile() {
  Tree tree;
  tree.source = tokens_.source();
  while (tokens_.ahead().kind != Token::kEnd) {
    const Token token = tokens_.ahead();
    if (token.kind == Token::kAlias || token.kind == Token::kTypeName) {
      HAWSER_RETURN_IF_ERROR(ReadAlias(&tree));
    } else if (token.Is("{-#")) {
      HAWSER_RETURN_IF_ERROR(ReadTrailer());
    } else {
      HAWSER_ASSIGN_OR_RETURN(Op op, ReadOp());
      tree.ops.push_back(std::move(op));
    }
  }
  HAWSER_RETURN_IF_ERROR(attributes_.Resolve(blobs_));
  return tree;
}

}  // namespace hawser::stablehlo
