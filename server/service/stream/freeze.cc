#include "server/service/stream/freeze.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "server/service/execution/answers.h"

namespace hawser::server {
namespace {

// Stands for a value that is still to come: names are checked before values are
// waited for.
const Literal& StandIn() {
  static const auto& stand_in = *new Literal(Literal::Scalar(uint8_t{0}));
  return stand_in;
}

absl::Status CheckNames(const v1::FreezeRequest& request) {
  if (request.names_size() != request.values_size()) {
    return InvalidArgument(request.names_size(), " names for ",
                           request.values_size(), " values");
  }
  DatasetSource source;
  for (const std::string& name : request.names()) {
    source.arrays.push_back({name, StandIn()});
  }
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&source));
  for (int i = 0; i < request.names_size(); ++i) {
    if (source.arrays[i].name == request.names(i)) continue;
    return InvalidArgument("the arrays are not sorted by name");
  }
  return absl::OkStatus();
}

}  // namespace

void Freeze::Start(Executor& executor, std::shared_ptr<Session> session,
                   const Ticket& ticket, v1::FreezeRequest& request) {
  auto self = std::make_shared<Freeze>(executor, std::move(session), ticket);
  const absl::Status status = self->Prepare(request);
  if (!status.ok()) return Answer(*self->session_, ticket, status);
  WhenArrived(&self->arguments_, ticket.sequence,
              [self](const absl::Status& arrived) {
                if (arrived.ok()) return self->FetchAll();
                Answer(*self->session_, self->ticket_, arrived);
              });
}

absl::Status Freeze::Prepare(v1::FreezeRequest& request) {
  const absl::Status named = CheckNames(request);
  if (!named.ok()) return InSequence(ticket_.sequence, named);
  wait_durable_ = request.wait_durable();
  const ArgumentScope scope{session_->tenant(), &session_->handles(),
                            ticket_.sequence};
  HAWSER_RETURN_IF_ERROR(ResolveArguments(
      scope, executor_.arrays, *request.mutable_values(), &arguments_));
  for (const std::string& name : request.names()) {
    source_.arrays.push_back({name, Literal()});
  }
  return absl::OkStatus();
}

void Freeze::FetchAll() {
  fetched_.assign(arguments_.values.size(), absl::OkStatus());
  left_ = arguments_.values.size() + 1;
  for (size_t i = 0; i < arguments_.values.size(); ++i) {
    if (auto* value = std::get_if<Literal>(&arguments_.values[i])) {
      Fetched(i, std::move(*value));
      continue;
    }
    std::get<runtime::BufferPtr>(arguments_.values[i])
        ->Fetch({})
        .OnReady([self = shared_from_this(),
                  i](const absl::StatusOr<Literal>& value) {
          self->Fetched(i, value);
        });
  }
  if (--left_ == 0) Soon(&Freeze::Hash);
}

void Freeze::Fetched(size_t array, const absl::StatusOr<Literal>& value) {
  if (value.ok()) {
    source_.arrays[array].value = *value;
  } else {
    fetched_[array] = value.status();
  }
  if (--left_ == 0) Soon(&Freeze::Hash);
}

void Freeze::Soon(void (Freeze::*step)()) {
  // Sessions end before their executor does: after this it is still there.
  if (!session_->cancel().Check().ok()) {
    return Fail(Cancelled("the session has ended"));
  }
  executor_.workers.Schedule(
      [self = shared_from_this(), step] { (self.get()->*step)(); });
}

void Freeze::Hash() {
  for (const absl::Status& status : fetched_) {
    if (!status.ok()) return Fail(status);
  }
  arguments_.values.clear();
  manifest_ = ManifestOf(source_, /*threads=*/1);
  PutNext();
}

void Freeze::PutNext() {
  for (; array_ < manifest_.arrays.size(); ++array_, chunk_ = 0) {
    const ArrayManifest& array = manifest_.arrays[array_];
    for (; chunk_ < array.num_chunks(); ++chunk_) {
      const Digest& digest = array.chunks[chunk_];
      const absl::StatusOr<std::vector<uint32_t>> missing =
          executor_.datasets->FindMissing(session_->tenant(), upload_,
                                          {digest});
      if (!missing.ok()) return Fail(missing.status());
      if (missing->empty()) continue;
      executor_.datasets->BeginChunk(
          session_->tenant(), upload_, digest, array.chunk_size(chunk_),
          [self = shared_from_this()](
              absl::StatusOr<std::unique_ptr<ChunkReceiver>> receiver) {
            if (!receiver.ok()) return self->Fail(receiver.status());
            self->receiver_ = *std::move(receiver);
            self->Soon(&Freeze::Fill);
          });
      return;
    }
  }
  Commit();
}

void Freeze::Fill() {
  const absl::Span<const char> bytes =
      source_.arrays[array_].value.bytes().subspan(
          static_cast<size_t>(chunk_ * kChunkBytes),
          static_cast<size_t>(receiver_->size()));
  std::memcpy(receiver_->at(), bytes.data(), bytes.size());
  receiver_->Advance(receiver_->size());
  const absl::Status status = receiver_->Finish();
  receiver_ = nullptr;
  if (!status.ok()) return Fail(status);
  ++chunk_;
  PutNext();
}

void Freeze::Commit() {
  executor_.datasets->Commit(
      session_->tenant(), upload_, manifest_, wait_durable_,
      [self = shared_from_this()](const absl::StatusOr<DatasetInfo>& info) {
        if (!info.ok()) return self->Fail(info.status());
        auto message = NewServerMessage();
        *message->mutable_freeze()->mutable_dataset() = ToProto(*info);
        Answer(*self->session_, self->ticket_, std::move(message));
      });
}

void Freeze::Fail(const absl::Status& own, size_t from) {
  for (size_t i = from; i < arguments_.outcomes.size(); ++i) {
    const Future<bool>& outcome = arguments_.outcomes[i];
    if (!outcome.ready()) {
      outcome.OnReady([self = shared_from_this(), own, i](const auto&) {
        self->Fail(own, i);
      });
      return;
    }
    const absl::StatusOr<bool> verdict = outcome.Await();
    if (!verdict.ok()) {
      return Answer(*session_, ticket_, verdict.status());
    }
  }
  Answer(*session_, ticket_, InSequence(ticket_.sequence, own));
}

}  // namespace hawser::server
