#include "tests/client/remote/fake_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr int64_t kInlineResultBytes = 4 << 10;

absl::StatusOr<Literal> PlusOne(const Literal& value) {
  Literal out = Literal::Uninitialized(value.shape());
  auto to = out.mutable_data<float>();
  const auto from = value.data<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] < 0) return InvalidArgument("below zero");
    to[i] = from[i] + 1;
  }
  return out;
}

}  // namespace

std::shared_ptr<const Module> PlusOneModule(const Dims& dims, int parameters) {
  auto module = std::make_shared<Module>("plus_one");
  Computation computation("main");
  std::vector<ValueId> results;
  for (int i = 0; i < parameters; ++i) {
    results.push_back(*computation.Append(
        *module, kParameter, {}, {{"dims", dims}, {"dtype", DType::kF32}}));
  }
  HAWSER_CHECK(computation.SetResults(results).ok());
  module->Add(std::move(computation));
  return module;
}

FakeServer::FakeServer(absl::Duration lease, std::string address)
    : lease_(lease), address_(std::move(address)), thread_([this] { Loop(); }) {
  MutexLock lock(&mu_);
  capabilities_.platform = "fake";
  capabilities_.device = "nothing at all";
}

FakeServer::~FakeServer() {
  std::vector<std::thread> calls;
  {
    MutexLock lock(&mu_);
    stop_ = true;
    frozen_ = false;
    changed_.SignalAll();
    calls.swap(calls_);
  }
  for (std::thread& call : calls) call.join();
  thread_.join();
}

void FakeServer::Spawn(std::function<void()> call) {
  MutexLock lock(&mu_);
  calls_.emplace_back(std::move(call));
}

void FakeServer::Loop() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(&mu_);
      changed_.Wait(&mu_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return stop_ || (!tasks_.empty() && !frozen_);
      });
      if (stop_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    DeliverOut();
  }
}

void FakeServer::Post(std::function<void()> task) {
  MutexLock lock(&mu_);
  tasks_.push_back(std::move(task));
  changed_.SignalAll();
}

void FakeServer::DeliverOut() {
  std::vector<std::pair<LinkPtr, v1::ServerMessage>> out;
  {
    MutexLock lock(&mu_);
    out.swap(out_);
  }
  for (auto& [link, message] : out) {
    MutexLock lock(&link->mu);
    if (!link->closed) link->callbacks.on_message(&message);
  }
}

void FakeServer::CloseLink(const LinkPtr& link, const StreamEnd& end) {
  MutexLock lock(&link->mu);
  if (link->closed) return;
  link->closed = true;
  link->callbacks.on_closed(end);
}

std::vector<FakeServer::LinkPtr> FakeServer::Links() {
  MutexLock lock(&mu_);
  return std::exchange(links_, {});
}

void FakeServer::CutStreams() {
  CloseStreams(Unavailable("the stream was cut"));
}

void FakeServer::CloseStreams(absl::Status why) {
  for (const LinkPtr& link : Links()) CloseLink(link, {why});
}

void FakeServer::Freeze(bool frozen) {
  MutexLock lock(&mu_);
  frozen_ = frozen;
  changed_.SignalAll();
}

void FakeServer::Refuse(bool refuse) {
  {
    MutexLock lock(&mu_);
    refuse_ = refuse;
    changed_.SignalAll();
  }
  if (refuse) CutStreams();
}

void FakeServer::Restart() {
  {
    MutexLock lock(&mu_);
    sessions_.clear();
    modules_.clear();
    deferred_.clear();
    held_.clear();
    tasks_.clear();
  }
  CutStreams();
}

void FakeServer::SwallowReplies(int n) {
  MutexLock lock(&mu_);
  swallow_replies_ = n;
}

void FakeServer::HoldExecutes(bool hold) {
  {
    MutexLock lock(&mu_);
    hold_executes_ = hold;
    if (hold) return;
    // The last one first: answers come in any order.
    std::reverse(held_.begin(), held_.end());
    for (auto& [link, message] : held_) Send(link, std::move(message));
    held_.clear();
    tasks_.push_back([] {});
    changed_.SignalAll();
  }
}

void FakeServer::FailUploads(int n) {
  MutexLock lock(&mu_);
  fail_uploads_ = n;
}

void FakeServer::FailGetAt(int64_t row) {
  MutexLock lock(&mu_);
  fail_get_at_ = row;
}

void FakeServer::FlipGetAt(int64_t byte, int times) {
  MutexLock lock(&mu_);
  flip_get_at_ = byte;
  flips_ = times;
}

