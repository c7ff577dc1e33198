// Sorting along an axis. If the comparator is a key of one element, keys and
// the indices they come from are sorted as words, and everything is moved at
// once; else indices are merged by calls of it. Always stable.
#include "core/ops/movement/sort.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/lane_program.h"
#include "kernels/cpu/movement/axis_track.h"
#include "kernels/cpu/sorting/part_sort.h"
#include "kernels/cpu/sorting/radix_sort.h"
#include "kernels/cpu/sorting/runs.h"
#include "kernels/cpu/sorting/sort_keys.h"
#include "kernels/cpu/sorting/sort_order.h"

namespace hawser::cpu {
namespace {

// Elements that keys are made of at a time.
constexpr int64_t kKeysAtOnce = 1024;
// Steps of a comparison by a program of one lane.
constexpr double kLessSteps = 40;

// Items that are sorted: Placed, or a word of a key of 32 bits and, below it,
// of the place, which makes all words differ and keeps the order of equals.
void Place(uint32_t key, int64_t place, uint64_t* item) {
  *item = uint64_t{key} << 32 | static_cast<uint32_t>(place);
}
void Place(uint64_t key, int64_t place, Placed* item) {
  *item = {key, static_cast<uint64_t>(place)};
}
int64_t PlaceOf(uint64_t item) { return static_cast<uint32_t>(item); }
int64_t PlaceOf(const Placed& item) { return static_cast<int64_t>(item.place); }
template <typename Key>
Key PlacedKey(uint64_t item) {
  return static_cast<Key>(item >> 32);
}
template <typename Key>
Key PlacedKey(const Placed& item) {
  return static_cast<Key>(item.key);
}

// Sorts the one operand by its elements, which are made again of their keys.
template <typename T>
class KeySorter {
 public:
  using Key = UnsignedOf<T>;

  KeySorter(const Runs& runs, const SortOrder& order)
      : runs_(runs), flips_(order.descending ? static_cast<Key>(-1) : 0) {}

  absl::Status SortRun(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = runs_.size();
    HAWSER_ASSIGN_OR_RETURN(Key* const keys, rooms.Get<Key>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Key* const room, rooms.Get<Key>(1, n));
    const T* from = runs_.In<T>(0, run);
    HAWSER_RETURN_IF_ERROR(
        runs_.ForSteps(n, 1, meter, [&](int64_t i, auto step) {
          keys[i] = KeyOfElement(from[i * step]) ^ flips_;
        }));
    const int64_t wanted = runs_.wanted();
    HAWSER_ASSIGN_OR_RETURN(
        const Key* const sorted,
        SortFirst(runs_.context(), keys, room, n, wanted, meter));
    T* to = runs_.Out<T>(0, run);
    HAWSER_RETURN_IF_ERROR(
        runs_.ForSteps(wanted, 1, meter, [&](int64_t i, auto step) {
          to[i * step] = ElementOfKey<T>(sorted[i] ^ flips_);
        }));
    if constexpr (kIsFloat<T>) {
      return RestoreAlike(from, absl::MakeConstSpan(sorted, wanted), to, meter);
    }
    return absl::OkStatus();
  }

 private:
  // Zeros and NaNs, which look alike to the order, as they are and in theirs.
  absl::Status RestoreAlike(const T* from, absl::Span<const Key> sorted, T* to,
                            WorkMeter* meter) const {
    const auto places_of = [&](T x) {
      const auto places = std::equal_range(sorted.begin(), sorted.end(),
                                           KeyOfElement(x) ^ flips_);
      return std::pair(places.first - sorted.begin(),
                       places.second - sorted.begin());
    };
    auto [zero, zeros_end] = places_of(T(0.0f));
    auto [nan, nans_end] =
        places_of(T(std::numeric_limits<float>::quiet_NaN()));
    const int64_t n = runs_.size(), step = runs_.step();
    for (int64_t i = 0; i < n && (zero < zeros_end || nan < nans_end); ++i) {
      if (i % kPartItems == 0) HAWSER_RETURN_IF_ERROR(meter->Begin(kPartItems));
      const T x = from[i * step];
      const Likeness likeness = LikenessOf(x);
      if (likeness == Likeness::kZero) to[zero++ * step] = x;
      if (likeness == Likeness::kNan) to[nan++ * step] = x;
    }
    return absl::OkStatus();
  }

  const Runs& runs_;
  const Key flips_;
};

// Sorts any operands by keys of elements of one: their places, then moves all.
template <typename T, typename Item>
class PlaceSorter {
 public:
  using Key = UnsignedOf<T>;

  PlaceSorter(const Runs& runs, const SortOrder& order)
      : runs_(runs),
        order_(order),
        flips_(order.descending ? static_cast<Key>(-1) : 0) {}

