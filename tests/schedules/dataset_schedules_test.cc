// Datasets over links and servers that fail: what a token names is what was
// put, whoever was cut off meanwhile, and a chunk counts only once verified.
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/runtime/dataset.h"
#include "gtest/gtest.h"
#include "tests/schedules/programs.h"
#include "tests/schedules/schedules.h"
#include "tests/schedules/world.h"

namespace hawser {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;

constexpr int kArgumentModule = 2;  // (f32[4], f32[4]) -> sum, difference

struct Put {
  DatasetSource source;
  std::string token;
  std::atomic<bool> done{false};     // a put of it was answered
  std::atomic<bool> durable{false};  // and said it would stay
};

Literal RandomBytes(int64_t n, Random& random) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU8, {n}));
  for (uint8_t& byte : out.mutable_data<uint8_t>()) {
    byte = static_cast<uint8_t>(random.Bits());
  }
  return out;
}

// Some datasets, and threads that put them, look and read.
class DatasetSchedule {
 public:
  DatasetSchedule(uint64_t seed, const std::string& data_dir)
      : seed_(seed),
        random_(seed ^ 0xda7a),
        world_(seed, {.datasets = {.data_dir = data_dir}}),
        fallback_(random_.OneIn(4)),
        client_(fallback_ ? world_.ConnectWithFallback() : world_.Connect()) {
    for (int64_t left = random_.Between(1, 3); left > 0; --left) DrawPut();
  }

