// The values that benches of small calls compute with, and what must come out.
#ifndef HAWSER_CLIENT_BENCH_SUMS_H_
#define HAWSER_CLIENT_BENCH_SUMS_H_

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"

namespace hawser::bench {

inline constexpr int64_t kElements = 16;
inline constexpr float kA = 1.0f;
inline constexpr float kB = 0.5f;

// f32[kElements] of one value.
inline Literal Filled(float value) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kF32, {kElements}));
  for (float& x : out.mutable_data<float>()) x = value;
  return out;
}

// Checks by its last element that `value` is Filled(expected). Errors: its own;
// kInternal naming both.
inline absl::Status Check(const absl::StatusOr<Literal>& value,
                          float expected) {
  HAWSER_RETURN_IF_ERROR(value.status());
  const float got = value->data<float>()[kElements - 1];
  if (std::abs(got - expected) < 1e-3f) return absl::OkStatus();
  return Internal("the result is ", got, ", must be ", expected);
}

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_SUMS_H_
