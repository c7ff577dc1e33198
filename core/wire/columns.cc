#include "core/wire/columns.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/shape.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/common.h"
#include "google/protobuf/wire_format_lite.h"
#include "proto/graph.pb.h"

namespace hawser {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using v1::ModuleProto;

// A writer that packs its columns needs a few for each text; one that does not,
// one for each number. Bounds the time that empty fields can take.
constexpr int kMaxFields = 1 << 20;

// The fewest bytes of a varint: one; the bytes that end one have no top bit.
int64_t CountVarints(absl::string_view packed) {
  return std::count_if(packed.begin(), packed.end(),
                       [](char c) { return (c & 0x80) == 0; });
}

class ColumnReader {
 public:
  ColumnReader(absl::string_view bytes, const ModuleLimits& limits,
               MemoryBudget* budget)
      : in_(reinterpret_cast<const uint8_t*>(bytes.data()),
            static_cast<int>(bytes.size())),
        bytes_(bytes),
        limits_(limits),
        budget_(budget) {}

  absl::StatusOr<ModuleColumns> Read() {
    int fields = 0;
    while (const uint32_t tag = in_.ReadTag()) {
      if (++fields > kMaxFields) {
        return ResourceExhausted("module has more than ", kMaxFields,
                                 " fields");
      }
      wire_type_ = WireFormatLite::GetTagWireType(tag);
      HAWSER_RETURN_IF_ERROR(ReadField(WireFormatLite::GetTagFieldNumber(tag)));
    }
    // ReadTag gives 0 at the end, for a broken tag and for field 0.
    if (in_.CurrentPosition() != static_cast<int>(bytes_.size()) ||
        !in_.ConsumedEntireMessage()) {
      return InvalidArgument("module has no field at byte ",
                             in_.CurrentPosition());
    }
    return std::move(columns_);
  }

 private:
  absl::Status ReadField(int field);
  absl::Status Skip(int field);

  absl::Status Ends(absl::string_view column) const {
    return InvalidArgument("module breaks off inside ", column);
  }
  absl::Status WrongType(absl::string_view column) const {
    return InvalidArgument("module field ", column, " has wire type ",
                           static_cast<int>(wire_type_));
  }

  // The payload of a length-delimited field, still in place.
  absl::Status ReadPayload(absl::string_view column, absl::string_view* out) {
    if (wire_type_ != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      return WrongType(column);
    }
    uint32_t size;
    if (!in_.ReadVarint32(&size)) return Ends(column);
    const size_t at = in_.CurrentPosition();
    if (size > bytes_.size() - at || !in_.Skip(static_cast<int>(size))) {
      return Ends(column);
    }
    *out = bytes_.substr(at, size);
    return absl::OkStatus();
  }

  absl::Status ReadText(absl::string_view column, absl::string_view* out) {
    HAWSER_RETURN_IF_ERROR(ReadPayload(column, out));
    if (static_cast<int64_t>(out->size()) > kMaxTextBytes) {
      return ResourceExhausted(column, " has a text of ", out->size(),
                               " bytes, the limit is ", kMaxTextBytes);
    }
    if (!google::protobuf::internal::IsStructurallyValidUTF8(
            out->data(), static_cast<int>(out->size()))) {
      return InvalidArgument(
          column, " has a text that is not UTF-8: ", QuotedWireText(*out));
    }
    return absl::OkStatus();
  }

  // `more` entries of `size` bytes are about to join a column of `have`.
  absl::Status Admit(absl::string_view column, int64_t have, int64_t more,
                     int64_t limit, int64_t size) {
    if (have + more > limit) {
      return ResourceExhausted("module column ", column, " has ", have + more,
                               " entries, the limit is ", limit);
    }
    return budget_->Take(more * size);
  }

  absl::Status ReadTexts(absl::string_view column, int64_t limit,
                         ModuleColumns::Texts* to) {
    HAWSER_RETURN_IF_ERROR(
        Admit(column, to->size(), 1, limit, sizeof(absl::string_view)));
    absl::string_view text;
    HAWSER_RETURN_IF_ERROR(ReadText(column, &text));
    to->push_back(text);
    return absl::OkStatus();
  }

