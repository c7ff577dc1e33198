#include "client/digests/digest_record.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hawser {
namespace {

// The last character counts the forms there were.
constexpr absl::string_view kMagic = "hawserF1";

void PutInteger(uint64_t value, std::string* out) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> 8 * i));
}

void PutText(absl::string_view text, std::string* out) {
  PutInteger(text.size(), out);
  absl::StrAppend(out, text);
}

// Takes fields off the front; once one is missing, `ok` is false for good.
class RecordFields {
 public:
  explicit RecordFields(absl::string_view bytes) : rest_(bytes) {}

  absl::string_view Bytes(uint64_t count) {
    ok_ = ok_ && count <= rest_.size();
    if (!ok_) return "";
    const absl::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  uint64_t Integer() {
    uint64_t value = 0;
    const absl::string_view bytes = Bytes(8);
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << 8 * i;
    }
    return value;
  }
  std::string Text() { return std::string(Bytes(Integer())); }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

void PutArray(const ArrayManifest& array, std::string* out) {
  PutText(array.name, out);
  PutInteger(static_cast<uint64_t>(array.shape.dtype()), out);
  PutInteger(array.shape.rank(), out);
  for (const int64_t size : array.shape.dims()) PutInteger(size, out);
  for (const Digest& chunk : array.chunks) {
    absl::StrAppend(out, chunk.bytes());
  }
}

std::optional<ArrayManifest> TakeArray(RecordFields& in) {
  ArrayManifest array;
  array.name = in.Text();
  const uint64_t dtype = in.Integer(), rank = in.Integer();
  if (!in.ok() || dtype >= kNumDTypes || rank > kMaxRank) return std::nullopt;
  Dims dims;
  for (uint64_t a = 0; a < rank; ++a) {
    dims.push_back(static_cast<int64_t>(in.Integer()));
  }
  auto shape = Shape::Make(static_cast<DType>(dtype), dims);
  if (!in.ok() || !shape.ok()) return std::nullopt;
  array.shape = *std::move(shape);
  for (int64_t i = array.num_chunks(); i > 0 && in.ok(); --i) {
    auto chunk = Digest::FromBytes(in.Bytes(Digest::kSize));
    if (chunk.ok()) array.chunks.push_back(*chunk);
  }
  if (!in.ok()) return std::nullopt;
  return array;
}

}  // namespace

std::string EncodeDigestRecord(const DigestRecord& record) {
  const FileVersion& version = record.version;
  std::string out(kMagic);
  for (const uint64_t field :
       {version.device, version.inode, static_cast<uint64_t>(version.size),
        static_cast<uint64_t>(version.modified_ns),
        static_cast<uint64_t>(version.changed_ns)}) {
    PutInteger(field, &out);
  }
  PutText(record.reading, &out);
  for (const ArrayManifest& array : record.arrays) PutArray(array, &out);
  absl::StrAppend(&out, Sha256(out).bytes());
  return out;
}

std::optional<DigestRecord> DecodeDigestRecord(absl::string_view bytes) {
  if (bytes.size() < kMagic.size() + Digest::kSize) return std::nullopt;
  absl::string_view front = bytes.substr(0, bytes.size() - Digest::kSize);
  if (Sha256(front).bytes() != bytes.substr(front.size())) return std::nullopt;
  if (!absl::ConsumePrefix(&front, kMagic)) return std::nullopt;
  RecordFields in(front);
  DigestRecord record;
  record.version.device = in.Integer();
  record.version.inode = in.Integer();
  record.version.size = static_cast<int64_t>(in.Integer());
  record.version.modified_ns = static_cast<int64_t>(in.Integer());
  record.version.changed_ns = static_cast<int64_t>(in.Integer());
  record.reading = in.Text();
  while (in.ok() && !in.AtEnd()) {
    auto array = TakeArray(in);
    if (!array.has_value()) return std::nullopt;
    record.arrays.push_back(*std::move(array));
  }
  if (!in.ok()) return std::nullopt;
  return record;
}

}  // namespace hawser
