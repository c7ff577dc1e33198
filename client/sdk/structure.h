// Structures: functions take and give tensors, numbers, and structures of them.
#ifndef HAWSER_CLIENT_SDK_STRUCTURE_H_
#define HAWSER_CLIENT_SDK_STRUCTURE_H_

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "client/sdk/marks.h"
#include "client/sdk/number.h"
#include "client/sdk/tensor.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/source_location.h"
#include "core/sharding/shard_spec.h"

namespace hawser {

// A struct of your own takes part when this finds its fields:
//   struct Layer { Tensor w, b; };
//   auto HawserFields(Layer& l) { return std::tie(l.w, l.b); }
// in the struct's namespace. Fields are Tensors or structures of Tensors.
template <typename T>
concept HasFields = requires(T& value) { HawserFields(value); };

namespace sdk {

// One tensor or number of an argument.
struct Leaf {
  Tensor tensor;  // or `value`, or (to Warm) neither
  Literal value;
  Shape shape;
  bool donated = false;
  bool batched = false;
};

// A cut of the leaf `cut.value`.
struct CutMark {
  AxisCut cut;
  SourceLocation where;
};

// A structure taken apart.
struct Flat {
  std::vector<Leaf> leaves;
  // The sizes of the vectors in it, and what else tells two signatures apart.
  absl::InlinedVector<int64_t, 4> sizes;
  std::vector<CutMark> cuts;
};

// For each T: `Traced`, the same structure with Tensors for leaves; Flatten,
// which appends leaves and sizes; Rebuild, which makes a Traced calling
// next() for every leaf in the same order.
template <typename T>
struct Structure {
  static_assert(!std::is_same_v<T, T>,
                "arguments and results are Tensors, C++ numbers, Literals, "
                "tuples, pairs, vectors and arrays of those, and structs with "
                "a function HawserFields(T&)");
};
template <typename T>
using Traced_t = typename Structure<std::remove_cvref_t<T>>::Traced;

// True if T is a Tensor or a structure of Tensors, without numbers in it.
template <typename T>
inline constexpr bool kHoldsTensors = std::is_same_v<Traced_t<T>, T>;

struct LeafStructure {
  using Traced = Tensor;
  template <typename T, typename Next>
  static Tensor Rebuild(const T&, Next& next) {
    return next();
  }
};
template <>
struct Structure<Tensor> : LeafStructure {
  static void Flatten(const Tensor& t, Flat* out) {
    out->leaves.push_back({.tensor = t, .shape = t.shape()});
  }
};
template <>
struct Structure<Literal> : LeafStructure {
  static void Flatten(const Literal& v, Flat* out) {
    out->leaves.push_back({.value = v, .shape = v.shape()});
  }
};
template <>
struct Structure<Shape> : LeafStructure {  // to Warm only
  static void Flatten(const Shape& s, Flat* out) {
    out->leaves.push_back({.shape = s});
  }
};
template <typename T>
  requires kIsNumber<T>
struct Structure<T> : LeafStructure {
  static void Flatten(T v, Flat* out) {
    const Number number(v);
    Structure<Literal>::Flatten(*number.ToLiteral(number.dtype()), out);
  }
};

// The structure of a mark around a T, which Flatten notes at its leaves.
template <typename T>
struct MarkStructure {
  using Traced = Traced_t<T>;
  template <typename Mark, typename Next>
  static Traced Rebuild(const Mark& mark, Next& next) {
    return Structure<T>::Rebuild(mark.value, next);
  }

