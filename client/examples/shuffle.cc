#include "client/examples/shuffle.h"

#include <cstring>
#include <numeric>
#include <utility>

namespace hawser {
namespace {

uint64_t NextWord(uint64_t* state) {
  *state += 0x9E3779B97F4A7C15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

std::vector<int64_t> ShuffledOrder(int64_t n, uint64_t seed) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) {
    std::swap(order[i], order[NextWord(&seed) % (i + 1)]);
  }
  return order;
}

Literal RowsInOrder(const Literal& rows, absl::Span<const int64_t> order) {
  Dims dims = rows.shape().dims();
  const int64_t row_bytes =
      dims[0] == 0 ? 0 : rows.shape().byte_size() / dims[0];
  dims[0] = order.size();
  Literal out = Literal::Uninitialized(Shape::Of(rows.shape().dtype(), dims));
  char* to = out.mutable_bytes().data();
  for (size_t i = 0; i < order.size(); ++i) {
    std::memcpy(to + i * row_bytes, rows.bytes().data() + order[i] * row_bytes,
                row_bytes);
  }
  return out;
}

}  // namespace hawser
