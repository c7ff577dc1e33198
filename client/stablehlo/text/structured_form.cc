#include "client/stablehlo/text/structured_form.h"

#include <memory>
#include <utility>
#include <vector>

#include "client/stablehlo/text/op_reader.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

void AddAttribute(Op* op, absl::string_view name,
                  std::shared_ptr<Attribute> value) {
  op->attributes.push_back({name, std::move(value)});
}

// "attributes {...}", which says nothing about what is computed.
absl::Status SkipAttributes(OpReader& reader) {
  if (!reader.tokens().TakeWordIf("attributes")) return absl::OkStatus();
  AttributeDict skipped;
  return reader.attributes().ReadDict(&skipped);
}

// "@name".
absl::Status ReadSymbol(OpReader& reader, Op* op) {
  if (reader.tokens().ahead().kind != Token::kSymbol) {
    return reader.tokens().Expected("a name that begins with '@'");
  }
  HAWSER_ASSIGN_OR_RETURN(
      AttributePtr name, reader.attributes().Read(AttributeReader::Typed::kNo));
  op->attributes.push_back({"sym_name", std::move(name)});
  return absl::OkStatus();
}

// "module @name attributes {...} {ops}".
absl::Status ReadModule(OpReader& reader, Op* op) {
  if (reader.tokens().ahead().kind == Token::kSymbol) {
    HAWSER_RETURN_IF_ERROR(ReadSymbol(reader, op));
  }
  if (reader.tokens().TakeWordIf("attributes")) {
    HAWSER_RETURN_IF_ERROR(reader.attributes().ReadDict(&op->attributes));
  }
  return reader.ReadRegion(&op->regions.emplace_back());
}

// The attributes of arguments, where there are any, as those of the function.
void AddArgumentAttributes(const std::vector<BlockArgument>& arguments,
                           Op* op) {
  auto list = std::make_shared<Attribute>();
  list->kind = Attribute::kList;
  bool any = false;
  for (const BlockArgument& argument : arguments) {
    auto dict = std::make_shared<Attribute>();
    dict->kind = Attribute::kDict;
    dict->fields = argument.attributes;
    any = any || !dict->fields.empty();
    list->items.push_back(std::move(dict));
  }
  if (any) AddAttribute(op, "arg_attrs", std::move(list));
}

// "func.func private @name(%a: type) -> types attributes {...} {ops}".
absl::Status ReadFunc(OpReader& reader, Op* op) {
  TokenReader& tokens = reader.tokens();
  if (tokens.ahead().kind == Token::kWord) tokens.Take();  // who may call it
  HAWSER_RETURN_IF_ERROR(ReadSymbol(reader, op));
  Region region;
  HAWSER_RETURN_IF_ERROR(reader.ReadArguments(&region.arguments));
  auto type = std::make_shared<FunctionType>();
  for (const BlockArgument& argument : region.arguments) {
    type->operands.push_back(argument.type);
  }
  AddArgumentAttributes(region.arguments, op);
  if (tokens.TakeIf("->")) {
    HAWSER_RETURN_IF_ERROR(reader.types().ReadList(&type->results));
  }
  auto attribute = std::make_shared<Attribute>();
  attribute->kind = Attribute::kFunctionType;
  attribute->function = std::move(type);
  AddAttribute(op, "function_type", std::move(attribute));
  HAWSER_RETURN_IF_ERROR(SkipAttributes(reader));
  if (!tokens.ahead().Is("{")) return absl::OkStatus();  // a declaration
  HAWSER_RETURN_IF_ERROR(reader.ReadRegion(&region));
  op->regions.push_back(std::move(region));
  return absl::OkStatus();
}

// "stablehlo.constant {...} dense<...> : type".
absl::Status ReadConstant(OpReader& reader, Op* op) {
  if (reader.tokens().ahead().Is("{")) {
    HAWSER_RETURN_IF_ERROR(reader.attributes().ReadDict(&op->attributes));
  }
  HAWSER_ASSIGN_OR_RETURN(AttributePtr value, reader.attributes().Read());
  if (value->kind != Attribute::kElements) {
    return reader.tokens().source().Invalid(op->where,
                                            "a constant has no value");
  }
  op->result_types.push_back(value->elements->type);
  op->attributes.push_back({"value", std::move(value)});
  return absl::OkStatus();
}

