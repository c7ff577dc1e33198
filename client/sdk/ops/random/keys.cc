#include "client/sdk/ops/random/keys.h"

#include <limits>

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/formulas/random.h"

namespace hawser {
namespace {

using sdk::OpScope;

// u64 of an integer: its bits, a negative one's extended by its sign.
Tensor WordOf(const OpScope& s, const Operand& number) {
  const DType dtype = sdk::DTypeOf(number);
  if (!IsInteger(dtype)) {
    return s.Fail(InvalidArgument("takes integers, not ", DTypeName(dtype)));
  }
  return s.Convert(s.As(number, IsSigned(dtype) ? DType::kS64 : DType::kU64),
                   DType::kU64);
}

// u32[count], of a key that is one.
Tensor Words(const OpScope& s, const Tensor& key, int64_t count) {
  if (count > std::numeric_limits<uint32_t>::max()) {
    return s.Fail(InvalidArgument(count, " words of a key, at most 2^32 - 1"));
  }
  return sdk::Apply("RandomBits", s, {&key, 1},
                    [&](absl::Span<const Expression> on) {
                      return formulas::ThreefryWords(on[0], count);
                    });
}

}  // namespace

Tensor sdk::KeyOf(const OpScope& s, const Operand& key) {
  const Tensor value = s.As(key);
  if (value.dtype() == DType::kInvalid ||
      value.shape() == Shape::Of(DType::kU32, {2})) {
    return value;
  }
  return s.Fail(InvalidArgument("the key is ", value.shape().ToString(),
                                ", must be u32[2], as RandomKey makes it"));
}

Tensor RandomKey(const Operand& seed) {
  const OpScope s("RandomKey", {&seed});
  if (!s.ok()) return s.error();
  const Tensor word = WordOf(s, seed);
  if (word.dtype() != DType::kInvalid && word.rank() != 0) {
    return s.Fail(InvalidArgument("the seed must be a scalar"));
  }
  const OpScope::Formula numbers;
  const Tensor halves[] = {s.Convert(RightShiftLogical(word, 32), DType::kU32),
                           s.Convert(word, DType::kU32)};
  return Stack(halves);
}

Tensor RandomSplit(const Operand& key, int64_t parts) {
  const OpScope s("RandomSplit", {&key}, {{&parts, 1}});
  if (!s.ok()) return s.error();
  if (parts < 1) {
    return s.Fail(InvalidArgument("a key has no ", parts, " parts"));
  }
  return RandomBits(key, {parts, 2});
}

Tensor RandomFoldIn(const Operand& key, const Operand& data) {
  const OpScope s("RandomFoldIn", {&key, &data});
  if (!s.ok()) return s.error();
  const Tensor on[] = {sdk::KeyOf(s, key), WordOf(s, data)};
  return sdk::Apply("RandomFoldIn", s, on, [](absl::Span<const Expression> on) {
    return formulas::ThreefryOf(on[0], on[1]);
  });
}

Tensor RandomBits(const Operand& key, absl::Span<const int64_t> dims,
                  DType dtype) {
  const OpScope s("RandomBits", {&key}, {dims});
  if (!s.ok()) return s.error();
  if (!IsUnsigned(dtype) || BitWidth(dtype) < 8) {
    return s.Fail(InvalidArgument("makes unsigned integers of 8 to 64 bits, ",
                                  "not ", DTypeName(dtype)));
  }
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  const Tensor own = sdk::KeyOf(s, key);
  if (own.dtype() == DType::kInvalid) return own;
  const int64_t count = shape->num_elements();
  if (count == 0) return s.BroadcastTo(s.ConstantOf(0, dtype), dims);
  if (BitWidth(dtype) < 64) {
    return s.Reshape(s.Convert(Words(s, own, count), dtype), dims);
  }
  // The first half of the words is above the second.
  const Tensor words = s.Convert(Words(s, own, 2 * count), dtype);
  const OpScope::Formula numbers;
  const Tensor high = SliceAlongAxis(words, 0, count, 0);
  const Tensor low = SliceAlongAxis(words, count, count, 0);
  return s.Reshape(BitwiseOr(LeftShift(high, 32), low), dims);
}

Tensor Threefry2x32(const Operand& key, const Operand& counters) {
  const OpScope s("Threefry2x32", {&key, &counters});
  if (!s.ok()) return s.error();
  const Tensor own = sdk::KeyOf(s, key), all = s.As(counters);
  if (own.dtype() == DType::kInvalid) return own;
  if (all.dtype() != DType::kU32) {
    return s.Fail(InvalidArgument("the counters are ", all.shape().ToString(),
                                  ", must be u32"));
  }
  const int64_t count = all.shape().num_elements();
  const Tensor on[] = {own, s.Reshape(all, {count})};
  if (count == 0) return on[1];
  return sdk::Apply("Threefry2x32", s, on, [](absl::Span<const Expression> on) {
    return formulas::ThreefryPairs(on[0], on[1]);
  });
}

Tensor RandomKeys::Next(SourceLocation where) {
  const OpScope s("RandomKeys::Next", where);
  if (sdk::Trace::Current() != nullptr) {
    return s.Fail(FailedPrecondition(
        "inside a traced function every call would get the same key; give the "
        "function a key as its argument"));
  }
  const Tensor keys = RandomSplit(Operand(key_, where));
  key_ = Reshape(SliceAlongAxis(keys, 0, 1, 0), {2});
  return Reshape(SliceAlongAxis(keys, 1, 1, 0), {2});
}

}  // namespace hawser