  absl::Status Run() {
    std::vector<absl::Status> statuses(random_.Between(1, 3));
    const int steps = static_cast<int>(random_.Between(4, 14));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < statuses.size(); ++i) {
      threads.emplace_back([&, i] {
        Random random(seed_ * 4 + i);
        for (int step = 0; step < steps && statuses[i].ok(); ++step) {
          statuses[i] = Step(random);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& status : statuses) HAWSER_RETURN_IF_ERROR(status);
    client_.reset();
    world_.server().EndAccidents();
    HAWSER_RETURN_IF_ERROR(CheckChunks());
    return world_.CheckNothingIsLeft();
  }

 private:
  Literal DrawArray();
  void DrawPut();
  absl::Status Step(Random& random);
  absl::Status PutOne(Put& put);
  absl::Status Stat(const Put& put);
  absl::Status Get(const Put& put, Random& random);
  absl::Status UseAsArgument(const Put& put, Random& random);
  // OK for an error that is explained.
  absl::Status Judge(absl::string_view step, const absl::Status& error,
                     bool may_be_missing, std::vector<CallKind> kinds);
  bool MayBeMissing(const Put& put) const;
  absl::Status CheckChunks();
  absl::Status CheckChunk(server::DatasetStore& store, const Digest& digest,
                          absl::Span<const char> bytes);

  const uint64_t seed_;
  Random random_;
  World world_;
  const bool fallback_;
  std::shared_ptr<runtime::Client> client_;
  std::deque<Put> puts_;
};

Literal DatasetSchedule::DrawArray() {
  switch (random_.Below(8)) {
    case 0:
      return RandomBytes(0, random_);
    case 1:  // all alike, also with other arrays
      return Literal::Zeros(Shape::Of(DType::kU8, {100000}));
    case 2:
      return RandomBytes(random_.Between(60000, 200000), random_);
    case 3:
      if (!random_.OneIn(6)) break;
      return RandomBytes(kChunkBytes + random_.Between(1, 70000), random_);
    case 4:
      return RandomBytes(random_.Between(1, 3000), random_);
    default:
      break;
  }
  return RandomLiteral(Reference::Shared().signature(kArgumentModule)
                           .parameters[0],
                       random_);
}

void DatasetSchedule::DrawPut() {
  Put& put = puts_.emplace_back();
  const int64_t arrays = random_.Between(1, 3);
  for (int64_t i = 0; i < arrays; ++i) {
    put.source.arrays.push_back(
        {arrays == 1 ? "" : absl::StrCat("array ", i), DrawArray()});
  }
  HAWSER_CHECK(NormalizeSource(&put.source).ok());
  put.token = TokenOf(ManifestOf(put.source, 1));
}

absl::Status DatasetSchedule::Judge(absl::string_view step,
                                    const absl::Status& error,
                                    bool may_be_missing,
                                    std::vector<CallKind> kinds) {
  // With a fallback nobody can say so while the server is away.
  if (may_be_missing &&
      (error.code() == StatusCode::kNotFound ||
       (fallback_ && error.code() == StatusCode::kUnavailable))) {
    return absl::OkStatus();
  }
  if (error.code() == StatusCode::kDataLoss && step == "put" &&
      world_.plan().corrupted() > 0) {
    return absl::OkStatus();
  }
  const bool hit =
      std::any_of(kinds.begin(), kinds.end(), [this](CallKind kind) {
        return world_.plan().hit(kind) > 0;
      });
  if (error.code() == StatusCode::kUnavailable && !fallback_ &&
      (!world_.gentle() || hit)) {
    return absl::OkStatus();
  }
  return Annotate(error, step);
}

bool DatasetSchedule::MayBeMissing(const Put& put) const {
  if (!put.done) return true;
  // A server that keeps nothing on disk forgets when it is restarted; a
  // fallback client puts again what it had put.
  return !world_.gentle() && !put.durable && !fallback_;
}

absl::Status DatasetSchedule::Step(Random& random) {
  Put& put = puts_[random.Below(static_cast<int64_t>(puts_.size()))];
  switch (random.Below(6)) {
    case 0:
    case 1:
      return PutOne(put);
    case 2:
      return Stat(put);
    case 3:
      return UseAsArgument(put, random);
    default:
      return Get(put, random);
  }
}

absl::Status DatasetSchedule::PutOne(Put& put) {
  const bool again = put.done;
  const auto info = client_->PutDataset(put.source, Patiently());
  if (!info.ok()) {
    return Judge("put", info.status(), false,
                 {CallKind::kFindMissing, CallKind::kPut, CallKind::kCommit});
  }
  if (info->token != put.token) {
    return Internal("put as ", put.token, ", called ", info->token);
  }
  if (again && world_.gentle() && !fallback_ && info->sent_bytes != 0) {
    return Internal("a second put sent ", info->sent_bytes, " bytes");
  }
  if (info->durable && !fallback_) put.durable = true;
  put.done = true;
  return absl::OkStatus();
}

absl::Status DatasetSchedule::Stat(const Put& put) {
  const bool may_be_missing = MayBeMissing(put);
  const auto info = client_->StatDataset(put.token, Patiently());
  if (!info.ok()) {
    return Judge("stat", info.status(), may_be_missing, {CallKind::kStat});
  }
  if (info->arrays.size() == put.source.arrays.size()) return absl::OkStatus();
  return Internal("stat finds ", info->arrays.size(), " arrays of ",
                  put.source.arrays.size());
}

absl::Status DatasetSchedule::Get(const Put& put, Random& random) {
  const bool may_be_missing = MayBeMissing(put);
  const DatasetSource::Array& array = random.Pick(put.source.arrays);
  const auto get = [&]() -> absl::StatusOr<Literal> {
    HAWSER_ASSIGN_OR_RETURN(
        const auto buffer,
        client_->DatasetArray(put.token, array.name, Patiently()));
    return buffer->Fetch(Patiently()).Await();
  };
  const auto value = get();
  if (!value.ok()) {
    return Judge("get", value.status(), may_be_missing,
                 {CallKind::kStat, CallKind::kGet});
  }
  if (value->shape() == array.value.shape() &&
      value->bytes() == array.value.bytes()) {
    return absl::OkStatus();
  }
  return Internal("array \"", array.name, "\" of ", put.token,
                  " is not what was put");
}

absl::Status DatasetSchedule::UseAsArgument(const Put& put, Random& random) {
  const bool may_be_missing = MayBeMissing(put);
  const Reference& reference = Reference::Shared();
  const DatasetSource::Array& array = random.Pick(put.source.arrays);
  const Shape& shape = reference.signature(kArgumentModule).parameters[0];
  if (array.value.shape() != shape) return absl::OkStatus();
  const Literal other = RandomLiteral(shape, random);
  const auto run = [&]() -> absl::StatusOr<Literal> {
    HAWSER_ASSIGN_OR_RETURN(
        const auto executable,
        client_->Compile(reference.module(kArgumentModule), {}, Patiently()));
    HAWSER_ASSIGN_OR_RETURN(
        const auto buffer,
        client_->DatasetArray(put.token, array.name, Patiently()));
    HAWSER_ASSIGN_OR_RETURN(
        const auto results,
        executable->Execute({buffer, other}, {.call = Patiently()}));
    return results[0]->Fetch(Patiently()).Await();
  };
  const auto value = run();
  if (!value.ok()) {
    return Judge("argument", value.status(), may_be_missing,
                 {CallKind::kStat});
  }
  const Literal want =
      reference.Run(kArgumentModule, {array.value, other})[0];
  if (value->bytes() == want.bytes()) return absl::OkStatus();
  return Internal("an argument by token gave ", value->ToString(), ", not ",
                  want.ToString());
}

absl::Status DatasetSchedule::CheckChunks() {
  absl::Status status;
  world_.server().WithCore([&](ServerCore& core) {
    for (const Put& put : puts_) {
      const DatasetManifest manifest = ManifestOf(put.source, 1);
      for (size_t a = 0; a < manifest.arrays.size(); ++a) {
        const auto bytes = put.source.arrays[a].value.bytes();
        for (size_t i = 0; i < manifest.arrays[a].chunks.size(); ++i) {
          const absl::Status checked =
              CheckChunk(*core.store, manifest.arrays[a].chunks[i],
                         bytes.subspan(i * kChunkBytes, kChunkBytes));
          if (status.ok()) status = checked;
        }
      }
    }
  });
  return status;
}

// A chunk that the server says it has is the bytes of its digest.
absl::Status DatasetSchedule::CheckChunk(server::DatasetStore& store,
                                         const Digest& digest,
                                         absl::Span<const char> bytes) {
  if (!store.FindMissing("default", {digest}).empty()) return absl::OkStatus();
  const int64_t size = static_cast<int64_t>(bytes.size());
  const DatasetManifest probe{
      {{"", Shape::Of(DType::kU8, {size}), {digest}}}};
  absl::Status committed = Internal("the commit was not answered");
  store.Commit("default", probe, /*wait_durable=*/false,
               [&](const absl::StatusOr<DatasetInfo>& info) {
                 committed = info.status();
               });
  HAWSER_RETURN_IF_ERROR(committed);
  HAWSER_ASSIGN_OR_RETURN(const auto array,
                          store.Find("default", TokenOf(probe), ""));
  HAWSER_ASSIGN_OR_RETURN(const auto chunk, store.LoadChunk(*array, 0));
  if (absl::MakeConstSpan(chunk.data.get(), chunk.size) == bytes) {
    return absl::OkStatus();
  }
  return DataLoss("chunk ", digest.ToHex(), " is visible, but other bytes");
}

absl::Status RunDatasets(uint64_t seed) {
  // Every eighth server keeps its datasets on disk.
  std::string folder;
  if (seed % 8 == 0) {
    folder = testing::TempDir() + "/schedule.XXXXXX";
    HAWSER_CHECK(mkdtemp(folder.data()) != nullptr);
  }
  const absl::Status status = DatasetSchedule(seed, folder).Run();
  std::error_code ignored;
  if (!folder.empty()) fs::remove_all(folder, ignored);
  return status;
}

class DatasetSchedules : public testing::TestWithParam<int> {
 protected:
  // Its threads stay.
  static void SetUpTestSuite() { Reference::Shared(); }
};

TEST_P(DatasetSchedules, TokensNameWhatWasPut) {
  constexpr int kBlock = 100;
  RunSchedules(20000 + static_cast<uint64_t>(GetParam()) * kBlock, kBlock,
               RunDatasets);
}

INSTANTIATE_TEST_SUITE_P(Blocks, DatasetSchedules, testing::Range(0, 10));

}  // namespace
}  // namespace hawser
