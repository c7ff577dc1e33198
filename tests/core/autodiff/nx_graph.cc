#include "tests/core/autodiff/nx_graph.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/sdk/functions/table/function_table.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

std::vector<std::string> WordsOf(const std::string& line) {
  return absl::StrSplit(line, ' ', absl::SkipEmpty());
}

int ToInt(const std::string& word) {
  int value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(word, &value)) << word;
  return value;
}

template <typename T>
T ElementOf(const std::string& word) {
  if constexpr (kIsComplex<T>) {
    const std::vector<std::string> parts = absl::StrSplit(word, ',');
    using Part = typename T::value_type;
    return T(static_cast<Part>(std::strtod(parts[0].c_str(), nullptr)),
             static_cast<Part>(std::strtod(parts[1].c_str(), nullptr)));
  } else if constexpr (kIsHalf<T>) {
    return T(std::strtof(word.c_str(), nullptr));
  } else {
    return static_cast<T>(std::strtod(word.c_str(), nullptr));
  }
}

// words[first] is a shape; elements follow, or one for all.
Literal ToLiteral(const std::vector<std::string>& words, size_t first) {
  const Shape shape = ParseShape(words.at(first)).value();
  Literal out = Literal::Uninitialized(shape);
  VisitDType(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto to = out.mutable_data<T>();
    const bool one = words.size() == first + 2;
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = ElementOf<T>(words.at(first + 1 + (one ? 0 : i)));
    }
  });
  return out;
}

AttributeValue ToAttribute(absl::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (absl::ConsumePrefix(&text, "[")) {
    Dims values;
    absl::ConsumeSuffix(&text, "]");
    for (absl::string_view v : absl::StrSplit(text, ',', absl::SkipEmpty())) {
      values.push_back(ToInt(std::string(v)));
    }
    return values;
  }
  int64_t number;
  if (absl::SimpleAtoi(text, &number)) return number;
  return ParseDType(text).value();
}

void Read(const std::string& line, NxCase* c) {
  std::vector<std::string> words = WordsOf(line);
  const std::string key = words[0];
  if (key == "by") {
    for (size_t i = 1; i < words.size(); ++i) c->by.push_back(ToInt(words[i]));
  } else if (key == "order") {
    c->order = ToInt(words.at(1));
  } else if (key == "tolerance") {
    c->atol = std::strtod(words.at(1).c_str(), nullptr);
    c->rtol = std::strtod(words.at(2).c_str(), nullptr);
  } else if (key == "input") {
    c->inputs.push_back(ToLiteral(words, 1));
  } else if (key == "output") {
    c->outputs.push_back(ToLiteral(words, 1));
  } else if (key == "body") {
    c->bodies[ToInt(words.at(1))];
  } else if (key == "return") {
    for (size_t i = 1; i < words.size(); ++i) {
      c->bodies.rbegin()->second.results.push_back(ToInt(words[i]));
    }
  } else {
    NxNode node;
    if (words.at(1) != "-") node.dtype = ParseDType(words[1]).value();
    node.words.assign(words.begin() + 2, words.end());
    c->bodies.rbegin()->second.nodes.emplace(ToInt(key), std::move(node));
  }
}

}  // namespace

std::vector<NxCase> ReadNxCases(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<NxCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (absl::StartsWith(line, "case ")) {
      cases.emplace_back();
      cases.back().name = line.substr(5);
      cases.back().bodies[0];
    } else {
      Read(line, &cases.back());
    }
  }
  return cases;
}

const NxGraph::Values& NxGraph::Make(int node) {
  const auto at = made_.find(node);
  if (at != made_.end()) return at->second;
  const NxNode& description = body_.nodes.at(node);
  Values values = Call(description);
  // Nx promotes into the dtype of the node; its predicates are u8.
  const DType dtype = description.dtype;
  for (Tensor& value : values) {
    if (dtype == DType::kInvalid || value.dtype() == dtype ||
        value.dtype() == DType::kBool || value.dtype() == DType::kInvalid) {
      continue;
    }
    value = Convert(value, dtype);
  }
  return made_.emplace(node, std::move(values)).first->second;
}

NxGraph::Values NxGraph::Call(const NxNode& node) {
  const auto& words = node.words;
  const std::string& name = words[0];
  if (name == "input") return {inputs_.at(ToInt(words.at(1)))};
  if (name == "tensor") return {Constant(ToLiteral(words, 1))};
  if (name == "elem") return {Make(ToInt(words.at(1))).at(ToInt(words.at(2)))};
  if (name == "While") return Loop(words);
  if (name == "custom") return Scaled(words);
  if (name == "Cond") {
    std::vector<int> conditions;
    size_t i = 1;
    for (; words.at(i) != ":"; ++i) conditions.push_back(ToInt(words[i]));
    std::vector<std::vector<int>> branches(1);
    for (++i; i < words.size(); ++i) {
      if (words[i] == "|") {
        branches.emplace_back();
      } else {
        branches.back().push_back(ToInt(words[i]));
      }
    }
    return Choose(conditions, branches, 0);
  }
  std::vector<FunctionArgument> arguments;
  Attributes attributes;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals != std::string::npos) {
      // The case outlives the call, so its text may be the name.
      const absl::string_view word = words[i];
      attributes.Set(word.substr(0, equals),
                     ToAttribute(word.substr(equals + 1)));
    } else if (words[i][0] == '#') {
      arguments.push_back(Number(ToInt(words[i].substr(1))));
    } else {
      arguments.push_back(Of(ToInt(words[i])));
    }
  }
  const FunctionEntry* function = FindFunction(name);
  if (function == nullptr) {
    ADD_FAILURE() << "there is no function " << name;
    return {Tensor()};
  }
  auto results = CallFunction(*function, arguments, attributes);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : Values{Tensor()};
}

NxGraph::Values NxGraph::Loop(const std::vector<std::string>& words) {
  Values initial;
  size_t i = 1;
  for (; words.at(i) != ":"; ++i) initial.push_back(Of(ToInt(words[i])));
  const int condition = ToInt(words.at(i + 1)), body = ToInt(words.at(i + 2));
  return While(
      initial,
      [&](Values state) {
        return NxGraph(case_, std::move(state), condition).Results()[0];
      },
      [&](Values state) {
        return NxGraph(case_, std::move(state), body).Results();
      });
}

NxGraph::Values NxGraph::Scaled(const std::vector<std::string>& words) {
  const int scale = ToInt(words.at(3));
  const auto forward = [&](Tensor x) {
    return CallFunction(*FindFunction(words.at(1)), {x}, {}).value()[0];
  };
  const auto rule = [scale](Tensor g, Tensor) { return g * scale; };
  return {CustomGrad(forward, rule)(Of(ToInt(words.at(2))))};
}

NxGraph::Values NxGraph::Choose(const std::vector<int>& conditions,
                                const std::vector<std::vector<int>>& branches,
                                size_t from) {
  if (from == conditions.size()) return Branch(branches.back());
  return Cond(
      Of(conditions[from]), [&] { return Branch(branches[from]); },
      [&] { return Choose(conditions, branches, from + 1); });
}

NxGraph::Values NxGraph::Branch(const std::vector<int>& results) {
  const auto outside = made_;  // what is made in the branch stays there
  Values values;
  for (int node : results) values.push_back(Of(node));
  made_ = outside;
  return values;
}

}  // namespace hawser
