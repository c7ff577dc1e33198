// Literal: a tensor's value in this process's memory.
#ifndef HAWSER_CORE_BASE_VALUES_LITERAL_H_
#define HAWSER_CORE_BASE_VALUES_LITERAL_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/base/values/shape.h"

namespace hawser {

// A shape and its bytes (row-major, little-endian, 64-byte aligned when
// allocated here). Copying shares the bytes, so it is cheap. The bytes are
// written once, by the maker of the Literal, before it is shared; after that
// it is immutable and may be read from any thread.
class Literal {
 public:
  Literal() = default;  // no value: shape().dtype() is kInvalid

  // Room for `shape`, contents undefined: no time is spent on zeros.
  // Errors: kResourceExhausted when the memory is not to be had.
  static absl::StatusOr<Literal> Allocate(const Shape& shape);
  // Allocates like Allocate, for sizes known to be small; dies without memory.
  static Literal Uninitialized(const Shape& shape);
  static Literal Zeros(const Shape& shape);
  // Copies `bytes`. Errors: see CheckBytes.
  static absl::StatusOr<Literal> FromBytes(const Shape& shape,
                                           absl::Span<const char> bytes);
  // Adopts memory kept alive by `owner`, for mapped files and received frames.
  // It is never written to: unique() stays false.
  static Literal Adopt(const Shape& shape, std::shared_ptr<const char> owner);
  // Adopts like Adopt, for memory that a sole holder may write, for allocators.
  static Literal AdoptWritable(const Shape& shape, std::shared_ptr<char> owner);

  // Values in row-major order. Another number of values than `dims` has
  // elements, or sizes that no shape has, end the process with both and the
  // caller's file and line; FromBytes and the SDK's Constant give an error.
  template <typename T>
  static Literal Of(absl::Span<const T> values, const Dims& dims,
                    const char* file = __builtin_FILE(),
                    int line = __builtin_LINE());
  template <typename T>
  static Literal Of(std::initializer_list<T> values, const Dims& dims,
                    const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
    return Of<T>(absl::Span<const T>(values.begin(), values.size()), dims, file,
                 line);
  }
  template <typename T>
  static Literal Vector(std::initializer_list<T> values) {
    return Of<T>(values, {static_cast<int64_t>(values.size())});
  }
  template <typename T>
  static Literal Scalar(T value) {
    return Of<T>({value}, {});
  }

  bool valid() const { return shape_.dtype() != DType::kInvalid; }
  const Shape& shape() const { return shape_; }
  absl::Span<const char> bytes() const {
    return {data_.get(), static_cast<size_t>(shape_.byte_size())};
  }
  // The elements. A T that is not the dtype's C++ type ends the process with
  // both and the caller's file and line; the SDK's ToVector gives an error.
  template <typename T>
  absl::Span<const T> data(const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) const {
    if (kDTypeOf<T> != shape_.dtype()) [[unlikely]] {
      DieOfDType("data", kDTypeOf<T>, file, line);
    }
    return absl::Span<const T>(reinterpret_cast<const T*>(data_.get()),
                               static_cast<size_t>(shape_.num_elements()));
  }
  // For the maker, while this is the only Literal of these bytes; otherwise
  // they end the process with the caller's file and line. T as for data.
  absl::Span<char> mutable_bytes(const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE());
  template <typename T>
  absl::Span<T> mutable_data(const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    if (kDTypeOf<T> != shape_.dtype()) [[unlikely]] {
      DieOfDType("mutable_data", kDTypeOf<T>, file, line);
    }
    return absl::Span<T>(reinterpret_cast<T*>(mutable_bytes(file, line).data()),
                         static_cast<size_t>(shape_.num_elements()));
  }
  // True when no other Literal shares the bytes and they are writable, so they
  // may be reused.
  bool unique() const { return writable_ && data_.use_count() == 1; }

  // The same bytes under another shape of the same byte size (checked).
  Literal Reinterpret(const Shape& shape) const;
  // Same shape and same bits.
  bool BitEquals(const Literal& other) const;
  // "f32[2,2] {1, 2, 3, 4}", at most `max_elements` of them.
  std::string ToString(int64_t max_elements = 64) const;

 private:
  [[noreturn]] void DieOfDType(const char* function, DType dtype,
                               const char* file, int line) const;
  [[noreturn]] static void DieOfCount(size_t values, const Shape& shape,
                                      const char* file, int line);

  Shape shape_;
  bool writable_ = false;  // false: adopted, may be a read-only mapping
  std::shared_ptr<const char> data_;
};

template <typename T>
Literal Literal::Of(absl::Span<const T> values, const Dims& dims,
                    const char* file, int line) {
  const Shape shape = Shape::Of(kDTypeOf<T>, dims, file, line);
  if (static_cast<int64_t>(values.size()) != shape.num_elements()) {
    DieOfCount(values.size(), shape, file, line);
  }
  Literal out = Uninitialized(shape);
  auto to = out.mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) to[i] = values[i];
  return out;
}

// Checks that `bytes` may become a value of `shape`: its size, and every bool 0
// or 1 (to read any other is undefined). For bytes from a wire or a file that
// are not copied through FromBytes. Errors: kInvalidArgument.
absl::Status CheckBytes(const Shape& shape, absl::Span<const char> bytes);

// One element as text: shortest decimal that reads back the same.
std::string ElementToString(const Literal& literal, int64_t index);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_LITERAL_H_
