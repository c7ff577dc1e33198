#include "client/remote/session/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/base/threads/progress.h"
#include "core/wire/codec.h"
#include "google/protobuf/arena.h"

namespace hawser {
namespace {

// What may be under way without an answer: enough to hide a round trip of
// 20 ms behind steps of 150 us, little enough for a server to hold for every
// client it has.
constexpr int kWindowRequests = 128;
constexpr size_t kWindowBytes = size_t{16} << 20;
// Answers come in any order, so an old request may keep later ones
// unacknowledged, which the server remembers.
constexpr size_t kWindowUnacknowledged = 1024;
// Once full, it is waited for until this much is free: else every answer would
// let one request go, alone in its message.
constexpr int kRoomToWaitFor = kWindowRequests / 2;
// Requests that leave in one message when no caller waits for them: as many as
// half of those under way, so that the first ones start at once and the server
// does not run out of work meanwhile.
constexpr int kMaxBatch = 32;
// This many released handles are worth a message of their own.
constexpr size_t kReleasesPerPing = 256;

// A step with a few small arguments fits the first block. The arena lives from
// Take to Give: its block belongs to the thread that makes it.
struct MessageMemory {
  alignas(8) char block[1024];
  std::optional<google::protobuf::Arena> arena;
};

// As many as a window needs are kept: blocks of this size are slow to come by
// in glibc's malloc, which caches few.
class MessagePool {
 public:
  static MessagePool& Get() {
    static auto* const pool = new MessagePool;
    return *pool;
  }
  std::unique_ptr<MessageMemory> Take() {
    std::unique_ptr<MessageMemory> memory;
    {
      MutexLock lock(&mu_);
      if (!free_.empty()) {
        memory = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (memory == nullptr) memory = std::make_unique<MessageMemory>();
    memory->arena.emplace(memory->block, sizeof(memory->block));
    return memory;
  }
  void Give(std::unique_ptr<MessageMemory> memory) {
    memory->arena.reset();
    MutexLock lock(&mu_);
    if (free_.size() < kWindowRequests) free_.push_back(std::move(memory));
  }

 private:
  Mutex mu_;
  std::vector<std::unique_ptr<MessageMemory>> free_ ABSL_GUARDED_BY(mu_);
};

class Ping : public Request {
 public:
  Ping() { message->mutable_ping(); }
  void OnReply(const absl::Status&, v1::ServerMessage*) override {}
};

}  // namespace

std::shared_ptr<v1::ClientMessage> NewClientMessage() {
  MessageMemory* const memory = MessagePool::Get().Take().release();
  return std::shared_ptr<v1::ClientMessage>(
      google::protobuf::Arena::CreateMessage<v1::ClientMessage>(
          &*memory->arena),
      [memory](v1::ClientMessage*) {
        MessagePool::Get().Give(std::unique_ptr<MessageMemory>(memory));
      });
}

RemoteSession::RemoteSession(std::shared_ptr<Transport> transport,
                             RemoteOptions options)
    : transport_(std::move(transport)),
      options_(std::move(options)),
      address_(transport_->address()) {}

RemoteSession::~RemoteSession() {
  gate_->Close();
  Alarm::OfProcess().Cancel(tick_);
}

void RemoteSession::Send(const std::shared_ptr<Request>& request) {
  Send(request, request->message->ByteSizeLong(), /*batch=*/false);
}

absl::Status RemoteSession::Submit(const std::shared_ptr<Request>& request,
                                   const CancelToken& cancel,
                                   const CancelToken& caller) {
  const size_t bytes = request->message->ByteSizeLong();
  HAWSER_RETURN_IF_ERROR(WaitForRoom(bytes, cancel, caller));
  Send(request, bytes, /*batch=*/true);
  return absl::OkStatus();
}

void RemoteSession::Send(const std::shared_ptr<Request>& request, size_t bytes,
                         bool batch) {
  absl::Status lost;
  bool look = false;
  {
    MutexLock lock(&mu_);
    if (state_ != State::kLost) {
      look = Append(request, bytes, batch);
    } else {
      lost = lost_status_;
    }
  }
  if (!lost.ok()) request->OnReply(lost, nullptr);
  if (look) Look();
}

void RemoteSession::SignalRoom() {
  if (room_ == nullptr || !HasRoom(0, kRoomToWaitFor)) return;
  room_->Set(true);
  room_ = nullptr;
}

void RemoteSession::Look() {
  const std::shared_ptr<ProgressEngine> engine = ProgressEngine::Current();
  if (engine == nullptr) return;
  engine->Advance([] { return false; }, absl::UnixEpoch());
}

bool RemoteSession::HasRoom(size_t bytes, int requests) const {
  if (state_ == State::kLost || unanswered_ == 0) return true;
  return unanswered_ + requests <= kWindowRequests &&
         entries_.size() < kWindowUnacknowledged &&
         unanswered_bytes_ + bytes <= kWindowBytes;
}

absl::Status RemoteSession::WaitForRoom(size_t bytes, const CancelToken& cancel,
                                        const CancelToken& caller) {
  {
    MutexLock lock(&mu_);
    if (HasRoom(bytes, 1)) return absl::OkStatus();
    if (stream_ != nullptr) stream_->Flush();
  }
  while (true) {
    Future<bool> room;
    {
      MutexLock lock(&mu_);
      if (HasRoom(bytes, kRoomToWaitFor)) return absl::OkStatus();
      if (room_ == nullptr) room_ = std::make_unique<Promise<bool>>();
      room = room_->future();
    }
    const absl::Status over = AwaitWithin(room, cancel, address_).status();
    if (over.ok()) continue;
    if (!caller.Check().ok()) return over;
    return ResourceExhausted(address_, ": the window of ", kWindowRequests,
                             " requests or ", kWindowBytes >> 20,
                             " MiB stayed full for the attempt's timeout");
  }
}

bool RemoteSession::Append(const std::shared_ptr<Request>& request,
                           size_t bytes, bool batch) {
  v1::ClientMessage* message = request->message.get();
  message->set_sequence(first_sequence_ + entries_.size());
  message->set_acknowledged(first_sequence_ - 1);
  if (!releases_.empty()) {
    message->mutable_release()->Add(releases_.begin(), releases_.end());
    releases_.clear();
  }
  entries_.push_back({request, bytes});
  unanswered_bytes_ += bytes;
  const bool first = ++unanswered_ == 1;
  if (state_ != State::kOpen) return false;  // sent once (re)attached
  last_sent_ = SteadyNow();
  if (first) {
    asked_ = last_sent_;
    TickBy(last_sent_ + options_.silence / 2);
  }
  if (batch) {
    TickBy(last_sent_ + kLongestInBatch);
    return stream_->SendInBatch(request->message,
                                std::clamp(unanswered_ / 2, 1, kMaxBatch));
  }
  stream_->Send(request->message);
  return false;
}

void RemoteSession::Flush() {
  MutexLock lock(&mu_);
  if (state_ == State::kOpen) stream_->Flush();
}

void RemoteSession::SendPing() {
  pinged_ = SteadyNow();
  (void)Append(std::make_shared<Ping>(), 0, /*batch=*/false);
}

void RemoteSession::Release(uint64_t handle) {
  MutexLock lock(&mu_);
  if (state_ == State::kLost) return;
  if (releases_.empty() && state_ == State::kOpen) {
    TickBy(std::max(last_sent_, SteadyNow()) + kReleaseDelay);
  }
  releases_.push_back(handle);
  if (releases_.size() >= kReleasesPerPing && state_ == State::kOpen) {
    SendPing();
  }
}

void RemoteSession::OnMessage(v1::ServerMessage* message) {
  if (message->more().empty() && message->done().empty()) {
    OnOneMessage(message);
  } else {
    OnDone({message->done().data(), static_cast<size_t>(message->done_size())});
    for (v1::ServerMessage& one : *message->mutable_more()) OnOneMessage(&one);
  }
  MutexLock lock(&mu_);
  // The server may have nothing left to do but what is held back here.
  if (state_ == State::kOpen && unanswered_ > 0 && unanswered_ <= kMaxBatch) {
    stream_->Flush();
  }
}

void RemoteSession::OnOneMessage(v1::ServerMessage* message) {
  if (message->sequence() == 0) return OnOpenReply(message);
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mu_);
    last_heard_ = SteadyNow();
    request = TakeAnswered(message->sequence());
  }
  if (request == nullptr) return;  // a repeat after reattaching
  if (message->status().code() == 0) {
    request->OnReply(absl::OkStatus(), message);
  } else {
    request->OnReply(FromProto(message->status()), nullptr);
  }
}

void RemoteSession::OnDone(absl::Span<const uint64_t> sequences) {
  Requests requests;
  requests.reserve(sequences.size());
  {
    MutexLock lock(&mu_);
    last_heard_ = SteadyNow();
    for (uint64_t sequence : sequences) {
      requests.push_back(TakeAnswered(sequence));
    }
  }
  v1::ServerMessage nothing;
  for (const auto& request : requests) {
    // Null: a repeat after reattaching.
    if (request != nullptr) request->OnReply(absl::OkStatus(), &nothing);
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
  SignalRoom();
  return request;
}

absl::Status RemoteSession::lost_status() const {
  MutexLock lock(&mu_);
  return lost_status_;
}

int RemoteSession::outstanding() const {
  MutexLock lock(&mu_);
  return unanswered_;
}

absl::Time RemoteSession::detached_since() const {
  MutexLock lock(&mu_);
  return state_ == State::kOpen ? absl::InfiniteFuture() : broken_since_;
}

bool RemoteSession::over() const {
  MutexLock lock(&mu_);
  return state_ == State::kLost && stream_ == nullptr && !ticking_;
}

}  // namespace hawser
