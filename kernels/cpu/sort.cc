// Sorting along an axis. Where the comparator is a key of one element, keys and
// the places they come from are sorted a byte at a time, and everything is moved
// at once; else places are merged by calls of it. Always stable.
#include "core/ops/movement/sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/lane_program.h"
#include "kernels/cpu/radix_sort.h"
#include "kernels/cpu/sort_order.h"

namespace hawser::cpu {
namespace {

// Elements that keys are made of at a time.
constexpr int64_t kKeysAtOnce = 1024;

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

// ---- keys -------------------------------------------------------------------

template <typename T>
using UnsignedOf = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

template <typename T>
using BitsOfWidth =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          UnsignedOf<T>>>;
template <typename T>
constexpr auto kSign = static_cast<BitsOfWidth<T>>(BitsOfWidth<T>{1}
                                                   << (8 * sizeof(T) - 1));

// Of a float: which of the numbers that look alike to an order it is.
enum class Likeness : uint8_t { kNone, kZero, kNan };
template <typename T>
Likeness LikenessOf(T x) {
  using Bits = BitsOfWidth<T>;
  const auto size = static_cast<Bits>(std::bit_cast<Bits>(x) &
                                      static_cast<Bits>(~kSign<T>));
  const auto infinity =
      std::bit_cast<Bits>(T(std::numeric_limits<float>::infinity()));
  if (size == 0) return Likeness::kZero;
  return size > infinity ? Likeness::kNan : Likeness::kNone;
}

// Unsigned numbers in the order of OrderOf.
template <typename T>
UnsignedOf<T> KeyOfElement(T x) {
  using Key = UnsignedOf<T>;
  using Bits = BitsOfWidth<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return x ? 1 : 0;
  } else if constexpr (kIsFloat<T>) {
    const auto bits = std::bit_cast<Bits>(x);
    const auto size =
        static_cast<Bits>(bits & static_cast<Bits>(~kSign<T>));
    const Likeness likeness = LikenessOf(x);
    if (likeness == Likeness::kNan) return std::numeric_limits<Bits>::max();
    const bool is_negative = bits != size && likeness == Likeness::kNone;
    return static_cast<Key>(static_cast<Bits>(
        is_negative ? kSign<T> - size : kSign<T> + size));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Bits>(static_cast<Bits>(x) ^ kSign<T>);
  } else {
    return x;
  }
}

// An element of that key.
template <typename T>
T ElementOfKey(UnsignedOf<T> key) {
  using Bits = BitsOfWidth<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return key != 0;
  } else if constexpr (kIsFloat<T>) {
    const auto bits = static_cast<Bits>(key);
    const bool is_negative = bits < kSign<T>;
    return std::bit_cast<T>(static_cast<Bits>(
        is_negative ? kSign<T> | (kSign<T> - bits) : bits - kSign<T>));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(
        static_cast<Bits>(static_cast<Bits>(key) ^ kSign<T>));
  } else {
    return static_cast<T>(key);
  }
}

// ---- one run ----------------------------------------------------------------

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

// Sorts the runs of an instruction.
class Sorter {
 public:
  Sorter(const KernelContext& c, const Track& track,
         absl::Span<char* const> out)
      : c_(c), track_(track), out_(out) {}

  absl::Status Run(const SortOrder& order) const {
    const auto bytes = static_cast<double>(ByteWidth(order.key_dtype));
    return ForRuns(2 * kPassSteps * bytes + 10,
                   [&](int64_t run, Rooms& rooms, WorkMeter* meter) {
                     return SortByKey(order, run, rooms, meter);
                   });
  }

  // By any comparator.
  absl::Status Run(const std::optional<LaneProgram>& less) const {
    return ForRuns(20 * (less ? less->cost() : kScalarSteps),
                   [&](int64_t run, Rooms& rooms, WorkMeter* meter) {
                     return SortByCalls(less, run, rooms, meter);
                   });
  }

