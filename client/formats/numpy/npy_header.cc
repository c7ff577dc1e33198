#include "client/formats/numpy/npy_header.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/formats/files/quoted.h"
#include "core/base/status.h"

namespace hawser {
namespace {

struct DescrRow {
  absl::string_view code;  // "descr" without the byte order
  DType dtype;
};
constexpr DescrRow kDescr[] = {
    {"b1", DType::kBool}, {"u1", DType::kU8},    {"u2", DType::kU16},
    {"u4", DType::kU32},  {"u8", DType::kU64},   {"i1", DType::kS8},
    {"i2", DType::kS16},  {"i4", DType::kS32},   {"i8", DType::kS64},
    {"f2", DType::kF16},  {"f4", DType::kF32},   {"f8", DType::kF64},
    {"c8", DType::kC64},  {"c16", DType::kC128},
};

// Reads the few Python literals that NumPy writes.
class LiteralReader {
 public:
  explicit LiteralReader(absl::string_view text) : text_(text) {}

  bool AtEnd() {
    SkipSpace();
    return text_.empty();
  }
  bool Take(absl::string_view word) {
    SkipSpace();
    return absl::ConsumePrefix(&text_, word);
  }
  absl::string_view rest() const { return text_; }

  std::optional<absl::string_view> String() {
    const absl::string_view quote = Take("'") ? "'" : Take("\"") ? "\"" : "";
    if (quote.empty()) return std::nullopt;
    const size_t end = text_.find(quote);
    if (end == absl::string_view::npos) return std::nullopt;
    const absl::string_view value = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return value;
  }

  std::optional<bool> Bool() {
    if (Take("True")) return true;
    if (Take("False")) return false;
    return std::nullopt;
  }

  std::optional<int64_t> Integer() {
    SkipSpace();
    size_t n = 0;
    while (n < text_.size() && absl::ascii_isdigit(text_[n])) ++n;
    int64_t value;
    if (!absl::SimpleAtoi(text_.substr(0, n), &value)) return std::nullopt;
    text_.remove_prefix(n);
    Take("L");  // Python 2 wrote large sizes as 3L
    return value;
  }

  // (), (3,), (3, 4): one number needs its comma, or it is no tuple.
  std::optional<Dims> Tuple() {
    if (!Take("(")) return std::nullopt;
    Dims dims;
    bool comma = true;
    while (!Take(")")) {
      if (!comma) return std::nullopt;
      const auto size = Integer();
      if (!size) return std::nullopt;
      dims.push_back(*size);
      comma = Take(",");
    }
    if (dims.size() == 1 && !comma) return std::nullopt;
    return dims;
  }

 private:
  void SkipSpace() { text_ = absl::StripLeadingAsciiWhitespace(text_); }
  absl::string_view text_;
};

struct NpyFields {
  std::optional<absl::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<Dims> shape;
};

// Fills a field that was not there before.
template <typename T>
absl::Status Fill(absl::string_view key, std::optional<T> value,
                  std::optional<T>* field, const LiteralReader& cursor) {
  if (field->has_value()) return InvalidArgument(key, " is there twice");
  if (!value) {
    return InvalidArgument(key, " is malformed at ", Quoted(cursor.rest()));
  }
  *field = std::move(value);
  return absl::OkStatus();
}

absl::Status ParseField(LiteralReader& cursor, NpyFields* fields) {
  const auto key = cursor.String();
  if (!key || !cursor.Take(":")) {
    return InvalidArgument("header is malformed at ", Quoted(cursor.rest()));
  }
  if (*key == "descr") {
    return Fill(*key, cursor.String(), &fields->descr, cursor);
  }
  if (*key == "fortran_order") {
    return Fill(*key, cursor.Bool(), &fields->fortran_order, cursor);
  }
  if (*key == "shape") {
    return Fill(*key, cursor.Tuple(), &fields->shape, cursor);
  }
  return InvalidArgument("header has an unknown field ", Quoted(*key));
}

absl::StatusOr<NpyFields> ParseFields(absl::string_view text) {
  LiteralReader cursor(text);
  NpyFields fields;
  if (!cursor.Take("{")) return InvalidArgument("header is no dictionary");
  bool comma = true;
  while (!cursor.Take("}")) {
    if (!comma) {
      return InvalidArgument("header is malformed at ", Quoted(cursor.rest()));
    }
    HAWSER_RETURN_IF_ERROR(ParseField(cursor, &fields));
    comma = cursor.Take(",");
  }
  if (!cursor.AtEnd()) {
    return InvalidArgument("header goes on after its end: ",
                           Quoted(cursor.rest()));
  }
  if (!fields.descr) return InvalidArgument("descr is missing");
  if (!fields.fortran_order) return InvalidArgument("fortran_order is missing");
  if (!fields.shape) return InvalidArgument("shape is missing");
  return fields;
}

// Turns "<f4" into f32. The `descr` of a structured array is a list and is
// refused before.
absl::Status ParseDescr(absl::string_view descr, DType* dtype,
                        bool* big_endian) {
  absl::string_view code = descr;
  *big_endian = absl::ConsumePrefix(&code, ">");
  if (!*big_endian) {
    // "|": the order does not matter; "=": the order of the machine.
    for (absl::string_view order : {"<", "|", "="}) {
      if (absl::ConsumePrefix(&code, order)) break;
    }
  }
  for (const DescrRow& row : kDescr) {
    if (row.code != code) continue;
    *dtype = row.dtype;
    return absl::OkStatus();
  }
  return InvalidArgument("descr ", Quoted(descr), " is no dtype of hawser");
}

// Takes a little-endian number of `bytes` bytes off the front.
uint32_t TakeNumber(absl::string_view* text, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>((*text)[i])) << 8 * i;
  }
  text->remove_prefix(bytes);
  return value;
}

