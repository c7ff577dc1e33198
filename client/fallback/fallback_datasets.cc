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
// Tokens that are remembered to be on the primary.
constexpr size_t kMostThere = 1 << 14;

DatasetInfo InfoOfSource(const std::string& token,
                         const DatasetSource& source) {
  DatasetInfo info;
  info.token = token;
  for (const auto& array : source.arrays) {
    info.arrays.push_back({array.name, array.shape()});
    info.bytes += array.shape().byte_size();
  }
  return info;
}

bool IsLinkError(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status);
}

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
    return Acknowledgement();
  }
  absl::StatusOr<DatasetAnswer> operator()(const StatDataset& stat) {
    if (IsTag(stat.token)) {
      const std::string queued = datasets.QueuedTag(stat.token);
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

void FallbackDatasets::KeepSource(const std::string& token,
                                  DatasetSource source) {
  ++changes_;
  deleted_.erase(token);
  if (!client_->policy_.keep_dataset_sources) return;
  sources_.emplace(token, std::move(source));
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
  {
    MutexLock lock(&mu_);
    alone_.insert(token);
  }
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
  {
    MutexLock lock(&mu_);
    KeepSource(info->token, source);
  }
  if (!there) {
    CatchUp(attempt, call, [&](const runtime::CallOptions& bounded) {
      const absl::Status put =
          client_->primary_->datasets().Put(source, bounded).status();
      if (put.ok()) NotAlone(info->token);
      return put;
    });
  }
  return info;
}

void FallbackDatasets::NotAlone(const std::string& token) {
  MutexLock lock(&mu_);
  alone_.erase(token);
}

std::string FallbackDatasets::QueuedTag(absl::string_view name) {
  MutexLock lock(&mu_);
  const auto at = tags_.find(name);
  return at == tags_.end() ? "" : at->second;
}

bool FallbackDatasets::QueueTag(const DatasetTag& tag) {
  // The tag of before, which it is compared with, cannot be looked at.
  if (tag.expected.has_value() || tag.token.empty()) return false;
  {
    MutexLock lock(&mu_);
    if (!sources_.contains(tag.token) && !frozen_.contains(tag.token)) {
      return false;
    }
    tags_[tag.name] = tag.token;
    ++changes_;
  }
  HAWSER_LOG(kWarning) << "tag " << tag.name << " is in this process alone: "
                       << client_->primary_->name()
                       << " is away, and gets it once it is back";
  return true;
}

absl::Status FallbackDatasets::RestoreTags(const CancelToken& cancel) {
  std::map<std::string, std::string, std::less<>> tags;
  {
    MutexLock lock(&mu_);
    tags = tags_;
  }
  for (const auto& [name, token] : tags) {
    const absl::Status set =
        client_->primary_->datasets()
            .Ask(DatasetTag{name, token, std::nullopt}, {.cancel = cancel})
            .status();
    if (IsLinkError(set)) return set;
    if (!set.ok()) {
      HAWSER_LOG(kWarning) << "tag " << name << " cannot be set on "
                           << client_->primary_->name() << ": " << set;
    }
    MutexLock lock(&mu_);
    const auto at = tags_.find(name);
    if (at != tags_.end() && at->second == token) tags_.erase(at);
  }
  return absl::OkStatus();
}

void FallbackDatasets::GiveUnsent() {
  if (client_->policy_.on_unsent == nullptr) return;
  std::set<std::string, std::less<>> alone;
  std::map<std::string, std::string, std::less<>> tags;
  {
    MutexLock lock(&mu_);
    alone.swap(alone_);
    tags = tags_;
  }
  for (const std::string& token : alone) {
    UnsentDataset unsent{token};
    for (const auto& [name, tagged] : tags) {
      if (tagged == token) unsent.tags.push_back(name);
    }
    auto info = client_->secondary_->datasets().Ask(StatDataset{token}, {});
    for (size_t i = 0; info.ok() && i < info->arrays.size(); ++i) {
      const std::string& name = info->arrays[i].name;
      auto array = client_->secondary_->datasets().Open({token, name}, {});
      if (!array.ok()) continue;
      auto value = (*array)->Fetch({}).Await();
      if (value.ok()) unsent.arrays.push_back({name, *std::move(value)});
    }
    client_->policy_.on_unsent(unsent);
  }
}

absl::StatusOr<DatasetInfo> FallbackDatasets::Stat(
    const std::string& token, const runtime::CallOptions& call) {
  const Attempt attempt = client_->Begin(call);
  absl::Status found;
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto info = client_->primary_->datasets().Ask(StatDataset{token},
                                                  Bounded(call, attempt));
    if (info.ok()) {
      RememberThere(token);
      return info;
    }
    if (!client_->GiveUp(info.status(), attempt)) found = info.status();
  }
  if (found.ok() || absl::IsNotFound(found)) {
    // A dataset that was put from here can be used, also when a server that was
    // restarted has forgotten it: the first use puts it again.
    MutexLock lock(&mu_);
    auto at = sources_.find(token);
    if (at != sources_.end()) return InfoOfSource(at->first, at->second);
  }
  if (!found.ok()) return NotAt(*client_->primary_, token, found);
  auto info = client_->secondary_->datasets().Ask(StatDataset{token},
                                                  WithoutAttempt(call));
  if (info.ok()) return info;
  return NotAt(*client_->secondary_, token, info.status());
}

void FallbackDatasets::RememberThere(absl::string_view token) {
  MutexLock lock(&mu_);
  if (there_.contains(token)) return;
  if (there_.size() >= kMostThere) there_.clear();
  there_.emplace(token);
}

bool FallbackDatasets::WasThere(absl::string_view token) {
  MutexLock lock(&mu_);
  return there_.contains(token) || frozen_.contains(token);
}

absl::Status FallbackDatasets::NotAt(const runtime::Client& where,
                                     absl::string_view token,
                                     const absl::Status& found) {
  // Before the lock: the breaker asks Settled while it holds its own.
  const bool away = Breaker::IsOpen(client_->breaker_.epoch());
  MutexLock lock(&mu_);
  const auto frozen = frozen_.find(token);
  if (!absl::IsNotFound(found) || frozen == frozen_.end()) return found;
  const bool durable = frozen->second;
  if (&where != client_->primary_.get() && (durable || !away)) return found;
  return DataLoss("dataset ", token, " was made of values on ",
                  client_->primary_->name(),
                  ", is lost with it, and is not known here");
}

absl::StatusOr<runtime::BufferPtr> FallbackDatasets::Find(
    runtime::Client& where, const DatasetPart& part,
    const runtime::CallOptions& call) {
  auto found = where.datasets().Open(part, call);
  if (!absl::IsNotFound(found.status())) return found;
  const std::optional<DatasetSource> source = BeginPutting(part.token);
  if (!source.has_value()) {
    // A dataset that is there has all its arrays.
    if (where.datasets().Ask(StatDataset{part.token}, call).ok()) return found;
    return NotAt(where, part.token, found.status());
  }
  const absl::Status put = where.datasets().Put(*source, call).status();
  found = put.ok() ? where.datasets().Open(part, call) : put;
  if (put.ok() && &where == client_->primary_.get()) NotAlone(part.token);
  DonePutting(part.token);
  return found;
}

std::optional<DatasetSource> FallbackDatasets::BeginPutting(
    const std::string& token) {
  MutexLock lock(&mu_);
  const auto at = sources_.find(token);
  if (at == sources_.end() || deleting_.contains(token)) return std::nullopt;
  putting_.insert(token);
  return at->second;
}

void FallbackDatasets::DonePutting(const std::string& token) {
  MutexLock lock(&mu_);
  putting_.erase(putting_.find(token));
  put_again_.SignalAll();
}

absl::Status FallbackDatasets::BeginDeleting(const std::string& token,
                                             const runtime::CallOptions& call) {
  const CancelToken::Registration expiry =
      call.cancel.OnExpiry([this](const absl::Status&) {
        MutexLock lock(&mu_);
        put_again_.SignalAll();
      });
  MutexLock lock(&mu_);
  deleting_.insert(token);
  put_again_.Wait(&mu_, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !putting_.contains(token) || !call.cancel.Check().ok();
  });
  if (!putting_.contains(token)) return absl::OkStatus();
  deleting_.erase(deleting_.find(token));
  return Annotate(call.cancel.Check(),
                  absl::StrCat("dataset ", token,
                               " is being put again, which has not ended"));
}