void FakeServer::FlipDigests(int times) {
  MutexLock lock(&mu_);
  flip_digests_ = times;
}

void FakeServer::set_capabilities(runtime::Capabilities capabilities) {
  MutexLock lock(&mu_);
  capabilities_ = std::move(capabilities);
}

void FakeServer::LoseChunkBeforeCommit() {
  MutexLock lock(&mu_);
  lose_chunk_ = true;
}

FakeServer::Counts FakeServer::counts() {
  MutexLock lock(&mu_);
  return counts_;
}

std::vector<uint64_t> FakeServer::applied() {
  MutexLock lock(&mu_);
  return applied_;
}

int FakeServer::live_handles() {
  MutexLock lock(&mu_);
  int live = 0;
  for (const auto& [id, session] : sessions_) live += session.slots.size();
  return live;
}

bool FakeServer::WaitForHandles(int n) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (live_handles() != n && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  return live_handles() == n;
}

bool FakeServer::WaitForGoodbyes(int n) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (counts().goodbyes < n && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  return counts().goodbyes == n;
}

bool FakeServer::WaitForExecutes(int n) {
  MutexLock lock(&mu_);
  return changed_.WaitUntil(
      &mu_, absl::Now() + kPatience,
      [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return counts_.executes >= n; });
}

bool FakeServer::WaitForTasks(int n) {
  MutexLock lock(&mu_);
  return changed_.WaitUntil(
      &mu_, absl::Now() + kPatience, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return tasks_.size() >= static_cast<size_t>(n);
      });
}

void FakeServer::Send(const LinkPtr& link, v1::ServerMessage message) {
  if (link != nullptr) out_.emplace_back(link, std::move(message));
}

void FakeServer::Handle(const LinkPtr& link, const v1::ClientMessage& message) {
  {
    // What was on its way when the stream broke is lost.
    MutexLock lock(&link->mu);
    if (link->closed) return;
  }
  MutexLock lock(&mu_);
  if (message.has_open()) {
    Open(link, message);
    return;
  }
  auto found = sessions_.find(link->session);
  if (found == sessions_.end() || found->second.link != link) return;
  Session& session = found->second;
  if (message.sequence() <= session.applied) {
    ++counts_.repeats;
    return;
  }
  if (message.sequence() != session.applied + 1) ++counts_.gaps;
  session.applied = message.sequence();
  applied_.push_back(message.sequence());
  session.acknowledged = message.acknowledged();
  while (!session.kept.empty() &&
         session.kept.begin()->first <= message.acknowledged()) {
    session.kept.erase(session.kept.begin());
  }
  for (uint64_t handle : message.release()) {
    session.slots.erase(handle);
    session.executables.erase(handle);
  }
  Apply(link->session, message);
  RunDeferred();
  changed_.SignalAll();
}

void FakeServer::Open(const LinkPtr& link, const v1::ClientMessage& message) {
  v1::ServerMessage answer;
  v1::OpenReply* reply = answer.mutable_open();
  uint64_t id = message.open().session_id();
  if (id == 0) {
    ++counts_.opens;
    id = next_session_++;
    sessions_[id].secret = absl::StrCat("secret of ", id);
  } else {
    auto found = sessions_.find(id);
    if (found == sessions_.end() ||
        found->second.secret != message.open().secret()) {
      answer.set_session_lost(true);
      Send(link, std::move(answer));
      return;
    }
    ++counts_.reattaches;
  }
  Session& session = sessions_[id];
  session.link = link;
  link->session = id;
  reply->set_session_id(id);
  reply->set_secret(session.secret);
  reply->set_applied(session.applied);
  reply->set_lease_seconds(absl::ToDoubleSeconds(lease_));
  *reply->mutable_capabilities() = ToProto(capabilities_);
  Send(link, std::move(answer));
  for (const auto& [sequence, kept] : session.kept) Send(link, kept);
}

void FakeServer::Answer(uint64_t id, uint64_t sequence,
                        const absl::Status& status, v1::ServerMessage reply) {
  auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  reply.set_sequence(sequence);
  if (!status.ok()) ToProto(status, reply.mutable_status());
  found->second.kept[sequence] = reply;
  if (reply.has_execute() && hold_executes_) {
    held_.emplace_back(found->second.link, std::move(reply));
  } else if (swallow_replies_ > 0) {
    --swallow_replies_;
  } else {
    Send(found->second.link, std::move(reply));
  }
}

