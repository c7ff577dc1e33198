#include "client/remote/session/program.h"

#include <algorithm>

#include "client/remote/session/window/request.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/threads/or_expired.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// Up to here the body is cheaper than a round trip to ask whether it is known.
constexpr size_t kBodyAlongBytes = 8 << 10;
// Programs kept beyond those that are held: several times the 64 signatures the
// SDK remembers per function.
constexpr size_t kProgramsKept = 256;

class CompileCall final : public AcknowledgedRequest {
 public:
  CompileCall(const RemoteProgram& program, uint64_t name, bool with_body) {
    v1::CompileRequest* compile = message->mutable_compile();
    compile->set_executable(name);
    const absl::string_view fingerprint = program.fingerprint().bytes();
    compile->set_fingerprint(fingerprint.data(), fingerprint.size());
    *compile->mutable_options() = ToProto(program.options());
    if (with_body) {
      compile->set_module(program.bytes().data(), program.bytes().size());
    }
  }
};

}  // namespace

RemoteProgram::RemoteProgram(const Module& module,
                             const runtime::CompileOptions& options)
    : signature_(module.signature()),
      options_(options),
      bytes_(EncodeModule(module)),
      fingerprint_(Fingerprint(bytes_, options)) {}

absl::Status RemoteProgram::CompileIn(
    const std::shared_ptr<RemoteSession>& session, const CancelToken& cancel,
    const CancelToken& caller, absl::string_view who) {
  bool with_body = bytes_.size() <= kBodyAlongBytes;
  for (;;) {
    const uint64_t name = session->NewHandles(1);
    auto call = std::make_shared<CompileCall>(*this, name, with_body);
    HAWSER_RETURN_IF_ERROR(session->Submit(call, cancel, caller));
    session->Flush();
    const absl::Status status =
        AwaitWithin(call->future(), cancel, who).status();
    if (absl::IsNotFound(status) && !with_body) {
      with_body = true;
      continue;
    }
    if (status.ok()) Bind(session, name);
    return status;
  }
}

void RemoteProgram::Bind(const std::shared_ptr<RemoteSession>& session,
                         uint64_t name) {
  MutexLock lock(&mu_);
  session_ = session;
  name_ = name;
}

uint64_t RemoteProgram::NameIn(const std::shared_ptr<RemoteSession>& session) {
  MutexLock lock(&mu_);
  if (session_ == session) return name_;
  session_ = session;
  name_ = session->NewHandles(1);
  // Under the lock, so that no Execute overtakes it; does not wait.
  session->Send(
      std::make_shared<CompileCall>(*this, name_, /*with_body=*/true));
  return name_;
}

bool RemoteProgram::KnownIn(const RemoteSession* session) const {
  MutexLock lock(&mu_);
  return session_.get() == session;
}

std::shared_ptr<RemoteProgram> ProgramCache::Get(
    const std::shared_ptr<const Module>& module,
    const runtime::CompileOptions& options) {
  const SourceKey key{module.get(), options.numerics};
  {
    MutexLock lock(&mu_);
    auto found = by_source_.find(key);
    if (found != by_source_.end() && !found->second.module.expired()) {
      by_content_[found->second.program->fingerprint()] = {
          found->second.program, ++clock_};
      return found->second.program;
    }
  }
  auto program = std::make_shared<RemoteProgram>(*module, options);
  MutexLock lock(&mu_);
  ByContent& entry = by_content_[program->fingerprint()];
  if (entry.program == nullptr) entry.program = program;
  entry.last_used = ++clock_;
  program = entry.program;
  by_source_[key] = {module, program};
  Shrink();
  return program;
}

void ProgramCache::Shrink() {
  if (by_source_.size() > kProgramsKept) {
    absl::erase_if(by_source_, [](const auto& entry) {
      return entry.second.module.expired();
    });
    // Modules that are all alive belong to a program with many functions;
    // starting over costs each one encoding.
    if (by_source_.size() > kProgramsKept) by_source_.clear();
  }
  while (by_content_.size() > kProgramsKept) {
    by_content_.erase(std::min_element(by_content_.begin(), by_content_.end(),
                                       [](const auto& a, const auto& b) {
                                         return a.second.last_used <
                                                b.second.last_used;
                                       }));
  }
}

}  // namespace hawser
