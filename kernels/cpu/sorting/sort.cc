// Sorting along an axis. Where the comparator is a key of one element, keys and
// the places they come from are sorted as words, and everything is moved at
// once; else places are merged by calls of it. Always stable.
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
#include "kernels/cpu/sorting/part_sort.h"
#include "kernels/cpu/sorting/radix_sort.h"
#include "kernels/cpu/sorting/sort_keys.h"
#include "kernels/cpu/sorting/sort_order.h"

namespace hawser::cpu {
namespace {

// Elements that keys are made of at a time.
constexpr int64_t kKeysAtOnce = 1024;
// Of an element that is moved from anywhere.
constexpr double kMoveSteps = 3;
// Of a comparison by a program of one lane.
constexpr double kLessSteps = 40;

// The axis and what is around it: element (o, i, j) of [outer, size, inner].
struct Track {
  Track(const Shape& shape, int64_t axis) {
    for (int d = 0; d < shape.rank(); ++d) {
      (d < axis ? outer : d == axis ? size : inner) *= shape.dim(d);
    }
  }
  int64_t runs() const { return outer * inner; }
  // Of element 0 of a run; the others are `inner` apart.
  int64_t Begin(int64_t run) const {
    return run / inner * size * inner + run % inner;
  }

  int64_t outer = 1, size = 1, inner = 1;
};

// Memory that the runs of one thread have in turn.
class Rooms {
 public:
  explicit Rooms(const KernelContext& c) : c_(c) {}

  // Errors: kResourceExhausted.
  template <typename Item>
  absl::StatusOr<Item*> Get(int which, int64_t n) {
    Literal& room = rooms_[which];
    const int64_t bytes = n * static_cast<int64_t>(sizeof(Item));
    if (!room.valid() || room.shape().byte_size() < bytes) {
      HAWSER_ASSIGN_OR_RETURN(
          room, c_.environment.allocator->Allocate(
                    Shape::Of(DType::kU8, {bytes}), c_.environment.memory));
    }
    return reinterpret_cast<Item*>(room.mutable_bytes().data());
  }

 private:
  const KernelContext& c_;
  Literal rooms_[3];
};

// The runs of an instruction: what is sorted on its own.
class Runs {
 public:
  Runs(const KernelContext& c, const Track& track, absl::Span<char* const> out)
      : c_(c), track_(track), out_(out) {}

  const KernelContext& context() const { return c_; }
  int64_t size() const { return track_.size; }
  int64_t step() const { return track_.inner; }
  int num_operands() const { return static_cast<int>(out_.size()); }
  template <typename T>
  const T* In(int operand, int64_t run) const {
    return reinterpret_cast<const T*>(c_.data(operand)) + track_.Begin(run);
  }
  template <typename T>
  T* Out(int result, int64_t run) const {
    return reinterpret_cast<T*>(out_[result]) + track_.Begin(run);
  }
  // An element of a run.
  const char* At(int operand, int64_t run, int64_t place) const {
    return c_.data(operand) + (track_.Begin(run) + place * track_.inner) *
                                  ByteWidth(c_.shape(operand).dtype());
  }

  // fn for each, on several threads; an element takes so many steps.
  absl::Status ForEach(
      double steps,
      absl::FunctionRef<absl::Status(int64_t, Rooms&, WorkMeter*)> fn) const {
    return c_.ForMetered(
        track_.runs(), steps * static_cast<double>(track_.size),
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          Rooms rooms(c_);
          for (int64_t run = begin; run < end; ++run) {
            HAWSER_RETURN_IF_ERROR(fn(run, rooms, meter));
          }
          return meter->End();
        });
  }

  // fn(i) for i from 0 to n - 1, on several threads where these are many; one
  // takes about `steps`. Each on its own.
  template <typename Fn>
  absl::Status ForElements(int64_t n, double steps, WorkMeter* meter,
                           Fn fn) const {
    if (n <= kPartItems) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(steps * static_cast<double>(n)));
      for (int64_t i = 0; i < n; ++i) fn(i);
      return absl::OkStatus();
    }
    return c_.ForRanges(n, steps,
                        [&](int64_t begin, int64_t end) -> absl::Status {
                          for (int64_t i = begin; i < end; ++i) fn(i);
                          return absl::OkStatus();
                        });
  }

  // Element place(i) of an operand's run becomes element i of its result's.
  template <typename Place>
  absl::Status Move(int operand, int64_t run, Place place,
                    WorkMeter* meter) const {
    const int64_t step = track_.inner;
    return VisitWidth(ByteWidth(c_.shape(operand).dtype()), [&](auto tag) {
      using W = typename decltype(tag)::type;
      const W* from = In<W>(operand, run);
      W* to = Out<W>(operand, run);
      return ForElements(track_.size, kMoveSteps, meter, [&](int64_t i) {
        to[i * step] = from[static_cast<int64_t>(place(i)) * step];
      });
    });
  }

 private:
  const KernelContext& c_;
  const Track& track_;
  const absl::Span<char* const> out_;
};

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

