#include "core/sharding/choice/choose.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/sharding/choice/work.h"

namespace hawser {
namespace {

// A message and what it makes both ends do.
constexpr double kSecondsAMessage = 35e-6;
// Tasks a place is given of independent ones, so that a faster one takes more;
// as far as each of them is longer than so many messages.
constexpr int kPartsAPlace = 4;
constexpr double kMessagesAPart = 20;
// Seconds of which a count of messages is a number.
constexpr double kVeryLong = 1e9;
// A cut must be so much faster than one place to be worth it.
constexpr double kWorthwhile = 0.9;
// Axes that are tried, the longest first.
constexpr size_t kMostAxes = 16;

// A spec in which nothing is cut so far; axes that are cut later are cut also
// where they are contracted.
ShardSpec SplitSpec() {
  ShardSpec spec;
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  spec.contracted = ShardSpec::Contracted::kSplit;
  return spec;
}

// Axes along which the pieces of an argument are more than one.
ShardSpec AsTheyLie(absl::Span<const ArgumentLayout> arguments) {
  ShardSpec spec = SplitSpec();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<Box>& pieces = arguments[i].pieces;
    if (arguments[i].at != ArgumentLayout::At::kPieces || pieces.empty()) {
      continue;
    }
    for (size_t axis = 0; axis < pieces[0].size(); ++axis) {
      std::set<int64_t> begins;
      int64_t size = 0;
      for (const Box& piece : pieces) {
        begins.insert(piece[axis].begin);
        size = std::max(size, piece[axis].end);
      }
      if (begins.size() < 2) continue;
      AxisCut cut{.value = static_cast<int>(i),
                  .axis = static_cast<int>(axis),
                  .kind = AxisCut::Kind::kSizes};
      for (auto at = begins.begin(); at != begins.end(); ++at) {
        const auto next = std::next(at);
        cut.sizes.push_back((next == begins.end() ? size : *next) - *at);
      }
      spec.parameters.push_back(std::move(cut));
    }
  }
  return spec;
}

struct ChosenSpec {
  ShardSpec spec;
  std::string what;
};

// Returns how many parts an axis is cut into: more than there are places where
// they are still long enough, as it shows only at work how fast each is.
int64_t PartsFor(const Module& module, absl::Span<const PlaceFigures> places) {
  const int64_t count = static_cast<int64_t>(places.size());
  const Work work = WorkOf(module);
  double steps = 0, bytes = 0;
  for (const PlaceFigures& place : places) {
    steps += place.steps / static_cast<double>(count);
    bytes += place.bytes / static_cast<double>(count);
  }
  // The time of one part, at the rate of one place.
  const double seconds = std::max(work.steps / steps, work.bytes / bytes) /
                         static_cast<double>(count * kPartsAPlace);
  return seconds > kMessagesAPart * kSecondsAMessage ? count * kPartsAPlace
                                                     : count;
}

// Each axis of the parameters in `parts`, and in fewer where those make too
// many tasks, the longest first.
void AddAxes(const Module& module, int64_t parts,
             std::vector<ChosenSpec>& candidates) {
  std::vector<std::pair<int64_t, AxisCut>> axes;
  for (int i = 0; i < module.entry().num_parameters(); ++i) {
    const Shape& shape = module.entry().shape(i);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int64_t size = shape.dim(axis);
      if (size < 2) continue;
      axes.push_back({size,
                      {.value = i,
                       .axis = axis,
                       .kind = AxisCut::Kind::kParts,
                       .parts = std::min(parts, size),
                       .sizes = {}}});
    }
  }
  std::stable_sort(
      axes.begin(), axes.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  if (axes.size() > kMostAxes) axes.resize(kMostAxes);
  for (auto& [size, cut] : axes) {
    for (; cut.parts >= 2; cut.parts /= 2) {
      ShardSpec spec = SplitSpec();
      spec.parameters.push_back(cut);
      candidates.push_back(
          {std::move(spec), absl::StrCat("axis ", cut.axis, " of argument ",
                                         cut.value, " in parts")});
    }
  }
}

bool IsCut(const Sharding& sharding, int parameter, int axis) {
  for (const ShardAxis& one : sharding.axes) {
    const ShardAxis::In in{parameter, axis};
    if (std::find(one.parameters.begin(), one.parameters.end(), in) !=
        one.parameters.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace

double SecondsOf(const Sharding& sharding,
                 absl::Span<const PlaceFigures> places,
                 absl::Span<const ArgumentLayout> arguments) {
  double steps = 0, bytes = 0, link = 0, round_trip = 0;
  for (const PlaceFigures& place : places) {
    steps += place.steps;
    bytes += place.bytes;
    link += place.link / static_cast<double>(places.size());
    round_trip += place.round_trip / static_cast<double>(places.size());
  }
  const double share =
      static_cast<double>(std::min(sharding.tasks.size(), places.size())) /
      static_cast<double>(places.size());
  std::map<const Module*, Work> works;
  const int parameters = static_cast<int>(sharding.whole.parameters.size());
  double seconds = 0, moved = 0;
  // A value that several tasks of one place take goes there once.
  std::map<std::pair<int, std::string>, int> taken;
  for (const ShardTask& task : sharding.tasks) {
    const auto [work, is_new] = works.try_emplace(task.module.get());
    if (is_new) work->second = WorkOf(*task.module);
    seconds += std::max(work->second.steps / (steps * share),
                        work->second.bytes / (bytes * share));
    for (const Piece& piece : task.takes) {
      if (piece.value < parameters) {
        const ArgumentLayout& at = arguments[piece.value];
        if (at.at == ArgumentLayout::At::kEverywhere) continue;
        if (std::find(at.pieces.begin(), at.pieces.end(), piece.box) !=
            at.pieces.end()) {
          continue;
        }
      }
      int& times = taken[{piece.value, ToString(piece.box)}];
      if (++times > static_cast<int>(places.size())) continue;
      const Shape& shape = piece.value < parameters
                               ? sharding.whole.parameters[piece.value]
                               : sharding.between[piece.value - parameters];
      moved += static_cast<double>(ShapeOf(shape, piece.box).byte_size());
    }
  }
  return seconds + moved / link + round_trip +
         kSecondsAMessage * static_cast<double>(sharding.tasks.size());
}

absl::StatusOr<ShardChoice> ChooseSpec(
    const Module& module, absl::Span<const PlaceFigures> places,
    absl::Span<const ArgumentLayout> arguments) {
  ShardChoice best{.spec = SplitSpec()};
  HAWSER_ASSIGN_OR_RETURN(best.sharding, Shard(module, best.spec));
  best.alone = best.seconds = SecondsOf(best.sharding, places, arguments);
  best.why = "one task: nothing is faster in parts";
  std::vector<ChosenSpec> candidates;
  if (ShardSpec spec = AsTheyLie(arguments); !spec.parameters.empty()) {
    candidates.push_back({std::move(spec), "as the arguments lie"});
  }
  // Parts are no faster than their messages, however little each has to do.
  if (2 * kSecondsAMessage < kWorthwhile * best.alone) {
    AddAxes(module, PartsFor(module, places), candidates);
  }
  // More would not be worth their messages.
  const int64_t most_tasks = std::clamp<int64_t>(
      static_cast<int64_t>(std::min(kWorthwhile * best.alone, kVeryLong) /
                           kSecondsAMessage),
      1, best.spec.max_tasks);
  std::vector<Sharding> tried;
  for (auto& [spec, what] : candidates) {
    const AxisCut& cut = spec.parameters[0];
    if (std::any_of(tried.begin(), tried.end(), [&](const Sharding& other) {
          return IsCut(other, cut.value, cut.axis);
        })) {
      continue;
    }
    spec.max_tasks = most_tasks;
    absl::StatusOr<Sharding> sharding = Shard(module, spec);
    if (absl::IsInvalidArgument(sharding.status())) continue;  // too many
    HAWSER_RETURN_IF_ERROR(sharding.status());
    if (sharding->tasks.size() < 2) continue;
    const double seconds = SecondsOf(*sharding, places, arguments);
    const double limit =
        best.seconds * (best.sharding.tasks.size() == 1 ? kWorthwhile : 1);
    tried.push_back(*sharding);
    if (seconds >= limit) continue;
    best.seconds = seconds;
    best.spec = std::move(spec);
    best.sharding = *std::move(sharding);
    best.why = what;
  }
  absl::StrAppend(&best.why, ": ", best.seconds * 1e6, " us, one place alone ",
                  best.alone * 1e6, " us");
  return best;
}

}  // namespace hawser
