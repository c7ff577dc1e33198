#include "client/stablehlo/text/attribute_reader.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/literals/elements.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

std::shared_ptr<Attribute> Make(Attribute::Kind kind,
                                absl::string_view text = "") {
  auto made = std::make_shared<Attribute>();
  made->kind = kind;
  made->text = text;
  return made;
}

absl::string_view WithoutQuotes(absl::string_view text) {
  if (text.size() >= 2 && text.front() == '"') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

// Dictionaries whose fields say what an op computes.
constexpr absl::string_view kDicts[] = {
    "#stablehlo.gather", "#stablehlo.scatter", "#stablehlo.dot",
    "#mhlo.gather",      "#mhlo.scatter",      "#mhlo.dot",
};
// "#stablehlo<comparison_direction EQ>".
constexpr absl::string_view kEnums[] = {"#stablehlo", "#chlo", "#mhlo"};

template <typename Names>
bool Contains(const Names& names, absl::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The bytes of a resource begin with four that say how they are aligned.
constexpr size_t kAlignmentDigits = 8;

}  // namespace

absl::StatusOr<AttributePtr> AttributeReader::Read(Typed typed) {
  HAWSER_RETURN_IF_ERROR(tokens_.Enter());
  auto value = ReadValue(typed);
  tokens_.Leave();
  return value;
}

absl::StatusOr<AttributePtr> AttributeReader::ReadValue(Typed typed) {
  const Token token = tokens_.ahead();
  Made made;
  switch (token.kind) {
    case Token::kString:
      made = Make(Attribute::kString, WithoutQuotes(token.text));
      break;
    case Token::kNumber:
      made = Make(Attribute::kNumber, token.text);
      break;
    case Token::kSymbol:
      made = Make(Attribute::kSymbol,
                  WithoutQuotes(absl::StripPrefix(token.text, "@")));
      break;
    case Token::kAlias:
      return ReadAlias();
    case Token::kWord:
      return ReadWord(typed);
    case Token::kTypeName: {
      made = Make(Attribute::kType);
      HAWSER_ASSIGN_OR_RETURN(const Type type, types_.Read());
      made->text = type.text;
      return made;
    }
    default:
      if (token.Is("[")) return ReadList();
      if (token.Is("<")) return ReadBrackets(token.text.data());
      if (token.Is("(")) {
        made = Make(Attribute::kFunctionType);
        HAWSER_ASSIGN_OR_RETURN(FunctionType type, types_.ReadFunction());
        made->function = std::make_shared<FunctionType>(std::move(type));
        return made;
      }
      if (!token.Is("{")) return tokens_.Expected("an attribute");
      made = Make(Attribute::kDict);
      HAWSER_RETURN_IF_ERROR(ReadDict(&made->fields));
      return made;
  }
  tokens_.Take();
  if (typed == Typed::kYes && tokens_.TakeIf(":")) {
    HAWSER_RETURN_IF_ERROR(types_.Read());
  }
  return made;
}

absl::StatusOr<AttributePtr> AttributeReader::ReadBrackets(const char* begin) {
  HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
  return Make(Attribute::kOpaque,
              {begin, static_cast<size_t>(tokens_.taken_end() - begin)});
}

// A keyword, a type, or a word with something in brackets after it.
absl::StatusOr<AttributePtr> AttributeReader::ReadWord(Typed typed) {
  const Token word = tokens_.ahead();
  if (word.text == "dense") return ReadDense();
  if (word.text == "array") return ReadArray();
  if (word.text == "dense_resource") return ReadResource();
  if (word.text == "tensor") {
    const auto made = Make(Attribute::kType);
    HAWSER_ASSIGN_OR_RETURN(const Type type, types_.Read());
    made->text = type.text;
    return made;
  }
  tokens_.Take();
  if (word.text == "loc" && tokens_.ahead().Is("(")) {
    return ReadBrackets(word.text.data());
  }
  if (word.text == "distinct" && tokens_.ahead().Is("[")) {
    HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
  }
  Made made = Make(Attribute::kWord, word.text);
  if (tokens_.ahead().Is("<")) {
    HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
    made->kind = Attribute::kOpaque;
  }
  if (typed == Typed::kYes && tokens_.TakeIf(":")) {
    HAWSER_RETURN_IF_ERROR(types_.Read());
  }
  return made;
}

absl::StatusOr<AttributePtr> AttributeReader::ReadAlias() {
  const Token name = tokens_.Take();
  if (!tokens_.ahead().Is("<")) {
    const auto known = aliases_.find(name.text);
    if (known != aliases_.end()) return known->second;
    return Make(Attribute::kOpaque, name.text);
  }
  if (Contains(kDicts, name.text)) {
    Made made = Make(Attribute::kDict, name.text);
    tokens_.Take();
    HAWSER_RETURN_IF_ERROR(ReadFields(">", &made->fields));
    return made;
  }
  if (!Contains(kEnums, name.text)) return ReadBrackets(name.text.data());
  tokens_.Take();
  Made made = Make(Attribute::kWord);
  while (!tokens_.TakeIf(">")) {  // the last word is the value
    HAWSER_ASSIGN_OR_RETURN(made->text, tokens_.Expect(Token::kWord, "a word"));
    if (tokens_.ahead().Is("<")) HAWSER_RETURN_IF_ERROR(tokens_.TakeBrackets());
  }
  return made;
}

absl::Status AttributeReader::ReadFields(absl::string_view end,
                                         AttributeDict* fields) {
  bool first = true;
  while (!tokens_.TakeIf(end)) {
    if (!first) {
      HAWSER_RETURN_IF_ERROR(tokens_.Expect(","));
      if (tokens_.TakeIf(end)) break;
    }
    first = false;
    if (tokens_.ahead().kind != Token::kWord &&
        tokens_.ahead().kind != Token::kString) {
      return tokens_.Expected("the name of an attribute");
    }
    NamedAttribute field{WithoutQuotes(tokens_.Take().text), nullptr};
    if (tokens_.TakeIf("=")) {
      HAWSER_ASSIGN_OR_RETURN(field.value, Read());
    } else {
      field.value = Make(Attribute::kUnit);
    }
    fields->push_back(std::move(field));
  }
  return absl::OkStatus();
}

absl::Status AttributeReader::ReadDict(AttributeDict* fields) {
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("{"));
  return ReadFields("}", fields);
}

