#include "client/fallback/fallback_datasets.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fallback/fallback_buffer.h"
#include "client/fallback/fallback_client.h"
#include "client/recipes/place.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"

namespace hawser {
namespace {

// Infos in one page of a listing.
constexpr int kPage = 1000;

}  // namespace

struct FallbackDatasets::Verbs {
  FallbackDatasets& datasets;
  const runtime::CallOptions& call;

  template <typename Verb>
  absl::StatusOr<DatasetAnswer> AskPrimary(const Verb& verb) {
    FallbackClient& client = *datasets.client_;
    const Attempt attempt = client.Begin(call);
    if (Breaker::IsOpen(attempt.epoch)) return client.Missing(attempt.epoch);
    auto answer = client.primary_->datasets().Ask(verb, Bounded(call, attempt));
    if (!answer.ok()) (void)client.GiveUp(answer.status(), attempt);
    return answer;
  }
  // The other verbs need what only the primary knows.
  template <typename Verb>
  absl::StatusOr<DatasetAnswer> operator()(const Verb& verb) {
    return AskPrimary(verb);
  }
  absl::StatusOr<DatasetAnswer> operator()(const DatasetTag& tag) {
    auto answer = AskPrimary(tag);
    if (!absl::IsUnavailable(answer.status())) return answer;
    if (!datasets.QueueTag(tag)) return answer;
    if (datasets.client_->policy_.secondary_is_here) return Acknowledgement();
    return datasets.client_->secondary_->datasets().Answer(
        tag, WithoutAttempt(call));
  }
  absl::StatusOr<DatasetAnswer> operator()(const StatDataset& stat) {
    if (IsTag(stat.token)) {
      const std::string queued = datasets.known_.QueuedTag(stat.token);
      if (queued.empty()) return AskPrimary(stat);
      return datasets.Stat(queued, call);
    }
    return datasets.Stat(stat.token, call);
  }
  absl::StatusOr<DatasetAnswer> operator()(const DatasetQuery& query) {
    return datasets.List(query, call);
  }
  absl::StatusOr<DatasetAnswer> operator()(const DeleteDataset& order) {
    HAWSER_RETURN_IF_ERROR(datasets.Delete(order.token, call));
    return Acknowledgement();
  }
};

absl::StatusOr<DatasetAnswer> FallbackDatasets::Answer(
    const DatasetVerb& verb, const runtime::CallOptions& call) {
  return std::visit(Verbs{*this, call}, verb);
}

void FallbackDatasets::CatchUp(
    const Attempt& attempt, const runtime::CallOptions& call,
    absl::FunctionRef<absl::Status(const runtime::CallOptions&)> change) {
  const Attempt now = client_->BeginTransfer(call);
  if (Breaker::IsOpen(now.epoch) || now.epoch == attempt.epoch) return;
  const absl::Status status = change(Bounded(call, now));
  if (!status.ok()) (void)client_->GiveUp(status, now);
}

void FallbackDatasets::SayIsHere(const std::string& token) {
  if (!client_->policy_.secondary_is_here) {
    HAWSER_LOG(kWarning) << "dataset " << token << " is put on "
                         << client_->secondary_->name() << ": "
                         << client_->primary_->name()
                         << " is away, and gets it at its first use there";
    return;
  }
  known_.SetAlone(token);
  HAWSER_LOG(kWarning) << "dataset " << token << " is in this process alone: "
                       << client_->primary_->name()
                       << " is away, and gets it at its first use there";
}

absl::StatusOr<DatasetInfo> FallbackDatasets::Put(
    const DatasetSource& source, const runtime::CallOptions& call) {
  const Attempt attempt = client_->BeginTransfer(call);
  absl::StatusOr<DatasetInfo> info = client_->Missing(attempt.epoch);
  if (!Breaker::IsOpen(attempt.epoch)) {
    info = client_->primary_->datasets().Put(source, Bounded(call, attempt));
    if (!info.ok() && !client_->GiveUp(info.status(), attempt)) return info;
  }
  const bool there = info.ok();
  if (!there) {
    info = client_->secondary_->datasets().Put(source, WithoutAttempt(call));
    if (info.ok()) SayIsHere(info->token);
  }
  if (!info.ok()) return info;
  known_.Keep(info->token, source);
  if (!there) {
    CatchUp(attempt, call, [&](const runtime::CallOptions& bounded) {
      const absl::Status put =
          client_->primary_->datasets().Put(source, bounded).status();
      if (put.ok()) known_.NotAlone(info->token);
      return put;
    });
  }
  return info;
}

bool FallbackDatasets::QueueTag(const DatasetTag& tag) {
  if (!known_.QueueTag(tag)) return false;
  HAWSER_LOG(kWarning)
      << "tag " << tag.name << " is "
      << (client_->policy_.secondary_is_here
              ? "in this process alone: "
              : absl::StrCat("set on ", client_->secondary_->name(), ": "))
      << client_->primary_->name() << " is away, and gets it once it is back";
  return true;
}

absl::StatusOr<DatasetInfo> FallbackDatasets::Stat(
    const std::string& token, const runtime::CallOptions& call) {
  const Attempt attempt = client_->Begin(call);
  absl::Status found;
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto info = client_->primary_->datasets().Ask(StatDataset{token},
                                                  Bounded(call, attempt));
    if (info.ok()) {
      known_.SeenThere(token);
      return info;
    }
    if (!client_->GiveUp(info.status(), attempt)) found = info.status();
  }
  if (found.ok() || absl::IsNotFound(found)) {
    // A dataset that was put from here can be used, also when a server that was
    // restarted has forgotten it: the first use puts it again.
    const std::optional<DatasetInfo> info = known_.InfoOf(token);
    if (info.has_value()) return *info;
  }
  if (!found.ok()) return NotAt(*client_->primary_, token, found);
  auto info = client_->secondary_->datasets().Ask(StatDataset{token},
                                                  WithoutAttempt(call));
  if (info.ok()) return info;
  return NotAt(*client_->secondary_, token, info.status());
}

