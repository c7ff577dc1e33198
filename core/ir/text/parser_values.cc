#include "core/ir/text/parser_values.h"

#include <bit>
#include <charconv>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"
#include "core/base/values/rounding.h"

namespace hawser {
namespace {

// All of `text` as a T; false when it is none or does not fit.
template <typename T, typename... Format>
bool FromText(absl::string_view text, T* value, Format... format) {
  const char* const end = text.data() + text.size();
  const auto [at, error] =
      std::from_chars(text.data(), end, *value, format...);
  return error == std::errc() && at == end;
}

// The same of a float type, rounded once.
template <typename T>
bool RealFromText(absl::string_view text, T* value) {
  if constexpr (kIsHalf<T>) {
    double wide = 0;
    if (!FromText(text, &wide)) return false;
    *value = T(OddFloatOf(text, wide));
    return true;
  } else {
    return FromText(text, value);
  }
}

template <typename T>
std::string WantedElement() {
  return absl::StrCat("an element of ", DTypeName(kDTypeOf<T>));
}

// Stores a T bit for bit; an assignment could quiet a NaN.
template <typename Bits>
void Store(Bits bits, char* to) {
  std::memcpy(to, &bits, sizeof(bits));
}

// The bits after "nan": "(0xffc00000)". They must be those of a NaN.
template <typename T, typename Bits>
absl::Status ParseNaNBits(TokenReader& in, char* to) {
  HAWSER_RETURN_IF_ERROR(in.Expect('('));
  const Token token = in.token();
  absl::string_view digits = token.text;
  Bits bits = 0;
  if (token.kind != Token::kNumber || !absl::ConsumePrefix(&digits, "0x") ||
      !FromText(digits, &bits, 16)) {
    return in.Unexpected(absl::StrCat("the bits of a NaN of ",
                                      DTypeName(kDTypeOf<T>), ", 0x..."));
  }
  const auto wide = static_cast<ComputeType<T>>(std::bit_cast<T>(bits));
  if (wide == wide) {
    return At(token, InvalidArgument(token.ToString(), " are not the bits of a "
                                     "NaN of ", DTypeName(kDTypeOf<T>)));
  }
  in.Advance();
  Store(bits, to);
  return in.Expect(')');
}

template <typename T>
absl::Status ParseFloat(TokenReader& in, char* to) {
  using Wide = ComputeType<T>;
  using Bits = std::conditional_t<
      sizeof(T) == 2, uint16_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  constexpr Wide kInfinity = std::numeric_limits<Wide>::infinity();
  T value{};
  if (in.token().IsWord("nan")) {
    in.Advance();
    if (in.Is('(')) return ParseNaNBits<T, Bits>(in, to);
    value = T(std::numeric_limits<Wide>::quiet_NaN());
  } else if (in.token().IsWord("inf") || in.token().IsWord("-inf")) {
    value = T(in.Take().text[0] == '-' ? -kInfinity : kInfinity);
  } else {
    const bool number = in.token().kind == Token::kNumber &&
                        RealFromText(in.token().text, &value);
    const auto narrow = static_cast<Wide>(value);
    if (!number || narrow == kInfinity || narrow == -kInfinity) {
      return in.Unexpected(WantedElement<T>());
    }
    in.Advance();
  }
  std::memcpy(to, &value, sizeof(value));
  return absl::OkStatus();
}

template <typename T>
absl::Status ParseElementAs(TokenReader& in, char* to) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    HAWSER_RETURN_IF_ERROR(in.Expect('('));
    HAWSER_RETURN_IF_ERROR(ParseFloat<Part>(in, to));
    HAWSER_RETURN_IF_ERROR(in.Expect(','));
    HAWSER_RETURN_IF_ERROR(ParseFloat<Part>(in, to + sizeof(Part)));
    return in.Expect(')');
  } else if constexpr (kIsFloat<T>) {
    return ParseFloat<T>(in, to);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!in.token().IsWord("true") && !in.token().IsWord("false")) {
      return in.Unexpected("true or false");
    }
    Store(static_cast<char>(in.Take().text[0] == 't'), to);
    return absl::OkStatus();
  } else {
    T value = 0;
    if (in.token().kind != Token::kNumber ||
        !FromText(in.token().text, &value)) {
      return in.Unexpected(WantedElement<T>());
    }
    in.Advance();
    Store(value, to);
    return absl::OkStatus();
  }
}

