#include "client/remote/session/window/request_window.h"

#include <utility>

namespace hawser {
namespace {

// Answers come in any order, so an old request may keep later ones
// unacknowledged, which the server remembers.
constexpr size_t kUnacknowledged = 1024;

// A request whose caller waits no longer; a stream may ask for it again.
class Abandoned final : public Request {
 public:
  explicit Abandoned(std::shared_ptr<v1::ClientMessage> of)
      : Request(std::move(of)) {}
  void OnReply(const absl::Status&, v1::ServerMessage*) override {}
};

}  // namespace

void RequestWindow::Add(const std::shared_ptr<Request>& request, size_t bytes,
                        absl::Time now) {
  request->message->set_sequence(first_ + entries_.size());
  request->message->set_acknowledged(acknowledged());
  entries_.push_back({request, bytes, now});
  unanswered_bytes_ += bytes;
  ++unanswered_;
}

std::shared_ptr<Request> RequestWindow::TakeAnswered(uint64_t sequence) {
  if (sequence < first_ || sequence - first_ >= entries_.size()) return nullptr;
  Entry& entry = entries_[sequence - first_];
  if (entry.request == nullptr) return nullptr;
  std::shared_ptr<Request> request = std::move(entry.request);
  --unanswered_;
  unanswered_bytes_ -= entry.bytes;
  while (!entries_.empty() && entries_.front().request == nullptr) {
    entries_.pop_front();
    ++first_;
  }
  SignalRoom();
  return request;
}

std::vector<std::shared_ptr<Request>> RequestWindow::TakeAll() {
  std::vector<std::shared_ptr<Request>> requests = After(0);
  first_ += entries_.size();
  entries_.clear();
  unanswered_ = 0;
  unanswered_bytes_ = 0;
  SignalRoom();
  return requests;
}

std::vector<std::shared_ptr<Request>> RequestWindow::Abandon() {
  std::vector<std::shared_ptr<Request>> requests;
  for (Entry& entry : entries_) {
    if (entry.request == nullptr) continue;
    auto abandoned = std::make_shared<Abandoned>(entry.request->message);
    requests.push_back(std::exchange(entry.request, std::move(abandoned)));
  }
  return requests;
}

uint64_t RequestWindow::FirstBeside(absl::Span<const uint64_t> others,
                                    uint64_t end) const {
  auto other = others.begin();
  uint64_t sequence = first_;
  for (const Entry& entry : entries_) {
    if (sequence >= end) break;
    while (other != others.end() && *other < sequence) ++other;
    const bool is_other = other != others.end() && *other == sequence;
    if (entry.request != nullptr && !is_other) return sequence;
    ++sequence;
  }
  return 0;
}

std::vector<std::shared_ptr<Request>> RequestWindow::After(
    uint64_t applied) const {
  std::vector<std::shared_ptr<Request>> requests;
  uint64_t sequence = first_;
  for (const Entry& entry : entries_) {
    if (sequence++ <= applied || entry.request == nullptr) continue;
    requests.push_back(entry.request);
  }
  return requests;
}

Future<bool> RequestWindow::MuchRoom() {
  if (!room_.has_value()) room_.emplace();
  return room_->future();
}

bool RequestWindow::Fits(size_t bytes, int requests) const {
  if (unanswered_ == 0) return true;
  return unanswered_ + requests <= kRequests &&
         entries_.size() < kUnacknowledged &&
         unanswered_bytes_ + bytes <= kBytes;
}

void RequestWindow::SignalRoom() {
  if (!room_.has_value() || !HasMuchRoom(0)) return;
  room_->Set(true);
  room_.reset();
}

}  // namespace hawser
