#include "client/stablehlo/text/pretty_form.h"

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "client/stablehlo/text/op_reader.h"
#include "client/stablehlo/text/structured_form.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

struct KeyName {
  absl::string_view pretty;
  absl::string_view generic;
  absl::string_view second = "";  // of "[..] x [..]" the second list's
};

// The names that an op has for its parts.
struct Names {
  absl::string_view op;
  std::initializer_list<KeyName> keys = {};
  std::initializer_list<absl::string_view> words = {};  // in their order
};

const Names kNames[] = {
    {"stablehlo.broadcast_in_dim", {{"dims", "broadcast_dimensions"}}},
    {"stablehlo.broadcast", {{"sizes", "broadcast_sizes"}}},
    {"stablehlo.transpose", {{"dims", "permutation"}}},
    {"stablehlo.reverse", {{"dims", "dimensions"}}},
    {"stablehlo.iota", {{"dim", "iota_dimension"}}},
    {"stablehlo.concatenate", {{"dim", "dimension"}}},
    {"stablehlo.get_dimension_size", {{"dim", "dimension"}}},
    {"stablehlo.set_dimension_size", {{"dim", "dimension"}}},
    {"stablehlo.dynamic_slice", {{"sizes", "slice_sizes"}}},
    {"stablehlo.pad",
     {{"low", "edge_padding_low"},
      {"high", "edge_padding_high"},
      {"interior", "interior_padding"}}},
    {"stablehlo.dot_general",
     {{"batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions"},
      {"contracting_dims", "lhs_contracting_dimensions",
       "rhs_contracting_dimensions"}}},
    {"stablehlo.fft", {{"type", "fft_type"}, {"length", "fft_length"}}},
    {"stablehlo.rng_bit_generator", {{"algorithm", "rng_algorithm"}}},
    {"stablehlo.compare", {}, {"comparison_direction", "compare_type"}},
    {"stablehlo.custom_call", {}, {"call_target_name"}},
    {"stablehlo.composite", {}, {"name"}},
    {"func.call", {}, {"callee"}},
    {"chlo.broadcast_compare", {}, {"comparison_direction", "compare_type"}},
};

const Names* FindNames(absl::string_view op) {
  for (const Names& names : kNames) {
    if (names.op == op) return &names;
  }
  return nullptr;
}

// Builtin ops may be written without their dialect.
absl::string_view FullName(absl::string_view name) {
  if (name == "module") return "builtin.module";
  if (name == "func") return "func.func";
  if (name == "call") return "func.call";
  if (name == "return") return "func.return";
  return name;
}

AttributePtr WordAttribute(Attribute::Kind kind, absl::string_view text) {
  auto word = std::make_shared<Attribute>();
  word->kind = kind;
  word->text = text;
  return word;
}

// The parts of one op in the loose form.
class LooseForm {
 public:
  LooseForm(OpReader& reader, Op* op)
      : reader_(reader),
        tokens_(reader.tokens()),
        op_(*op),
        names_(FindNames(op->name)) {}

  absl::Status Read() {
    // The end of a region ends an op without types.
    while (!tokens_.ahead().Is(":") && !tokens_.ahead().Is("}")) {
      HAWSER_RETURN_IF_ERROR(ReadPart());
      // The value of a check brings the types along.
      if (has_value_ && !tokens_.ahead().Is(":")) return absl::OkStatus();
    }
    if (!tokens_.TakeIf(":")) return absl::OkStatus();
    return reader_.ReadTypes(&op_);
  }

