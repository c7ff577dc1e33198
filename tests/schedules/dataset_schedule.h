// DatasetSchedule: some datasets, and threads that put, freeze, look for, read
// and delete them over a link and a server that fail.
#ifndef HAWSER_TESTS_SCHEDULES_DATASET_SCHEDULE_H_
#define HAWSER_TESTS_SCHEDULES_DATASET_SCHEDULE_H_

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"
#include "server/datasets/dataset_store.h"
#include "tests/schedules/presence.h"
#include "tests/schedules/programs.h"
#include "tests/schedules/world.h"

namespace hawser {

// (f32[4], f32[4]) -> sum, difference: takes what some arrays hold.
inline constexpr int kArgumentModule = 2;
const Shape& ArgumentShape();

class DatasetSchedule {
 public:
  // The server keeps its datasets in `data_dir`, if that is not empty.
  DatasetSchedule(uint64_t seed, const std::string& data_dir);

  // The first thing that was wrong, or OK.
  absl::Status Run();

 private:
  struct Dataset {
    DatasetSource source;
    std::string token;
    Presence presence;
  };

  Literal DrawArray();
  void DrawDataset();
  absl::Status Step(Random& random);

  // ---- the verbs (dataset_steps.cc)
  absl::Status Put(Dataset& dataset);
  absl::Status Freeze(Dataset& dataset, Random& random);
  absl::Status Delete(Dataset& dataset);
  // Deletes what a step uses as an argument.
  absl::Status DeleteUnderWork(Dataset& dataset, Random& random);
  absl::Status Stat(const Dataset& dataset);
  absl::Status Get(const Dataset& dataset, Random& random);
  absl::Status UseAsArgument(const Dataset& dataset, Random& random);
  absl::Status List(Random& random);
  absl::Status CheckListed(const std::vector<DatasetInfo>& listed,
                           const DatasetQuery& query,
                           absl::Span<const Presence::View> views) const;
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      const Dataset& dataset, const DatasetSource::Array& array,
      const Literal& other);
  // Null: none is an argument of kArgumentModule.
  const DatasetSource::Array* PickArgument(const Dataset& dataset,
                                           Random& random) const;

  // ---- what may come of them
  using Kinds = std::initializer_list<CallKind>;
  // OK for an answer of a request about a dataset, `error` if it was one, that
  // agrees with what was known of it, or an error that a fault accounts for.
  absl::Status Judge(absl::string_view step, const absl::Status& answer,
                     const Presence::View& view, Kinds kinds) const;
  // The same, whatever is there.
  absl::Status Explain(absl::string_view step, const absl::Status& error,
                       Kinds kinds) const;
  // What a successful put, or freeze, makes certain.
  Presence::Added Certainty(const DatasetInfo& info, bool frozen) const;

  // ---- at the end
  absl::Status CheckServer();
  absl::Status CheckPresence(server::DatasetStore& store,
                             const Dataset& dataset) const;
  absl::Status CheckChunks(server::DatasetStore& store,
                           const Dataset& dataset) const;
  absl::Status CheckChunk(server::DatasetStore& store, const Digest& digest,
                          absl::Span<const char> bytes) const;

  const uint64_t seed_;
  Random random_;
  World world_;
  // With a fallback the policy says how long work waits for a server that does
  // not come back; a deadline would be waited for.
  runtime::CallOptions Limits() const {
    return fallback_ ? runtime::CallOptions() : Patiently();
  }

  const bool fallback_;
  std::shared_ptr<runtime::Client> client_;
  std::deque<Dataset> datasets_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_SCHEDULES_DATASET_SCHEDULE_H_