absl::Status FallbackDatasets::NotAt(const runtime::Client& where,
                                     absl::string_view token,
                                     const absl::Status& found) {
  const bool away = Breaker::IsOpen(client_->breaker_.epoch());
  const std::optional<bool> durable = known_.Frozen(token);
  if (!absl::IsNotFound(found) || !durable.has_value()) return found;
  if (&where != client_->primary_.get() && (*durable || !away)) return found;
  return DataLoss("dataset ", token, " was made of values on ",
                  client_->primary_->name(),
                  ", is lost with it, and is not known here");
}

absl::StatusOr<runtime::BufferPtr> FallbackDatasets::Find(
    runtime::Client& where, const DatasetPart& part,
    const runtime::CallOptions& call) {
  auto found = where.datasets().Open(part, call);
  if (!absl::IsNotFound(found.status())) return found;
  const std::optional<DatasetSource> source = known_.BeginPutting(part.token);
  if (!source.has_value()) {
    // A dataset that is there has all its arrays.
    if (where.datasets().Ask(StatDataset{part.token}, call).ok()) return found;
    return NotAt(where, part.token, found.status());
  }
  const absl::Status put = where.datasets().Put(*source, call).status();
  found = put.ok() ? where.datasets().Open(part, call) : put;
  if (put.ok() && &where == client_->primary_.get()) {
    known_.NotAlone(part.token);
  }
  known_.DonePutting(part.token);
  return found;
}

absl::StatusOr<runtime::BufferPtr> FallbackDatasets::OnSecondary(
    const DatasetPart& part) {
  auto found = Find(*client_->secondary_, part, {});
  if (!absl::IsNotFound(found.status()) ||
      client_->secondary_->datasets().Ask(StatDataset{part.token}, {}).ok()) {
    return found;
  }
  return ElsewhereError(Unavailable(
      client_->primary_->name(), " is away and this end does not have ",
      part.token, ": ", found.status().message()));
}

absl::StatusOr<runtime::BufferPtr> FallbackDatasets::Open(
    const DatasetPart& part, const runtime::CallOptions& options) {
  PatientCall call{options};
  return OpenFor(part, &call);
}

