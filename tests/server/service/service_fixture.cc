#include "tests/server/service/service_fixture.h"

#include <algorithm>

namespace hawser::testing {
namespace {

constexpr size_t kFrame = 100000;

}  // namespace

v1::UploadChunk UploadFrame(const RawSession& session, uint64_t handle,
                            absl::string_view data) {
  v1::UploadChunk frame;
  frame.set_session_id(session.id());
  frame.set_secret(session.secret());
  frame.set_handle(handle);
  frame.set_data(data.data(), data.size());
  return frame;
}

v1::PutChunk PutFrame(absl::string_view digest, uint64_t chunk_bytes,
                      absl::string_view data) {
  v1::PutChunk frame;
  frame.set_upload(kPutNumber);
  frame.set_digest(digest.data(), digest.size());
  frame.set_chunk_bytes(chunk_bytes);
  frame.set_data(data.data(), data.size());
  return frame;
}

std::string PutArray(const std::shared_ptr<grpc::Channel>& channel,
                     const Literal& value) {
  const DatasetManifest manifest = ManifestOf({{{"", value}}}, 1);
  const ArrayManifest& array = manifest.arrays[0];
  std::vector<v1::PutChunk> frames;
  for (int64_t i = 0; i < array.num_chunks(); ++i) {
    absl::string_view rest(value.bytes().data() + i * kChunkBytes,
                           array.chunk_size(i));
    absl::string_view digest = array.chunks[i].bytes();
    for (; !rest.empty(); rest.remove_prefix(std::min(kFrame, rest.size()))) {
      frames.push_back(
          PutFrame(digest, array.chunk_size(i), rest.substr(0, kFrame)));
      digest = "";
    }
  }
  const auto put = CallMethod<v1::PutReply>(channel, kPut, frames);
  EXPECT_OK(put.status);
  v1::CommitRequest commit;
  commit.set_upload(kPutNumber);
  *commit.mutable_manifest() = ToProto(manifest);
  commit.set_wait_durable(true);
  const auto committed = CallMethod<v1::DatasetInfoProto>(
      channel, kCommit, std::vector<v1::CommitRequest>{commit});
  EXPECT_OK(committed.status);
  return committed.status.ok() ? committed.answer().token() : "";
}

}  // namespace hawser::testing
