// One tenant has a server remember as much of datasets as it will; it is
// refused by name, and another one's large values pass, also after a restart.
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/hawser.h"
#include "core/base/digest.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "proto/datasets.grpc.pb.h"
#include "proto/grpc_status.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::string_view kGreedy = "greedy-tenants-token-0123456789ab";
constexpr absl::string_view kQuiet = "quiet-tenants-token-0123456789abc";
constexpr absl::Duration kPatience = absl::Seconds(60);

std::string EightBytes(uint64_t number) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &number, 8);
  return bytes;
}

// The greedy tenant's calls.
class Greedy {
 public:
  explicit Greedy(const std::string& address)
      : stub_(v1::Datasets::NewStub(grpc::CreateChannel(
            address, grpc::InsecureChannelCredentials()))) {}

  // Chunks of these numbers, eight bytes each.
  absl::Status PutChunks(uint64_t upload, uint64_t first, int count) {
    const auto context = Context();
    v1::PutReply reply;
    const auto stream = stub_->Put(context.get());
    for (int i = 0; i < count; ++i) {
      const std::string bytes = EightBytes(first + i);
      v1::PutChunk frame;
      frame.set_upload(upload);
      frame.set_digest(std::string(Sha256(bytes).bytes()));
      frame.set_chunk_bytes(bytes.size());
      frame.set_data(bytes);
      if (!stream->Write(frame)) break;
    }
    stream->WritesDone();
    while (stream->Read(&reply)) {
    }
    return FromGrpc(stream->Finish());
  }
  absl::Status FindMissing(uint64_t upload, uint64_t first, int count) {
    v1::FindMissingRequest request;
    request.set_upload(upload);
    for (int i = 0; i < count; ++i) {
      request.mutable_digests()->append(
          std::string(Sha256(EightBytes(first + i)).bytes()));
    }
    v1::FindMissingReply reply;
    return FromGrpc(stub_->FindMissing(Context().get(), request, &reply));
  }
  // A dataset of `arrays` arrays of one chunk, with names of so many bytes.
  absl::Status Commit(uint64_t upload, uint64_t chunk, int arrays,
                      size_t name) {
    v1::CommitRequest request;
    request.set_upload(upload);
    for (int i = 0; i < arrays; ++i) {
      auto* array = request.mutable_manifest()->add_arrays();
      std::string text = absl::StrCat(10'000 + i, "_", upload);
      if (text.size() < name) text.resize(name, 'x');
      array->set_name(text);
      *array->mutable_shape() = ToProto(Shape::Of(DType::kU8, {8}));
      array->set_chunks(std::string(Sha256(EightBytes(chunk)).bytes()));
    }
    v1::DatasetInfoProto info;
    const auto status =
        FromGrpc(stub_->Commit(Context().get(), request, &info));
    token_ = info.token();
    return status;
  }
  absl::Status Tag(const std::string& name) {
    v1::TagRequest request;
    request.set_name(name);
    request.set_token(token_);
    v1::TagReply reply;
    return FromGrpc(stub_->Tag(Context().get(), request, &reply));
  }

 private:
  static std::unique_ptr<grpc::ClientContext> Context() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->AddMetadata("authorization", absl::StrCat("Bearer ", kGreedy));
    return context;
  }
  const std::unique_ptr<v1::Datasets::Stub> stub_;
  std::string token_;
};

// A way in which what is remembered grows: step `i` of it.
struct Way {
  const char* name;
  std::function<absl::Status(Greedy&, int i)> step;
  const char* refusal;
  const char* remedy;
  int most_steps;
  // With a disk it would go on for as long as the disk needs.
  bool in_memory_alone = false;
};

absl::Status CommitOne(Greedy& greedy, int i, int arrays, size_t name) {
  if (i == 0) HAWSER_RETURN_IF_ERROR(greedy.PutChunks(1, 0, 1));
  HAWSER_RETURN_IF_ERROR(greedy.FindMissing(i + 1, 0, 1));
  return greedy.Commit(i + 1, 0, arrays, name);
}

