// Element types: their numbers (fixed on the wire), names, sizes, and the one
// way from a run-time DType to a C++ type (VisitDType).
#ifndef HAWSER_CORE_BASE_VALUES_DTYPE_H_
#define HAWSER_CORE_BASE_VALUES_DTYPE_H_

#include <complex>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/half.h"

namespace hawser {

// The numbers are part of the wire format: never renumber, only append.
// kU2..kS4 and kF8E5M2.. are reserved names; no op accepts them yet.
enum class DType : uint8_t {
  kInvalid = 0,
  kBool = 1,
  kU2 = 2,
  kU4 = 3,
  kU8 = 4,
  kU16 = 5,
  kU32 = 6,
  kU64 = 7,
  kS2 = 8,
  kS4 = 9,
  kS8 = 10,
  kS16 = 11,
  kS32 = 12,
  kS64 = 13,
  kF8E5M2 = 14,
  kF8E4M3FN = 15,
  kF16 = 16,
  kBF16 = 17,
  kF32 = 18,
  kF64 = 19,
  kC64 = 20,
  kC128 = 21,
};
inline constexpr int kNumDTypes = 22;

enum class DTypeKind : uint8_t {
  kInvalid,
  kBool,
  kUnsigned,
  kSigned,
  kFloat,
  kComplex,
};

struct DTypeInfo {
  absl::string_view name;  // "f32"
  DTypeKind kind;
  uint8_t bits;    // per element
  bool supported;  // false: reserved on the wire only
};

// Info of any value of the underlying type; unknown numbers give kInvalid's.
const DTypeInfo& InfoOf(DType dtype);

inline absl::string_view DTypeName(DType d) { return InfoOf(d).name; }
// Writes DTypeName.
std::ostream& operator<<(std::ostream& out, DType dtype);
inline int BitWidth(DType d) { return InfoOf(d).bits; }
// Bytes of one element; 0 for kInvalid. Only for supported dtypes.
inline int64_t ByteWidth(DType d) { return InfoOf(d).bits / 8; }
inline bool IsSupported(DType d) { return InfoOf(d).supported; }
inline bool IsBool(DType d) { return d == DType::kBool; }
inline bool IsUnsigned(DType d) {
  return InfoOf(d).kind == DTypeKind::kUnsigned;
}
inline bool IsSigned(DType d) { return InfoOf(d).kind == DTypeKind::kSigned; }
inline bool IsInteger(DType d) { return IsUnsigned(d) || IsSigned(d); }
inline bool IsFloat(DType d) { return InfoOf(d).kind == DTypeKind::kFloat; }
inline bool IsComplex(DType d) { return InfoOf(d).kind == DTypeKind::kComplex; }
// True if elements of d have derivatives.
inline bool IsContinuous(DType d) { return IsFloat(d) || IsComplex(d); }
// The component of a complex dtype (c64 -> f32); every other dtype itself.
DType RealPart(DType d);

// "f32" -> DType::kF32. Errors: kInvalidArgument naming the word,
// kUnimplemented for a reserved dtype.
absl::StatusOr<DType> ParseDType(absl::string_view name);
// Every supported dtype, in wire order.
absl::Span<const DType> AllDTypes();

// A set of dtypes, for op tables and error texts.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr explicit DTypeSet(uint32_t mask) : mask_(mask) {}
  static constexpr DTypeSet Of(DType d) {
    return DTypeSet(uint32_t{1} << static_cast<int>(d));
  }
  constexpr DTypeSet operator|(DTypeSet o) const {
    return DTypeSet(mask_ | o.mask_);
  }
  constexpr bool Has(DType d) const {
    return (mask_ >> static_cast<int>(d)) & 1;
  }
  constexpr bool operator==(const DTypeSet&) const = default;
  std::string ToString() const;  // "f16, bf16, f32, f64"

 private:
  uint32_t mask_ = 0;
};
inline constexpr DTypeSet kBoolOnly = DTypeSet::Of(DType::kBool);
inline constexpr DTypeSet kUnsignedInts =
    DTypeSet::Of(DType::kU8) | DTypeSet::Of(DType::kU16) |
    DTypeSet::Of(DType::kU32) | DTypeSet::Of(DType::kU64);
inline constexpr DTypeSet kSignedInts =
    DTypeSet::Of(DType::kS8) | DTypeSet::Of(DType::kS16) |
    DTypeSet::Of(DType::kS32) | DTypeSet::Of(DType::kS64);
inline constexpr DTypeSet kInts = kUnsignedInts | kSignedInts;
inline constexpr DTypeSet kFloats =
    DTypeSet::Of(DType::kF16) | DTypeSet::Of(DType::kBF16) |
    DTypeSet::Of(DType::kF32) | DTypeSet::Of(DType::kF64);
inline constexpr DTypeSet kComplexes =
    DTypeSet::Of(DType::kC64) | DTypeSet::Of(DType::kC128);
inline constexpr DTypeSet kReals = kInts | kFloats;  // ordered numbers
inline constexpr DTypeSet kNumbers = kReals | kComplexes;
inline constexpr DTypeSet kAnyDType = kNumbers | kBoolOnly;

// C++ type <-> DType.
template <typename T>
struct DTypeOfImpl;
#define HAWSER_NATIVE_DTYPES(X)                                       \
  X(bool, kBool)                                                      \
  X(uint8_t, kU8)                                                     \
  X(uint16_t, kU16)                                                   \
  X(uint32_t, kU32) X(uint64_t, kU64) X(int8_t, kS8) X(int16_t, kS16) \
      X(int32_t, kS32) X(int64_t, kS64) X(::hawser::Half, kF16)       \
          X(::hawser::BFloat16, kBF16) X(float, kF32) X(double, kF64) \
              X(std::complex<float>, kC64) X(std::complex<double>, kC128)
#define HAWSER_DTYPE_OF_(type, name)            \
  template <>                                   \
  struct DTypeOfImpl<type> {                    \
    static constexpr DType value = DType::name; \
  };
HAWSER_NATIVE_DTYPES(HAWSER_DTYPE_OF_)
#undef HAWSER_DTYPE_OF_
template <typename T>
inline constexpr DType kDTypeOf = DTypeOfImpl<std::remove_cv_t<T>>::value;

template <typename T>
struct TypeTag {
  using type = T;
};

// Calls fn(TypeTag<T>{}) with the C++ type of `dtype`. `dtype` must be
// supported (checked); every branch must return the same type.
template <typename Fn>
decltype(auto) VisitDType(DType dtype, Fn&& fn);

template <typename T>
inline constexpr bool kIsHalf =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> ||
                                   std::is_same_v<T, std::complex<double>>;
template <typename T>
inline constexpr bool kIsFloat = kIsHalf<T> || std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The type in which a T is computed: float for the 16-bit floats, else T.
template <typename T>
using ComputeType = std::conditional_t<kIsHalf<T>, float, T>;

[[noreturn]] void DieOnBadDType(DType dtype);

template <typename Fn>
decltype(auto) VisitDType(DType dtype, Fn&& fn) {
  switch (dtype) {
#define HAWSER_VISIT_(type, name) \
  case DType::name:               \
    return fn(TypeTag<type>{});
    HAWSER_NATIVE_DTYPES(HAWSER_VISIT_)
#undef HAWSER_VISIT_
    default:
      DieOnBadDType(dtype);
  }
}

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_DTYPE_H_
