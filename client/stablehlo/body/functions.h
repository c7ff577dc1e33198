// The functions of a tree.
#ifndef HAWSER_CLIENT_STABLEHLO_BODY_FUNCTIONS_H_
#define HAWSER_CLIENT_STABLEHLO_BODY_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// The functions of a tree, which outlives it, by name.
class Functions {
 public:
  explicit Functions(const Tree& tree);

  // The function, which has a body, or nullptr.
  const Op* Find(absl::string_view name) const;
  // The functions with a body, in the order of the text.
  const std::vector<const Op*>& all() const { return all_; }
  // Ops of the whole tree, regions included.
  int64_t num_ops() const { return num_ops_; }

 private:
  void Add(const std::vector<Op>& ops);
  int64_t Count(const std::vector<Op>& ops);

  std::vector<const Op*> all_;
  absl::flat_hash_map<absl::string_view, const Op*> by_name_;
  int64_t num_ops_ = 0;
};

// The name of a function, or of the function that an op calls; "" without one.
absl::string_view NameOf(const Op& function);
absl::string_view CalleeOf(const Op& op);
// True if the op, a custom call of this target, gives an array of a dataset.
inline constexpr absl::string_view kDatasetTarget = "hawser.dataset";
bool IsDatasetArray(const Op& op);
// True if the op ends a region and names what it gives.
bool IsReturn(const Op& op);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BODY_FUNCTIONS_H_
