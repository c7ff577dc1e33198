#include "tests/testing/random/random_literal.h"

#include <limits>

namespace hawser {
namespace {

template <typename T>
T Extreme(Random& random) {
  using Limits = std::numeric_limits<T>;
  if constexpr (kIsFloat<T>) {
    const T values[] = {
        Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), T(-0.0),
        Limits::denorm_min(), Limits::lowest(),   Limits::max()};
    return values[random.Below(std::size(values))];
  } else {
    return random.OneIn(2) ? Limits::lowest() : Limits::max();
  }
}

template <typename T>
T RandomElement(Random& random, bool extremes) {
  if constexpr (std::is_same_v<T, bool>) {
    return random.OneIn(2);
  } else if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    const R real = RandomElement<R>(random, extremes);
    return T(real, RandomElement<R>(random, extremes));
  } else if constexpr (kIsHalf<T>) {
    return T(RandomElement<float>(random, extremes));
  } else if (extremes && random.OneIn(16)) {
    return Extreme<T>(random);
  } else if constexpr (kIsFloat<T>) {
    return static_cast<T>(random.Between(-16, 16)) / 4;
  } else {
    return static_cast<T>(random.Between(std::is_signed_v<T> ? -4 : 0, 8));
  }
}

}  // namespace

DType Random::PickDType(DTypeSet set) {
  std::vector<DType> choices;
  for (const DType dtype : AllDTypes()) {
    if (set.Has(dtype)) choices.push_back(dtype);
  }
  return Pick(choices);
}

Dims Random::PickDims(int max_rank, int64_t max_elements, int empty) {
  Dims dims;
  int64_t elements = 1;
  for (int64_t left = Between(0, max_rank); left > 0; --left) {
    const int64_t size = OneIn(empty) ? 0 : Between(1, 4);
    if (elements * size > max_elements) break;
    elements *= size == 0 ? 1 : size;
    dims.push_back(size);
  }
  return dims;
}

Literal RandomLiteral(const Shape& shape, Random& random, bool extremes) {
  Literal out = Literal::Uninitialized(shape);
  VisitDType(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& element : out.mutable_data<T>()) {
      element = RandomElement<T>(random, extremes);
    }
  });
  return out;
}

std::vector<Literal> RandomArguments(const Signature& signature, Random& random,
                                     bool extremes) {
  std::vector<Literal> arguments;
  for (const Shape& shape : signature.parameters) {
    arguments.push_back(RandomLiteral(shape, random, extremes));
  }
  return arguments;
}

}  // namespace hawser
