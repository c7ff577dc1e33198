#include "client/stablehlo/literals/elements.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/literals/element.h"
#include "client/stablehlo/literals/hex.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

bool EndsElement(char c) {
  return c == ',' || c == ']' || c == ')' || c == '[' || c == '(' ||
         absl::ascii_isspace(c);
}

// Walks lists of lists: brackets are counted against the type's sizes, and
// every element goes to the next place of the literal.
template <typename T>
class ListReader {
 public:
  ListReader(const Source& source, absl::string_view body, const Dims& dims,
             absl::Span<T> to)
      : source_(source), rest_(body), dims_(dims), to_(to) {}

  absl::Status Read() {
    Dims seen(dims_.size(), 0);  // members of each list that is open
    size_t open = 0;
    do {
      Skip();
      if (open > 0 && seen[open - 1] == dims_[open - 1]) {
        HAWSER_RETURN_IF_ERROR(Take(']'));
        --open;
      } else if (open < dims_.size()) {
        if (open > 0) HAWSER_RETURN_IF_ERROR(Separate(seen[open - 1]++));
        HAWSER_RETURN_IF_ERROR(Take('['));
        seen[open++] = 0;
        continue;
      } else {
        if (open > 0) HAWSER_RETURN_IF_ERROR(Separate(seen[open - 1]++));
        HAWSER_RETURN_IF_ERROR(ReadOne(&to_[next_++]));
      }
    } while (open > 0);
    return End();
  }

  // One element that stands for all.
  absl::Status ReadSplat() {
    Skip();
    HAWSER_RETURN_IF_ERROR(ReadOne(&to_[0]));
    return End();
  }

 private:
  void Skip() {
    while (!rest_.empty()) {
      if (absl::ascii_isspace(rest_[0])) {
        rest_.remove_prefix(1);
      } else if (absl::StartsWith(rest_, "//")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else {
        return;
      }
    }
  }

  absl::Status Expected(absl::string_view what) {
    return source_.Invalid(rest_.data(), "expected ", what, " of tensor<",
                           absl::StrCat(to_.size()), " elements>, got ",
                           Quoted(rest_.substr(0, 24)));
  }

  absl::Status Take(char c) {
    Skip();
    if (rest_.empty() || rest_[0] != c) {
      return Expected(absl::StrCat("'", std::string(1, c), "'"));
    }
    rest_.remove_prefix(1);
    return absl::OkStatus();
  }

  // The comma in front of every member of a list but the first.
  absl::Status Separate(int64_t members_before) {
    if (members_before == 0) return absl::OkStatus();
    HAWSER_RETURN_IF_ERROR(Take(','));
    Skip();
    return absl::OkStatus();
  }

  absl::Status End() {
    Skip();
    return rest_.empty() ? absl::OkStatus() : Expected("the last '>'");
  }

  template <typename U>
  absl::Status ReadWord(U* element) {
    size_t size = 0;
    while (size < rest_.size() && !EndsElement(rest_[size])) ++size;
    const absl::string_view word = rest_.substr(0, size);
    if (!ReadElement(word, element)) {
      return source_.Invalid(rest_.data(), Quoted(word), " is no element of ",
                             DTypeName(kDTypeOf<U>));
    }
    rest_.remove_prefix(size);
    return absl::OkStatus();
  }

  absl::Status ReadOne(T* element) {
    if constexpr (kIsComplex<T>) {
      typename T::value_type real{}, imaginary{};
      HAWSER_RETURN_IF_ERROR(Take('('));
      Skip();
      HAWSER_RETURN_IF_ERROR(ReadWord(&real));
      HAWSER_RETURN_IF_ERROR(Take(','));
      Skip();
      HAWSER_RETURN_IF_ERROR(ReadWord(&imaginary));
      *element = T(real, imaginary);
      return Take(')');
    } else {
      return ReadWord(element);
    }
  }

  const Source& source_;
  absl::string_view rest_;
  const Dims& dims_;
  const absl::Span<T> to_;
  size_t next_ = 0;
};

// Bools that were packed, eight to a byte, the first in the lowest bit.
void UnpackBools(absl::Span<const char> packed, absl::Span<bool> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = (packed[i / 8] >> (i % 8)) & 1;
  }
}

// Raw bytes, as they are or as two digits each.
class Raw {
 public:
  Raw(absl::string_view text, bool as_digits)
      : text_(text), as_digits_(as_digits) {}

  size_t size() const { return as_digits_ ? text_.size() / 2 : text_.size(); }
  absl::string_view text() const { return text_; }
  bool is_whole() const { return !as_digits_ || text_.size() % 2 == 0; }
  std::string Amount() const {
    return absl::StrCat(text_.size(),
                        as_digits_ ? " hexadecimal digits" : " bytes");
  }
  // `to` has size() bytes.
  absl::Status CopyTo(const Source& source, absl::Span<char> to) const {
    if (!as_digits_) {
      std::copy(text_.begin(), text_.end(), to.begin());
      return absl::OkStatus();
    }
    if (DecodeHex(text_, to)) return absl::OkStatus();
    return source.Invalid(text_.data(),
                          "the bytes are no hexadecimal digits: ",
                          Quoted(text_.substr(0, 24)));
  }

