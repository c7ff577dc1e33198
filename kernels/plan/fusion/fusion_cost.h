// FusionCost: compares computing a value again with writing and reading it, by
// the target's numbers.
#ifndef HAWSER_KERNELS_PLAN_FUSION_FUSION_COST_H_
#define HAWSER_KERNELS_PLAN_FUSION_FUSION_COST_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kernels/plan/fusion/groups.h"

namespace hawser::plan {

int64_t ElementsOf(absl::Span<const int64_t> dims);

// Reads the groups as they are at each call. The groups outlive this object.
// Not thread-safe.
class FusionCost {
 public:
  explicit FusionCost(const Groups& groups)
      : groups_(groups), c_(groups.computation()), target_(groups.target()) {}

  // True if computing it again costs no more than reading it: instructions that
  // only say where elements are, and conversions of values that take no more
  // bytes.
  bool IsFree(int instruction) const;

  // Seconds of lane work for the instruction in group `g`, beyond `share` of
  // one evaluation per element.
  double Recompute(int instruction, GroupId g, double share) const;

  // True if it pays to evaluate the instruction in `g`, its only reader, where
  // a broadcast may ask for each element many times.
  bool PaysInOne(int instruction, GroupId g) const;

  // True if it pays to evaluate the instruction in each of `takers`, which read
  // it. `written`: its result is written anyway, for other readers.
  bool PaysInAll(int instruction, absl::Span<const GroupId> takers,
                 bool written) const;

  // True if reading the reduction's input takes longer than two kernels' start.
  bool IsLong(const Instruction& reduce) const;

  // True if a row of the reduction's input stays at hand between passes.
  bool IsResident(const Instruction& reduce, const ReduceAxes& axes) const;

  // Returns those of some values, and of what these are computed from element
  // by element, that have so many elements. The look back is short.
  using Values = absl::InlinedVector<ValueId, 16>;
  Values Behind(absl::Span<const ValueId> values, int64_t elements) const;

  // True if one of `some` is among the values that `others` are computed from.
  // The look back is short, so this may be wrong; that costs time, not more.
  bool Meet(const Values& some, absl::Span<const ValueId> others,
            int64_t elements) const;

 private:
  double BytesSeconds(double bytes) const {
    return bytes / target_.bytes_per_second;
  }
  double BytesOf(ValueId v) const {
    return static_cast<double>(c_.shape(v).byte_size());
  }
  // Returns the value that is loaded where `v` is needed: the one before
  // instructions that are free.
  ValueId LoadedFor(ValueId v) const;
  // Returns the seconds that a group with these points reads for the longest,
  // if it needs so many elements of `v`: nothing for what it has, else `v`
  // itself or what it is computed from, whichever is less. Looks `steps`
  // operations back.
  double ReadSeconds(ValueId v, double elements, const PointGraph& points,
                     int steps) const;
  // Returns the seconds of one element of the instruction's result.
  double ElementSeconds(int instruction) const;
  bool LeadsToRows(int instruction, GroupId g) const;
  // Adds to `*seen` what the values are computed from, up to the first that
  // `ends` holds of; whether there is one.
  bool LookBehind(absl::Span<const ValueId> values, int64_t elements,
                  Values* seen, absl::FunctionRef<bool(ValueId)> ends) const;
  // Computed so often more than once: elements, and places in a kernel.
  struct Again {
    double evaluations, places;
  };
  // Returns in how many places a group with these points computes it.
  double PlacesOf(int instruction, const PointGraph& points) const;
  // True if `pays` holds for the seconds that it takes to compute those values
  // that the instruction is made of, and not all takers have, as often as the
  // instruction. If `pays` holds for some seconds, it must hold for fewer.
  bool PaysAbove(int instruction, absl::Span<const GroupId> takers,
                 const Again& more, absl::FunctionRef<bool(double)> pays) const;

  const Groups& groups_;
  const Computation& c_;
  const Target& target_;
  // Indexed by instruction: seconds of an element, -1 before they are asked
  // for, and the last look of PaysAbove that met it.
  mutable std::vector<double> element_seconds_;
  mutable std::vector<int> seen_;
  mutable int looks_ = 0;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_FUSION_COST_H_
