#include "client/bench/fresh_bytes.h"

#include <algorithm>
#include <cstring>

#include "core/runtime/dataset.h"

namespace hawser::bench {

Literal FreshBytes(int64_t bytes, uint64_t number) {
  Literal value = Literal::Uninitialized(Shape::Of(DType::kU8, {bytes}));
  const absl::Span<char> out = value.mutable_bytes();
  std::memset(out.data(), 'x', out.size());
  for (int64_t at = 0; at < bytes; at += kChunkBytes) {
    const uint64_t mark = number * bytes + at;
    std::memcpy(out.data() + at, &mark,
                std::min<size_t>(sizeof(mark), bytes - at));
  }
  return value;
}

}  // namespace hawser::bench
