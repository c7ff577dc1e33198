// Places that are values of a tensor, of any integer dtype.
#ifndef HAWSER_TESTS_REFERENCE_ROWS_PLACES_H_
#define HAWSER_TESTS_REFERENCE_ROWS_PLACES_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/reference/rows/row.h"

namespace hawser::reference {

// One beyond the range of s64 is its largest.
inline int64_t PlaceAt(const Literal& places, int64_t at) {
  const uint64_t bits = ReadNumber(places, at).bits;
  const auto most = uint64_t{std::numeric_limits<int64_t>::max()};
  const bool beyond = IsUnsigned(places.shape().dtype()) && bits > most;
  return static_cast<int64_t>(beyond ? most : bits);
}

inline int64_t Clamped(int64_t place, int64_t largest) {
  return std::clamp<int64_t>(place, 0, largest);
}

// The index vector at `batch`, an index of the other axes: one place for each
// component.
inline Dims IndexVectorAt(const Literal& indices, int64_t vector_dim,
                          Index batch, size_t components) {
  Dims out;
  for (size_t k = 0; k < components; ++k) {
    Dims at(batch.begin(), batch.end());
    if (vector_dim < indices.shape().rank()) {
      at.insert(at.begin() + vector_dim, static_cast<int64_t>(k));
    }
    out.push_back(PlaceAt(indices, PlaceOf(indices.shape(), at)));
  }
  return out;
}

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_ROWS_PLACES_H_