template <typename T>
absl::Status ParseElements(TokenReader& in, const Shape& shape, char* to) {
  const int64_t count = shape.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0 && !in.Skip(',')) {
      return in.Unexpected(absl::StrCat("',' and element ", i, " of the ",
                                        count, " of ", shape.ToString()));
    }
    HAWSER_RETURN_IF_ERROR(ParseElementAs<T>(in, to + i * sizeof(T)));
  }
  if (in.Skip('}')) return absl::OkStatus();
  return in.Unexpected(absl::StrCat("'}' behind the ", count, " elements of ",
                                    shape.ToString()));
}

absl::StatusOr<Literal> ParseLiteral(TokenReader& in, ValueBudget* budget) {
  const Token start = in.token();
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, ParseShape(in));
  HAWSER_RETURN_IF_ERROR(in.Expect('{'));
  if (shape.byte_size() > budget->constant_bytes) {
    return At(start, ResourceExhausted(shape.ToString(), " takes ",
                                       shape.byte_size(),
                                       " bytes, the limit leaves ",
                                       budget->constant_bytes,
                                       " for constants"));
  }
  budget->constant_bytes -= shape.byte_size();
  HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape));
  char* const to = value.mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(VisitDType(shape.dtype(), [&](auto tag) {
    return ParseElements<typename decltype(tag)::type>(in, shape, to);
  }));
  return value;
}

// "[2,3]"; takes one off `left` for each number.
absl::StatusOr<Dims> ParseInts(TokenReader& in, int64_t* left) {
  Dims ints;
  HAWSER_RETURN_IF_ERROR(in.Expect('['));
  while (!in.Is(']')) {
    if (!ints.empty() && !in.Skip(',')) return in.Unexpected("',' or ']'");
    if (--*left < 0) {
      return At(in.token(), ResourceExhausted("too many numbers in lists"));
    }
    HAWSER_ASSIGN_OR_RETURN(int64_t value, in.TakeInteger("an integer"));
    ints.push_back(value);
  }
  in.Advance();
  return ints;
}

// A number without point and exponent is an int.
absl::StatusOr<AttributeValue> ParseNumber(TokenReader& in) {
  int64_t whole = 0;
  if (FromText(in.token().text, &whole)) {
    in.Advance();
    return whole;
  }
  if (in.token().text.find_first_of(".eE") == absl::string_view::npos) {
    return in.Unexpected("a number that fits 64 bits");
  }
  double value = 0;
  HAWSER_RETURN_IF_ERROR(
      ParseFloat<double>(in, reinterpret_cast<char*>(&value)));
  return value;
}

}  // namespace

absl::StatusOr<Shape> ParseShape(TokenReader& in) {
  constexpr absl::string_view kWanted = "a shape like f32[2,3]";
  const Token start = in.token();
  if (start.kind != Token::kWord) return in.Unexpected(kWanted);
  const auto dtype = ParseDType(start.text);
  if (!dtype.ok()) return At(start, dtype.status());
  in.Advance();
  if (!in.Is('[')) return in.Unexpected("'[' and the sizes of a shape");
  int64_t left = 4 * kMaxRank;
  HAWSER_ASSIGN_OR_RETURN(const Dims dims, ParseInts(in, &left));
  auto shape = Shape::Make(*dtype, dims);
  if (!shape.ok()) return At(start, shape.status());
  return shape;
}

absl::Status ParseElement(TokenReader& in, DType dtype, char* to) {
  return VisitDType(dtype, [&](auto tag) {
    return ParseElementAs<typename decltype(tag)::type>(in, to);
  });
}

absl::StatusOr<AttributeValue> ParseAttributeValue(TokenReader& in,
                                                   ValueBudget* budget) {
  const Token& token = in.token();
  if (token.kind == Token::kString) return in.TakeString("a string");
  if (token.kind == Token::kNumber) return ParseNumber(in);
  if (token.Is('[')) return ParseInts(in, &budget->numbers);
  if (token.kind != Token::kWord) {
    return in.Unexpected("the value of an attribute");
  }
  if (token.IsWord("true") || token.IsWord("false")) {
    return in.Take().text == "true";
  }
  if (token.IsWord("nan") || token.IsWord("inf") || token.IsWord("-inf")) {
    double value = 0;
    HAWSER_RETURN_IF_ERROR(
        ParseFloat<double>(in, reinterpret_cast<char*>(&value)));
    return value;
  }
  if (in.next().Is('[')) return ParseLiteral(in, budget);
  const auto dtype = ParseDType(token.text);
  if (!dtype.ok()) return At(token, dtype.status());
  in.Advance();
  return *dtype;
}

}  // namespace hawser
