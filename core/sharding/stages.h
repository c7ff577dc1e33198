// Stages: the values that tasks give, and the order of the tasks.
#ifndef HAWSER_CORE_SHARDING_STAGES_H_
#define HAWSER_CORE_SHARDING_STAGES_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/ops/part/part.h"
#include "core/sharding/cuts.h"
#include "core/sharding/shard.h"
#include "core/sharding/split.h"

namespace hawser {

// Stages: the tasks by what they give, in groups, stage by stage. The module
// and its cuts outlive it.
class Stages {
 public:
  // A direction in which values are cut.
  struct Direction {
    static constexpr int kShares = -1;
    int axis_class;  // or kShares: shares of any axis, as equal as can be
    // its position among those of its class in a value; for kShares, how many
    int number;
    friend bool operator==(const Direction&, const Direction&) = default;
  };

  // A result or a value between tasks, which tasks give.
  struct Member {
    struct Cut {
      Direction direction;
      int axis;  // or -1: it is made by the tasks of that part alone
      int part;
    };
    int result;  // of the function in stages
    Shape shape;
    int stage;
    std::vector<Cut> cuts;
  };

  // Members of one stage that the same tasks give: one task for each
  // combination of parts of the directions.
  struct Group {
    std::vector<Direction> directions;
    std::vector<int> members;
  };

  // split: true if the cuts' contractions are split.
  static absl::StatusOr<Stages> Make(const Module& module, const Cuts& cuts,
                                     bool split);

  const std::vector<Partial>& partials() const { return partials_; }
  // It is an upper bound: tasks that nothing is asked of are left out.
  int64_t num_tasks() const;
  // Fills `between` and `tasks`.
  absl::Status AddTasks(Sharding& sharding) const;

 private:
  using Asked = std::vector<std::set<Box>>;  // of each value between tasks
  // Counts the values between tasks that a box of a result is made of.
  struct Taken {
    int64_t elements = 0;
    int cells = 1;  // of how many partial values at most one is
  };

  Stages(const Module& module, const Cuts& cuts)
      : whole_(module.entry()), cuts_(cuts) {}
  absl::Status FindMembers();
  // Members of a stage whose directions are connected are one group; those that
  // have none go with the first one.
  void FindGroups();
  void CutLike(ValueId whole, Member& member) const;
  absl::Status CutIntoShares(Member& member) const;
  absl::StatusOr<Taken> TakenBetween(int result, const Box& box) const;
  int PartsOf(const Direction& direction) const;
  Interval IntervalOf(const Direction& direction, int64_t size, int i) const;
  // The next combination of the directions' parts.
  bool Next(const Group& group, std::vector<int>& parts) const;
  MaybeBox BoxOf(const Member& member, const Group& group,
                 const std::vector<int>& parts) const;
  std::vector<Piece> GivesOf(const Group& group, const std::vector<int>& parts,
                             const Asked& asked) const;
  int num_results() const { return static_cast<int>(whole_.results().size()); }

  const Computation& whole_;
  const Cuts& cuts_;
  Module staged_;  // the function in stages
  std::vector<Partial> partials_;
  std::vector<int> stage_;  // of each of its results
  std::vector<Member> members_;
  std::vector<Group> groups_;  // by stage
};

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_STAGES_H_
