#include "tests/fuzz/sound_cases.h"

#include "client/cli/case_codec.h"
#include "core/base/compare.h"
#include "tests/fuzz/sound_parse.h"

namespace hawser {
namespace {

// A few bytes may ask for a large tensor of one value, which is no mistake.
constexpr int64_t kLargestTensor = 1 << 16;

bool IsSmall(const v1::CaseTensor& tensor) {
  const auto shape = ParseShape(tensor.shape());
  return !shape.ok() || shape->num_elements() <= kLargestTensor;
}

bool IsSmall(const v1::CaseAttribute& attribute) {
  return !attribute.has_tensor() || IsSmall(attribute.tensor());
}

bool IsSmall(const v1::Case& record) {
  for (const auto& input : record.inputs()) {
    if (!IsSmall(input)) return false;
  }
  for (const auto& output : record.outputs()) {
    if (!IsSmall(output)) return false;
  }
  for (const auto& attribute : record.attributes()) {
    if (!IsSmall(attribute)) return false;
  }
  for (const auto& computation : record.graph().computations()) {
    for (const auto& node : computation.nodes()) {
      for (const auto& attribute : node.attributes()) {
        if (!IsSmall(attribute)) return false;
      }
    }
  }
  return true;
}

// NotFound and the like do not come from a text.
template <typename T>
bool Sound(const absl::StatusOr<T>& result) {
  if (!result.ok()) CheckRefusal(result.status());
  return result.ok();
}

}  // namespace

const absl::string_view kSampleCases = R"(
source: "by hand"
cases {
  name: "op" op: "reduce" called: "add"
  attributes { name: "dimensions" ints { v: 0 } }
  inputs { shape: "f32[2]" f: [1, nan] }
  inputs { shape: "f32[]" f: -0 }
  outputs { shape: "f32[]" f: nan }
}
cases {
  name: "function" fn: "Add"
  inputs { shape: "s8[2]" i: [-128, 127] }
  inputs { shape: "s64[]" i: 3 weak: true }
  outputs { shape: "s8[2]" i: [-125, -126] }
}
cases {
  name: "graph"
  graph {
    computations {
      name: "positive" parameters: "c64[1]"
      nodes { op: "real" operands: 0 }
      nodes {
        op: "constant"
        attributes { name: "value" tensor { shape: "f32[1]" f: 0.5 } }
      }
      nodes {
        op: "compare" operands: [1, 2]
        attributes { name: "direction" s: "GT" }
      }
      results: [3, 1]
    }
    computations {
      name: "main" parameters: "u16[]" parameters: "c64[1]"
      nodes { op: "case" operands: [0, 1] called: [0, 0] }
      nodes { op: "convert" operands: 3 attributes { name: "dtype" dtype: "bf16" } }
      nodes {
        op: "iota"
        attributes { name: "dims" ints { v: [2, 3] } }
        attributes { name: "dtype" dtype: "u8" }
        attributes { name: "iota_dimension" i: 1 }
      }
      results: [2, 4, 5]
    }
  }
  inputs { shape: "u16[]" u: 1 }
  inputs { shape: "c64[1]" f: [1, inf] }
  outputs { shape: "bool[1]" u: 1 }
  outputs { shape: "bf16[1]" f: 1 }
  outputs { shape: "u8[2,3]" u: [0, 1, 2, 0, 1, 2] }
}
cases {
  name: "error" op: "transpose" source: "C1"
  attributes { name: "permutation" ints { v: [0, 0] } }
  attributes { name: "odd" b: true }
  attributes { name: "even" f: 2.5 }
  inputs { shape: "bool[2,0]" }
  error { code: "INVALID_ARGUMENT" contains: "C1" }
}
)";

void CheckSoundCase(const v1::Case& record) {
  if (!IsSmall(record)) return;
  (void)Sound(cli::ToLiterals(record.inputs()));
  (void)Sound(cli::ToLiterals(record.outputs()));
  (void)Sound(cli::ToArguments(record.inputs()));
  (void)Sound(cli::ToFunctionAttributes(record.attributes()));
  for (const v1::CaseTensor& output : record.outputs()) {
    const auto once = cli::ToLiteral(output);
    if (!once.ok()) continue;
    const auto again = cli::ToLiteral(output);
    HAWSER_CHECK(again.ok() && again->BitEquals(*once));
  }
  if (!record.fn().empty()) return;
  const auto module = cli::ModuleOf(record);
  if (Sound(module)) CheckPrintsAndEncodes(*module);
}

void CheckSoundCases(const std::string& text) {
  const auto file = cli::ParseCaseFile(text);
  if (!Sound(file)) return;
  for (const v1::Case& record : file->cases()) CheckSoundCase(record);
}

}  // namespace hawser