// "stablehlo.while(%i = %a, %j = %b) : types cond {ops} do {ops}".
absl::Status ReadWhile(OpReader& reader, Op* op) {
  TokenReader& tokens = reader.tokens();
  Region condition;
  HAWSER_RETURN_IF_ERROR(tokens.Expect("("));
  while (!tokens.TakeIf(")")) {
    if (!op->operands.empty()) HAWSER_RETURN_IF_ERROR(tokens.Expect(","));
    BlockArgument argument;
    HAWSER_ASSIGN_OR_RETURN(argument.name,
                            tokens.Expect(Token::kValue, "a name"));
    HAWSER_RETURN_IF_ERROR(tokens.Expect("="));
    HAWSER_RETURN_IF_ERROR(reader.ReadOperand(op));
    condition.arguments.push_back(argument);
  }
  if (tokens.TakeIf(":")) HAWSER_RETURN_IF_ERROR(reader.ReadTypes(op));
  if (op->result_types.size() != condition.arguments.size()) {
    return tokens.Expected("a type for each operand");
  }
  for (size_t i = 0; i < op->result_types.size(); ++i) {
    condition.arguments[i].type = op->result_types[i];
  }
  HAWSER_RETURN_IF_ERROR(SkipAttributes(reader));
  Region body;
  body.arguments = condition.arguments;
  if (!tokens.TakeWordIf("cond")) return tokens.Expected("'cond'");
  HAWSER_RETURN_IF_ERROR(reader.ReadRegion(&condition));
  if (!tokens.TakeWordIf("do")) return tokens.Expected("'do'");
  HAWSER_RETURN_IF_ERROR(reader.ReadRegion(&body));
  op->regions.push_back(std::move(condition));
  op->regions.push_back(std::move(body));
  return absl::OkStatus();
}

Type ScalarOf(Type type) {
  type.dims.clear();
  return type;
}

// The region that "applies op" stands for.
Region AppliedRegion(absl::string_view name, const char* where,
                     const Type& scalar) {
  Region region;
  region.arguments = {{"%lhs", scalar}, {"%rhs", scalar}};
  Op applied;
  applied.name = name;
  applied.where = where;
  applied.results = {{"%result", 1}};
  applied.operands = {{"%lhs", 0}, {"%rhs", 0}};
  applied.result_types = {scalar};
  Op last;
  last.name = "stablehlo.return";
  last.where = where;
  last.operands = {{"%result", 0}};
  region.ops.push_back(std::move(applied));
  region.ops.push_back(std::move(last));
  return region;
}

// "reducer(%a: t, %b: t) (%c: u, %d: u) {ops}": a pair for each input; the
// region takes the first of all pairs, then the second.
absl::Status ReadReducer(OpReader& reader, Region* region) {
  std::vector<BlockArgument> second;
  while (reader.tokens().ahead().Is("(")) {
    std::vector<BlockArgument> pair;
    HAWSER_RETURN_IF_ERROR(reader.ReadArguments(&pair));
    if (pair.size() != 2) return reader.tokens().Expected("pairs of arguments");
    region->arguments.push_back(std::move(pair[0]));
    second.push_back(std::move(pair[1]));
  }
  for (BlockArgument& argument : second) {
    region->arguments.push_back(std::move(argument));
  }
  return reader.ReadRegion(region);
}

// "stablehlo.reduce(%a init: %b), (%c init: %d) applies op across dimensions =
// [0] : types reducer...".
absl::Status ReadReduce(OpReader& reader, Op* op) {
  TokenReader& tokens = reader.tokens();
  Op initial;
  do {
    HAWSER_RETURN_IF_ERROR(tokens.Expect("("));
    HAWSER_RETURN_IF_ERROR(reader.ReadOperand(op));
    if (!tokens.TakeWordIf("init")) return tokens.Expected("'init'");
    HAWSER_RETURN_IF_ERROR(tokens.Expect(":"));
    HAWSER_RETURN_IF_ERROR(reader.ReadOperand(&initial));
    HAWSER_RETURN_IF_ERROR(tokens.Expect(")"));
  } while (tokens.TakeIf(","));
  op->operands.insert(op->operands.end(), initial.operands.begin(),
                      initial.operands.end());
  absl::string_view applied;
  if (tokens.TakeWordIf("applies")) {
    HAWSER_ASSIGN_OR_RETURN(applied, tokens.Expect(Token::kWord, "an op"));
  }
  if (!tokens.TakeWordIf("across") || !tokens.TakeWordIf("dimensions")) {
    return tokens.Expected("'across dimensions'");
  }
  HAWSER_RETURN_IF_ERROR(tokens.Expect("="));
  HAWSER_ASSIGN_OR_RETURN(
      AttributePtr dimensions,
      reader.attributes().Read(AttributeReader::Typed::kNo));
  op->attributes.push_back({"dimensions", std::move(dimensions)});
  if (tokens.ahead().Is("{")) {
    HAWSER_RETURN_IF_ERROR(reader.attributes().ReadDict(&op->attributes));
  }
  HAWSER_RETURN_IF_ERROR(tokens.Expect(":"));
  HAWSER_RETURN_IF_ERROR(reader.ReadTypes(op));
  if (!applied.empty() && !op->result_types.empty()) {
    op->regions.push_back(
        AppliedRegion(applied, op->where, ScalarOf(op->result_types[0])));
    return absl::OkStatus();
  }
  if (!tokens.TakeWordIf("reducer")) return tokens.Expected("'reducer'");
  return ReadReducer(reader, &op->regions.emplace_back());
}

