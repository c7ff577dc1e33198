#include "client/remote/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "google/protobuf/arena.h"

namespace hawser {
namespace {

// What may be under way without an answer: enough to hide a round trip of
// 10 ms behind steps of 150 us, little enough for a server to hold for every
// client it has.
constexpr int kWindowRequests = 64;
constexpr size_t kWindowBytes = size_t{16} << 20;
// Answers come in any order, so an old request may keep later ones
// unacknowledged, which the server remembers.
constexpr size_t kWindowUnacknowledged = 1024;
// This many released handles are worth a message of their own.
constexpr size_t kReleasesPerPing = 256;

// A step with a few small arguments fits the first block.
struct ClientMessageMemory {
  ClientMessageMemory()
      : arena(block, sizeof(block)),
        message(google::protobuf::Arena::CreateMessage<v1::ClientMessage>(
            &arena)) {}
  alignas(8) char block[1024];
  google::protobuf::Arena arena;
  v1::ClientMessage* message;
};

class Ping : public Request {
 public:
  Ping() { message->mutable_ping(); }
  void OnReply(const absl::Status&, v1::ServerMessage*) override {}
};

}  // namespace

std::shared_ptr<v1::ClientMessage> NewClientMessage() {
  auto memory = std::make_shared<ClientMessageMemory>();
  v1::ClientMessage* message = memory->message;
  return std::shared_ptr<v1::ClientMessage>(std::move(memory), message);
}

RemoteSession::RemoteSession(std::shared_ptr<Transport> transport,
                             RemoteOptions options)
    : transport_(std::move(transport)),
      options_(std::move(options)),
      address_(transport_->address()) {}

RemoteSession::~RemoteSession() = default;

absl::Status RemoteSession::Submit(const std::shared_ptr<Request>& request,
                                   bool wait, const CallLimits& limits) {
  const size_t bytes = request->message->ByteSizeLong();
  absl::Status lost;
  {
    MutexLock lock(&mu_);
    if (wait) HAWSER_RETURN_IF_ERROR(WaitForRoom(bytes, limits));
    if (state_ != State::kLost) {
      Append(request, bytes);
      return absl::OkStatus();
    }
    lost = lost_status_;
  }
  request->OnReply(lost, nullptr);
  return absl::OkStatus();
}

bool RemoteSession::HasRoom(size_t bytes) const {
  if (state_ == State::kLost || unanswered_ == 0) return true;
  return unanswered_ < kWindowRequests &&
         entries_.size() < kWindowUnacknowledged &&
         unanswered_bytes_ + bytes <= kWindowBytes;
}

absl::Status RemoteSession::WaitForRoom(size_t bytes,
                                        const CallLimits& limits) {
  while (!HasRoom(bytes)) {
    const absl::Time now = absl::Now();
    if (absl::Status over = limits.Check(now, address_); !over.ok()) {
      if (!limits.CheckCaller().ok()) return over;
      return ResourceExhausted(address_, ": the window of ", kWindowRequests,
                               " requests or ", kWindowBytes >> 20,
                               " MiB stayed full for the attempt's timeout");
    }
    room_.WaitUntil(&mu_, std::min(now + kTick, limits.deadline()),
                    [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                      return HasRoom(bytes);
                    });
  }
  return absl::OkStatus();
}

void RemoteSession::Append(const std::shared_ptr<Request>& request,
                           size_t bytes) {
  v1::ClientMessage* message = request->message.get();
  message->set_sequence(first_sequence_ + entries_.size());
  message->set_acknowledged(first_sequence_ - 1);
  if (!releases_.empty()) {
    message->mutable_release()->Add(releases_.begin(), releases_.end());
    releases_.clear();
  }
  entries_.push_back({request, bytes});
  ++unanswered_;
  unanswered_bytes_ += bytes;
  if (state_ != State::kOpen) return;  // sent once (re)attached
  last_sent_ = absl::Now();
  stream_->Send(request->message);
}

void RemoteSession::SendPing() { Append(std::make_shared<Ping>(), 0); }

void RemoteSession::Release(uint64_t handle) {
  MutexLock lock(&mu_);
  if (state_ == State::kLost) return;
  releases_.push_back(handle);
  if (releases_.size() >= kReleasesPerPing && state_ == State::kOpen) {
    SendPing();
  }
}

void RemoteSession::OnMessage(v1::ServerMessage* message) {
  if (message->more().empty()) return OnOneMessage(message);
  for (v1::ServerMessage& one : *message->mutable_more()) OnOneMessage(&one);
}

void RemoteSession::OnOneMessage(v1::ServerMessage* message) {
  if (message->sequence() == 0) return OnOpenReply(message);
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mu_);
    last_heard_ = absl::Now();
    request = TakeAnswered(message->sequence());
  }
  if (request == nullptr) return;  // a repeat after reattaching
  if (message->status().code() == 0) {
    request->OnReply(absl::OkStatus(), message);
  } else {
    request->OnReply(FromProto(message->status()), nullptr);
  }
}

std::shared_ptr<Request> RemoteSession::TakeAnswered(uint64_t sequence) {
  if (sequence < first_sequence_ ||
      sequence - first_sequence_ >= entries_.size()) {
    return nullptr;
  }
  Entry& entry = entries_[sequence - first_sequence_];
  if (entry.request == nullptr) return nullptr;
  std::shared_ptr<Request> request = std::move(entry.request);
  --unanswered_;
  unanswered_bytes_ -= entry.bytes;
  while (!entries_.empty() && entries_.front().request == nullptr) {
    entries_.pop_front();
    ++first_sequence_;
  }
  room_.SignalAll();
  return request;
}

absl::Status RemoteSession::lost_status() const {
  MutexLock lock(&mu_);
  return lost_status_;
}

std::string RemoteSession::ran_on() const {
  MutexLock lock(&mu_);
  if (platform_.empty()) return address_;
  return absl::StrCat(address_, " ", platform_);
}

int RemoteSession::outstanding() const {
  MutexLock lock(&mu_);
  return unanswered_;
}

bool RemoteSession::attached() const {
  MutexLock lock(&mu_);
  return state_ == State::kOpen;
}

}  // namespace hawser