  absl::Status ReadBlobs(absl::string_view column, int64_t limit,
                         ModuleColumns::Texts* to) {
    HAWSER_RETURN_IF_ERROR(
        Admit(column, to->size(), 1, limit, sizeof(absl::string_view)));
    absl::string_view blob;
    HAWSER_RETURN_IF_ERROR(ReadPayload(column, &blob));
    to->push_back(blob);
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status ReadNumber(CodedInputStream* in, absl::string_view column,
                          T* out) {
    uint64_t raw;
    if (!in->ReadVarint64(&raw)) return Ends(column);
    if constexpr (std::is_same_v<T, int64_t>) {
      *out = WireFormatLite::ZigZagDecode64(raw);
    } else {
      if (raw > std::numeric_limits<T>::max()) {
        return InvalidArgument(column, " has the number ", raw,
                               ", which is too large");
      }
      *out = static_cast<T>(raw);
    }
    return absl::OkStatus();
  }

  // One packed run, or one number by itself: writers may do either.
  template <typename T>
  absl::Status ReadNumbers(absl::string_view column, int64_t limit,
                           std::vector<T>* to) {
    if (wire_type_ == WireFormatLite::WIRETYPE_VARINT) {
      HAWSER_RETURN_IF_ERROR(Admit(column, to->size(), 1, limit, sizeof(T)));
      to->push_back(0);
      return ReadNumber(&in_, column, &to->back());
    }
    absl::string_view packed;
    HAWSER_RETURN_IF_ERROR(ReadPayload(column, &packed));
    const int64_t count = CountVarints(packed);
    HAWSER_RETURN_IF_ERROR(Admit(column, to->size(), count, limit, sizeof(T)));
    CodedInputStream in(reinterpret_cast<const uint8_t*>(packed.data()),
                        static_cast<int>(packed.size()));
    const size_t old = to->size();
    to->resize(old + count);
    for (int64_t i = 0; i < count; ++i) {
      HAWSER_RETURN_IF_ERROR(ReadNumber(&in, column, &(*to)[old + i]));
    }
    if (in.CurrentPosition() != static_cast<int>(packed.size())) {
      return Ends(column);
    }
    return absl::OkStatus();
  }

  CodedInputStream in_;
  const absl::string_view bytes_;
  const ModuleLimits& limits_;
  MemoryBudget* const budget_;
  WireFormatLite::WireType wire_type_;
  ModuleColumns columns_;
};

absl::Status ColumnReader::Skip(int field) {
  if (field == 0) return InvalidArgument("module has a field 0");
  uint64_t ignored;
  absl::string_view payload;
  bool read;
  switch (wire_type_) {
    case WireFormatLite::WIRETYPE_VARINT:
      read = in_.ReadVarint64(&ignored);
      break;
    case WireFormatLite::WIRETYPE_FIXED64:
      read = in_.Skip(8);
      break;
    case WireFormatLite::WIRETYPE_FIXED32:
      read = in_.Skip(4);
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
      read = ReadPayload("", &payload).ok();
      break;
    default:  // groups: nested, and nothing of hawser's ever was one
      return WrongType(absl::StrCat(field));
  }
  return read ? absl::OkStatus() : Ends(absl::StrCat("field ", field));
}

absl::Status ColumnReader::ReadField(int field) {
  ModuleColumns& c = columns_;
  const int64_t entries = limits_.instructions;  // of any of the tables
#define HAWSER_COLUMN_(kind, Number, member, limit) \
  case ModuleProto::k##Number##FieldNumber:         \
    return Read##kind(#member, limit, &c.member)
  switch (field) {
    case ModuleProto::kNameFieldNumber:
      return ReadText("name", &c.name);
    case ModuleProto::kOpsetFieldNumber:
      if (wire_type_ != WireFormatLite::WIRETYPE_VARINT) {
        return WrongType("opset");
      }
      return ReadNumber(&in_, "opset", &c.opset);
      HAWSER_COLUMN_(Texts, Strings, strings, entries);
      HAWSER_COLUMN_(Numbers, ShapeDtype, shape_dtype, entries);
      HAWSER_COLUMN_(Numbers, ShapeRank, shape_rank, entries);
      HAWSER_COLUMN_(Numbers, ShapeDims, shape_dims, kMaxRank * entries);
      HAWSER_COLUMN_(Texts, ComputationName, computation_name,
                     limits_.computations);
      HAWSER_COLUMN_(Numbers, ComputationInstructions, computation_instructions,
                     limits_.computations);
      HAWSER_COLUMN_(Numbers, ComputationResults, computation_results,
                     limits_.computations);
      HAWSER_COLUMN_(Numbers, Results, results, limits_.operands);
      HAWSER_COLUMN_(Numbers, Op, op, limits_.instructions);
      HAWSER_COLUMN_(Numbers, NumOperands, num_operands, limits_.instructions);
      HAWSER_COLUMN_(Numbers, NumResults, num_results, limits_.instructions);
      HAWSER_COLUMN_(Numbers, NumCalled, num_called, limits_.instructions);
      HAWSER_COLUMN_(Numbers, NumAttributes, num_attributes,
                     limits_.instructions);
      HAWSER_COLUMN_(Numbers, Operands, operands, limits_.operands);
      HAWSER_COLUMN_(Numbers, ResultShape, result_shape, limits_.operands);
      HAWSER_COLUMN_(Numbers, Called, called, limits_.operands);
      HAWSER_COLUMN_(Numbers, AttributeName, attribute_name, limits_.operands);
      HAWSER_COLUMN_(Numbers, AttributeKind, attribute_kind, limits_.operands);
      HAWSER_COLUMN_(Numbers, AttributeSize, attribute_size, limits_.operands);
      HAWSER_COLUMN_(Numbers, AttributeValues, attribute_values,
                     limits_.operands);
      HAWSER_COLUMN_(Blobs, Blobs, blobs, entries);
    default:
      return Skip(field);
  }
#undef HAWSER_COLUMN_
}

absl::Status CheckSum(absl::string_view counts_name,
                      const ModuleColumns::Numbers& counts,
                      absl::string_view counted_name, size_t counted) {
  const uint64_t sum =
      std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (sum == counted) return absl::OkStatus();
  return InvalidArgument(counts_name, " add up to ", sum, ", ", counted_name,
                         " has ", counted);
}

absl::Status CheckSame(absl::string_view a_name, size_t a,
                       absl::string_view b_name, size_t b) {
  if (a == b) return absl::OkStatus();
  return InvalidArgument(b_name, " has ", b, " entries, ", a_name, " has ", a);
}

}  // namespace

absl::Status MemoryBudget::Take(int64_t bytes) {
  if (bytes > left_) {
    return ResourceExhausted("module takes more than ", limit_,
                             " bytes of memory");
  }
  left_ -= bytes;
  return absl::OkStatus();
}

absl::StatusOr<ModuleColumns> ReadColumns(absl::string_view bytes,
                                          const ModuleLimits& limits,
                                          MemoryBudget* budget) {
  const int64_t size = bytes.size();
  if (size > std::min<int64_t>(limits.bytes, std::numeric_limits<int>::max())) {
    return ResourceExhausted("module has ", size, " bytes, the limit is ",
                             limits.bytes);
  }
  return ColumnReader(bytes, limits, budget).Read();
}

absl::Status CheckLengths(const ModuleColumns& c) {
#define HAWSER_SAME_(a, b) \
  HAWSER_RETURN_IF_ERROR(CheckSame(#a, c.a.size(), #b, c.b.size()))
#define HAWSER_SUM_(counts, counted) \
  HAWSER_RETURN_IF_ERROR(            \
      CheckSum(#counts, c.counts, #counted, c.counted.size()))
  HAWSER_SAME_(shape_dtype, shape_rank);
  HAWSER_SUM_(shape_rank, shape_dims);
  HAWSER_SAME_(computation_name, computation_instructions);
  HAWSER_SAME_(computation_name, computation_results);
  HAWSER_SUM_(computation_instructions, op);
  HAWSER_SUM_(computation_results, results);
  HAWSER_SAME_(op, num_operands);
  HAWSER_SAME_(op, num_results);
  HAWSER_SAME_(op, num_called);
  HAWSER_SAME_(op, num_attributes);
  HAWSER_SUM_(num_operands, operands);
  HAWSER_SUM_(num_results, result_shape);
  HAWSER_SUM_(num_called, called);
  HAWSER_SUM_(num_attributes, attribute_name);
  HAWSER_SAME_(attribute_name, attribute_kind);
  HAWSER_SAME_(attribute_name, attribute_size);
  HAWSER_SUM_(attribute_size, attribute_values);
#undef HAWSER_SUM_
#undef HAWSER_SAME_
  return absl::OkStatus();
}

std::string QuotedWireText(absl::string_view text) {
  constexpr size_t kMost = 64;
  return absl::StrCat("\"", absl::CEscape(text.substr(0, kMost)), "\"",
                      text.size() > kMost ? "..." : "");
}

}  // namespace hawser
