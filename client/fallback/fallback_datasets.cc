// The datasets of a FallbackClient: what was put from here can be put again.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fallback/fallback_buffer.h"
#include "client/fallback/fallback_client.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Infos in one page of a listing.
constexpr int kPage = 1000;

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

absl::StatusOr<runtime::BufferPtr> OpenAt(runtime::Client& where,
                                          const DatasetPart& part,
                                          const runtime::CallOptions& call) {
  if (!part.rows.has_value()) {
    return where.DatasetArray(part.token, part.array, call);
  }
  return where.DatasetRows(part.token, part.array, *part.rows, call);
}

}  // namespace

template <typename T>
absl::StatusOr<T> FallbackClient::AskPrimary(
    const runtime::CallOptions& call,
    absl::FunctionRef<absl::StatusOr<T>(const runtime::CallOptions&)> ask) {
  const Attempt attempt = Begin(call);
  if (Breaker::IsOpen(attempt.epoch)) return Missing(attempt.epoch);
  absl::StatusOr<T> answer = ask(Bounded(call, attempt));
  if (!answer.ok()) (void)GiveUp(answer.status(), attempt);
  return answer;
}

void FallbackClient::KeepSource(const std::string& token,
                                DatasetSource source) {
  MutexLock lock(&mu_);
  KeepSourceLocked(token, std::move(source));
}

void FallbackClient::KeepSourceLocked(const std::string& token,
                                      DatasetSource source) {
  ++changes_;
  deleted_.erase(token);
  if (!policy_.keep_dataset_sources) return;
  sources_.emplace(token, std::move(source));
}

void FallbackClient::CatchUp(
    const Attempt& attempt, const runtime::CallOptions& call,
    absl::FunctionRef<absl::Status(const runtime::CallOptions&)> change) {
  const Attempt now = BeginTransfer(call);
  if (Breaker::IsOpen(now.epoch) || now.epoch == attempt.epoch) return;
  const absl::Status status = change(Bounded(call, now));
  if (!status.ok()) (void)GiveUp(status, now);
}

absl::StatusOr<DatasetInfo> FallbackClient::PutDataset(
    const DatasetSource& source, const runtime::CallOptions& call) {
  const Attempt attempt = BeginTransfer(call);
  absl::StatusOr<DatasetInfo> info = Missing(attempt.epoch);
  if (!Breaker::IsOpen(attempt.epoch)) {
    info = primary_->PutDataset(source, Bounded(call, attempt));
    if (!info.ok() && !GiveUp(info.status(), attempt)) return info;
  }
  const bool there = info.ok();
  if (!there) info = secondary_->PutDataset(source, WithoutAttempt(call));
  if (!info.ok()) return info;
  KeepSource(info->token, source);
  if (!there) {
    CatchUp(attempt, call, [&](const runtime::CallOptions& bounded) {
      return primary_->PutDataset(source, bounded).status();
    });
  }
  return info;
}

absl::StatusOr<DatasetInfo> FallbackClient::StatDataset(
    absl::string_view token, const runtime::CallOptions& call) {
  if (IsTag(token)) {
    return AskPrimary<DatasetInfo>(
        call, [&](const runtime::CallOptions& bounded) {
          return primary_->StatDataset(token, bounded);
        });
  }
  const Attempt attempt = Begin(call);
  absl::Status found;
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto info = primary_->StatDataset(token, Bounded(call, attempt));
    if (info.ok()) return info;
    if (!GiveUp(info.status(), attempt)) found = info.status();
  }
  if (found.ok() || absl::IsNotFound(found)) {
    // What was put from here can be used, also when a server that was
    // restarted has forgotten it: the first use puts it again.
    MutexLock lock(&mu_);
    auto at = sources_.find(token);
    if (at != sources_.end()) return InfoOfSource(at->first, at->second);
  }
  if (!found.ok()) return NotThere(token, found);
  auto info = secondary_->StatDataset(token, WithoutAttempt(call));
  if (info.ok()) return info;
  return NotThere(token, info.status());
}

