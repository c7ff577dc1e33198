// A case file that uses every field of proto/case.proto.
#ifndef HAWSER_TESTS_FUZZ_SAMPLE_CASES_H_
#define HAWSER_TESTS_FUZZ_SAMPLE_CASES_H_

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

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_SAMPLE_CASES_H_
