#include "client/formats/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "client/formats/files/quoted.h"
#include "core/base/status.h"
#include "nlohmann/json.hpp"

namespace hawser {
namespace {

using nlohmann::json;

constexpr absl::string_view kMetadata = "__metadata__";

struct TypeRow {
  absl::string_view code;
  DType dtype;
};
// These are all dtypes. C64 is in the format since its version 0.6; C128 is
// read here alone, so that no array of a dataset is without a file.
constexpr TypeRow kTypeRows[] = {
    {"BOOL", DType::kBool}, {"U8", DType::kU8},     {"U16", DType::kU16},
    {"U32", DType::kU32},   {"U64", DType::kU64},   {"I8", DType::kS8},
    {"I16", DType::kS16},   {"I32", DType::kS32},   {"I64", DType::kS64},
    {"F16", DType::kF16},   {"BF16", DType::kBF16}, {"F32", DType::kF32},
    {"F64", DType::kF64},   {"C64", DType::kC64},   {"C128", DType::kC128},
};

// An array as its JSON says.
struct Fields {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<uint64_t>> shape, data_offsets;
};

// Receives the JSON while it is read, so that no tree of it is built and a name
// that stands twice is noticed. The form is fixed: an object of objects, whose
// values are texts and lists of numbers.
class HeaderReader : public json::json_sax_t {
 public:
  std::vector<Fields> arrays;
  absl::Status status;

  bool null() override { return Refuse("null"); }
  bool boolean(bool) override { return Refuse("a boolean"); }
  bool number_integer(int64_t) override { return Refuse("a negative number"); }
  bool number_float(double, const std::string&) override {
    return Refuse("a number with a fraction");
  }
  bool binary(json::binary_t&) override { return Refuse("bytes"); }

  bool number_unsigned(uint64_t value) override {
    if (list_ == nullptr) return Refuse("a number");
    if (list_->size() == kMaxRank) return Refuse("a list of more than 16");
    list_->push_back(value);
    return true;
  }
  bool string(std::string& value) override {
    if (in_metadata_ && depth_ == 2) return true;
    if (depth_ != 2 || field_ != "dtype") return Refuse("a text");
    arrays.back().dtype = std::move(value);
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ == 2 || list_ != nullptr) return Refuse("an object");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || in_metadata_ || list_ != nullptr) {
      return Refuse("a list");
    }
    auto* list = field_ == "shape"          ? &arrays.back().shape
                 : field_ == "data_offsets" ? &arrays.back().data_offsets
                                            : nullptr;
    if (list == nullptr) return Refuse("a list");
    list_ = &list->emplace();
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool key(std::string& name) override {
    return depth_ == 1 ? BeginArray(std::move(name)) : BeginField(name);
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    status = InvalidArgument("header is no JSON at its byte ", position);
    return false;
  }

 private:
  bool BeginArray(std::string name) {
    if (!names_.insert(name).second) {
      status = InvalidArgument("array ", Quoted(name), " is there twice");
      return false;
    }
    in_metadata_ = name == kMetadata;
    if (!in_metadata_) arrays.push_back({std::move(name), {}, {}, {}});
    return true;
  }
  bool BeginField(const std::string& name) {
    if (in_metadata_) return true;
    const Fields& array = arrays.back();
    const bool twice = name == "dtype"          ? array.dtype.has_value()
                       : name == "shape"        ? array.shape.has_value()
                       : name == "data_offsets" ? array.data_offsets.has_value()
                                                : false;
    field_ = name;
    return twice ? Refuse("a second value") : true;
  }
  bool Refuse(absl::string_view what) {
    const std::string where =
        depth_ < 2     ? "header"
        : in_metadata_ ? std::string(kMetadata)
                       : absl::StrCat("array ", Quoted(arrays.back().name),
                                      ": field ", Quoted(field_));
    status = InvalidArgument(where, " holds ", what, " where it must not");
    return false;
  }

