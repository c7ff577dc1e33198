// What a mutated source calls where it was changed: every expression that a
// mutant changes asks here which mutant runs. build.py puts this text into each
// mutated source; nothing else includes it.
#ifndef HAWSER_TESTS_MUTATION_MUTANT_H_
#define HAWSER_TESTS_MUTATION_MUTANT_H_

#include <initializer_list>
#include <type_traits>

// The running mutant, 0 for none, and which sites were reached, by the number
// of their first mutant. Defined in mutant.cc; kernels find them in the process
// that loads them.
extern "C" int hawser_mutant;
extern "C" unsigned char* hawser_mutant_reached;

namespace mut {

// Which of the `count` mutants of the site runs, from 0; -1: none of them.
inline int Which(int site, int count) {
  hawser_mutant_reached[site] = 1;
  const int k = hawser_mutant - site;
  return k >= 0 && k < count ? k : -1;
}
inline bool On(int site) { return Which(site, 1) == 0; }

// `a + b` or else `a * b`; `a / b` or else `a + b`: what the types have.
template <class L, class R>
  requires requires(const L& l, const R& r) { l - r; } ||
           requires(const L& l, const R& r) { l * r; }
inline auto NotPlus(const L& l, const R& r) {
  if constexpr (requires { l - r; }) {
    return l - r;
  } else {
    return l * r;
  }
}
template <class L, class R>
  requires requires(const L& l, const R& r) { l / r; } ||
           requires(const L& l, const R& r) { l + r; }
inline auto NotTimes(const L& l, const R& r) {
  if constexpr (requires { l / r; }) {
    return l / r;
  } else {
    return l + r;
  }
}

template <class T>
concept Bool = std::is_same_v<std::remove_cvref_t<T>, bool>;

// ---- binary operators: `a < Less(7) < b` is `a < b`, or what mutant 7 makes
// of it. The precedence is the operator's own.
#define MUT_BINARY(Name, op, count, other, ...) \
  MUT_BINARY_AS(Name, op, count, l other r, __VA_ARGS__)
#define MUT_BINARY_AS(Name, op, count, other, ...)                           \
  struct Name {                                                              \
    explicit Name(int s) : site(s) {}                                        \
    int site;                                                                \
  };                                                                         \
  template <class L>                                                         \
  struct Name##Left {                                                        \
    int site;                                                                \
    const L& left;                                                           \
  };                                                                         \
  template <class L>                                                         \
  inline Name##Left<L> operator op(const L& left, Name n) {                  \
    return {n.site, left};                                                   \
  }                                                                          \
  template <class L, class R>                                                \
    requires requires(const L& l, const R& r) { other; }                     \
  inline auto operator op(const Name##Left<L>& a, const R& r)                \
      -> decltype(a.left op r) {                                             \
    using T [[maybe_unused]] = decltype(a.left op r);                        \
    [[maybe_unused]] const L& l = a.left;                                    \
    switch (Which(a.site, count)) {                                          \
      case 0:                                                                \
        return static_cast<T>(other);                                        \
        __VA_ARGS__                                                          \
    }                                                                        \
    return l op r;                                                           \
  }
#define MUT_NEXT(k, value) \
  case k:                  \
    return static_cast<T>(value);

MUT_BINARY(Less, <, 2, <=, MUT_NEXT(1, l >= r))
MUT_BINARY(LessEqual, <=, 2, <, MUT_NEXT(1, l > r))
MUT_BINARY(Greater, >, 2, >=, MUT_NEXT(1, l <= r))
MUT_BINARY(GreaterEqual, >=, 2, >, MUT_NEXT(1, l < r))
MUT_BINARY(LoopLess, <, 2, <=, MUT_NEXT(1, l + 1 < r))
MUT_BINARY(Equal, ==, 1, !=, )
MUT_BINARY(NotEqual, !=, 1, ==, )
MUT_BINARY_AS(Plus, +, 1, NotPlus(l, r), )
MUT_BINARY(Minus, -, 1, +, )
MUT_BINARY_AS(Times, *, 1, NotTimes(l, r), )
MUT_BINARY(Over, /, 1, *, )
MUT_BINARY(Modulo, %, 1, /, )
MUT_BINARY(BitAnd, &, 1, |, )
MUT_BINARY(BitOr, |, 1, &, )
MUT_BINARY(BitXor, ^, 1, &, )
MUT_BINARY(ShiftUp, <<, 1, >>, )
MUT_BINARY(ShiftDown, >>, 1, <<, )

// `a += PlusIs(7) += b`.
#define MUT_ASSIGN(Name, op, other)                               \
  struct Name {                                                   \
    explicit Name(int s) : site(s) {}                             \
    int site;                                                     \
  };                                                              \
  template <class R>                                              \
  struct Name##Right {                                            \
    int site;                                                     \
    const R& right;                                               \
  };                                                              \
  template <class R>                                              \
  inline Name##Right<R> operator op(Name n, const R& right) {     \
    return {n.site, right};                                       \
  }                                                               \
  template <class L, class R>                                     \
    requires requires(L& l, const R& r) { l other r; }            \
  inline void operator op(L& left, const Name##Right<R>& b) {     \
    if (On(b.site)) {                                             \
      left other b.right;                                         \
    } else {                                                      \
      left op b.right;                                            \
    }                                                             \
  }