absl::StatusOr<runtime::BufferPtr> FallbackDatasets::OpenFor(
    const DatasetPart& part, PatientCall* call) {
  const Attempt attempt = client_->Begin(*call);
  runtime::BufferPtr primary, found;
  absl::Status tried;
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto there = Find(*client_->primary_, part, Bounded(*call, attempt));
    if (there.ok()) {
      found = primary = *std::move(there);
      known_.SeenThere(part.token);
    } else if (!client_->GiveUp(there.status(), attempt)) {
      return there;
    } else {
      tried = there.status();
    }
  }
  if (found == nullptr) {
    absl::StatusOr<runtime::BufferPtr> here = OnSecondary(part);
    if (IsElsewhere(here.status()) && known_.WasThere(part.token)) {
      if (!client_->MayDiffer(attempt)) return tried;
      HAWSER_RETURN_IF_ERROR(client_->AwaitPrimary(call, here.status()));
      return OpenFor(part, call);
    }
    HAWSER_ASSIGN_OR_RETURN(found, std::move(here));
  }
  auto buffer =
      FallbackBuffer::Make(client_, std::move(primary), attempt,
                           client_->recipes_.OfDataset(found->shape(), part));
  buffer->SetDataset(part);
  return buffer;
}

absl::Status FallbackDatasets::FetchInto(const DatasetPart& part,
                                         absl::Span<char> into,
                                         const runtime::CallOptions& call) {
  const Attempt attempt = client_->BeginTransfer(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    const absl::Status status = client_->primary_->datasets().FetchInto(
        part, into, Bounded(call, attempt));
    if (status.ok()) return status;
    if (!client_->GiveUp(status, attempt) && !absl::IsNotFound(status)) {
      return status;
    }
  }
  // Put again, or found here.
  return Datasets::FetchInto(part, into, call);
}

absl::StatusOr<DatasetPage> FallbackDatasets::List(
    const DatasetQuery& query, const runtime::CallOptions& call) {
  const Attempt attempt = client_->Begin(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto page =
        client_->primary_->datasets().Ask(query, Bounded(call, attempt));
    if (page.ok() || !client_->GiveUp(page.status(), attempt)) return page;
  }
  std::vector<DatasetInfo> all = known_.Infos();
  const size_t sources = all.size();
  DatasetQuery next{query.prefix, query.after};
  for (bool more = true; more;) {
    HAWSER_ASSIGN_OR_RETURN(
        const DatasetPage page,
        client_->secondary_->datasets().Ask(next, WithoutAttempt(call)));
    for (const DatasetInfo& info : page.datasets) {
      const bool known = std::any_of(
          all.begin(), all.begin() + sources,
          [&](const DatasetInfo& own) { return own.token == info.token; });
      if (!known) all.push_back(info);
      next.after = info.token;
    }
    more = page.more;
  }
  return PageOf(std::move(all), query, kPage);
}

absl::Status FallbackDatasets::Delete(const std::string& token,
                                      const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(ParseToken(token));
  HAWSER_RETURN_IF_ERROR(known_.BeginDeleting(token, call.cancel));
  const absl::Status deleted = DeleteEverywhere(token, call);
  known_.EndDeleting(token);
  return deleted;
}

absl::Status FallbackDatasets::DeleteEverywhere(
    const std::string& token, const runtime::CallOptions& call) {
  const Attempt attempt = client_->Begin(call);
  bool away = Breaker::IsOpen(attempt.epoch);
  absl::Status there = client_->Missing(attempt.epoch);
  if (!away) {
    there = client_->primary_->datasets()
                .Ask(DeleteDataset{token}, Bounded(call, attempt))
                .status();
    if (!there.ok() && !absl::IsNotFound(there)) {
      if (!client_->GiveUp(there, attempt)) return there;
      away = true;
    }
  }
  const bool was_here = client_->secondary_->datasets()
                            .Ask(DeleteDataset{token}, WithoutAttempt(call))
                            .ok();
  if (!known_.Forget(token, was_here, away)) return there;
  // A probe that began since has put what was still known here then.
  const bool missed = !away && client_->MayDiffer(attempt);
  if (missed) known_.DeleteLater(token);
  if (away || missed) {
    CatchUp(attempt, call, [&](const runtime::CallOptions& bounded) {
      const absl::Status gone = client_->primary_->datasets()
                                    .Ask(DeleteDataset{token}, bounded)
                                    .status();
      if (!gone.ok() && !absl::IsNotFound(gone)) return gone;
      known_.DeletedThere(token);
      return absl::OkStatus();
    });
  }
  return absl::OkStatus();
}

}  // namespace hawser