  int depth_ = 0;  // 1: in the header's object, 2: in an array's
  bool in_metadata_ = false;
  std::string field_;
  std::vector<uint64_t>* list_ = nullptr;  // being read
  absl::flat_hash_set<std::string> names_;
};

absl::StatusOr<DType> TypeOf(absl::string_view code) {
  for (const TypeRow& row : kTypeRows) {
    if (row.code == code) return row.dtype;
  }
  return InvalidArgument("dtype ", Quoted(code), " is no dtype of hawser");
}

absl::StatusOr<Shape> ShapeOf(const Fields& fields) {
  HAWSER_ASSIGN_OR_RETURN(const DType dtype, TypeOf(*fields.dtype));
  Dims dims;
  for (const uint64_t size : *fields.shape) {
    // A size too large for an int64 becomes the largest, which Shape refuses.
    dims.push_back(static_cast<int64_t>(
        std::min<uint64_t>(size, std::numeric_limits<int64_t>::max())));
  }
  return Shape::Make(dtype, dims);
}

absl::StatusOr<SafetensorsEntry> EntryOf(Fields fields) {
  if (!fields.dtype) return InvalidArgument("dtype is missing");
  if (!fields.shape) return InvalidArgument("shape is missing");
  if (!fields.data_offsets) return InvalidArgument("data_offsets are missing");
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ShapeOf(fields));
  const std::vector<uint64_t>& offsets = *fields.data_offsets;
  const auto bytes = static_cast<uint64_t>(shape.byte_size());
  // Compared without sums, which could overflow.
  if (offsets.size() != 2 || offsets[1] < offsets[0] ||
      offsets[1] - offsets[0] != bytes ||
      offsets[1] > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return InvalidArgument("data_offsets [", absl::StrJoin(offsets, ", "),
                           "] are not the ", bytes, " bytes of ",
                           shape.ToString());
  }
  return SafetensorsEntry{std::move(fields.name), std::move(shape),
                          static_cast<int64_t>(offsets[0]),
                          static_cast<int64_t>(offsets[1])};
}

}  // namespace

absl::StatusOr<std::vector<SafetensorsEntry>> ParseSafetensorsHeader(
    absl::string_view text) {
  HeaderReader reader;
  if (!json::sax_parse(text.begin(), text.end(), &reader)) {
    return reader.status;
  }
  std::vector<SafetensorsEntry> entries;
  for (Fields& fields : reader.arrays) {
    const std::string name = absl::StrCat("array ", Quoted(fields.name));
    absl::StatusOr<SafetensorsEntry> entry = EntryOf(std::move(fields));
    if (!entry.ok()) return Annotate(entry.status(), name);
    entries.push_back(*std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != end) {
      return InvalidArgument("array ", Quoted(entry.name), " begins at ",
                             entry.begin, ", the one before it ends at ", end);
    }
    end = entry.end;
  }
  return entries;
}

absl::StatusOr<std::string> SafetensorsHeaderOf(
    absl::Span<const SafetensorsEntry> entries) {
  absl::flat_hash_set<absl::string_view> names;
  std::string text = "{";
  for (const SafetensorsEntry& entry : entries) {
    const std::string array = absl::StrCat("array ", Quoted(entry.name));
    const auto row = std::find_if(
        std::begin(kTypeRows), std::end(kTypeRows),
        [&](const TypeRow& r) { return r.dtype == entry.shape.dtype(); });
    if (row == std::end(kTypeRows)) {
      return Internal(array, ": no code is known of ",
                      DTypeName(entry.shape.dtype()));
    }
    const bool printable =
        std::all_of(entry.name.begin(), entry.name.end(), [](char c) {
          return absl::ascii_isprint(static_cast<unsigned char>(c));
        });
    if (!printable || entry.name == kMetadata) {
      return InvalidArgument(array, ": safetensors has no such names here");
    }
    if (!names.insert(entry.name).second) {
      return InvalidArgument(array, " is there twice");
    }
    absl::StrAppend(&text, names.size() == 1 ? "" : ",",
                    json(entry.name).dump(), ":{\"dtype\":\"", row->code,
                    "\",\"shape\":[", absl::StrJoin(entry.shape.dims(), ","),
                    "],\"data_offsets\":[", entry.begin, ",", entry.end, "]}");
  }
  text.push_back('}');
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace hawser