MUT_ASSIGN(PlusIs, +=, -=)
MUT_ASSIGN(MinusIs, -=, +=)
MUT_ASSIGN(TimesIs, *=, /=)
MUT_ASSIGN(OverIs, /=, *=)
MUT_ASSIGN(AndIs, &=, |=)
MUT_ASSIGN(OrIs, |=, &=)
MUT_ASSIGN(UpIs, <<=, >>=)
MUT_ASSIGN(DownIs, >>=, <<=)

// `Not(7) ->* !x` without the `!`; `Negated(7) ->* -x` without the `-`.
struct Not {
  explicit Not(int s) : site(s) {}
  int site;
};
template <class T>
  requires Bool<T>
inline bool operator->*(Not n, T x) {
  return On(n.site) ? !x : x;
}
struct Negated {
  explicit Negated(int s) : site(s) {}
  int site;
};
template <class T>
inline T operator->*(Negated n, const T& x) {
  return On(n.site) ? static_cast<T>(-x) : x;
}

// ---- `a && b` is `On(7) != (AndLeft(7, a) && AndRight(7, b))`: the other
// operator by de Morgan, or without its left or right operand.
inline bool And(int site) { return Which(site, 3) == 0; }
inline bool AndLeft(int site, bool x) {
  const int k = Which(site, 3);
  return k == 0 ? !x : k == 1 ? true : x;
}
inline bool AndRight(int site, bool x) {
  const int k = Which(site, 3);
  return k == 0 ? !x : k == 2 ? true : x;
}
inline bool OrLeft(int site, bool x) {
  const int k = Which(site, 3);
  return k == 0 ? !x : k == 1 ? false : x;
}
inline bool OrRight(int site, bool x) {
  const int k = Which(site, 3);
  return k == 0 ? !x : k == 2 ? false : x;
}

// ---- values
inline bool Condition(int site, bool x) {
  const int k = Which(site, 2);
  return k < 0 ? x : k == 0;
}
inline bool Never(int site, bool x) { return !On(site) && x; }
template <class T>
  requires Bool<T>
inline bool Returned(int site, T x) {
  return Condition(site, x);
}
inline bool Flag(int site, bool x) { return On(site) != x; }
template <class T>
inline T Next(int site, T x) {
  return On(site) ? static_cast<T>(x + 1) : x;
}
template <class T>
inline T NextOrZero(int site, T x) {
  const int k = Which(site, 2);
  return k == 0 ? static_cast<T>(x + 1) : k == 1 ? T{} : x;
}
inline const char* Text(int site, const char* text,
                        std::initializer_list<const char*> others) {
  const int k = Which(site, static_cast<int>(others.size()));
  return k < 0 ? text : others.begin()[k];
}

// ---- `Extremes(7).Min(a, b)` for std::min.
struct Extremes {
  explicit Extremes(int s) : site(s) {}
  int site;
  template <class T>
  const T& Min(const T& a, const T& b) const {
    return On(site) ? (a < b ? b : a) : (b < a ? b : a);
  }
  template <class T>
  const T& Max(const T& a, const T& b) const {
    return On(site) ? (b < a ? b : a) : (a < b ? b : a);
  }
  // Without its lower, or without its upper end.
  template <class T>
  const T& Clamp(const T& x, const T& low, const T& high) const {
    const int k = Which(site, 2);
    return x < low && k != 0 ? low : high < x && k != 1 ? high : x;
  }
};

}  // namespace mut
#endif  // HAWSER_TESTS_MUTATION_MUTANT_H_
