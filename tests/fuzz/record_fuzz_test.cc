// Arbitrary bytes as what a server keeps on disk: as they are, and as the
// payload of a record whose magic, version and digest are right.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "server/datasets/storage/record.h"

namespace hawser::server {
namespace {

void PutInteger(uint64_t value, std::string* out) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> 8 * i));
}

std::string Sealed(absl::string_view magic, const std::string& payload) {
  std::string out(magic);
  PutInteger(1, &out);
  PutInteger(payload.size(), &out);
  out += payload;
  const Digest digest = Sha256(out);
  out.append(digest.bytes().data(), Digest::kSize);
  return out;
}

void CheckRefusal(const absl::Status& why) {
  HAWSER_CHECK(why.code() == absl::StatusCode::kDataLoss);
  HAWSER_CHECK(!why.message().empty() && why.message().size() < 16384);
}

void CheckDataset(const std::string& bytes) {
  const auto record = DecodeDataset(bytes);
  if (!record.ok()) return CheckRefusal(record.status());
  HAWSER_CHECK(CheckManifest(record->manifest).ok());
  // There is one way to write a record.
  HAWSER_CHECK(EncodeDataset(*record) == bytes);
}

void CheckChunk(const std::string& bytes) {
  const auto header = DecodeChunkHeader(bytes);
  if (!header.ok()) return CheckRefusal(header.status());
  const std::string again = EncodeChunkHeader(*header);
  HAWSER_CHECK(again.compare(0, bytes.size(), bytes) == 0);
}

}  // namespace
}  // namespace hawser::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hawser::server;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  CheckDataset(bytes);
  CheckDataset(Sealed("hawserDS", bytes));
  CheckChunk(bytes);
  CheckChunk(Sealed("hawserCH", bytes));
  return 0;
}
