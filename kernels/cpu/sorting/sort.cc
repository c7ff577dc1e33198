// Sorting along an axis. Where the comparator is a key of one element, keys and
// the places they come from are sorted a byte at a time, and everything is
// moved at once; else places are merged by calls of it. Always stable.
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
#include "kernels/cpu/sorting/radix_sort.h"
#include "kernels/cpu/sorting/sort_keys.h"
#include "kernels/cpu/sorting/sort_order.h"

namespace hawser::cpu {
namespace {

// Elements that keys are made of at a time.
constexpr int64_t kKeysAtOnce = 1024;
// Of a comparison by a program of one lane.
constexpr double kLessSteps = 40;

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
  Runs(const KernelContext& c, const AxisTrack& track,
       absl::Span<char* const> out)
      : c_(c), track_(track), out_(out) {}

  const KernelContext& context() const { return c_; }
  int64_t size() const { return track_.size; }
  int64_t step() const { return track_.step; }
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
    return c_.data(operand) + (track_.Begin(run) + place * track_.step) *
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

  // Element place(i) of each operand's run becomes element i of its result's.
  template <typename Place>
  absl::Status Move(int64_t run, Place place, WorkMeter* meter) const {
    const int64_t n = track_.size, step = track_.step;
    for (size_t k = 0; k < out_.size(); ++k) {
      const int operand = static_cast<int>(k);
      for (int64_t begin = 0; begin < n; begin += kItemsAtOnce) {
        const int64_t end = std::min(begin + kItemsAtOnce, n);
        HAWSER_RETURN_IF_ERROR(
            meter->Begin(2.0 * static_cast<double>(end - begin)));
        VisitWidth(ByteWidth(c_.shape(operand).dtype()), [&](auto tag) {
          using W = typename decltype(tag)::type;
          const W* from = In<W>(operand, run);
          W* to = Out<W>(operand, run);
          for (int64_t i = begin; i < end; ++i) {
            to[i * step] = from[static_cast<int64_t>(place(i)) * step];
          }
        });
      }
    }
    return absl::OkStatus();
  }

 private:
  const KernelContext& c_;
  const AxisTrack& track_;
  const absl::Span<char* const> out_;
};

// fn(i) for i from 0 to n - 1, with looks in between.
template <typename Fn>
absl::Status InParts(int64_t n, WorkMeter* meter, Fn fn) {
  for (int64_t begin = 0; begin < n; begin += kItemsAtOnce) {
    const int64_t end = std::min(begin + kItemsAtOnce, n);
    HAWSER_RETURN_IF_ERROR(meter->Begin(static_cast<double>(end - begin)));
    for (int64_t i = begin; i < end; ++i) fn(i);
  }
  return absl::OkStatus();
}

// Sorts by keys of single elements.
class KeySorter {
 public:
  KeySorter(const Runs& runs, const SortOrder& order)
      : runs_(runs), order_(order) {}

  absl::Status Sort() const {
    const auto bytes = static_cast<double>(ByteWidth(order_.key_dtype));
    return runs_.ForEach(2 * kPassSteps * bytes + 10,
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
      using Key = UnsignedOf<T>;
      if (runs_.num_operands() == 1 && order_.is_plain) {
        return SortKeys<T>(run, rooms, meter);
      }
      if (sizeof(Key) == 4 &&
          runs_.size() <= std::numeric_limits<uint32_t>::max()) {
        return SortPlaces<T, Placed32>(run, rooms, meter);
      }
      return SortPlaces<T, Placed64>(run, rooms, meter);
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
    HAWSER_RETURN_IF_ERROR(InParts(n, meter, [&](int64_t i) {
      keys[i] = KeyOfElement(from[i * step]) ^ flips;
    }));
    HAWSER_ASSIGN_OR_RETURN(const Key* const sorted,
                            RadixSort(keys, room, n, meter));
    T* to = runs_.Out<T>(0, run);
    HAWSER_RETURN_IF_ERROR(InParts(n, meter, [&](int64_t i) {
      to[i * step] = ElementOfKey<T>(sorted[i] ^ flips);
    }));
    if constexpr (kIsFloat<T>) {
      return RestoreAlike(from, order_.descending, to, meter);
    }
    return absl::OkStatus();
  }

  // Zeros and NaNs, which look alike to the order, as they are and in theirs.
  template <typename T>
  absl::Status RestoreAlike(const T* from, bool descending, T* to,
                            WorkMeter* meter) const {
    const int64_t n = runs_.size(), step = runs_.step();
    int64_t nans = 0, below = 0, above = 0;
    HAWSER_RETURN_IF_ERROR(InParts(n, meter, [&](int64_t i) {
      const T x = from[i * step];
      const Likeness likeness = LikenessOf(x);
      const bool is_negative =
          (std::bit_cast<BitsOfWidth<T>>(x) & kSign<T>) != 0;
      nans += likeness == Likeness::kNan ? 1 : 0;
      below += likeness == Likeness::kNone && is_negative ? 1 : 0;
      above += likeness == Likeness::kNone && !is_negative ? 1 : 0;
    }));
    if (below + above == n) return absl::OkStatus();
    int64_t zero = descending ? nans + above : below;
    int64_t nan = descending ? 0 : n - nans;
    return InParts(n, meter, [&](int64_t i) {
      const T x = from[i * step];
      const Likeness likeness = LikenessOf(x);
      if (likeness == Likeness::kZero) to[zero++ * step] = x;
      if (likeness == Likeness::kNan) to[nan++ * step] = x;
    });
  }

  template <typename T, typename Item>
  absl::Status SortPlaces(int64_t run, Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = runs_.size();
    HAWSER_ASSIGN_OR_RETURN(Item* const items, rooms.Get<Item>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Item* const room, rooms.Get<Item>(1, n));
    HAWSER_RETURN_IF_ERROR(MakeItems<T>(run, items, meter));
    HAWSER_ASSIGN_OR_RETURN(const Item* const sorted,
                            RadixSort(items, room, n, meter));
    return runs_.Move(
        run, [&](int64_t i) { return sorted[i].place; }, meter);
  }

  template <typename T, typename Item>
  absl::Status MakeItems(int64_t run, Item* items, WorkMeter* meter) const {
    using Key = decltype(Item::key);
    const int64_t n = runs_.size(), step = runs_.step();
    const auto put = [&](int64_t i, T element) {
      const auto key = static_cast<Key>(KeyOfElement(element));
      items[i] = {order_.descending ? static_cast<Key>(~key) : key,
                  static_cast<Key>(i)};
    };
    if (order_.is_plain) {
      const T* from = runs_.In<T>(order_.operand, run);
      for (int64_t i = 0; i < n; ++i) put(i, from[i * step]);
      return absl::OkStatus();
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
    return runs_.Move(
        run, [&](int64_t i) { return places[i]; }, meter);
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
  absl::InlinedVector<char*, 2> results;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&results));
  if (c.shape(0).num_elements() == 0) return out;
  const AxisTrack track(c.shape(0), c.attributes().GetInt("dimension"));
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
    const auto bytes = static_cast<double>(ByteWidth(order->key_dtype));
    const auto inputs = static_cast<double>(c.instruction.operands.size());
    return elements * (kPassSteps * bytes + 2 * inputs);
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
