#include "server/datasets/storage/record.h"

#include <limits>
#include <utility>

#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr absl::string_view kChunkMagic = "hawserCH";
constexpr absl::string_view kDatasetMagic = "hawserDS";
constexpr absl::string_view kNamesMagic = "hawserTN";
constexpr uint64_t kVersion = 1;
constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

void PutInteger(uint64_t value, std::string* out) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> 8 * i));
}

void PutText(absl::string_view text, std::string* out) {
  PutInteger(text.size(), out);
  out->append(text.data(), text.size());
}

// Takes fields off the front; after the first that is not there, all fail.
class Reader {
 public:
  explicit Reader(absl::string_view rest) : rest_(rest) {}

  bool ok() const { return ok_; }
  absl::string_view rest() const { return rest_; }
  absl::string_view Take(uint64_t n) {
    if (!ok_ || n > rest_.size()) {
      ok_ = false;
      return {};
    }
    const absl::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }
  uint64_t Integer() {
    uint64_t value = 0;
    const absl::string_view bytes = Take(8);
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    }
    return value;
  }
  absl::string_view Text() { return Take(Integer()); }
  Digest TakeDigest() {
    auto digest = Digest::FromBytes(Take(Digest::kSize));
    return digest.ok() ? *digest : Digest();
  }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

// Checks magic, version and the digest at the end; returns what lies between.
// After the digest there are zeros up to `padded_to` bytes, 0: nothing.
absl::StatusOr<absl::string_view> Open(absl::string_view magic,
                                       absl::string_view bytes,
                                       size_t padded_to) {
  Reader in(bytes);
  if (in.Take(magic.size()) != magic || !in.ok()) {
    return DataLoss("not a file of this kind");
  }
  const uint64_t version = in.Integer();
  if (!in.ok() || version != kVersion) {
    return DataLoss("format version ", version, ", this server reads ",
                    kVersion);
  }
  const absl::string_view payload = in.Text();
  const absl::string_view covered =
      bytes.substr(0, bytes.size() - in.rest().size());
  const Digest claimed = in.TakeDigest();
  if (!in.ok() || claimed != Sha256(covered)) {
    return DataLoss("the header does not match its digest");
  }
  const absl::string_view rest = in.rest();
  if (rest.find_first_not_of('\0') != absl::string_view::npos ||
      (!rest.empty() && bytes.size() != padded_to)) {
    return DataLoss("there are ", rest.size(), " bytes behind the digest");
  }
  return payload;
}

std::string Close(absl::string_view magic, absl::string_view payload) {
  std::string out(magic);
  PutInteger(kVersion, &out);
  PutText(payload, &out);
  const Digest digest = Sha256(out);
  out.append(digest.bytes().data(), Digest::kSize);
  return out;
}

absl::StatusOr<ArrayManifest> ReadArray(Reader& in) {
  ArrayManifest array;
  array.name = std::string(in.Text());
  const uint64_t dtype = in.Integer();
  const uint64_t rank = in.Integer();
  if (!in.ok() || dtype >= kNumDTypes || rank > kMaxRank) {
    return DataLoss("a damaged array record");
  }
  Dims dims;
  for (uint64_t i = 0; i < rank; ++i) {
    dims.push_back(static_cast<int64_t>(in.Integer()));
  }
  auto shape = Shape::Make(static_cast<DType>(dtype), dims);
  if (!shape.ok()) return DataLoss(shape.status().message());
  array.shape = *std::move(shape);
  absl::string_view digests = in.Text();
  if (!in.ok() || digests.size() % Digest::kSize != 0) {
    return DataLoss("a damaged list of chunks");
  }
  for (; !digests.empty(); digests.remove_prefix(Digest::kSize)) {
    array.chunks.push_back(
        *Digest::FromBytes(digests.substr(0, Digest::kSize)));
  }
  return array;
}

}  // namespace

std::string EncodeChunkHeader(const ChunkHeader& header) {
  std::string payload(header.digest.bytes());
  PutInteger(header.bytes, &payload);
  PutText(header.tenant, &payload);
  std::string out = Close(kChunkMagic, payload);
  HAWSER_CHECK(static_cast<int64_t>(out.size()) <= kChunkHeaderBytes);
  out.resize(kChunkHeaderBytes, '\0');
  return out;
}

