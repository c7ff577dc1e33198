#include "client/formats/files/element_order.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "core/base/status.h"

namespace hawser {
namespace {

static_assert(std::endian::native == std::endian::little);

// Elements are moved as blocks of their size; none is ever interpreted.
template <int kBytes>
struct ByteBlock {
  char bytes[kBytes];
};

template <int kBytes>
void Reverse(absl::Span<char> bytes) {
  for (size_t i = 0; i + kBytes <= bytes.size(); i += kBytes) {
    std::reverse(bytes.data() + i, bytes.data() + i + kBytes);
  }
}

// Walks the result row by row; a step along axis a moves the source by the
// product of the sizes before a.
template <int kBytes>
void Transpose(const Shape& shape, const char* from, char* to) {
  const int rank = shape.rank();
  Dims stride(rank), index(rank, 0);
  int64_t step = 1;
  for (int a = 0; a < rank; ++a) {
    stride[a] = step;
    step *= shape.dim(a);
  }
  const int64_t row = shape.dim(rank - 1);
  const auto* source = reinterpret_cast<const ByteBlock<kBytes>*>(from);
  auto* target = reinterpret_cast<ByteBlock<kBytes>*>(to);
  for (int64_t left = shape.num_elements() / row; left > 0; --left) {
    int64_t at = 0;
    for (int a = 0; a < rank - 1; ++a) at += index[a] * stride[a];
    for (int64_t i = 0; i < row; ++i) {
      *target++ = source[at + i * stride[rank - 1]];
    }
    for (int a = rank - 2; a >= 0 && ++index[a] == shape.dim(a); --a) {
      index[a] = 0;
    }
  }
}

// Calls fn with the element size as a constant.
template <typename Fn>
void WithSize(int64_t size, Fn fn) {
  switch (size) {
    case 1:
      return fn(std::integral_constant<int, 1>());
    case 2:
      return fn(std::integral_constant<int, 2>());
    case 4:
      return fn(std::integral_constant<int, 4>());
    case 8:
      return fn(std::integral_constant<int, 8>());
    default:
      HAWSER_CHECK(size == 16);
      return fn(std::integral_constant<int, 16>());
  }
}

}  // namespace

void SwapElementBytes(DType dtype, absl::Span<char> bytes) {
  WithSize(ByteWidth(RealPart(dtype)),
           [bytes](auto size) { Reverse<size()>(bytes); });
}

void FromColumnMajor(const Shape& shape, absl::Span<const char> from,
                     absl::Span<char> to) {
  if (shape.num_elements() == 0) return;
  if (shape.rank() < 2) {
    std::memcpy(to.data(), from.data(), from.size());
    return;
  }
  WithSize(ByteWidth(shape.dtype()), [&](auto size) {
    Transpose<size()>(shape, from.data(), to.data());
  });
}

}  // namespace hawser