void FallbackDatasets::EndDeleting(const std::string& token) {
  MutexLock lock(&mu_);
  deleting_.erase(deleting_.find(token));
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
      RememberThere(part.token);
    } else if (!client_->GiveUp(there.status(), attempt)) {
      return there;
    } else {
      tried = there.status();
    }
  }
  if (found == nullptr) {
    absl::StatusOr<runtime::BufferPtr> here = OnSecondary(part);
    if (IsElsewhere(here.status()) && WasThere(part.token)) {
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
  std::vector<DatasetInfo> all;
  {
    MutexLock lock(&mu_);
    for (const auto& [token, source] : sources_) {
      all.push_back(InfoOfSource(token, source));
    }
  }
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
  HAWSER_RETURN_IF_ERROR(BeginDeleting(token, call));
  const absl::Status deleted = DeleteEverywhere(token, call);
  EndDeleting(token);
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
  bool here = client_->secondary_->datasets()
                  .Ask(DeleteDataset{token}, WithoutAttempt(call))
                  .ok();
  {
    MutexLock lock(&mu_);
    ++changes_;
    if (const auto at = sources_.find(token); at != sources_.end()) {
      sources_.erase(at);
      here = true;
    }
    fetching_.erase(token);
    if (const auto at = frozen_.find(token); at != frozen_.end()) {
      frozen_.erase(at);
      here = true;
    }
    if (here && away) deleted_.insert(token);
    if (here || !away) there_.erase(token);
  }
  if (!here) return there;
  // A probe that began since has put what was still known here then.
  const bool missed = !away && client_->MayDiffer(attempt);
  if (missed) {
    MutexLock lock(&mu_);
    ++changes_;
    if (!sources_.contains(token)) deleted_.insert(token);
  }
  if (away || missed) {
    CatchUp(attempt, call, [&](const runtime::CallOptions& bounded) {
      const absl::Status gone = client_->primary_->datasets()
                                    .Ask(DeleteDataset{token}, bounded)
                                    .status();
      if (!gone.ok() && !absl::IsNotFound(gone)) return gone;
      MutexLock lock(&mu_);
      deleted_.erase(token);
      return absl::OkStatus();
    });
  }
  return absl::OkStatus();
}

absl::Status FallbackDatasets::Restore(const CancelToken& cancel) {
  runtime::Client& primary = *client_->primary_;
  // A server that was restarted may have lost what was put; only what it lacks
  // is sent. It still has what was deleted meanwhile.
  std::map<std::string, DatasetSource, std::less<>> sources;
  std::set<std::string, std::less<>> deleted;
  {
    MutexLock lock(&mu_);
    sources = sources_;
    deleted.swap(deleted_);
    restored_ = changes_;
  }
  for (const std::string& token : deleted) {
    const absl::Status gone = primary.datasets()
                                  .Ask(DeleteDataset{token}, {.cancel = cancel})
                                  .status();
    if (!IsLinkError(gone)) continue;
    MutexLock lock(&mu_);
    for (const std::string& left : deleted) {
      if (!sources_.contains(left)) deleted_.insert(left);
    }
    return gone;
  }
  for (const auto& [token, source] : sources) {
    const absl::Status put =
        primary.datasets().Put(source, {.cancel = cancel}).status();
    if (IsLinkError(put)) return put;
    if (put.ok()) NotAlone(token);
    if (put.ok()) continue;
    // Back for all that does not need it.
    HAWSER_LOG(kWarning) << "dataset " << token << " cannot be put again on "
                         << primary.name() << ": " << put.ToString();
  }
  return RestoreTags(cancel);
}

bool FallbackDatasets::Settled() {
  MutexLock lock(&mu_);
  return restored_ == changes_;
}

}  // namespace hawser
