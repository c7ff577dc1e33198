// Program: what the bodies of one module share while they are lowered.
#ifndef HAWSER_CLIENT_STABLEHLO_BODY_PROGRAM_H_
#define HAWSER_CLIENT_STABLEHLO_BODY_PROGRAM_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "client/stablehlo/body/dataset_arrays.h"
#include "client/stablehlo/body/functions.h"
#include "client/stablehlo/body/row.h"
#include "client/stablehlo/tree/tree.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"
#include "core/runtime/dataset.h"
#include "core/runtime/options.h"

namespace hawser::stablehlo {

// Two values that a program says are equal, or nearly so.
struct Check {
  enum Kind : uint8_t { kEqual, kClose, kAlmostEqual };
  Kind kind = kEqual;
  int64_t ulps = 3;             // of kClose: units in the last place
  double tolerance = 1e-4;      // of kAlmostEqual
  const char* where = nullptr;  // in the text
  ValueId actual = kNoValue;
  ValueId expected = kNoValue;
};

// Constants of more bytes become arguments of the entry, since they would make
// the module large; smaller ones are repeated where regions take them along.
inline constexpr int64_t kLargestConstant = 4096;

// An array of a dataset, which has that shape where the program runs.
struct DatasetArray {
  DatasetPart part;
  Shape shape;
};
// An argument that the program brings along: a large constant, or an array.
using BoundArgument = std::variant<Literal, DatasetArray>;

// The module that grows, the functions there are to call, and what bounds the
// work: every op that is lowered is paid for, since calls are inlined and may
// double. The tree outlives it. Not thread-safe.
class Program {
 public:
  Program(const Tree& tree, RowLookup find_row)
      : tree_(tree),
        functions_(tree),
        find_row_(find_row),
        arrays_(tree, functions_),
        ops_left_(functions_.num_ops() + kMostInlined) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const Tree& tree() const { return tree_; }
  const Functions& functions() const { return functions_; }
  const Row* FindRow(absl::string_view name) const { return find_row_(name); }
  Module& module() { return module_; }
  Monoids& monoids() { return monoids_; }

  // A value of the entry that is a large constant: a parameter after its own.
  ValueId LargeConstant(const Elements& elements, ComputationBuilder* builder);
  // Another of those: an array of a dataset.
  ValueId ArrayOfDataset(DatasetArray array, ComputationBuilder* builder);
  DatasetArrays& arrays() { return arrays_; }
  // What those parameters stand for, in order.
  std::vector<BoundArgument>& bound() { return bound_; }

  // The values that a region takes from around it, each once, in the order in
  // which it names them.
  const std::vector<Operand>& FreeOperands(const Region& region);

  // Counts a product; some ask for all bits of their factors.
  void AddProduct(bool all_bits) {
    has_products_ = true;
    all_bits_ |= all_bits;
  }
  // kTf32 if every product may give up bits (StableHLO's precision DEFAULT), as
  // XLA does on GPUs; else kFast.
  runtime::Numerics numerics() const {
    return has_products_ && !all_bits_ ? runtime::Numerics::kTf32
                                       : runtime::Numerics::kFast;
  }

  // Pays for one op. Errors: kResourceExhausted.
  absl::Status Spend();
  // Calls and regions within each other. Errors: kResourceExhausted.
  absl::Status Enter();
  void Leave() { --depth_; }
  // The status with the place of `op` in front, and of what was traced after;
  // the first op to ask is the one that failed.
  absl::Status Placed(const absl::Status& status, const Op& op);

  // Checks are collected here; null for programs that are run, which may have
  // none. They are of values of the entry's own builder.
  std::vector<Check>* checks = nullptr;
  // The entry grows here, with what it calls and without regions.
  const ComputationBuilder* entry = nullptr;

 private:
  // The most instructions of a module that a server takes.
  static constexpr int64_t kMostInlined = 1 << 16;

  const Tree& tree_;
  const Functions functions_;
  const RowLookup find_row_;
  DatasetArrays arrays_;
  Module module_;
  Monoids monoids_;
  absl::flat_hash_map<const Region*, std::vector<Operand>> free_;
  std::vector<BoundArgument> bound_;
  // A function that is called twice has its constants once.
  absl::flat_hash_map<const Elements*, ValueId> large_;
  int64_t ops_left_;
  int depth_ = 0;
  bool placed_ = false;
  bool has_products_ = false;
  bool all_bits_ = false;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BODY_PROGRAM_H_