 private:
  absl::Status ForRuns(
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

  absl::Status SortByKey(const SortOrder& order, int64_t run, Rooms& rooms,
                         WorkMeter* meter) const {
    return VisitDType(order.key_dtype, [&](auto tag) -> absl::Status {
      using T = typename decltype(tag)::type;
      if constexpr (kIsComplex<T>) {
        return Internal("complex numbers have no order");
      } else {
        using Key = UnsignedOf<T>;
        if (c_.operands.size() == 1 && order.is_plain) {
          return SortKeys<T>(order, run, rooms, meter);
        }
        if (sizeof(Key) == 4 &&
            track_.size <= std::numeric_limits<uint32_t>::max()) {
          return SortPlaces<T, Placed32>(order, run, rooms, meter);
        }
        return SortPlaces<T, Placed64>(order, run, rooms, meter);
      }
    });
  }

  // Elements are made again of their keys.
  template <typename T>
  absl::Status SortKeys(const SortOrder& order, int64_t run, Rooms& rooms,
                        WorkMeter* meter) const {
    using Key = UnsignedOf<T>;
    const int64_t n = track_.size, step = track_.inner;
    HAWSER_ASSIGN_OR_RETURN(Key* const keys, rooms.Get<Key>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Key* const room, rooms.Get<Key>(1, n));
    const Key flips = order.descending ? static_cast<Key>(-1) : 0;
    const T* from = At<T>(c_.data(0), run);
    for (int64_t i = 0; i < n; ++i) {
      keys[i] = KeyOfElement(from[i * step]) ^ flips;
    }
    HAWSER_ASSIGN_OR_RETURN(const Key* const sorted,
                            RadixSort(keys, room, n, meter));
    T* to = At<T>(out_[0], run);
    for (int64_t i = 0; i < n; ++i) {
      to[i * step] = ElementOfKey<T>(sorted[i] ^ flips);
    }
    if constexpr (kIsFloat<T>) RestoreAlike(from, order.descending, to);
    return absl::OkStatus();
  }

  // Zeros and NaNs, which look alike to the order, as they are and in theirs.
  template <typename T>
  void RestoreAlike(const T* from, bool descending, T* to) const {
    const int64_t n = track_.size, step = track_.inner;
    int64_t nans = 0, below = 0, above = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T x = from[i * step];
      const Likeness likeness = LikenessOf(x);
      const bool is_negative =
          (std::bit_cast<BitsOfWidth<T>>(x) & kSign<T>) != 0;
      nans += likeness == Likeness::kNan ? 1 : 0;
      below += likeness == Likeness::kNone && is_negative ? 1 : 0;
      above += likeness == Likeness::kNone && !is_negative ? 1 : 0;
    }
    if (below + above == n) return;
    int64_t zero = descending ? nans + above : below;
    int64_t nan = descending ? 0 : n - nans;
    for (int64_t i = 0; i < n; ++i) {
      const T x = from[i * step];
      const Likeness likeness = LikenessOf(x);
      if (likeness == Likeness::kZero) to[zero++ * step] = x;
      if (likeness == Likeness::kNan) to[nan++ * step] = x;
    }
  }

  template <typename T, typename Item>
  absl::Status SortPlaces(const SortOrder& order, int64_t run, Rooms& rooms,
                          WorkMeter* meter) const {
    const int64_t n = track_.size;
    HAWSER_ASSIGN_OR_RETURN(Item* const items, rooms.Get<Item>(0, n));
    HAWSER_ASSIGN_OR_RETURN(Item* const room, rooms.Get<Item>(1, n));
    HAWSER_RETURN_IF_ERROR(MakeItems<T>(order, run, items, meter));
    HAWSER_ASSIGN_OR_RETURN(const Item* const sorted,
                            RadixSort(items, room, n, meter));
    return Move(run, [&](int64_t i) { return sorted[i].place; }, meter);
  }

  template <typename T, typename Item>
  absl::Status MakeItems(const SortOrder& order, int64_t run, Item* items,
                         WorkMeter* meter) const {
    using Key = decltype(Item::key);
    const int64_t n = track_.size, step = track_.inner;
    const auto put = [&](int64_t i, T element) {
      const auto key = static_cast<Key>(KeyOfElement(element));
      items[i] = {order.descending ? static_cast<Key>(~key) : key,
                  static_cast<Key>(i)};
    };
    if (order.is_plain) {
      const T* from = At<T>(c_.data(order.operand), run);
      for (int64_t i = 0; i < n; ++i) put(i, from[i * step]);
      return absl::OkStatus();
    }
    LaneProgram key = *order.key;
    key.Allocate();
    const int64_t lanes = std::min(key.lanes(), kKeysAtOnce);
    for (int64_t begin = 0; begin < n; begin += lanes) {
      const int64_t count = std::min(lanes, n - begin);
      VisitWidth(ByteWidth(c_.shape(order.operand).dtype()), [&](auto tag) {
        using W = typename decltype(tag)::type;
        const W* from = At<W>(c_.data(order.operand), run) + begin * step;
        W* to = reinterpret_cast<W*>(key.parameter(0));
        for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
      });
      HAWSER_RETURN_IF_ERROR(key.Run(count, meter));
      const T* made = reinterpret_cast<const T*>(key.result(0));
      for (int64_t i = 0; i < count; ++i) put(begin + i, made[i]);
    }
    return absl::OkStatus();
  }

  // Element place(i) of each operand's run becomes element i of its result's.
  template <typename Place>
  absl::Status Move(int64_t run, Place place, WorkMeter* meter) const {
    const int64_t n = track_.size, step = track_.inner;
    for (size_t k = 0; k < out_.size(); ++k) {
      const int operand = static_cast<int>(k);
      for (int64_t begin = 0; begin < n; begin += kItemsAtOnce) {
        const int64_t end = std::min(begin + kItemsAtOnce, n);
        HAWSER_RETURN_IF_ERROR(
            meter->Begin(2.0 * static_cast<double>(end - begin)));
        VisitWidth(ByteWidth(c_.shape(operand).dtype()), [&](auto tag) {
          using W = typename decltype(tag)::type;
          const W* from = At<W>(c_.data(operand), run);
          W* to = At<W>(out_[k], run);
          for (int64_t i = begin; i < end; ++i) {
            to[i * step] = from[static_cast<int64_t>(place(i)) * step];
          }
        });
      }
    }
    return absl::OkStatus();
  }