void FakeServer::Apply(uint64_t id, const v1::ClientMessage& message) {
  switch (message.request_case()) {
    case v1::ClientMessage::kCompile:
      return Compile(id, message);
    case v1::ClientMessage::kExecute:
      return Execute(id, message);
    case v1::ClientMessage::kUpload:
      return Upload(id, message);
    case v1::ClientMessage::kFetch:
      return Fetch(id, message);
    case v1::ClientMessage::kFreeze:
      return Freeze(id, message);
    case v1::ClientMessage::kPing:
      ++counts_.pings;
      return Answer(id, message.sequence(), absl::OkStatus());
    default:
      return Answer(id, message.sequence(), InvalidArgument("no request"));
  }
}

void FakeServer::Compile(uint64_t id, const v1::ClientMessage& message) {
  ++counts_.compiles;
  const v1::CompileRequest& compile = message.compile();
  if (!compile.module().empty()) {
    ++counts_.bodies;
    auto options = FromProto(compile.options());
    auto module = DecodeModule(compile.module());
    if (!module.ok()) {
      return Answer(id, message.sequence(), module.status());
    }
    if (Fingerprint(compile.module(), *options).bytes() !=
        compile.fingerprint()) {
      return Answer(id, message.sequence(), InvalidArgument("fingerprint"));
    }
    modules_[compile.fingerprint()] = module->signature();
  }
  auto known = modules_.find(compile.fingerprint());
  if (known == modules_.end()) {
    return Answer(id, message.sequence(), NotFound("fingerprint"));
  }
  sessions_[id].executables[compile.executable()] = known->second;
  v1::ServerMessage reply;
  reply.mutable_compile();
  Answer(id, message.sequence(), absl::OkStatus(), std::move(reply));
}

absl::StatusOr<FakeServer::SlotPtr> FakeServer::ArgumentSlot(
    uint64_t id, const v1::ArgumentProto& argument) {
  if (argument.has_handle()) {
    auto found = sessions_[id].slots.find(argument.handle());
    if (found != sessions_[id].slots.end()) return found->second;
    return NotFound("handle ", argument.handle());
  }
  auto slot = std::make_shared<Slot>();
  slot->ready = true;
  if (argument.has_dataset()) {
    HAWSER_ASSIGN_OR_RETURN(
        slot->value,
        DatasetValue(argument.dataset().token(), argument.dataset().array()));
    if (argument.dataset().has_rows()) {
      const v1::RowRangeProto& rows = argument.dataset().rows();
      HAWSER_ASSIGN_OR_RETURN(
          slot->value, SliceRows(slot->value, {rows.begin(), rows.count()}));
    }
  } else {
    HAWSER_ASSIGN_OR_RETURN(slot->value, FromProto(argument.literal()));
  }
  return slot;
}

void FakeServer::Execute(uint64_t id, const v1::ClientMessage& message) {
  ++counts_.executes;
  const v1::ExecuteRequest& execute = message.execute();
  Session& session = sessions_[id];
  auto executable = session.executables.find(execute.executable());
  Deferred step{id, {}, {}};
  std::vector<SlotPtr> results;
  absl::Status failed = executable == session.executables.end()
                            ? NotFound("executable ", execute.executable())
                            : absl::OkStatus();
  for (const v1::ArgumentProto& argument : execute.arguments()) {
    auto slot = ArgumentSlot(id, argument);
    if (!slot.ok() && failed.ok()) failed = slot.status();
    if (slot.ok()) step.needs.push_back(*slot);
  }
  for (uint32_t donated : execute.donated()) {
    session.slots.erase(execute.arguments(donated).handle());
  }
  const int count = executable == session.executables.end()
                        ? 1
                        : executable->second.results.size();
  for (int i = 0; i < count; ++i) {
    results.push_back(std::make_shared<Slot>());
    session.slots[execute.first_result() + i] = results.back();
  }
  const std::vector<SlotPtr> needs = step.needs;
  step.run = [this, id, sequence = message.sequence(), needs, results,
              failed]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    absl::Status status = failed;
    v1::ServerMessage reply;
    reply.mutable_execute();
    for (size_t i = 0; i < results.size(); ++i) {
      if (status.ok()) status = needs[i]->status;
      absl::StatusOr<Literal> value = Internal("not run");
      if (status.ok()) {
        value = PlusOne(needs[i]->value);
        if (!value.ok()) status = value.status();
      } else {
        value = status;
      }
      results[i]->ready = true;
      results[i]->status = value.status();
      if (!value.ok()) continue;
      results[i]->value = *value;
      v1::InlineResult* inlined = reply.mutable_execute()->add_results();
      inlined->set_index(i);
      if (value->shape().byte_size() <= kInlineResultBytes) {
        inlined->set_data(value->bytes().data(), value->bytes().size());
      }
    }
    Answer(id, sequence, status, std::move(reply));
  };
  deferred_.push_back(std::move(step));
}