absl::Status FallbackClient::NotThere(absl::string_view token,
                                      const absl::Status& found) {
  MutexLock lock(&mu_);
  if (!absl::IsNotFound(found) || !frozen_.contains(token)) return found;
  return DataLoss("dataset ", token, " was made of values on ",
                  primary_->name(), ", is lost with it, and is not known here");
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::FindDataset(
    runtime::Client& where, const DatasetPart& part,
    const runtime::CallOptions& call) {
  auto found = OpenAt(where, part, call);
  if (!absl::IsNotFound(found.status())) return found;
  const std::optional<DatasetSource> source = BeginPutting(part.token);
  if (!source.has_value()) {
    // A dataset that is there has all its arrays.
    if (where.StatDataset(part.token, call).ok()) return found;
    return NotThere(part.token, found.status());
  }
  const absl::Status put = where.PutDataset(*source, call).status();
  found = put.ok() ? OpenAt(where, part, call) : put;
  DonePutting(part.token);
  return found;
}

std::optional<DatasetSource> FallbackClient::BeginPutting(
    const std::string& token) {
  MutexLock lock(&mu_);
  const auto at = sources_.find(token);
  if (at == sources_.end() || deleting_.contains(token)) return std::nullopt;
  putting_.insert(token);
  return at->second;
}

void FallbackClient::DonePutting(const std::string& token) {
  MutexLock lock(&mu_);
  putting_.erase(putting_.find(token));
  put_again_.SignalAll();
}

absl::Status FallbackClient::BeginDeleting(const std::string& token,
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

void FallbackClient::EndDeleting(const std::string& token) {
  MutexLock lock(&mu_);
  deleting_.erase(deleting_.find(token));
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetOnSecondary(
    const DatasetPart& part) {
  auto found = FindDataset(*secondary_, part, {});
  if (!absl::IsNotFound(found.status()) ||
      secondary_->StatDataset(part.token, {}).ok()) {
    return found;
  }
  return Unavailable(primary_->name(), " is away and this end does not have ",
                     part.token, ": ", found.status().message());
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::OpenDataset(
    DatasetPart part, const runtime::CallOptions& call) {
  const Attempt attempt = Begin(call);
  runtime::BufferPtr primary, found;
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto there = FindDataset(*primary_, part, Bounded(call, attempt));
    if (there.ok()) {
      found = primary = *std::move(there);
    } else if (!GiveUp(there.status(), attempt)) {
      return there;
    }
  }
  if (found == nullptr) {
    HAWSER_ASSIGN_OR_RETURN(found, DatasetOnSecondary(part));
  }
  auto buffer = std::make_shared<FallbackBuffer>(
      this, std::move(primary), attempt,
      recipes_.OfDataset(found->shape(), part));
  buffer->SetDataset(std::move(part));
  return buffer;
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetArray(
    absl::string_view token, absl::string_view array,
    const runtime::CallOptions& call) {
  return OpenDataset({std::string(token), std::string(array)}, call);
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetRows(
    absl::string_view token, absl::string_view array, const RowRange& rows,
    const runtime::CallOptions& call) {
  return OpenDataset({std::string(token), std::string(array), rows}, call);
}

absl::Status FallbackClient::FetchDataset(absl::string_view token,
                                          absl::string_view array,
                                          const std::optional<RowRange>& rows,
                                          absl::Span<char> into,
                                          const runtime::CallOptions& call) {
  const Attempt attempt = BeginTransfer(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    const absl::Status status = primary_->FetchDataset(token, array, rows, into,
                                                       Bounded(call, attempt));
    if (status.ok()) return status;
    if (!GiveUp(status, attempt) && !absl::IsNotFound(status)) return status;
  }
  // Put again, or found here.
  return Client::FetchDataset(token, array, rows, into, call);
}

absl::StatusOr<DatasetPage> FallbackClient::ListDatasets(
    const DatasetQuery& query, const runtime::CallOptions& call) {
  const Attempt attempt = Begin(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto page = primary_->ListDatasets(query, Bounded(call, attempt));
    if (page.ok() || !GiveUp(page.status(), attempt)) return page;
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
        secondary_->ListDatasets(next, WithoutAttempt(call)));
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

absl::Status FallbackClient::DeleteDataset(absl::string_view token,
                                           const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(ParseToken(token));
  const std::string name(token);
  HAWSER_RETURN_IF_ERROR(BeginDeleting(name, call));
  const absl::Status deleted = DeleteEverywhere(name, call);
  EndDeleting(name);
  return deleted;
}

absl::Status FallbackClient::DeleteEverywhere(
    const std::string& token, const runtime::CallOptions& call) {
  const Attempt attempt = Begin(call);
  bool away = Breaker::IsOpen(attempt.epoch);
  absl::Status there = Missing(attempt.epoch);
  if (!away) {
    there = primary_->DeleteDataset(token, Bounded(call, attempt));
    if (!there.ok() && !absl::IsNotFound(there)) {
      if (!GiveUp(there, attempt)) return there;
      away = true;
    }
  }
  bool here = secondary_->DeleteDataset(token, WithoutAttempt(call)).ok();
  {
    MutexLock lock(&mu_);
    ++changes_;
    if (const auto at = sources_.find(token); at != sources_.end()) {
      sources_.erase(at);
      here = true;
    }
    if (const auto at = frozen_.find(token); at != frozen_.end()) {
      frozen_.erase(at);
      here = true;
    }
    if (here && away) deleted_.insert(token);
  }
  if (!here) return there;
  // A probe that began since has put what was still known here then.
  const bool missed = !away && breaker_.epoch() != attempt.epoch;
  if (missed) {
    MutexLock lock(&mu_);
    ++changes_;
    if (!sources_.contains(token)) deleted_.insert(token);
  }
  if (away || missed) {
    CatchUp(attempt, call, [&](const runtime::CallOptions& bounded) {
      const absl::Status gone = primary_->DeleteDataset(token, bounded);
      if (!gone.ok() && !absl::IsNotFound(gone)) return gone;
      MutexLock lock(&mu_);
      deleted_.erase(token);
      return absl::OkStatus();
    });
  }
  return absl::OkStatus();
}

absl::StatusOr<DatasetInfo> FallbackClient::PinDataset(
    absl::string_view token, absl::Duration ttl,
    const runtime::CallOptions& call) {
  return AskPrimary<DatasetInfo>(
      call, [&](const runtime::CallOptions& bounded) {
        return primary_->PinDataset(token, ttl, bounded);
      });
}

absl::Status FallbackClient::TagDataset(const DatasetTag& tag,
                                        const runtime::CallOptions& call) {
  return AskPrimary<bool>(
             call,
             [&](const runtime::CallOptions& bounded) -> absl::StatusOr<bool> {
               HAWSER_RETURN_IF_ERROR(primary_->TagDataset(tag, bounded));
               return true;
             })
      .status();
}

absl::StatusOr<DatasetUsage> FallbackClient::QueryUsage(
    const runtime::CallOptions& call) {
  return AskPrimary<DatasetUsage>(call,
                                  [&](const runtime::CallOptions& bounded) {
                                    return primary_->QueryUsage(bounded);
                                  });
}

}  // namespace hawser
