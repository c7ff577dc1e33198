#include "core/base/values/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/values/large_memory.h"

namespace hawser {
namespace {

template <typename F>
std::string FloatToString(F value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

}  // namespace

absl::StatusOr<Literal> Literal::Allocate(const Shape& shape) {
  const size_t size = std::max<size_t>(shape.byte_size(), 1);
  char* p = NewMemory(size);
  if (p == nullptr) {
    return ResourceExhausted("no memory for ", shape.ToString(), ", ", size,
                             " bytes");
  }
  return AdoptWritable(shape, std::shared_ptr<char>(p, [size](char* gone) {
                         DeleteMemory(gone, size);
                       }));
}

Literal Literal::Uninitialized(const Shape& shape) {
  auto out = Allocate(shape);
  HAWSER_CHECK(out.ok());
  return *std::move(out);
}

Literal Literal::Zeros(const Shape& shape) {
  Literal out = Uninitialized(shape);
  std::memset(out.mutable_bytes().data(), 0, shape.byte_size());
  return out;
}

absl::StatusOr<Literal> Literal::FromBytes(const Shape& shape,
                                           absl::Span<const char> bytes) {
  HAWSER_RETURN_IF_ERROR(CheckBytes(shape, bytes));
  HAWSER_ASSIGN_OR_RETURN(Literal out, Allocate(shape));
  if (!bytes.empty()) {
    std::memcpy(out.mutable_bytes().data(), bytes.data(), bytes.size());
  }
  return out;
}

Literal Literal::Adopt(const Shape& shape, std::shared_ptr<const char> owner) {
  Literal out;
  out.shape_ = shape;
  out.data_ = std::move(owner);
  return out;
}

Literal Literal::AdoptWritable(const Shape& shape,
                               std::shared_ptr<char> owner) {
  Literal out = Adopt(shape, std::move(owner));
  out.writable_ = true;
  return out;
}

void Literal::DieOfDType(const char* function, DType dtype, const char* file,
                         int line) const {
  internal::Die(
      file, line,
      absl::StrCat("Literal::", function, "<", DTypeName(dtype), "> of ",
                   shape_.ToString(), ": the types must agree"));
}

void Literal::DieOfCount(size_t values, const Shape& shape, const char* file,
                         int line) {
  internal::Die(
      file, line,
      absl::StrCat("Literal::Of: ", values, " values for ", shape.ToString(),
                   ", which has ", shape.num_elements(), " elements"));
}

absl::Span<char> Literal::mutable_bytes(const char* file, int line) {
  if (!unique()) [[unlikely]] {
    internal::Die(file, line,
                  absl::StrCat("Literal::mutable_bytes of ", shape_.ToString(),
                               ": its bytes are shared with another Literal "
                               "or may not be written"));
  }
  return {const_cast<char*>(data_.get()),
          static_cast<size_t>(shape_.byte_size())};
}

Literal Literal::Reinterpret(const Shape& shape) const {
  HAWSER_CHECK(shape.byte_size() == shape_.byte_size());
  Literal out = *this;
  out.shape_ = shape;
  return out;
}

bool Literal::BitEquals(const Literal& other) const {
  return shape_ == other.shape_ &&
         (bytes().empty() || std::memcmp(bytes().data(), other.bytes().data(),
                                         bytes().size()) == 0);
}

absl::Status CheckBytes(const Shape& shape, absl::Span<const char> bytes) {
  if (static_cast<int64_t>(bytes.size()) != shape.byte_size()) {
    return InvalidArgument(shape.ToString(), " takes ", shape.byte_size(),
                           " bytes, got ", bytes.size());
  }
  if (shape.dtype() != DType::kBool) return absl::OkStatus();
  const auto* bad = std::find_if(bytes.begin(), bytes.end(),
                                 [](char c) { return (c & ~1) != 0; });
  if (bad == bytes.end()) return absl::OkStatus();
  return InvalidArgument("element ", bad - bytes.begin(), " of ",
                         shape.ToString(), " is the byte ",
                         static_cast<int>(static_cast<uint8_t>(*bad)),
                         ", a bool is 0 or 1");
}

std::string ElementToString(const Literal& literal, int64_t index) {
  return VisitDType(literal.shape().dtype(), [&](auto tag) -> std::string {
    using T = typename decltype(tag)::type;
    const T value = literal.data<T>()[index];
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (kIsComplex<T>) {
      return absl::StrCat("(", FloatToString(value.real()), ", ",
                          FloatToString(value.imag()), ")");
    } else if constexpr (kIsFloat<T>) {
      return FloatToString(static_cast<ComputeType<T>>(value));
    } else {
      return absl::StrCat(+value);
    }
  });
}

std::string Literal::ToString(int64_t max_elements) const {
  if (!valid()) return "(no value)";
  std::string out = absl::StrCat(shape_.ToString(), " {");
  const int64_t n = std::min(shape_.num_elements(), max_elements);
  for (int64_t i = 0; i < n; ++i) {
    absl::StrAppend(&out, i == 0 ? "" : ", ", ElementToString(*this, i));
  }
  absl::StrAppend(&out, n < shape_.num_elements() ? ", ...}" : "}");
  return out;
}

}  // namespace hawser
