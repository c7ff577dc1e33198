#include "client/remote/session/window/request.h"

#include <optional>
#include <utility>
#include <vector>

#include "client/remote/session/window/request_window.h"
#include "core/base/mutex.h"
#include "google/protobuf/arena.h"

namespace hawser {
namespace {

// A step with a few small arguments fits the first block. The arena lives from
// Take to Give: its block belongs to the thread that makes it.
struct MessageMemory {
  alignas(8) char block[1024];
  std::optional<google::protobuf::Arena> arena;
};

// The pool keeps as many as a window needs: blocks of this size are slow to
// come by in glibc's malloc, which caches few.
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
    if (free_.size() < RequestWindow::kRequests) {
      free_.push_back(std::move(memory));
    }
  }

 private:
  Mutex mu_;
  std::vector<std::unique_ptr<MessageMemory>> free_ ABSL_GUARDED_BY(mu_);
};

// Said here and not asked of the message's descriptor, which a plugin has none
// of (client/pjrt/descriptors.cc).
const char* NameOf(v1::ClientMessage::RequestCase request) {
  switch (request) {
    case v1::ClientMessage::kOpen:
      return "open";
    case v1::ClientMessage::kCompile:
      return "compile";
    case v1::ClientMessage::kExecute:
      return "execute";
    case v1::ClientMessage::kUpload:
      return "upload";
    case v1::ClientMessage::kFetch:
      return "fetch";
    case v1::ClientMessage::kPing:
      return "ping";
    case v1::ClientMessage::kFreeze:
      return "freeze";
    case v1::ClientMessage::REQUEST_NOT_SET:
      break;
  }
  return "request";
}

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

void Request::Sent() {
  if (!IsTraced()) return;
  flight_ = TraceFlight("wire", NameOf(message->request_case()));
  flight_.Add("bytes", static_cast<int64_t>(message->ByteSizeLong()));
}

}  // namespace hawser