  absl::Status SortRun(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = runs_.size();
    HAWSER_ASSIGN_OR_RETURN(Item* const items, rooms.Get<Item>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Item* const room, rooms.Get<Item>(1, n));
    HAWSER_RETURN_IF_ERROR(order_.is_plain ? MakeItems(run, items, meter)
                                           : CallForItems(run, items, meter));
    HAWSER_ASSIGN_OR_RETURN(
        const Item* const sorted,
        SortFirst(runs_.context(), items, room, n, runs_.wanted(), meter));
    for (int k = 0; k < runs_.num_operands(); ++k) {
      const auto place = [&](int64_t i) { return PlaceOf(sorted[i]); };
      HAWSER_RETURN_IF_ERROR(k == order_.operand && order_.is_plain
                                 ? MakeElements(run, sorted, meter)
                             : runs_.IsPlaces(k)
                                 ? runs_.MovePlaces(k, run, place, meter)
                                 : runs_.Move(k, run, place, meter));
    }
    return absl::OkStatus();
  }

 private:
  // Items of the elements themselves.
  absl::Status MakeItems(int64_t run, Item* items, WorkMeter* meter) const {
    const int64_t step = runs_.step();
    const T* from = runs_.In<T>(order_.operand, run);
    return runs_.ForElements(runs_.size(), 1, meter,
                             [&](int64_t i) { Put(i, from[i * step], items); });
  }

  // Items of what the key's program makes of the elements.
  absl::Status CallForItems(int64_t run, Item* items, WorkMeter* meter) const {
    const int64_t n = runs_.size(), step = runs_.step();
    const LaneProgram& key = *order_.key;
    LaneColumns columns;
    key.Prepare(columns);
    const int64_t lanes = std::min(key.lanes(), kKeysAtOnce);
    for (int64_t begin = 0; begin < n; begin += lanes) {
      const int64_t count = std::min(lanes, n - begin);
      VisitWidth(ByteWidth(runs_.context().shape(order_.operand).dtype()),
                 [&](auto tag) {
                   using W = typename decltype(tag)::type;
                   const W* from =
                       runs_.In<W>(order_.operand, run) + begin * step;
                   W* to = reinterpret_cast<W*>(columns.own(0));
                   for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
                 });
      HAWSER_RETURN_IF_ERROR(key.Run(count, columns, meter));
      const T* made =
          reinterpret_cast<const T*>(columns.at(key.result_value(0)));
      for (int64_t i = 0; i < count; ++i) Put(begin + i, made[i], items);
    }
    return absl::OkStatus();
  }

  // The elements that keys were made of, from anywhere only those that look
  // alike to the order.
  absl::Status MakeElements(int64_t run, const Item* sorted,
                            WorkMeter* meter) const {
    const int64_t step = runs_.step();
    const T* from = runs_.In<T>(order_.operand, run);
    T* to = runs_.Out<T>(order_.operand, run);
    return runs_.ForElements(runs_.wanted(), 2, meter, [&](int64_t i) {
      const T x = ElementOfKey<T>(PlacedKey<Key>(sorted[i]) ^ flips_);
      bool is_it = true;
      if constexpr (kIsFloat<T>) is_it = LikenessOf(x) == Likeness::kNone;
      to[i * step] = is_it ? x : from[PlaceOf(sorted[i]) * step];
    });
  }

  void Put(int64_t i, T element, Item* items) const {
    Place(KeyOfElement(element) ^ flips_, i, &items[i]);
  }

  const Runs& runs_;
  const SortOrder& order_;
  const Key flips_;
};

template <typename Sorter>
absl::Status SortBy(const Runs& runs, const Sorter& sorter, double steps) {
  return runs.ForEach(steps, [&](int64_t run, Rooms& rooms, WorkMeter* meter) {
    return sorter.SortRun(run, rooms, meter);
  });
}

absl::Status SortByKeys(const Runs& runs, const SortOrder& order) {
  return VisitDType(order.key_dtype, [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      return Internal("complex numbers have no order");
    } else if (runs.num_operands() == 1 && order.is_plain) {
      return SortBy(runs, KeySorter<T>(runs, order), kSortSteps);
    } else {
      if constexpr (sizeof(UnsignedOf<T>) == 4) {
        if (runs.size() <= std::numeric_limits<uint32_t>::max()) {
          return SortBy(runs, PlaceSorter<T, uint64_t>(runs, order),
                        2 * kSortSteps);
        }
      }
      return SortBy(runs, PlaceSorter<T, Placed>(runs, order), 4 * kSortSteps);
    }
  });
}

// Sorts by calls of any comparator.
class CallSorter {
 public:
  // `less`: the comparator, where it is one; else the evaluator is called.
  CallSorter(const Runs& runs, const LaneProgram* less)
      : runs_(runs), less_(less) {}