// "{stride = [1, 1], pad = [[0, 0], [1, 1]], reverse = [false, false]}": short
// names of attributes, each of which may be left out.
absl::Status ReadWindow(OpReader& reader, Op* op) {
  constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"stride", "window_strides"},
      {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"},
      {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"}};
  AttributeDict window;
  HAWSER_RETURN_IF_ERROR(reader.attributes().ReadDict(&window));
  for (NamedAttribute& attribute : window) {
    for (const auto& [brief, name] : kNames) {
      if (attribute.name == brief) attribute.name = name;
    }
    op->attributes.push_back(std::move(attribute));
  }
  return absl::OkStatus();
}

// "stablehlo.convolution(%a, %b) dim_numbers = ..., window = {...} {...} : ..."
absl::Status ReadConvolution(OpReader& reader, Op* op) {
  TokenReader& tokens = reader.tokens();
  HAWSER_RETURN_IF_ERROR(tokens.Expect("("));
  HAWSER_RETURN_IF_ERROR(reader.ReadOperand(op));
  HAWSER_RETURN_IF_ERROR(tokens.Expect(","));
  HAWSER_RETURN_IF_ERROR(reader.ReadOperand(op));
  const char* const begin = tokens.ahead().text.data();
  while (!tokens.ahead().IsWord("window")) {
    if (tokens.ahead().kind == Token::kEnd) return tokens.Expected("'window'");
    tokens.Take();
  }
  auto numbers = std::make_shared<Attribute>();
  numbers->kind = Attribute::kOpaque;
  numbers->text = {begin, static_cast<size_t>(tokens.taken_end() - begin)};
  AddAttribute(op, "dimension_numbers", std::move(numbers));
  tokens.Take();
  HAWSER_RETURN_IF_ERROR(tokens.Expect("="));
  HAWSER_RETURN_IF_ERROR(ReadWindow(reader, op));
  if (tokens.ahead().Is("{")) {
    HAWSER_RETURN_IF_ERROR(reader.attributes().ReadDict(&op->attributes));
  }
  HAWSER_RETURN_IF_ERROR(tokens.Expect(":"));
  return reader.ReadTypes(op);
}

// "sdy.mesh @name = <...> {...}": how devices are arranged, of which there is
// one.
absl::Status ReadMesh(OpReader& reader, Op* op) {
  HAWSER_RETURN_IF_ERROR(ReadSymbol(reader, op));
  HAWSER_RETURN_IF_ERROR(reader.tokens().Expect("="));
  HAWSER_RETURN_IF_ERROR(
      reader.attributes().Read(AttributeReader::Typed::kNo).status());
  if (!reader.tokens().ahead().Is("{")) return absl::OkStatus();
  return reader.attributes().ReadDict(&op->attributes);
}

// "sdy.manual_computation(%a) in_shardings=... (%b: type) {ops} : types". The
// shardings are skipped.
absl::Status ReadManualComputation(OpReader& reader, Op* op) {
  TokenReader& tokens = reader.tokens();
  HAWSER_RETURN_IF_ERROR(tokens.Expect("("));
  while (!tokens.TakeIf(")")) {
    if (!op->operands.empty()) HAWSER_RETURN_IF_ERROR(tokens.Expect(","));
    HAWSER_RETURN_IF_ERROR(reader.ReadOperand(op));
  }
  while (tokens.ahead().kind == Token::kWord) {
    tokens.Take();
    HAWSER_RETURN_IF_ERROR(tokens.Expect("="));
    HAWSER_RETURN_IF_ERROR(
        reader.attributes().Read(AttributeReader::Typed::kNo));
  }
  Region& region = op->regions.emplace_back();
  if (tokens.ahead().Is("(")) {
    HAWSER_RETURN_IF_ERROR(reader.ReadArguments(&region.arguments));
  }
  HAWSER_RETURN_IF_ERROR(reader.ReadRegion(&region));
  HAWSER_RETURN_IF_ERROR(tokens.Expect(":"));
  return reader.ReadTypes(op);
}

constexpr std::pair<absl::string_view, StructuredForm> kForms[] = {
    {"builtin.module", ReadModule},
    {"func.func", ReadFunc},
    {"stablehlo.constant", ReadConstant},
    {"stablehlo.while", ReadWhile},
    {"stablehlo.reduce", ReadReduce},
    {"stablehlo.convolution", ReadConvolution},
    {"sdy.mesh", ReadMesh},
    {"sdy.manual_computation", ReadManualComputation},
};

}  // namespace

StructuredForm FindStructuredForm(absl::string_view name) {
  for (const auto& [form, read] : kForms) {
    if (form == name) return read;
  }
  return nullptr;
}

}  // namespace hawser::stablehlo
