#include "client/stablehlo/text/type_reader.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

absl::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

absl::Status TypeReader::ReadSizes(Type* type) {
  if (!tokens_.ahead().Is("<")) return tokens_.Expected("'<'");
  absl::string_view sizes = tokens_.TakeSizes();
  while (!sizes.empty()) {
    const size_t x = sizes.find('x');
    const absl::string_view digits = sizes.substr(0, x);
    int64_t size = -1;
    if (digits == "?") {
      type->dynamic = true;
    } else if (!absl::SimpleAtoi(digits, &size)) {
      return tokens_.source().Invalid(digits.data(), "the size ",
                                      Quoted(digits), " is too large");
    }
    if (type->dims.size() == kMaxRank) {
      return tokens_.source().Invalid(digits.data(), "more than ", kMaxRank,
                                      " axes");
    }
    type->dims.push_back(size);
    sizes.remove_prefix(x + 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<Type> TypeReader::ReadTensor() {
  Type type;
  type.tensor = true;
  const char* const begin = tokens_.Take().text.data();
  HAWSER_RETURN_IF_ERROR(ReadSizes(&type));
  HAWSER_ASSIGN_OR_RETURN(const Type element, Read());
  type.element = element.text;
  type.dtype = DTypeOfElement(element.text);
  while (tokens_.TakeIf(",")) {  // an encoding
    while (!tokens_.ahead().Is(",") && !tokens_.ahead().Is(">")) {
      if (tokens_.ahead().kind == Token::kEnd) return tokens_.Expected("'>'");
      if (tokens_.ahead().Is("<") || tokens_.ahead().Is("{")) {
        HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
      } else {
        tokens_.Take();
      }
    }
  }
  HAWSER_RETURN_IF_ERROR(tokens_.Expect(">"));
  type.text = Between(begin, tokens_.taken_end());
  return type;
}

absl::StatusOr<Type> TypeReader::Read() {
  const Token token = tokens_.ahead();
  if (token.IsWord("tensor")) {
    HAWSER_RETURN_IF_ERROR(tokens_.Enter());
    auto type = ReadTensor();
    tokens_.Leave();
    return type;
  }
  Type type;
  if (token.Is("(")) {
    HAWSER_RETURN_IF_ERROR(tokens_.Enter());
    HAWSER_RETURN_IF_ERROR(ReadFunction());
    tokens_.Leave();
    type.text = Between(token.text.data(), tokens_.taken_end());
    return type;
  }
  if (token.kind != Token::kWord && token.kind != Token::kTypeName) {
    return tokens_.Expected("a type");
  }
  tokens_.Take();
  if (token.kind == Token::kTypeName) {
    const auto known = aliases_.find(token.text);
    if (known != aliases_.end()) return known->second;
    if (token.text == kTokenText) return TokenType();
  }
  if (tokens_.ahead().Is("<")) HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
  type.text = Between(token.text.data(), tokens_.taken_end());
  return type;
}

absl::Status TypeReader::SkipNotes() {
  if (tokens_.ahead().Is("{")) HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
  if (tokens_.TakeWordIf("loc")) {
    if (!tokens_.ahead().Is("(")) return tokens_.Expected("'('");
    HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
  }
  return absl::OkStatus();
}

absl::Status TypeReader::ReadList(std::vector<Type>* types) {
  if (!tokens_.TakeIf("(")) {
    HAWSER_ASSIGN_OR_RETURN(Type type, Read());
    types->push_back(std::move(type));
    return absl::OkStatus();
  }
  while (!tokens_.TakeIf(")")) {
    if (!types->empty()) HAWSER_RETURN_IF_ERROR(tokens_.Expect(","));
    HAWSER_ASSIGN_OR_RETURN(Type type, Read());
    types->push_back(std::move(type));
    HAWSER_RETURN_IF_ERROR(SkipNotes());
  }
  return absl::OkStatus();
}

absl::StatusOr<FunctionType> TypeReader::ReadFunction() {
  FunctionType type;
  if (!tokens_.ahead().Is("(")) return tokens_.Expected("'('");
  HAWSER_RETURN_IF_ERROR(ReadList(&type.operands));
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("->"));
  HAWSER_RETURN_IF_ERROR(ReadList(&type.results));
  return type;
}

}  // namespace hawser::stablehlo