  // Runs of one, two, four, ... are merged, the left one's elements first where
  // none is less.
  absl::Status SortRun(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = runs_.size();
    HAWSER_ASSIGN_OR_RETURN(int64_t * places, rooms.Get<int64_t>(0, n));
    HAWSER_ASSIGN_OR_RETURN(int64_t * room, rooms.Get<int64_t>(1, n));
    for (int64_t i = 0; i < n; ++i) places[i] = i;
    LaneColumns columns;
    if (less_ != nullptr) less_->Prepare(columns);
    for (int64_t width = 1; width < n; width *= 2) {
      for (int64_t begin = 0; begin < n; begin += 2 * width) {
        int64_t left = begin, right = std::min(begin + width, n);
        const int64_t middle = right, end = std::min(begin + 2 * width, n);
        for (int64_t to = begin; to < end; ++to) {
          bool take_right = left == middle;
          if (left < middle && right < end) {
            HAWSER_ASSIGN_OR_RETURN(
                take_right,
                Less(columns, run, places[right], places[left], meter));
          }
          room[to] = places[take_right ? right++ : left++];
        }
      }
      std::swap(places, room);
    }
    for (int k = 0; k < runs_.num_operands(); ++k) {
      HAWSER_RETURN_IF_ERROR(runs_.Move(
          k, run, [&](int64_t i) { return places[i]; }, meter));
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<bool> Less(LaneColumns& columns, int64_t run, int64_t left,
                            int64_t right, WorkMeter* meter) const {
    const auto element = [&](int operand, int64_t place) {
      return runs_.At(operand, run, place);
    };
    if (less_ == nullptr) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(kScalarSteps));
      std::vector<Literal> arguments;
      for (int k = 0; k < runs_.num_operands(); ++k) {
        for (const int64_t place : {left, right}) {
          HAWSER_ASSIGN_OR_RETURN(
              arguments.emplace_back(),
              runs_.context().ScalarAt(runs_.context().shape(k).dtype(),
                                       element(k, place)));
        }
      }
      HAWSER_ASSIGN_OR_RETURN(const std::vector<Literal> answer,
                              runs_.context().call(0, std::move(arguments)));
      return answer[0].bytes()[0] != 0;
    }
    for (int k = 0; k < runs_.num_operands(); ++k) {
      const int64_t width = ByteWidth(runs_.context().shape(k).dtype());
      std::memcpy(columns.own(2 * k), element(k, left), width);
      std::memcpy(columns.own(2 * k + 1), element(k, right), width);
    }
    HAWSER_RETURN_IF_ERROR(meter->Begin(kLessSteps));
    HAWSER_RETURN_IF_ERROR(less_->Run(1, columns, meter));
    return columns.at(less_->result_value(0))[0] != 0;
  }

  const Runs& runs_;
  const LaneProgram* const less_;
};

absl::StatusOr<Literals> RunSort(const KernelContext& c) {
  absl::InlinedVector<char*, 2> results;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&results));
  if (c.shape(0).num_elements() == 0) return out;
  const AxisTrack track(c.shape(0), c.attributes().GetInt("dimension"));
  const Computation& comparator = c.module.computation(c.instruction.called[0]);
  const Runs runs(c, track, results);
  if (const auto order = OrderOfComparator(comparator)) {
    HAWSER_RETURN_IF_ERROR(SortByKeys(runs, *order));
  } else {
    const LaneProgram* const less = c.lanes[0];
    const double steps = less == nullptr ? kScalarSteps : less->cost();
    HAWSER_RETURN_IF_ERROR(SortBy(runs, CallSorter(runs, less), 20 * steps));
  }
  return out;
}

double SortCost(const CostContext& c) {
  const double elements = c.elements(c.operand(0));
  const int64_t axis = c.instruction.attributes.GetInt("dimension");
  const auto size = static_cast<double>(c.operand(0).dim(axis));
  const Computation& comparator = c.module.computation(c.instruction.called[0]);
  if (const auto order = OrderOfComparator(comparator)) {
    const auto inputs = static_cast<double>(c.instruction.operands.size());
    return elements * (2 * kSortSteps + kMoveSteps * inputs);
  }
  const double levels = std::ceil(std::log2(std::max(size, 2.0)));
  return elements * levels *
         (c.called[0].lane ? *c.called[0].lane + kLessSteps
                           : c.called[0].steps + kScalarSteps);
}

constexpr CpuKernel kKernels[] = {
    {&kSort, RunSort, nullptr, SortCost},
};

}  // namespace

absl::Span<const CpuKernel> SortKernels() { return kKernels; }

}  // namespace hawser::cpu
