#include "tests/testing/in_process/server.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "tests/testing/in_process/stream.h"

namespace hawser {
namespace {

// What the last work of a process gets to give back its buffers.
constexpr absl::Duration kPatience = absl::Seconds(20);

}  // namespace

InProcessServer::InProcessServer(InProcessOptions options)
    : options_(std::move(options)) {
  Start();
}

InProcessServer::~InProcessServer() {
  EndAccidents();
  Kill();
  for (EventLoop& loop : loops_) loop.Stop();
  MutexLock lock(&mu_);
  changed_.Wait(&mu_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return transports_ == 0;
  });
}

void InProcessServer::TransportBegins() {
  MutexLock lock(&mu_);
  ++transports_;
}

void InProcessServer::TransportEnds() {
  MutexLock lock(&mu_);
  --transports_;
  changed_.SignalAll();
}

void InProcessServer::Start() {
  auto core = std::make_unique<ServerCore>();
  core->device = cpu::MakeCpuClient(options_.device);
  auto store = server::DatasetStore::Open(options_.datasets);
  HAWSER_CHECK(store.ok());
  core->store = *std::move(store);
  server::ExecutorOptions options = options_.executor;
  options.sessions.now = [this] {
    return absl::Now() + absl::Microseconds(clock_ahead_us_.load());
  };
  auto executor = server::Executor::Create(core->device, core->store.get(),
                                           std::move(options));
  HAWSER_CHECK(executor.ok());
  core->executor = *std::move(executor);
  core->datasets = std::make_unique<server::DatasetsHandler>(
      core->store.get(), &core->executor->workers, &core->executor->calls);
  MutexLock lock(&mu_);
  HAWSER_CHECK(core_ == nullptr);
  core_ = std::move(core);
}

std::shared_ptr<ServerCore> InProcessServer::Enter(
    const std::shared_ptr<InProcessStream>& stream) {
  MutexLock lock(&mu_);
  if (refuse_ || core_ == nullptr) return nullptr;
  ++users_;
  if (stream != nullptr) {
    std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
    streams_.push_back(stream);
  }
  return std::shared_ptr<ServerCore>(core_.get(), [this](ServerCore*) {
    MutexLock lock(&mu_);
    --users_;
    changed_.SignalAll();
  });
}

void InProcessServer::CutStreams() {
  std::vector<std::weak_ptr<InProcessStream>> streams;
  {
    MutexLock lock(&mu_);
    streams.swap(streams_);
  }
  for (const auto& weak : streams) {
    if (auto stream = weak.lock()) stream->Cut({}, {});
  }
}

void InProcessServer::Refuse(bool refuse) {
  MutexLock lock(&mu_);
  refuse_ = refuse;
}

void InProcessServer::End(const std::function<void(ServerCore&)>& last_words) {
  std::unique_ptr<ServerCore> core;
  {
    MutexLock lock(&mu_);
    core = std::move(core_);
  }
  if (core == nullptr) return;
  last_words(*core);
  CutStreams();
  core->executor->Shutdown();
  core->store->Stop(absl::Now() + kPatience);
  {
    MutexLock lock(&mu_);
    changed_.Wait(
        &mu_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return users_ == 0; });
  }
  const std::shared_ptr<cpu::CpuClient> device = core->device;
  core.reset();
  const absl::Time patience = absl::Now() + kPatience;
  while (device->live_buffers() > 0 && absl::Now() < patience) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  leaked_ += device->live_buffers();
}

void InProcessServer::Kill() {
  End([](ServerCore&) {});
}

void InProcessServer::Stop() {
  End([](ServerCore& core) { core.executor->Shutdown(); });
}

void InProcessServer::WithCore(const std::function<void(ServerCore&)>& look) {
  if (const auto core = Enter()) look(*core);
}

void InProcessServer::EndLeases() {
  const absl::Duration more =
      options_.executor.sessions.lease + absl::Seconds(1);
  clock_ahead_us_ += absl::ToInt64Microseconds(more);
  WithCore([](ServerCore& core) { core.executor->Sweep(); });
}

int64_t InProcessServer::sessions() {
  int64_t sessions = 0;
  WithCore(
      [&](ServerCore& core) { sessions = core.executor->sessions.size(); });
  return sessions;
}

InProcessServer::Remains InProcessServer::remains() {
  EndLeases();
  Remains remains;
  WithCore([&](ServerCore& core) {
    remains.sessions = core.executor->sessions.size();
    remains.buffers = core.device->live_buffers();
    remains.upload_bytes = core.executor->upload_memory.resident();
  });
  return remains;
}

void InProcessServer::AfterMessages(int n, std::function<void()> task) {
  MutexLock lock(&mu_);
  after_.emplace(messages_ + n, std::move(task));
}

void InProcessServer::EndAccidents() {
  {
    MutexLock lock(&mu_);
    after_.clear();
  }
  Promise<bool> promise;
  const Future<bool> idle = promise.future();
  accidents_.Post([&promise] { promise.Set(true); });
  (void)idle.Await();
}

void InProcessServer::CountMessage() {
  MutexLock lock(&mu_);
  ++messages_;
  while (!after_.empty() && after_.begin()->first <= messages_) {
    accidents_.Post(std::move(after_.begin()->second));
    after_.erase(after_.begin());
  }
}

}  // namespace hawser