// Sorts by keys of single elements.
class KeySorter {
 public:
  KeySorter(const Runs& runs, const SortOrder& order)
      : runs_(runs), order_(order) {}

  absl::Status Sort() const {
    return runs_.ForEach(2 * kSortSteps,
                         [&](int64_t run, Rooms& rooms, WorkMeter* meter) {
                           return SortRun(run, rooms, meter);
                         });
  }

 private:
  absl::Status SortRun(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    return VisitDType(order_.key_dtype, [&](auto tag) {
      return SortRunOf<typename decltype(tag)::type>(run, rooms, meter);
    });
  }

  template <typename T>
  absl::Status SortRunOf(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    if constexpr (kIsComplex<T>) {
      return Internal("complex numbers have no order");
    } else {
      if (runs_.num_operands() == 1 && order_.is_plain) {
        return SortKeys<T>(run, rooms, meter);
      }
      if (sizeof(UnsignedOf<T>) == 4 &&
          runs_.size() <= std::numeric_limits<uint32_t>::max()) {
        return SortPlaces<T, uint64_t>(run, rooms, meter);
      }
      return SortPlaces<T, Placed>(run, rooms, meter);
    }
  }

  // Elements are made again of their keys.
  template <typename T>
  absl::Status SortKeys(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    using Key = UnsignedOf<T>;
    const int64_t n = runs_.size(), step = runs_.step();
    HAWSER_ASSIGN_OR_RETURN(Key* const keys, rooms.Get<Key>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Key* const room, rooms.Get<Key>(1, n));
    const Key flips = order_.descending ? static_cast<Key>(-1) : 0;
    const T* from = runs_.In<T>(0, run);
    HAWSER_RETURN_IF_ERROR(runs_.ForElements(n, 1, meter, [&](int64_t i) {
      keys[i] = KeyOfElement(from[i * step]) ^ flips;
    }));
    HAWSER_ASSIGN_OR_RETURN(const Key* const sorted,
                            SortItems(runs_.context(), keys, room, n, meter));
    T* to = runs_.Out<T>(0, run);
    HAWSER_RETURN_IF_ERROR(runs_.ForElements(n, 1, meter, [&](int64_t i) {
      to[i * step] = ElementOfKey<T>(sorted[i] ^ flips);
    }));
    if constexpr (kIsFloat<T>) {
      return RestoreAlike(from, {sorted, static_cast<size_t>(n)}, flips, to,
                          meter);
    }
    return absl::OkStatus();
  }

