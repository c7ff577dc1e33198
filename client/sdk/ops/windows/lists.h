// What windows and convolutions have in common: lists with an entry an axis.
#ifndef HAWSER_CLIENT_SDK_OPS_WINDOWS_LISTS_H_
#define HAWSER_CLIENT_SDK_OPS_WINDOWS_LISTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/tensor.h"
#include "core/base/values/shape.h"
#include "core/ops/expression.h"

namespace hawser::sdk {

// Returns `list`, or 1 for each of `count` axes where there is none; with
// `one_for_all` one entry stands for all axes. Errors: another length, an entry
// below 1.
absl::StatusOr<Dims> OnePerAxis(absl::string_view name, const Dims& list,
                                size_t count, bool one_for_all = false);

// Fills low and high for windows of these sizes and dilations. Errors:
// `padding` beside `same_size`, another length (one entry stands for all axes),
// elements between, amounts beyond any memory.
absl::Status PadWindows(const std::vector<Padding>& padding, bool same_size,
                        const Dims& sizes, const Dims& dilations, Dims* low,
                        Dims* high);

// Keeps the error of a formula that fails by a status.
class Guarded {
 public:
  // `anything` stands for the result of one that fails.
  Expression Keep(const absl::StatusOr<Expression>& result,
                  const Expression& anything) {
    if (result.ok()) return *result;
    status_ = result.status();
    return anything;
  }
  // What `apply` gave, or the error.
  Tensor Or(const OpScope& s, const Tensor& result) const {
    return status_.ok() ? result : s.Fail(status_);
  }

 private:
  absl::Status status_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_OPS_WINDOWS_LISTS_H_
