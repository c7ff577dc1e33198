#include "client/sharded/sharded_datasets.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "client/sharded/sharded_buffer.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Verbs that change something, which every place must do.
bool Changes(const DatasetVerb& verb) {
  return std::holds_alternative<DeleteDataset>(verb) ||
         std::holds_alternative<PinDataset>(verb) ||
         std::holds_alternative<DatasetTag>(verb);
}

}  // namespace

absl::Status ShardedDatasets::Ask(
    bool all, absl::FunctionRef<absl::Status(runtime::Datasets&)> ask) {
  absl::Status status =
      Unavailable("no place of ", client_->name(), " is there");
  bool done = false, asked = false;
  const auto places = runner_->places();
  for (size_t p = 0; p < places.size(); ++p) {
    if (!places[p]->open()) continue;
    const uint64_t life = places[p]->life();
    const absl::Status said = ask(places[p]->client().datasets());
    if (absl::IsUnavailable(said)) {
      runner_->Lost(static_cast<int>(p), life, said);
    }
    if (said.ok()) done = true;
    // Another answer tells more than that a place is gone.
    if (!asked || absl::IsUnavailable(status)) status = said;
    asked = true;
    if (done && !all) break;
  }
  return done ? absl::OkStatus() : status;
}

absl::StatusOr<DatasetInfo> ShardedDatasets::Put(
    const DatasetSource& source, const runtime::CallOptions& call) {
  DatasetInfo info;
  int64_t sent = 0;  // to the place that lacked most
  HAWSER_RETURN_IF_ERROR(Ask(true, [&](runtime::Datasets& there) {
    HAWSER_ASSIGN_OR_RETURN(info, there.Put(source, call));
    sent = std::max(sent, info.sent_bytes);
    return absl::OkStatus();
  }));
  info.sent_bytes = sent;
  return info;
}

absl::StatusOr<runtime::BufferPtr> ShardedDatasets::Open(
    const DatasetPart& part, const runtime::CallOptions& call) {
  runtime::BufferPtr found;
  HAWSER_RETURN_IF_ERROR(Ask(false, [&](runtime::Datasets& there) {
    HAWSER_ASSIGN_OR_RETURN(found, there.Open(part, call));
    return absl::OkStatus();
  }));
  auto value = std::make_shared<ShardedValue>(found->shape());
  value->source = part;
  return std::make_shared<ShardedBuffer>(client_, runner_->shared_from_this(),
                                         std::move(value));
}

absl::StatusOr<DatasetInfo> ShardedDatasets::Freeze(
    absl::Span<const runtime::NamedArgument> arrays,
    const runtime::CallOptions& call) {
  std::vector<Future<Literal>> values;
  DatasetSource source;
  for (const runtime::NamedArgument& array : arrays) {
    if (const auto* literal = std::get_if<Literal>(&array.value)) {
      values.emplace_back(*literal);
      continue;
    }
    const auto& buffer = std::get<runtime::BufferPtr>(array.value);
    if (buffer->client() != client_) {
      return FailedPrecondition("array \"", array.name, "\" lives on another ",
                                "client, not on ", client_->name());
    }
    values.push_back(buffer->Fetch(call));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, values[i].Await());
    source.arrays.push_back({arrays[i].name, std::move(value)});
  }
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info, Put(source, call));
  // The tasks that led to the values are not needed any more.
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto* buffer = std::get_if<runtime::BufferPtr>(&arrays[i].value);
    if (buffer == nullptr) continue;
    runner_->Root(static_cast<ShardedBuffer*>(buffer->get())->value(),
                  {.token = info.token, .array = arrays[i].name},
                  source.arrays[i].value);
  }
  return info;
}

absl::StatusOr<DatasetAnswer> ShardedDatasets::Answer(
    const DatasetVerb& verb, const runtime::CallOptions& call) {
  DatasetAnswer answer;
  HAWSER_RETURN_IF_ERROR(Ask(Changes(verb), [&](runtime::Datasets& there) {
    HAWSER_ASSIGN_OR_RETURN(answer, there.Answer(verb, call));
    return absl::OkStatus();
  }));
  return answer;
}

}  // namespace hawser