// The text of the dictionary; sets `data_offset` to where it ends.
absl::StatusOr<absl::string_view> FindDictionary(absl::string_view file,
                                                 int64_t* data_offset) {
  absl::string_view rest = file;
  if (!absl::ConsumePrefix(&rest, kNpyMagic)) {
    return InvalidArgument("magic is not that of an npy file");
  }
  if (rest.size() < 2) return InvalidArgument("ends within its version");
  const uint32_t major = TakeNumber(&rest, 1);
  const uint32_t minor = TakeNumber(&rest, 1);
  if (major < 1 || major > 3 || minor != 0) {
    return InvalidArgument("version is ", major, ".", minor,
                           ", known are 1.0, 2.0 and 3.0");
  }
  const int width = major == 1 ? 2 : 4;
  if (rest.size() < static_cast<size_t>(width)) {
    return InvalidArgument("ends within the length of its header");
  }
  const uint32_t length = TakeNumber(&rest, width);
  if (length > rest.size()) {
    return InvalidArgument("header length is ", length, ", the file has only ",
                           rest.size(), " bytes more");
  }
  *data_offset = static_cast<int64_t>(file.size() - rest.size() + length);
  return rest.substr(0, length);
}

std::string ShapeText(const Shape& shape) {
  std::string text = "(";
  for (int a = 0; a < shape.rank(); ++a) {
    absl::StrAppend(&text, a == 0 ? "" : ", ", shape.dim(a));
  }
  absl::StrAppend(&text, shape.rank() == 1 ? ",)" : ")");
  return text;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view file) {
  NpyHeader header;
  HAWSER_ASSIGN_OR_RETURN(absl::string_view text,
                          FindDictionary(file, &header.data_offset));
  HAWSER_ASSIGN_OR_RETURN(NpyFields fields, ParseFields(text));
  DType dtype = DType::kInvalid;
  HAWSER_RETURN_IF_ERROR(ParseDescr(*fields.descr, &dtype, &header.big_endian));
  header.column_major = *fields.fortran_order;
  HAWSER_ASSIGN_OR_RETURN(header.shape, Shape::Make(dtype, *fields.shape));
  return header;
}

absl::StatusOr<std::string> NpyHeaderOf(const Shape& shape) {
  const auto row =
      std::find_if(std::begin(kDescr), std::end(kDescr),
                   [&](const DescrRow& r) { return r.dtype == shape.dtype(); });
  if (row == std::end(kDescr)) {
    return InvalidArgument("npy has no ", DTypeName(shape.dtype()),
                           "; convert the array to f32 first");
  }
  const bool one_byte = ByteWidth(shape.dtype()) == 1;
  std::string text = absl::StrCat(
      "{'descr': '", one_byte ? "|" : "<", row->code,
      "', 'fortran_order': False, 'shape': ", ShapeText(shape), ", }");
  // NumPy leaves room for the first size to grow to 21 digits in place.
  if (shape.rank() > 0) {
    text.append(21 - absl::StrCat(shape.dim(0)).size(), ' ');
  }
  // Magic, version, length and text end, with a newline, on a multiple of 64.
  // Rank 16 at most keeps the text far below format 1's 65,535 bytes.
  const size_t before = kNpyMagic.size() + 4;
  text.append(64 - (before + text.size() + 1) % 64, ' ');
  text.push_back('\n');
  std::string header = absl::StrCat(kNpyMagic, absl::string_view("\1\0", 2));
  header.push_back(static_cast<char>(text.size() & 0xFF));
  header.push_back(static_cast<char>(text.size() >> 8));
  return header + text;
}

}  // namespace hawser