const std::vector<Way>& Ways() {
  static const auto& ways = *new std::vector<Way>{
      {"LongNames", [](Greedy& g, int i) { return CommitOne(g, i, 100, 100); },
       "bytes of memory for names and digests", "hawser rm", 5000},
      {"ManyArrays", [](Greedy& g, int i) { return CommitOne(g, i, 1000, 0); },
       "bytes of memory for names and digests", "hawser rm", 5000},
      {"OneArrayEach", [](Greedy& g, int i) { return CommitOne(g, i, 1, 20); },
       "quota of 20000 datasets", "hawser rm", 30000},
      {"ChunksWithoutADataset",
       [](Greedy& g, int i) { return g.PutChunks(1, i * 20'000, 20'000); },
       "index of datasets", "delete datasets", 100, true},
      {"UploadsThatHold",
       [](Greedy& g, int i) {
         if (i == 0) HAWSER_RETURN_IF_ERROR(g.PutChunks(1, 0, 20'000));
         return g.FindMissing(i + 2, 0, 20'000);
       },
       "uploads hold", "ends with its Commit", 100},
      {"Tags",
       [](Greedy& g, int i) {
         if (i == 0) HAWSER_RETURN_IF_ERROR(CommitOne(g, 0, 1, 0));
         std::string name = absl::StrCat("@", i);
         name.resize(120, 'x');
         return g.Tag(name);
       },
       "10000 tags", "--delete", 11000, true},
  };
  return ways;
}

class IndexLimitsTest : public ::testing::TestWithParam<int> {
 protected:
  const Way& way() const { return Ways()[GetParam() / 2]; }
  bool on_disk() const { return GetParam() % 2 == 1; }

  void Start() {
    const auto line = [](absl::string_view tenant, absl::string_view token) {
      return absl::StrCat(tenant, " ", Sha256(token).ToHex(), "\n");
    };
    std::vector<std::string> flags = {
        "--device=cpu", "--memory=384MiB", "--tenant_datasets=20000",
        "--tokens_file=" +
            folder_.Write("tokens", absl::StrCat(line("quiet", kQuiet),
                                                 line("greedy", kGreedy)))};
    if (on_disk()) flags.push_back("--data_dir=" + folder_.Path("data"));
    ASSERT_OK_AND_ASSIGN(Process server, StartHawserd(flags, &address_));
    server_ = std::make_unique<Process>(std::move(server));
  }
  void ExpectLargeValuesPass() {
    ASSERT_OK_AND_ASSIGN(const Client client,
                         Connect({.servers = {address_},
                                  .credentials = {.token = std::string(kQuiet)},
                                  .fallback = Client()}));
    auto sum = Jit([](Tensor x) { return Sum(x); }).With({.client = client});
    const int64_t n = int64_t{4} << 20;
    for (int i = 0; i < 6; ++i) {
      const std::vector<float> ones(n, 1.0f);
      ASSERT_OK_AND_ASSIGN(const Tensor total,
                           sum(Literal::Of<float>(ones, {n})));
      ASSERT_OK_AND_ASSIGN(const Literal value,
                           total.Fetch({.call = {.deadline = kPatience}}));
      EXPECT_EQ(value.data<float>()[0], static_cast<float>(n));
    }
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Process> server_;
};

TEST_P(IndexLimitsTest, IsTheTenantsOwn) {
  if (on_disk() && way().in_memory_alone) return;
  Start();
  ExpectLargeValuesPass();
  absl::Status refused;
  int steps = 0;
  {
    Greedy greedy(address_);
    for (; refused.ok() && steps < way().most_steps; ++steps) {
      refused = way().step(greedy, steps);
    }
  }
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted, way().refusal));
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted, way().remedy));
  std::cout << way().name << ": " << steps << " steps, " << refused << "\n";
  ExpectLargeValuesPass();
  if (on_disk()) {
    server_->Signal(SIGTERM);
    ASSERT_OK(server_->Wait(kPatience));
    Start();
    ExpectLargeValuesPass();
  }
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(kPatience).value_or(-1), 0) << server_->output();
  EXPECT_LT(server_->peak_memory(), 576 << 20) << server_->output();
}

INSTANTIATE_TEST_SUITE_P(Ways, IndexLimitsTest,
                         ::testing::Range(0,
                                          2 * static_cast<int>(Ways().size())),
                         [](const auto& info) {
                           return absl::StrCat(
                               Ways()[info.param / 2].name,
                               info.param % 2 == 1 ? "OnDisk" : "InMemory");
                         });

}  // namespace
}  // namespace hawser::testing