 private:
  absl::Status ReadPart() {
    const Token token = tokens_.ahead();
    switch (token.kind) {
      case Token::kValue:
        return reader_.ReadOperand(&op_);
      case Token::kWord:
        return ReadWord();
      case Token::kString:
      case Token::kSymbol:
      case Token::kAlias: {
        HAWSER_ASSIGN_OR_RETURN(
            AttributePtr value,
            reader_.attributes().Read(AttributeReader::Typed::kNo));
        Add(NextWordName(), std::move(value));
        return absl::OkStatus();
      }
      default:
        break;
    }
    if (token.Is("{")) return reader_.attributes().ReadDict(&op_.attributes);
    if (token.Is("[")) return ReadRanges();
    if (token.Is("<")) return tokens_.TakeBrackets().status();
    if (token.Is("(") || token.Is(")") || token.Is(",") ||
        token.kind == Token::kNumber) {
      tokens_.Take();
      return absl::OkStatus();
    }
    return tokens_.Expected("operands, attributes or types");
  }

  // A keyword, `key = value`, or "dense<...>".
  absl::Status ReadWord() {
    if (tokens_.ahead().IsWord("dense")) {
      HAWSER_ASSIGN_OR_RETURN(AttributePtr value,
                              reader_.attributes().ReadDense());
      Add("value", std::move(value));
      has_value_ = true;
      return absl::OkStatus();
    }
    const absl::string_view word = tokens_.Take().text;
    if (!tokens_.TakeIf("=")) {
      Add(NextWordName(), WordAttribute(Attribute::kWord, word));
      return absl::OkStatus();
    }
    HAWSER_ASSIGN_OR_RETURN(
        AttributePtr value,
        reader_.attributes().Read(AttributeReader::Typed::kNo));
    const KeyName key = KeyOf(word);
    Add(key.generic, std::move(value));
    if (key.second.empty() || !tokens_.TakeWordIf("x")) return absl::OkStatus();
    HAWSER_ASSIGN_OR_RETURN(
        AttributePtr second,
        reader_.attributes().Read(AttributeReader::Typed::kNo));
    Add(key.second, std::move(second));
    return absl::OkStatus();
  }

  // "[0:2, 0:8:4]" of a slice; "[1]" alone has starts only.
  absl::Status ReadRanges() {
    tokens_.Take();
    auto parts = std::vector<std::shared_ptr<Attribute>>(3);
    for (auto& part : parts) {
      part = std::make_shared<Attribute>();
      part->kind = Attribute::kInts;
    }
    bool first = true;
    while (!tokens_.TakeIf("]")) {
      if (!first) HAWSER_RETURN_IF_ERROR(tokens_.Expect(","));
      first = false;
      int64_t numbers[] = {0, 0, 1};
      int count = 0;
      do {
        if (count == 3 ||
            !absl::SimpleAtoi(tokens_.ahead().text, &numbers[count])) {
          return tokens_.Expected("start:limit:stride");
        }
        tokens_.Take();
        ++count;
      } while (tokens_.TakeIf(":"));
      for (int i = 0; i < 3; ++i) parts[i]->ints.push_back(numbers[i]);
    }
    Add("start_indices", std::move(parts[0]));
    Add("limit_indices", std::move(parts[1]));
    Add("strides", std::move(parts[2]));
    return absl::OkStatus();
  }

  void Add(absl::string_view name, AttributePtr value) {
    op_.attributes.push_back({name, std::move(value)});
  }

  absl::string_view NextWordName() {
    if (names_ == nullptr || words_ >= names_->words.size()) return "word";
    return names_->words.begin()[words_++];
  }

  KeyName KeyOf(absl::string_view word) const {
    if (names_ != nullptr) {
      for (const KeyName& key : names_->keys) {
        if (key.pretty == word) return key;
      }
    }
    return {word, word};
  }

  OpReader& reader_;
  TokenReader& tokens_;
  Op& op_;
  const Names* const names_;
  size_t words_ = 0;
  bool has_value_ = false;
};

}  // namespace

absl::Status ReadPretty(OpReader& reader, Op* op) {
  op->name = FullName(op->name);
  if (const auto read = FindStructuredForm(op->name)) return read(reader, op);
  return LooseForm(reader, op).Read();
}

}  // namespace hawser::stablehlo