  // Runs of one, two, four, ... are merged, the left one's elements first where
  // none is less.
  absl::Status SortByCalls(const std::optional<LaneProgram>& less, int64_t run,
                           Rooms& rooms, WorkMeter* meter) const {
    const int64_t n = track_.size;
    HAWSER_ASSIGN_OR_RETURN(int64_t* places, rooms.Get<int64_t>(0, n));
    HAWSER_ASSIGN_OR_RETURN(int64_t* room, rooms.Get<int64_t>(1, n));
    for (int64_t i = 0; i < n; ++i) places[i] = i;
    std::optional<LaneProgram> own = less;
    if (own) own->Allocate();
    for (int64_t width = 1; width < n; width *= 2) {
      for (int64_t begin = 0; begin < n; begin += 2 * width) {
        int64_t left = begin, right = std::min(begin + width, n);
        const int64_t middle = right, end = std::min(begin + 2 * width, n);
        for (int64_t to = begin; to < end; ++to) {
          bool take_right = left == middle;
          if (left < middle && right < end) {
            HAWSER_ASSIGN_OR_RETURN(
                take_right,
                Less(own, run, places[right], places[left], meter));
          }
          room[to] = places[take_right ? right++ : left++];
        }
      }
      std::swap(places, room);
    }
    return Move(run, [&](int64_t i) { return places[i]; }, meter);
  }

  absl::StatusOr<bool> Less(std::optional<LaneProgram>& less, int64_t run,
                            int64_t left, int64_t right,
                            WorkMeter* meter) const {
    const auto element = [&](int operand, int64_t place) {
      return c_.data(operand) +
             (track_.Begin(run) + place * track_.inner) *
                 ByteWidth(c_.shape(operand).dtype());
    };
    if (!less.has_value()) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(kScalarSteps));
      std::vector<Literal> arguments;
      for (int k = 0; k < static_cast<int>(out_.size()); ++k) {
        for (const int64_t place : {left, right}) {
          HAWSER_ASSIGN_OR_RETURN(
              arguments.emplace_back(),
              c_.ScalarAt(c_.shape(k).dtype(), element(k, place)));
        }
      }
      HAWSER_ASSIGN_OR_RETURN(const std::vector<Literal> answer,
                              c_.call(0, std::move(arguments)));
      return answer[0].bytes()[0] != 0;
    }
    for (int k = 0; k < static_cast<int>(out_.size()); ++k) {
      const int64_t width = ByteWidth(c_.shape(k).dtype());
      std::memcpy(less->parameter(2 * k), element(k, left), width);
      std::memcpy(less->parameter(2 * k + 1), element(k, right), width);
    }
    HAWSER_RETURN_IF_ERROR(less->Run(1, meter));
    return less->result(0)[0] != 0;
  }

  template <typename T>
  const T* At(const char* from, int64_t run) const {
    return reinterpret_cast<const T*>(from) + track_.Begin(run);
  }
  template <typename T>
  T* At(char* to, int64_t run) const {
    return reinterpret_cast<T*>(to) + track_.Begin(run);
  }

  const KernelContext& c_;
  const Track& track_;
  const absl::Span<char* const> out_;
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
  const Computation& comparator =
      c.module.computation(c.instruction.called[0]);
  const Sorter sorter(c, track, results);
  if (const auto order = OrderOfComparator(comparator)) {
    HAWSER_RETURN_IF_ERROR(sorter.Run(*order));
  } else {
    HAWSER_RETURN_IF_ERROR(sorter.Run(LaneProgram::Make(comparator)));
  }
  return out;
}

double SortCost(const CostContext& c) {
  const double elements = c.elements(c.operand(0));
  const int64_t axis = c.instruction.attributes.GetInt("dimension");
  const auto size = static_cast<double>(c.operand(0).dim(axis));
  const Computation& comparator =
      c.module.computation(c.instruction.called[0]);
  if (const auto order = OrderOfComparator(comparator)) {
    const auto bytes = static_cast<double>(ByteWidth(order->key_dtype));
    const auto inputs = static_cast<double>(c.instruction.operands.size());
    return elements * (kPassSteps * bytes + 2 * inputs);
  }
  const double levels = std::ceil(std::log2(std::max(size, 2.0)));
  return elements * levels *
         c.called[0].lane.value_or(c.called[0].steps + kScalarSteps);
}

constexpr CpuKernel kKernels[] = {
    {&kSort, RunSort, nullptr, SortCost},
};

}  // namespace

absl::Span<const CpuKernel> SortKernels() { return kKernels; }

}  // namespace hawser::cpu