  // Zeros and NaNs, which look alike to the order, as they are and in theirs.
  template <typename T>
  absl::Status RestoreAlike(const T* from,
                            absl::Span<const UnsignedOf<T>> sorted,
                            UnsignedOf<T> flips, T* to,
                            WorkMeter* meter) const {
    const auto places_of = [&](T x) {
      const auto places = std::equal_range(sorted.begin(), sorted.end(),
                                           KeyOfElement(x) ^ flips);
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

  template <typename T, typename Item>
  absl::Status SortPlaces(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = runs_.size();
    HAWSER_ASSIGN_OR_RETURN(Item* const items, rooms.Get<Item>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Item* const room, rooms.Get<Item>(1, n));
    HAWSER_RETURN_IF_ERROR(MakeItems<T>(run, items, meter));
    HAWSER_ASSIGN_OR_RETURN(const Item* const sorted,
                            SortItems(runs_.context(), items, room, n, meter));
    for (int k = 0; k < runs_.num_operands(); ++k) {
      if (k == order_.operand && order_.is_plain) {
        HAWSER_RETURN_IF_ERROR(MakeElements<T>(run, sorted, meter));
        continue;
      }
      HAWSER_RETURN_IF_ERROR(runs_.Move(
          k, run, [&](int64_t i) { return PlaceOf(sorted[i]); }, meter));
    }
    return absl::OkStatus();
  }

  // The elements that keys were made of, from anywhere only those that look
  // alike to the order.
  template <typename T, typename Item>
  absl::Status MakeElements(int64_t run, const Item* sorted,
                            WorkMeter* meter) const {
    using Key = UnsignedOf<T>;
    const int64_t step = runs_.step();
    const T* from = runs_.In<T>(order_.operand, run);
    T* to = runs_.Out<T>(order_.operand, run);
    const Key flips = order_.descending ? static_cast<Key>(-1) : 0;
    return runs_.ForElements(runs_.size(), 2, meter, [&](int64_t i) {
      const T x = ElementOfKey<T>(PlacedKey<Key>(sorted[i]) ^ flips);
      bool is_it = true;
      if constexpr (kIsFloat<T>) is_it = LikenessOf(x) == Likeness::kNone;
      to[i * step] = is_it ? x : from[PlaceOf(sorted[i]) * step];
    });
  }

  template <typename T, typename Item>
  absl::Status MakeItems(int64_t run, Item* items, WorkMeter* meter) const {
    using Key = UnsignedOf<T>;
    const int64_t n = runs_.size(), step = runs_.step();
    const Key flips = order_.descending ? static_cast<Key>(-1) : 0;
    const auto put = [&](int64_t i, T element) {
      Place(KeyOfElement(element) ^ flips, i, &items[i]);
    };
    if (order_.is_plain) {
      const T* from = runs_.In<T>(order_.operand, run);
      return runs_.ForElements(n, 1, meter,
                               [&](int64_t i) { put(i, from[i * step]); });
    }
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
      for (int64_t i = 0; i < count; ++i) put(begin + i, made[i]);
    }
    return absl::OkStatus();
  }

  const Runs& runs_;
  const SortOrder& order_;
};

// Sorts by calls of any comparator.
class CallSorter {
 public:
  // `less`: the comparator, where it is one; else the evaluator is called.
  CallSorter(const Runs& runs, const std::optional<LaneProgram>& less)
      : runs_(runs), less_(less) {}

  absl::Status Sort() const {
    return runs_.ForEach(20 * (less_ ? less_->cost() : kScalarSteps),
                         [&](int64_t run, Rooms& rooms, WorkMeter* meter) {
                           return SortRun(run, rooms, meter);
                         });
  }

 private:
  // Runs of one, two, four, ... are merged, the left one's elements first where
  // none is less.
  absl::Status SortRun(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = runs_.size();
    HAWSER_ASSIGN_OR_RETURN(int64_t * places, rooms.Get<int64_t>(0, n));
    HAWSER_ASSIGN_OR_RETURN(int64_t * room, rooms.Get<int64_t>(1, n));
    for (int64_t i = 0; i < n; ++i) places[i] = i;
    LaneColumns columns;
    if (less_) less_->Prepare(columns);
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

  absl::StatusOr<bool> Less(LaneColumns& columns, int64_t run, int64_t left,
                            int64_t right, WorkMeter* meter) const {
    const auto element = [&](int operand, int64_t place) {
      return runs_.At(operand, run, place);
    };
    if (!less_.has_value()) {
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
  const std::optional<LaneProgram>& less_;
};

absl::StatusOr<Literals> RunSort(const KernelContext& c) {
  Literals out;
  absl::InlinedVector<char*, 2> results;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    HAWSER_ASSIGN_OR_RETURN(Literal result,
                            c.Allocate(c.result_shape(static_cast<int>(k))));
    results.push_back(result.mutable_bytes().data());
    out.push_back(std::move(result));
  }
  if (c.shape(0).num_elements() == 0) return out;
  const Track track(c.shape(0), c.attributes().GetInt("dimension"));
  const Computation& comparator = c.module.computation(c.instruction.called[0]);
  const Runs runs(c, track, results);
  if (const auto order = OrderOfComparator(comparator)) {
    HAWSER_RETURN_IF_ERROR(KeySorter(runs, *order).Sort());
  } else {
    const auto less = LaneProgram::Make(comparator);
    HAWSER_RETURN_IF_ERROR(CallSorter(runs, less).Sort());
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
