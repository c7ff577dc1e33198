// A case file that uses every field of proto/case.proto.
#ifndef HAWSER_TESTS_FUZZ_INPUTS_SAMPLE_CASES_H_
#define HAWSER_TESTS_FUZZ_INPUTS_SAMPLE_CASES_H_

#include "absl/strings/string_view.h"

namespace hawser {

inline constexpr absl::string_view kSampleCases = R"(
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
  name: "module"
  module: [
    'module "sample"',
    'computation @0 "positive" (%0: c64[1]) {',
    '  %1: f32[1] = real(%0)',
    '  %2: f32[1] = constant() value=f32[1] {0.5}',
    '  %3: bool[1] = compare(%1, %2) direction="GT"',
    '  return %3, %1',
    '}',
    'computation @1 "main" (%0: u16[], %1: c64[1]) {',
    '  %2: s32[] = convert(%0) dtype=s32',
    '  %3: bool[1], %4: f32[1] = case(%2, %1) @0 @0',
    '  %5: bf16[1] = convert(%4) dtype=bf16',
    '  %6: u8[2,3] = iota() dims=[2,3] dtype=u8 iota_dimension=1',
    '  return %3, %5, %6',
    '}'
  ]
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
  attributes { name: "count" i: -3 }
  attributes { name: "word" s: "GT" }
  attributes { name: "kind" dtype: "bf16" }
  attributes { name: "value" tensor { shape: "f32[1]" f: 0.5 } }
  inputs { shape: "bool[2,0]" }
  error { code: "INVALID_ARGUMENT" contains: "C1" }
}
)";

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_INPUTS_SAMPLE_CASES_H_
