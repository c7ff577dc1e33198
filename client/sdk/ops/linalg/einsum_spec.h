// EinsumSpec: the letters of an einsum, for tensors of given ranks.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_EINSUM_SPEC_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_EINSUM_SPEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/shape.h"

namespace hawser::sdk {

// The label of an axis: its letter; of "..." the axis's number from the end, 1
// and up, negative.
using Label = int;
using Labels = std::vector<Label>;

struct EinsumSpec {
  std::vector<Labels> operands;  // one label for each axis
  Labels result;
  // Of "..." the larger one, where a size is 1.
  std::map<Label, int64_t> sizes;
};

// Errors: kInvalidArgument for a spec that is none, that does not fit `shapes`,
// or a letter of two sizes, naming both.
absl::StatusOr<EinsumSpec> ParseEinsum(absl::string_view text,
                                       absl::Span<const Shape> shapes);

// Which two of those that are left are multiplied next, the product being the
// last one then: labels in `result` or in others stay, those of both that do
// not are summed.
struct EinsumPair {
  size_t left, right;  // left < right
};
// By the products of elements that all of it takes: the fewest, for up to six
// operands; beyond, the pair that takes fewest comes next.
std::vector<EinsumPair> EinsumOrder(const EinsumSpec& spec);
// Those products.
double EinsumCost(const EinsumSpec& spec, absl::Span<const EinsumPair> order);

// What stays of two operands: labels of either that are in `result` or in one
// of `others`.
Labels KeptOf(const Labels& left, const Labels& right,
              absl::Span<const Labels> others, const Labels& result);
bool HasLabel(const Labels& labels, Label label);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_EINSUM_SPEC_H_