absl::StatusOr<ChunkHeader> DecodeChunkHeader(absl::string_view bytes) {
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view payload,
                          Open(kChunkMagic, bytes, kChunkHeaderBytes));
  Reader in(payload);
  ChunkHeader header;
  header.digest = in.TakeDigest();
  header.bytes = static_cast<int64_t>(in.Integer());
  header.tenant = std::string(in.Text());
  if (!in.ok() || !in.rest().empty() || header.bytes <= 0 ||
      header.bytes > kChunkBytes || header.tenant.size() > kMaxTenantBytes) {
    return DataLoss("a damaged chunk header");
  }
  return header;
}

std::string EncodeDataset(const DatasetRecord& record) {
  std::string payload;
  PutText(record.tenant, &payload);
  PutInteger(record.manifest.arrays.size(), &payload);
  for (const ArrayManifest& array : record.manifest.arrays) {
    PutText(array.name, &payload);
    PutInteger(static_cast<uint64_t>(array.shape.dtype()), &payload);
    PutInteger(array.shape.rank(), &payload);
    for (int64_t d : array.shape.dims()) PutInteger(d, &payload);
    PutInteger(array.chunks.size() * Digest::kSize, &payload);
    for (const Digest& chunk : array.chunks) {
      payload.append(chunk.bytes().data(), Digest::kSize);
    }
  }
  return Close(kDatasetMagic, payload);
}

absl::StatusOr<DatasetRecord> DecodeDataset(absl::string_view bytes) {
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view payload,
                          Open(kDatasetMagic, bytes, 0));
  Reader in(payload);
  DatasetRecord record;
  record.tenant = std::string(in.Text());
  const uint64_t arrays = in.Integer();
  for (uint64_t i = 0; in.ok() && i < arrays; ++i) {
    HAWSER_ASSIGN_OR_RETURN(ArrayManifest array, ReadArray(in));
    record.manifest.arrays.push_back(std::move(array));
  }
  if (!in.ok() || !in.rest().empty()) {
    return DataLoss("a damaged dataset record");
  }
  const absl::Status sound = CheckManifest(record.manifest);
  if (!sound.ok()) return DataLoss(sound.message());
  return record;
}

// A pin without an end is the largest number there is, as in the protocol.
std::string EncodeNames(const NamesRecord& record) {
  std::string payload;
  PutText(record.tenant, &payload);
  PutInteger(record.tags.size(), &payload);
  for (const auto& [name, dataset] : record.tags) {
    PutText(name, &payload);
    payload.append(dataset.bytes().data(), Digest::kSize);
  }
  PutInteger(record.pins.size(), &payload);
  for (const auto& [dataset, until] : record.pins) {
    payload.append(dataset.bytes().data(), Digest::kSize);
    PutInteger(static_cast<uint64_t>(until == absl::InfiniteFuture()
                                         ? kForEver
                                         : absl::ToUnixMillis(until)),
               &payload);
  }
  return Close(kNamesMagic, payload);
}

absl::StatusOr<NamesRecord> DecodeNames(absl::string_view bytes) {
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view payload,
                          Open(kNamesMagic, bytes, 0));
  Reader in(payload);
  NamesRecord record;
  record.tenant = std::string(in.Text());
  const uint64_t tags = in.Integer();
  for (uint64_t i = 0; in.ok() && i < tags; ++i) {
    std::string name(in.Text());
    const absl::Status sound = CheckTag(name);
    if (!sound.ok()) return DataLoss(sound.message());
    record.tags.emplace_back(std::move(name), in.TakeDigest());
  }
  const uint64_t pins = in.Integer();
  for (uint64_t i = 0; in.ok() && i < pins; ++i) {
    const Digest dataset = in.TakeDigest();
    const int64_t until = static_cast<int64_t>(in.Integer());
    record.pins.emplace_back(dataset, until == kForEver
                                          ? absl::InfiniteFuture()
                                          : absl::FromUnixMillis(until));
  }
  if (!in.ok() || !in.rest().empty()) {
    return DataLoss("a damaged record of names");
  }
  return record;
}

}  // namespace hawser::server
