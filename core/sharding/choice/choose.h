// ChooseSpec: chooses by cost where a function without marks is cut.
#ifndef HAWSER_CORE_SHARDING_CHOICE_CHOOSE_H_
#define HAWSER_CORE_SHARDING_CHOICE_CHOOSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/part/box.h"
#include "core/sharding/shard.h"
#include "core/sharding/shard_spec.h"

namespace hawser {

// The work that a place is known to do in a second.
struct PlaceFigures {
  double steps = 1e10;      // Work's
  double bytes = 1e10;      // of its own memory
  double link = 1e9;        // bytes from and to this process
  double round_trip = 1e-4; // seconds
};

// Says where an argument is.
struct ArgumentLayout {
  enum class At : uint8_t { kHere, kEverywhere, kPieces };
  At at = At::kHere;
  std::vector<Box> pieces;  // kPieces: each at a place of its own
  friend bool operator==(const ArgumentLayout&,
                         const ArgumentLayout&) = default;
};

struct ShardChoice {
  ShardSpec spec;
  Sharding sharding;
  double seconds = 0;      // that it takes, as far as the figures tell
  double alone = 0;        // that one place takes
  std::string why;         // in a line, for people
};

// Tries one place, the arguments as they lie, and each axis of the parameters
// cut for the places, and returns the cut that takes the least time. Work that
// is too small to spread is one task, and so is work of which every cut makes
// too many tasks. No module is refused. Errors: kInternal, an op without a part
// rule.
absl::StatusOr<ShardChoice> ChooseSpec(
    const Module& module, absl::Span<const PlaceFigures> places,
    absl::Span<const ArgumentLayout> arguments);

// Seconds that the tasks take on those places, as ChooseSpec counts.
double SecondsOf(const Sharding& sharding, absl::Span<const PlaceFigures> places,
                 absl::Span<const ArgumentLayout> arguments);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_CHOICE_CHOOSE_H_