 protected:
  // Calls note(number, leaf) for each of them.
  template <typename Note>
  static void FlattenMarked(const T& value, Flat* out, Note note) {
    size_t i = out->leaves.size();
    Structure<T>::Flatten(value, out);
    for (; i < out->leaves.size(); ++i) {
      note(static_cast<int>(i), out->leaves[i]);
    }
  }
};

template <typename T>
struct Structure<Donated<T>> : MarkStructure<T> {
  static void Flatten(const Donated<T>& v, Flat* out) {
    MarkStructure<T>::FlattenMarked(
        v.value, out, [](int, Leaf& leaf) { leaf.donated = true; });
  }
};

template <typename T>
struct Structure<WithBatch<T>> : MarkStructure<T> {
  static void Flatten(const WithBatch<T>& v, Flat* out) {
    MarkStructure<T>::FlattenMarked(
        v.value, out, [](int, Leaf& leaf) { leaf.batched = true; });
  }
};

template <typename T>
struct Structure<WithCut<T>> : MarkStructure<T> {
  static void Flatten(const WithCut<T>& v, Flat* out) {
    MarkStructure<T>::FlattenMarked(
        v.value, out, [&](int number, const Leaf& leaf) {
          const auto add = [&](AxisCut cut) {
            cut.value = number;
            out->cuts.push_back({std::move(cut), v.where});
          };
          if (v.cut.has_value()) return add(*v.cut);
          for (int axis = 0; axis < leaf.shape.rank(); ++axis) {
            add({.axis = axis, .sizes = {}});
          }
        });
  }
};

template <typename... Ts>
struct Structure<std::tuple<Ts...>> {
  using Traced = std::tuple<Traced_t<Ts>...>;
  static void Flatten(const std::tuple<Ts...>& v, Flat* out) {
    std::apply(
        [&](const auto&... each) {
          (Structure<std::remove_cvref_t<decltype(each)>>::Flatten(each, out),
           ...);
        },
        v);
  }
  template <typename Next>
  static Traced Rebuild(const std::tuple<Ts...>& v, Next& next) {
    return std::apply(
        [&](const auto&... each) {  // braces keep the order
          return Traced{
              Structure<std::remove_cvref_t<decltype(each)>>::Rebuild(each,
                                                                      next)...};
        },
        v);
  }
};

template <typename A, typename B>
struct Structure<std::pair<A, B>> {
  using Traced = std::pair<Traced_t<A>, Traced_t<B>>;
  static void Flatten(const std::pair<A, B>& v, Flat* out) {
    Structure<A>::Flatten(v.first, out);
    Structure<B>::Flatten(v.second, out);
  }
  template <typename Next>
  static Traced Rebuild(const std::pair<A, B>& v, Next& next) {
    return Traced{Structure<A>::Rebuild(v.first, next),
                  Structure<B>::Rebuild(v.second, next)};
  }
};

template <typename T, size_t N>
struct Structure<std::array<T, N>> {
  using Traced = std::array<Traced_t<T>, N>;
  static void Flatten(const std::array<T, N>& v, Flat* out) {
    for (const T& each : v) Structure<T>::Flatten(each, out);
  }
  template <typename Next>
  static Traced Rebuild(const std::array<T, N>& v, Next& next) {
    Traced out;
    for (size_t i = 0; i < N; ++i) out[i] = Structure<T>::Rebuild(v[i], next);
    return out;
  }
};

template <typename T>
struct Structure<std::vector<T>> {
  using Traced = std::vector<Traced_t<T>>;
  static void Flatten(const std::vector<T>& v, Flat* out) {
    out->sizes.push_back(static_cast<int64_t>(v.size()));
    for (const T& each : v) Structure<T>::Flatten(each, out);
  }
  template <typename Next>
  static Traced Rebuild(const std::vector<T>& v, Next& next) {
    Traced out;
    out.reserve(v.size());
    for (const T& each : v) out.push_back(Structure<T>::Rebuild(each, next));
    return out;
  }
};

template <typename T>
  requires HasFields<T>
struct Structure<T> {
  using Traced = T;
  static void Flatten(const T& v, Flat* out) {
    std::apply(
        [&](auto&... field) {
          (Structure<std::remove_cvref_t<decltype(field)>>::Flatten(field, out),
           ...);
        },
        HawserFields(const_cast<T&>(v)));  // only read
  }
  template <typename Next>
  static Traced Rebuild(const T& v, Next& next) {
    T out = v;
    std::apply([&](auto&... field) { (Assign(field, next), ...); },
               HawserFields(out));
    return out;
  }

 private:
  template <typename F, typename Next>
  static void Assign(F& field, Next& next) {
    static_assert(kHoldsTensors<F>,
                  "fields are Tensors or structures of Tensors");
    field = Structure<F>::Rebuild(field, next);
  }
};

// True if T holds a vector, whose size its type does not say.
template <typename T>
inline constexpr bool kHoldsVector = false;
template <typename T>
inline constexpr bool kHoldsVector<std::vector<T>> = true;
template <typename... Ts>
inline constexpr bool kHoldsVector<std::tuple<Ts...>> =
    (kHoldsVector<std::remove_cvref_t<Ts>> || ...);
template <typename A, typename B>
inline constexpr bool kHoldsVector<std::pair<A, B>> =
    kHoldsVector<A> || kHoldsVector<B>;
template <typename T, size_t N>
inline constexpr bool kHoldsVector<std::array<T, N>> = kHoldsVector<T>;
template <typename T>
  requires HasFields<T>
inline constexpr bool kHoldsVector<T> =
    kHoldsVector<decltype(HawserFields(std::declval<T&>()))>;

template <typename T>
Flat Flatten(const T& value) {
  Flat flat;
  flat.leaves.reserve(4);
  Structure<T>::Flatten(value, &flat);
  return flat;
}
template <typename T, typename Next>
Traced_t<T> Rebuild(const T& value, Next&& next) {
  return Structure<T>::Rebuild(value, next);
}
// The same structure with tensors in order.
template <typename T>
Traced_t<T> RebuildFrom(const T& value, const std::vector<Tensor>& tensors) {
  size_t i = 0;
  return Rebuild(value, [&] { return tensors[i++]; });
}

}  // namespace sdk
}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_STRUCTURE_H_
