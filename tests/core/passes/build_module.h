// Small modules in few lines, and the text a pass makes of them.
#ifndef HAWSER_TESTS_CORE_PASSES_BUILD_MODULE_H_
#define HAWSER_TESTS_CORE_PASSES_BUILD_MODULE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "tests/testing/matchers.h"

namespace hawser {

inline const Shape kF = Shape::Scalar(DType::kF32);
inline const Shape kF23 = Shape::Of(DType::kF32, {2, 3});

using Body = std::function<std::vector<ValueId>(ComputationBuilder&)>;

inline int AddComputation(Module* module, std::string name, const Body& body) {
  ComputationBuilder builder(module, std::move(name));
  const std::vector<ValueId> results = body(builder);
  const auto index = builder.Finish(results);
  EXPECT_OK(index);
  return index.value_or(-1);
}

inline Module BuildModule(const Body& body) {
  Module module("m");
  AddComputation(&module, "main", body);
  return module;
}

// The instructions of the last computation, a line each, without the frame.
inline std::string EntryText(const Module& module) {
  const std::string text = Print(module);
  const size_t head = text.rfind(") {\n") + 4;
  return text.substr(head, text.rfind("}\n") - head);
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_PASSES_BUILD_MODULE_H_
