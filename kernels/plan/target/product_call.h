// A product as calls of a library, in strides: the one table of what such a
// call may be. The planner asks it by which axes a product is read and which
// tail a product takes along; kernels/gpu makes its calls from the answers.
#ifndef HAWSER_KERNELS_PLAN_TARGET_PRODUCT_CALL_H_
#define HAWSER_KERNELS_PLAN_TARGET_PRODUCT_CALL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/module.h"

namespace hawser::plan {

// The last step of a product's tail, by structure.
enum class Activation : uint8_t { kIdentity, kRelu, kGeluTanh, kOther };

// A matrix in memory: row-major has neighbouring columns next to each other.
struct CallMatrix {
  DType dtype = DType::kF32;
  bool column_major = false;
  int64_t leading = 0;       // elements from one line to the next
  int64_t batch_stride = 0;  // to the next matrix; 0: all the same one

  bool operator==(const CallMatrix&) const = default;
};

// d[m, n] = activation(a[m, k] x b[k, n] + residual[m, n] + bias[n]), `batch`
// times a call. The residual has d's dtype and lies as d does.
struct ProductCall {
  // Elements in front of one call's matrices.
  struct Offset {
    int64_t a = 0, b = 0, d = 0;
    bool operator==(const Offset&) const = default;
  };

  int64_t batch = 1, m = 1, n = 1, k = 1;
  CallMatrix a, b, d;
  bool has_residual = false;
  bool has_bias = false;
  Activation activation = Activation::kIdentity;
  std::vector<Offset> calls;  // one at least

  bool operator==(const ProductCall&) const = default;
};

// More calls than this are never made for one product.
inline constexpr int64_t kMaxCalls = 1024;

// True if a library multiplies matrices of `factor`, leaving `result`.
bool LibrariesMultiply(DType factor, DType result);

// The fewest calls that compute `dot`, a dot_general of `left` and `right`:
// axes that do not merge are batches, or calls of their own. nullopt where the
// strides are no matrix's, several summed axes do not merge, more than
// kMaxCalls would be needed, nothing is summed or there are no elements, where
// a sum of s8 could leave s32, and for dtypes that no library multiplies.
std::optional<ProductCall> CallOfDot(const Instruction& dot, const Shape& left,
                                     const Shape& right);

// The tail is computed after a product before its result leaves.
struct CallTail {
  const Shape* result = nullptr;
  const Shape* bias = nullptr;      // as it lies in memory; null: none
  const Shape* residual = nullptr;  // null: none
  Activation activation = Activation::kIdentity;
};
// False, with `call` in any state, for what a library does not do in one call:
// operands of another dtype than the result's, a bias that is not one value
// per column of the call, tails of what is not real, dtypes of results.
bool AddTail(const CallTail& tail, ProductCall* call);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_TARGET_PRODUCT_CALL_H_