absl::StatusOr<AttributePtr> AttributeReader::ReadList() {
  tokens_.Take();
  Made made = Make(Attribute::kInts);
  while (!tokens_.TakeIf("]")) {
    if (!made->items.empty() || !made->ints.empty()) {
      HAWSER_RETURN_IF_ERROR(tokens_.Expect(","));
    }
    int64_t number = 0;
    if (made->items.empty() && tokens_.ahead().kind == Token::kNumber &&
        absl::SimpleAtoi(tokens_.ahead().text, &number)) {
      tokens_.Take();
      if (tokens_.TakeIf(":")) HAWSER_RETURN_IF_ERROR(types_.Read());
      made->ints.push_back(number);
      continue;
    }
    made->kind = Attribute::kList;
    HAWSER_ASSIGN_OR_RETURN(AttributePtr item, Read());
    made->items.push_back(std::move(item));
  }
  return made;
}

absl::StatusOr<AttributePtr> AttributeReader::ReadArray() {
  const char* const begin = tokens_.Take().text.data();
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("<"));
  Made made = Make(Attribute::kInts, {begin, 5});
  HAWSER_RETURN_IF_ERROR(types_.Read());
  if (tokens_.TakeIf(":")) {
    do {
      const Token token = tokens_.Take();
      int64_t number = token.text == "true" ? 1 : 0;
      if (token.kind == Token::kEnd) return tokens_.Expected("a number");
      if (token.kind == Token::kNumber &&
          !absl::SimpleAtoi(token.text, &number)) {
        made->kind = Attribute::kOpaque;
      }
      made->ints.push_back(number);
    } while (tokens_.TakeIf(","));
  }
  HAWSER_RETURN_IF_ERROR(tokens_.Expect(">"));
  return made;
}

absl::StatusOr<AttributePtr> AttributeReader::ReadDense() {
  Made made = Make(Attribute::kElements, tokens_.Take().text);
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view body, tokens_.TakeAngled());
  made->elements = std::make_shared<Elements>();
  HAWSER_RETURN_IF_ERROR(tokens_.Expect(":"));
  HAWSER_ASSIGN_OR_RETURN(made->elements->type, types_.Read());
  HAWSER_RETURN_IF_ERROR(
      ReadElements(tokens_.source(), body, made->elements.get()));
  return made;
}

absl::StatusOr<AttributePtr> AttributeReader::ReadResource() {
  Made made = Make(Attribute::kElements, tokens_.Take().text);
  HAWSER_RETURN_IF_ERROR(tokens_.Expect("<"));
  if (tokens_.ahead().kind != Token::kWord &&
      tokens_.ahead().kind != Token::kString) {
    return tokens_.Expected("the name of a resource");
  }
  const absl::string_view name = tokens_.Take().text;
  HAWSER_RETURN_IF_ERROR(tokens_.Expect(">"));
  HAWSER_RETURN_IF_ERROR(tokens_.Expect(":"));
  made->elements = std::make_shared<Elements>();
  HAWSER_ASSIGN_OR_RETURN(made->elements->type, types_.Read());
  resources_.push_back({WithoutQuotes(name), made->elements});
  return made;
}

absl::Status AttributeReader::Resolve(
    const absl::flat_hash_map<absl::string_view, absl::string_view>& blobs) {
  // Decoded once, however often it is named.
  absl::flat_hash_map<absl::string_view, const Elements*> decoded;
  for (const Resource& resource : resources_) {
    Elements& elements = *resource.elements;
    const auto [known, is_new] = decoded.try_emplace(resource.name, &elements);
    if (!is_new) {
      if (ToString(known->second->type) != ToString(elements.type)) {
        return tokens_.source().Invalid(resource.name.data(), "the resource ",
                                        Quoted(resource.name),
                                        " is of two types");
      }
      elements = *known->second;
      continue;
    }
    const auto blob = blobs.find(resource.name);
    if (blob == blobs.end() || blob->second.size() < kAlignmentDigits) {
      return tokens_.source().Invalid(resource.name.data(), "the resource ",
                                      Quoted(resource.name),
                                      " has no bytes in this file");
    }
    HAWSER_RETURN_IF_ERROR(ReadRawElements(
        tokens_.source(), blob->second.substr(kAlignmentDigits), &elements));
  }
  return absl::OkStatus();
}

}  // namespace hawser::stablehlo
