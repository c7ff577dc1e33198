#include "tests/schedules/dataset_schedule.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include "tests/schedules/programs.h"

namespace hawser {
namespace {

using absl::StatusCode;

Literal RandomBytes(int64_t n, Random& random) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU8, {n}));
  for (uint8_t& byte : out.mutable_data<uint8_t>()) {
    byte = static_cast<uint8_t>(random.Bits());
  }
  return out;
}

}  // namespace

const Shape& ArgumentShape() {
  return Reference::Shared().signature(kArgumentModule).parameters[0];
}

DatasetSchedule::DatasetSchedule(uint64_t seed, const std::string& data_dir)
    : seed_(seed),
      random_(seed ^ 0xda7a),
      world_(seed, {.datasets = {.data_dir = data_dir}}),
      fallback_(random_.OneIn(4)),
      client_(fallback_ ? world_.ConnectWithFallback() : world_.Connect()) {
  for (int64_t left = random_.Between(1, 4); left > 0; --left) DrawDataset();
}

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
  return RandomLiteral(ArgumentShape(), random_);
}

void DatasetSchedule::DrawDataset() {
  Dataset& dataset = datasets_.emplace_back();
  const int64_t arrays = random_.Between(1, 3);
  for (int64_t i = 0; i < arrays; ++i) {
    dataset.source.arrays.push_back(
        {arrays == 1 ? "" : absl::StrCat("array ", i), DrawArray()});
  }
  HAWSER_CHECK(NormalizeSource(&dataset.source).ok());
  dataset.token = TokenOf(ManifestOf(dataset.source, 1));
  // Two of the same bytes are one.
  const auto same =
      std::count_if(datasets_.begin(), datasets_.end(), [&](const Dataset& d) {
        return d.token == dataset.token;
      });
  if (same > 1) datasets_.pop_back();
}

absl::Status DatasetSchedule::Run() {
  std::vector<absl::Status> statuses(random_.Between(1, 3));
  const int steps = static_cast<int>(random_.Between(4, 20));
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
  HAWSER_RETURN_IF_ERROR(CheckServer());
  return world_.CheckNothingIsLeft();
}

absl::Status DatasetSchedule::Step(Random& random) {
  Dataset& dataset =
      datasets_[random.Below(static_cast<int64_t>(datasets_.size()))];
  switch (random.Below(12)) {
    case 0:
    case 1:
    case 2:
      return Put(dataset);
    case 3:
      return Freeze(dataset, random);
    case 4:
      return Delete(dataset);
    case 5:
      return DeleteUnderWork(dataset, random);
    case 6:
      return Stat(dataset);
    case 7:
    case 8:
      return List(random);
    case 9:
      return UseAsArgument(dataset, random);
    default:
      return Get(dataset, random);
  }
}

absl::Status DatasetSchedule::Explain(absl::string_view step,
                                      const absl::Status& error,
                                      Kinds kinds) const {
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

absl::Status DatasetSchedule::Judge(absl::string_view step,
                                    const absl::Status& answer,
                                    const Presence::View& view,
                                    Kinds kinds) const {
  if (answer.ok()) {
    if (!view.WasGone()) return answer;
    return Internal(step, " found a dataset that is deleted");
  }
  // With a fallback this cannot be said while the server is away, and what was
  // frozen there may be lost with it.
  const bool missing = answer.code() == StatusCode::kNotFound ||
                       (fallback_ && (answer.code() == StatusCode::kDataLoss ||
                                      absl::IsUnavailable(answer)));
  if (missing && !view.WasThere()) return absl::OkStatus();
  return Explain(step, answer, kinds);
}

Presence::Added DatasetSchedule::Certainty(const DatasetInfo& info,
                                           bool frozen) const {
  using Added = Presence::Added;
  // A fallback client puts again what it had put, and has no bytes of what was
  // frozen on a server, before they have come over.
  if (fallback_) return frozen ? Added::kPerhaps : Added::kCertainly;
  // A server that keeps nothing on disk forgets when it is restarted.
  return world_.gentle() || info.durable ? Added::kCertainly : Added::kPerhaps;
}

absl::Status DatasetSchedule::CheckServer() {
  absl::Status status;
  world_.server().WithCore([&](ServerCore& core) {
    for (const Dataset& dataset : datasets_) {
      // Before chunks are looked at, which commits them as datasets.
      if (status.ok()) status = CheckPresence(*core.store, dataset);
    }
    for (const Dataset& dataset : datasets_) {
      if (status.ok()) status = CheckChunks(*core.store, dataset);
    }
  });
  return status;
}

absl::Status DatasetSchedule::CheckPresence(server::DatasetStore& store,
                                            const Dataset& dataset) const {
  // A fallback client keeps its promises itself.
  if (fallback_) return absl::OkStatus();
  const Presence::View view = dataset.presence.Look();
  const absl::Status found = store.Stat("default", dataset.token).status();
  if (view.WasThere() && !found.ok()) return Annotate(found, "at the end");
  if (view.WasGone() && !absl::IsNotFound(found)) {
    return Internal(dataset.token, " is deleted, and there at the end");
  }
  return absl::OkStatus();
}

absl::Status DatasetSchedule::CheckChunks(server::DatasetStore& store,
                                          const Dataset& dataset) const {
  const DatasetManifest manifest = ManifestOf(dataset.source, 1);
  for (size_t a = 0; a < manifest.arrays.size(); ++a) {
    const auto bytes = dataset.source.arrays[a].value.bytes();
    for (size_t i = 0; i < manifest.arrays[a].chunks.size(); ++i) {
      HAWSER_RETURN_IF_ERROR(
          CheckChunk(store, manifest.arrays[a].chunks[i],
                     bytes.subspan(i * kChunkBytes, kChunkBytes)));
    }
  }
  return absl::OkStatus();
}

// A chunk that the server says it has is the bytes of its digest.
absl::Status DatasetSchedule::CheckChunk(server::DatasetStore& store,
                                         const Digest& digest,
                                         absl::Span<const char> bytes) const {
  const uint64_t upload = RandomNumber();
  HAWSER_ASSIGN_OR_RETURN(const std::vector<uint32_t> missing,
                          store.FindMissing("default", upload, {digest}));
  if (!missing.empty()) return absl::OkStatus();
  const int64_t size = static_cast<int64_t>(bytes.size());
  const DatasetManifest probe{
      {{"", Shape::Of(DType::kU8, {size}), {digest}}}};
  absl::Status committed = Internal("the commit was not answered");
  store.Commit("default", upload, probe, /*wait_durable=*/false,
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

}  // namespace hawser