 private:
  absl::string_view text_;
  bool as_digits_;
};

absl::Status ReadRawBools(const Source& source, const Raw& raw,
                          Literal* value) {
  const absl::Span<bool> to = value->mutable_data<bool>();
  if (raw.size() == to.size() && raw.size() != 1) {
    const absl::Span<char> bytes = value->mutable_bytes();
    HAWSER_RETURN_IF_ERROR(raw.CopyTo(source, bytes));
    for (char& byte : bytes) byte = byte != 0;
    return absl::OkStatus();
  }
  std::string packed(raw.size(), '\0');
  HAWSER_RETURN_IF_ERROR(raw.CopyTo(source, absl::MakeSpan(packed)));
  UnpackBools(packed, to);
  return absl::OkStatus();
}

// True if so many raw bytes are one element of the type, which stands for all.
bool IsRawSplat(const Shape& shape, size_t bytes) {
  return static_cast<int64_t>(bytes) == ByteWidth(shape.dtype()) &&
         (shape.dtype() != DType::kBool || shape.num_elements() > 8);
}

bool HoldsAll(const Shape& shape, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  if (count == shape.byte_size()) return true;
  return shape.dtype() == DType::kBool &&
         count == (shape.num_elements() + 7) / 8;
}

// The shape, or nothing to be read.
bool IsKnown(const Type& type) {
  return type.tensor && !type.dynamic && type.dtype != DType::kInvalid;
}

// Every value takes a character and what separates it from the next.
absl::Status CheckCarries(const Source& source, absl::string_view body,
                          const Shape& shape) {
  if (shape.num_elements() <= static_cast<int64_t>(body.size() / 2 + 1)) {
    return absl::OkStatus();
  }
  return source.Invalid(body.data(), "too few elements for ", shape.ToString());
}

absl::Status ReadRaw(const Source& source, const Raw& raw,
                     Elements* elements) {
  if (!IsKnown(elements->type)) return absl::OkStatus();
  const char* const where = raw.text().data();
  const auto made = Shape::Make(elements->type.dtype, elements->type.dims);
  if (!made.ok()) return source.Invalid(where, made.status().message());
  elements->splat =
      IsRawSplat(*made, raw.size()) && made->num_elements() != 1;
  const Shape shape = elements->splat ? Shape::Scalar(made->dtype()) : *made;
  if (!raw.is_whole() || !HoldsAll(shape, raw.size())) {
    return source.Invalid(where, raw.Amount(), " for ", made->ToString());
  }
  HAWSER_ASSIGN_OR_RETURN(elements->value, Literal::Allocate(shape));
  return shape.dtype() == DType::kBool
             ? ReadRawBools(source, raw, &elements->value)
             : raw.CopyTo(source, elements->value.mutable_bytes());
}

}  // namespace

absl::Status ReadRawElements(const Source& source, absl::string_view digits,
                             Elements* elements) {
  return ReadRaw(source, Raw(digits, /*as_digits=*/true), elements);
}

absl::Status ReadRawBytes(const Source& source, absl::string_view bytes,
                          Elements* elements) {
  return ReadRaw(source, Raw(bytes, /*as_digits=*/false), elements);
}

absl::Status ReadElements(const Source& source, absl::string_view body,
                          Elements* elements) {
  const Type& type = elements->type;
  if (!IsKnown(type)) return absl::OkStatus();
  absl::string_view trimmed = body;
  while (!trimmed.empty() && absl::ascii_isspace(trimmed[0])) {
    trimmed.remove_prefix(1);
  }
  trimmed = absl::StripTrailingAsciiWhitespace(trimmed);
  if (absl::ConsumePrefix(&trimmed, "\"0x") &&
      absl::ConsumeSuffix(&trimmed, "\"")) {
    return ReadRawElements(source, trimmed, elements);
  }
  const auto made = Shape::Make(type.dtype, type.dims);
  if (!made.ok()) return source.Invalid(body.data(), made.status().message());
  const bool list = !trimmed.empty() && trimmed[0] == '[';
  elements->splat = !list && !trimmed.empty() && made->num_elements() != 1;
  const Shape shape = elements->splat ? Shape::Scalar(made->dtype()) : *made;
  HAWSER_RETURN_IF_ERROR(CheckCarries(source, body, shape));
  HAWSER_ASSIGN_OR_RETURN(elements->value, Literal::Allocate(shape));
  if (trimmed.empty() && made->num_elements() == 0) return absl::OkStatus();
  return VisitDType(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ListReader<T> reader(source, body, made->dims(),
                         elements->value.mutable_data<T>());
    return list ? reader.Read() : reader.ReadSplat();
  });
}

}  // namespace hawser::stablehlo