void FakeServer::Upload(uint64_t id, const v1::ClientMessage& message) {
  const v1::UploadRequest& upload = message.upload();
  auto slot = std::make_shared<Slot>();
  sessions_[id].slots[upload.handle()] = slot;
  absl::Status status;
  if (auto shape = FromProto(upload.shape()); !shape.ok()) {
    status = shape.status();
  } else if (upload.streamed()) {
    slot->shape = *shape;
  } else {
    auto value = Literal::FromBytes(*shape, upload.data());
    slot->ready = true;
    status = slot->status = value.status();
    if (value.ok()) slot->value = *value;
  }
  Answer(id, message.sequence(), status);
}

void FakeServer::Fetch(uint64_t id, const v1::ClientMessage& message) {
  ++counts_.fetches;
  auto found = sessions_[id].slots.find(message.fetch().handle());
  if (found == sessions_[id].slots.end()) {
    return Answer(id, message.sequence(),
                  NotFound("handle ", message.fetch().handle()));
  }
  const SlotPtr slot = found->second;
  const uint64_t room = message.fetch().max_inline_bytes();
  deferred_.push_back(
      {id,
       {slot},
       [this, id, slot, room, sequence = message.sequence()]()
           ABSL_NO_THREAD_SAFETY_ANALYSIS {
             v1::ServerMessage reply;
             v1::FetchReply* fetch = reply.mutable_fetch();
             if (slot->status.ok()) {
               const auto bytes = slot->value.bytes();
               *fetch->mutable_shape() = ToProto(slot->value.shape());
               fetch->set_large(bytes.size() > room);
               if (!fetch->large()) fetch->set_data(bytes.data(), bytes.size());
             }
             Answer(id, sequence, slot->status, std::move(reply));
           }});
}

void FakeServer::Freeze(uint64_t id, const v1::ClientMessage& message) {
  ++counts_.freezes;
  const v1::FreezeRequest& freeze = message.freeze();
  Deferred step{id, {}, {}};
  for (const v1::ArgumentProto& value : freeze.values()) {
    auto slot = ArgumentSlot(id, value);
    if (!slot.ok()) return Answer(id, message.sequence(), slot.status());
    step.needs.push_back(*slot);
  }
  step.run = [this, id, sequence = message.sequence(), needs = step.needs,
              freeze]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    DatasetSource source;
    for (size_t i = 0; i < needs.size(); ++i) {
      if (!needs[i]->status.ok()) {
        return Answer(id, sequence, needs[i]->status);
      }
      source.arrays.push_back({freeze.names(i), needs[i]->value});
      const absl::Span<const char> bytes = needs[i]->value.bytes();
      // Nothing here is larger than a chunk.
      chunks_[Sha256(bytes)] = std::string(bytes.data(), bytes.size());
    }
    DatasetManifest manifest = ManifestOf(source, 1);
    DatasetInfo info = InfoOf(manifest);
    info.durable = freeze.wait_durable();
    datasets_[info.token] = std::move(manifest);
    v1::ServerMessage reply;
    *reply.mutable_freeze()->mutable_dataset() = ToProto(info);
    Answer(id, sequence, absl::OkStatus(), std::move(reply));
  };
  deferred_.push_back(std::move(step));
}

void FakeServer::RunDeferred() {
  for (bool again = true; again;) {
    again = false;
    for (auto it = deferred_.begin(); it != deferred_.end();) {
      const bool ready =
          std::all_of(it->needs.begin(), it->needs.end(),
                      [](const SlotPtr& slot) { return slot->ready; });
      if (!ready) {
        ++it;
        continue;
      }
      const std::function<void()> run = std::move(it->run);
      it = deferred_.erase(it);
      run();
      again = true;
    }
  }
}

absl::StatusOr<Literal> FakeServer::DatasetValue(absl::string_view token,
                                                 absl::string_view array) {
  auto found = datasets_.find(std::string(token));
  if (found == datasets_.end()) return NotFound("dataset ", token);
  for (const ArrayManifest& m : found->second.arrays) {
    if (m.name != array) continue;
    std::string bytes;
    for (const Digest& chunk : m.chunks) bytes += chunks_[chunk];
    return Literal::FromBytes(m.shape, bytes);
  }
  return NotFound("array ", array);
}

}  // namespace hawser
