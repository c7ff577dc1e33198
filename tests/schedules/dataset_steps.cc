// The verbs of a DatasetSchedule, each with what must come of it.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "tests/schedules/dataset_schedule.h"
#include "tests/schedules/programs.h"

namespace hawser {
namespace {

using runtime::BufferPtr;

bool SameValue(const Literal& a, const Literal& b) {
  return a.shape() == b.shape() && a.bytes() == b.bytes();
}

}  // namespace

absl::Status DatasetSchedule::Put(Dataset& dataset) {
  const Presence::View view = dataset.presence.BeginAddition();
  const auto info = client_->datasets().Put(dataset.source, Limits());
  dataset.presence.EndAddition(info.ok() ? Certainty(*info, /*frozen=*/false)
                                         : Presence::Added::kPerhaps);
  if (!info.ok()) {
    return Explain(
        "put", info.status(),
        {KindOf<FindMissingMethod>(), CallKind::kPut, KindOf<CommitMethod>()});
  }
  if (info->token != dataset.token) {
    return Internal("put as ", dataset.token, ", called ", info->token);
  }
  if (view.WasThere() && !fallback_ && info->sent_bytes != 0) {
    return Internal("a second put sent ", info->sent_bytes, " bytes");
  }
  return absl::OkStatus();
}

absl::Status DatasetSchedule::Freeze(Dataset& dataset, Random& random) {
  std::vector<runtime::NamedArgument> arrays;
  for (const DatasetSource::Array& array : dataset.source.arrays) {
    arrays.push_back({array.name, array.value});
    if (random.OneIn(3)) continue;  // rides along, if it is small
    auto buffer = client_->Upload(array.value, Limits());
    if (!buffer.ok()) return Explain("upload", buffer.status(), {});
    arrays.back().value = *std::move(buffer);
  }
  dataset.presence.BeginAddition();
  const auto info = client_->datasets().Freeze(arrays, Limits());
  // Without an answer the server may still be at it.
  dataset.presence.EndAddition(info.ok() ? Certainty(*info, /*frozen=*/true)
                                         : Presence::Added::kPerhapsLater);
  if (!info.ok()) return Explain("freeze", info.status(), {});
  if (info->token == dataset.token) return absl::OkStatus();
  return Internal("frozen as ", info->token, ", the same bytes put are ",
                  dataset.token);
}

absl::Status DatasetSchedule::Delete(Dataset& dataset) {
  const Presence::View view = dataset.presence.BeginRemoval();
  const absl::Status deleted =
      client_->datasets()
          .Ask(DeleteDataset{dataset.token}, Limits())
          .status();
  dataset.presence.EndRemoval(deleted.ok() || absl::IsNotFound(deleted));
  return Judge("delete", deleted, view, {KindOf<OnWire<DeleteDataset>>()});
}

absl::StatusOr<std::vector<BufferPtr>> DatasetSchedule::Execute(
    const Dataset& dataset, const DatasetSource::Array& array,
    const Literal& other) {
  HAWSER_ASSIGN_OR_RETURN(
      const auto executable,
      client_->Compile(Reference::Shared().module(kArgumentModule), {},
                       Limits()));
  HAWSER_ASSIGN_OR_RETURN(
      const auto buffer,
      client_->datasets().Open({dataset.token, array.name}, Limits()));
  return executable->Execute({buffer, other}, {.call = Limits()});
}

const DatasetSource::Array* DatasetSchedule::PickArgument(
    const Dataset& dataset, Random& random) const {
  const DatasetSource::Array& array = random.Pick(dataset.source.arrays);
  return array.value.shape() == ArgumentShape() ? &array : nullptr;
}

absl::Status DatasetSchedule::DeleteUnderWork(Dataset& dataset,
                                              Random& random) {
  const DatasetSource::Array* array = PickArgument(dataset, random);
  if (array == nullptr) return Delete(dataset);
  const Presence::View view = dataset.presence.Look();
  const Literal other = RandomLiteral(ArgumentShape(), random);
  const auto results = Execute(dataset, *array, other);
  if (!results.ok()) {
    return Judge("argument", results.status(), view,
                 {KindOf<OnWire<StatDataset>>()});
  }
  // Once its work is known to have begun, nothing takes the array from it.
  const bool begun = random.OneIn(2) &&
                     (*results)[1]->Ready(Limits()).Await().ok();
  HAWSER_RETURN_IF_ERROR(Delete(dataset));
  const auto value = (*results)[0]->Fetch(Limits()).Await();
  if (value.ok()) {
    const Literal want =
        Reference::Shared().Run(kArgumentModule, {array->value, other})[0];
    if (SameValue(*value, want)) return absl::OkStatus();
    return Internal("work on a deleted dataset gave ", value->ToString(),
                    ", not ", want.ToString());
  }
  if (begun && world_.gentle() && !fallback_) {
    return Annotate(value.status(), "work that had begun before a delete");
  }
  return Judge("work on a deleted dataset", value.status(), Presence::View(),
               {KindOf<OnWire<StatDataset>>()});
}

absl::Status DatasetSchedule::Stat(const Dataset& dataset) {
  const Presence::View view = dataset.presence.Look();
  const auto info =
      client_->datasets().Ask(StatDataset{dataset.token}, Limits());
  HAWSER_RETURN_IF_ERROR(
      Judge("stat", info.status(), view, {KindOf<OnWire<StatDataset>>()}));
  if (!info.ok() ||
      info->arrays.size() == dataset.source.arrays.size()) {
    return absl::OkStatus();
  }
  return Internal("stat finds ", info->arrays.size(), " arrays of ",
                  dataset.source.arrays.size());
}

absl::Status DatasetSchedule::Get(const Dataset& dataset, Random& random) {
  const Presence::View view = dataset.presence.Look();
  const DatasetSource::Array& array = random.Pick(dataset.source.arrays);
  const auto get = [&]() -> absl::StatusOr<Literal> {
    HAWSER_ASSIGN_OR_RETURN(
        const auto buffer,
        client_->datasets().Open({dataset.token, array.name}, Limits()));
    return buffer->Fetch(Limits()).Await();
  };
  const auto value = get();
  HAWSER_RETURN_IF_ERROR(
      Judge("get", value.status(), view,
            {KindOf<OnWire<StatDataset>>(), CallKind::kGet}));
  if (!value.ok() || SameValue(*value, array.value)) return absl::OkStatus();
  return Internal("array \"", array.name, "\" of ", dataset.token,
                  " is not what was put");
}

absl::Status DatasetSchedule::UseAsArgument(const Dataset& dataset,
                                            Random& random) {
  const Presence::View view = dataset.presence.Look();
  const DatasetSource::Array* array = PickArgument(dataset, random);
  if (array == nullptr) return absl::OkStatus();
  const Literal other = RandomLiteral(ArgumentShape(), random);
  const auto run = [&]() -> absl::StatusOr<Literal> {
    HAWSER_ASSIGN_OR_RETURN(const auto results,
                            Execute(dataset, *array, other));
    return results[0]->Fetch(Limits()).Await();
  };
  const auto value = run();
  HAWSER_RETURN_IF_ERROR(
      Judge("argument", value.status(), view, {KindOf<OnWire<StatDataset>>()}));
  if (!value.ok()) return absl::OkStatus();
  const Literal want =
      Reference::Shared().Run(kArgumentModule, {array->value, other})[0];
  if (SameValue(*value, want)) return absl::OkStatus();
  return Internal("an argument by token gave ", value->ToString(), ", not ",
                  want.ToString());
}

absl::Status DatasetSchedule::List(Random& random) {
  std::vector<Presence::View> views;
  for (const Dataset& dataset : datasets_) {
    views.push_back(dataset.presence.Look());
  }
  DatasetQuery query{.limit = static_cast<int>(random.Below(4))};
  if (random.OneIn(4)) query.prefix = random.Pick(datasets_).token.substr(0, 5);
  if (random.OneIn(4)) query.after = random.Pick(datasets_).token;
  const DatasetQuery asked = query;
  std::vector<DatasetInfo> listed;
  for (bool more = true; more;) {
    auto page = client_->datasets().Ask(query, Limits());
    if (!page.ok())
      return Explain("list", page.status(), {KindOf<OnWire<DatasetQuery>>()});
    if (query.limit > 0 &&
        page->datasets.size() > static_cast<size_t>(query.limit)) {
      return Internal("a page of ", query.limit, " has ",
                      page->datasets.size(), " datasets");
    }
    for (DatasetInfo& info : page->datasets) listed.push_back(std::move(info));
    if (!listed.empty()) query.after = listed.back().token;
    more = page->more;
  }
  return CheckListed(listed, asked, views);
}

absl::Status DatasetSchedule::CheckListed(
    const std::vector<DatasetInfo>& listed, const DatasetQuery& query,
    absl::Span<const Presence::View> views) const {
  std::string last = query.after;
  for (const DatasetInfo& info : listed) {
    if (info.token <= last) {
      return Internal("a list has ", info.token, " behind ", last);
    }
    if (!absl::StartsWith(info.token, query.prefix)) {
      return Internal("a list of ", query.prefix, " has ", info.token);
    }
    last = info.token;
  }
  for (size_t i = 0; i < datasets_.size(); ++i) {
    const std::string& token = datasets_[i].token;
    if (token <= query.after || !absl::StartsWith(token, query.prefix)) {
      continue;
    }
    const bool there = std::any_of(
        listed.begin(), listed.end(),
        [&](const DatasetInfo& info) { return info.token == token; });
    if (there && views[i].WasGone()) {
      return Internal("a list has ", token, ", which is deleted");
    }
    // A fallback client lists what is on its server, and puts again only what
    // is used; so does a server that was restarted.
    const bool complete = world_.gentle() || !fallback_;
    if (!there && complete && views[i].WasThere()) {
      return Internal("a list lacks ", token);
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser
