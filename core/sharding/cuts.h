// Cuts: which axes of a module's values are cut, and where.
#ifndef HAWSER_CORE_SHARDING_CUTS_H_
#define HAWSER_CORE_SHARDING_CUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/part/box.h"
#include "core/sharding/shard_spec.h"

namespace hawser {

// A set of axes of the entry's values that are cut alike: an index of one meets
// only the same index of the others. The parallel factors of `.axes` join axes,
// and the contracted ones do where contractions are split.
struct AxisClass {
  // The indices at which it is cut: inside, ascending. A class that nothing
  // cuts has none.
  std::vector<int64_t> boundaries;
  int64_t size = 0;
  enum class From : uint8_t {
    kNothing,
    kNamed,    // by the spec
    kEvery,    // every index, of which neighbours may be one
    kDerived,  // by an op that moves the elements of a class that is cut
  };
  From from = From::kNothing;
  bool named = false;  // the spec names it, or what it is derived of

  int parts() const { return static_cast<int>(boundaries.size()) + 1; }
  Interval part(int i) const {
    return {i == 0 ? 0 : boundaries[i - 1],
            i + 1 == parts() ? size : boundaries[i]};
  }
};

// Returns how the axes of an instruction of that module take part in its op.
AxisMap AxesOf(const Module& module, const Computation& computation,
               const Instruction& instruction);

// Cuts go forwards, from the axes that the spec names to the results. They are
// advice: a wrong cut costs work, never a value. The module outlives them.
class Cuts {
 public:
  // If an axis is cut at every index, `neighbours` indices are one part.
  // Errors: as CheckShardSpec.
  static absl::StatusOr<Cuts> Make(const Module& module, const ShardSpec& spec,
                                   int64_t neighbours = 1);

  // Returns the class that an axis of a value of the entry belongs to.
  int ClassOf(ValueId value, int axis) const;
  int ClassOf(ValueId value, const AxisCut& cut) const;
  const AxisClass& axis_class(int number) const { return classes_[number]; }
  int num_classes() const { return static_cast<int>(classes_.size()); }
  // True if more neighbours would make fewer parts.
  bool CutAtEveryIndex() const;

  // An instruction the results need, of an op that can be split, which
  // contracts or addresses by values axes that are cut since they are named.
  struct Contraction {
    struct Axis {
      int axis_class;
      std::vector<int> axes;  // for each operand, the axis of it, or -1
    };
    int instruction;  // its number in the entry
    std::vector<Axis> axes;
    int64_t cells;  // the product of their parts
  };
  std::vector<Contraction> Contractions() const;
  // For a class that is cut and cuts no result, returns the instruction at
  // which its cut ends, or the value's last use, of those the results need;
  // nullptr: a result is cut by it, or by what is derived of it, or a
  // contraction is split by one of these. split: for each class, whether a
  // contraction is split by it.
  const Instruction* EndOf(int axis_class,
                           const std::vector<bool>& split) const;

 private:
  explicit Cuts(const Module& module) : module_(&module) {}
  void NumberAxes();
  void JoinAxes(bool contracted);
  void CutNamedAxes(const ShardSpec& spec);
  void CutEveryIndex(const ShardSpec& spec, int64_t neighbours);
  absl::Status Derive();
  absl::Status DeriveAxis(const Instruction& instruction, int result, int axis);
  int FindRoot(int axis);

  const Module* module_;
  std::vector<int> first_axis_;  // of each value, among all axes
  // For each axis: another one of its class, or itself; then its class.
  std::vector<int> parents_;
  std::vector<int> class_of_axis_;
  std::vector<AxisClass> classes_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_CUTS_H_
