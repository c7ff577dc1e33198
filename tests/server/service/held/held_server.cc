#include "tests/server/service/held/held_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

absl::Status ToStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace

HeldServer::HeldServer(std::vector<std::string> flags) {
  flags.push_back("--device=cpu");
  auto started = StartHawserd(flags, &address_);
  EXPECT_OK(started);
  process_ = std::make_unique<Process>(*std::move(started));
  datasets_ = v1::Datasets::NewStub(NewChannel());
}

std::shared_ptr<grpc::Channel> HeldServer::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(),
                                   arguments);
}

Held HeldServer::Once() {
  process_->Signal(SIGUSR1);
  const auto line = process_->ReadLineWith("hawserd state ", kPatience);
  EXPECT_OK(line);
  Held held;
  for (absl::string_view word : absl::StrSplit(line.value_or(""), ' ')) {
    for (const auto& [name, into] :
         {std::pair{"resident_bytes=", &held.resident},
          std::pair{"heap_bytes=", &held.heap},
          std::pair{"held_bytes=", &held.charged}}) {
      if (!absl::ConsumePrefix(&word, name)) continue;
      EXPECT_TRUE(absl::SimpleAtoi(word, into));
    }
  }
  return held;
}

Held HeldServer::Measure() {
  Held before = Once();
  for (int i = 0; i < 50; ++i) {
    absl::SleepFor(absl::Milliseconds(60));
    const Held now = Once();
    if (now.heap == before.heap && now.charged == before.charged) return now;
    before = now;
  }
  return before;
}

void HeldServer::FindMissing(uint64_t upload,
                             const std::vector<Digest>& digests) {
  v1::FindMissingRequest request;
  request.set_upload(upload);
  for (const Digest& digest : digests) {
    request.mutable_digests()->append(std::string(digest.bytes()));
  }
  v1::FindMissingReply reply;
  grpc::ClientContext context;
  EXPECT_OK(ToStatus(datasets_->FindMissing(&context, request, &reply)));
}

void HeldServer::PutChunks(uint64_t upload,
                           const std::vector<std::string>& chunks) {
  grpc::ClientContext context;
  v1::PutReply reply;
  const auto stream = datasets_->Put(&context);
  for (const std::string& chunk : chunks) {
    v1::PutChunk frame;
    frame.set_upload(upload);
    frame.set_digest(std::string(Sha256(chunk).bytes()));
    frame.set_chunk_bytes(chunk.size());
    frame.set_data(chunk);
    if (!stream->Write(frame)) break;
  }
  stream->WritesDone();
  while (stream->Read(&reply)) {
  }
  EXPECT_OK(ToStatus(stream->Finish()));
}

absl::Status HeldServer::TryCommit(uint64_t upload,
                                   const DatasetManifest& manifest) {
  v1::CommitRequest request;
  request.set_upload(upload);
  request.set_wait_durable(true);
  for (const ArrayManifest& array : manifest.arrays) {
    auto* added = request.mutable_manifest()->add_arrays();
    added->set_name(array.name);
    *added->mutable_shape() = ToProto(array.shape);
    for (const Digest& chunk : array.chunks) {
      added->mutable_chunks()->append(std::string(chunk.bytes()));
    }
  }
  v1::DatasetInfoProto info;
  grpc::ClientContext context;
  return ToStatus(datasets_->Commit(&context, request, &info));
}

std::string HeldServer::Commit(uint64_t upload,
                               const DatasetManifest& manifest) {
  EXPECT_OK(TryCommit(upload, manifest));
  return TokenOf(manifest);
}

absl::Status HeldServer::Tag(const std::string& name,
                             const std::string& token) {
  v1::TagRequest request;
  request.set_name(name);
  request.set_token(token);
  v1::TagReply reply;
  grpc::ClientContext context;
  return ToStatus(datasets_->Tag(&context, request, &reply));
}

absl::Status HeldServer::Pin(const std::string& token) {
  v1::PinRequest request;
  request.set_token(token);
  request.set_ttl_ms(3'600'000);
  v1::DatasetInfoProto info;
  grpc::ClientContext context;
  return ToStatus(datasets_->Pin(&context, request, &info));
}

std::string EightBytes(uint64_t number) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &number, 8);
  return bytes;
}

DatasetManifest ManifestOfChunks(
    const std::vector<std::pair<std::string, std::string>>& arrays) {
  DatasetManifest manifest;
  for (const auto& [name, bytes] : arrays) {
    manifest.arrays.push_back(
        {name,
         Shape::Of(DType::kU8, {static_cast<int64_t>(bytes.size())}),
         {Sha256(bytes)}});
  }
  std::sort(manifest.arrays.begin(), manifest.arrays.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return manifest;
}

}  // namespace hawser::testing
