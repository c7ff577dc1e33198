#include "kernels/gpu/gpu_executable.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "core/runtime/pending_run.h"
#include "kernels/gpu/given_argument.h"
#include "kernels/gpu/gpu_buffer.h"
#include "kernels/gpu/run/step_runner.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::gpu {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// A graph costs less to launch than this many steps.
constexpr int64_t kMinCaptured = 2, kMaxCaptured = 4096;

// Holds a stream for one run: the main one, or one of its own.
class RunLane {
 public:
  static absl::StatusOr<std::unique_ptr<RunLane>> Take(
      WorkStreams* work_streams, bool own) {
    std::shared_ptr<WorkStream> work_stream = work_streams->main();
    if (own) {
      HAWSER_ASSIGN_OR_RETURN(work_stream, work_streams->Take());
    }
    return std::make_unique<RunLane>(work_streams, std::move(work_stream), own);
  }
  RunLane(WorkStreams* work_streams, std::shared_ptr<WorkStream> work_stream,
          bool own)
      : work_streams_(work_streams),
        work_stream_(std::move(work_stream)),
        own_(own) {
    work_stream_->Hold();
  }
  ~RunLane() {
    work_stream_->Release();
    if (own_) work_streams_->Return(work_stream_);
  }
  const std::shared_ptr<WorkStream>& work_stream() const {
    return work_stream_;
  }

 private:
  WorkStreams* const work_streams_;
  const std::shared_ptr<WorkStream> work_stream_;
  const bool own_;
};

bool IsCaptured(const Program& program) {
  return !program.blocks && program.queued_steps >= kMinCaptured &&
         program.queued_steps <= kMaxCaptured;
}

}  // namespace

GpuExecutable::GpuExecutable(std::shared_ptr<Engine> engine,
                             std::shared_ptr<const Module> module,
                             Compiled compiled, runtime::Numerics numerics,
                             bool with_graphs)
    : engine_(std::move(engine)),
      module_(std::move(module)),
      compiled_(std::move(compiled)),
      host_(engine_->host(numerics)),
      may_take_(module_->signature().parameters.size(), false),
      graphs_(engine_->shared_device(),
              with_graphs && IsCaptured(compiled_.program)) {
  for (const plan::Donation& d : compiled_.program.donations) {
    may_take_[d.argument] = true;
  }
}

// Queued work may still use them.
GpuExecutable::~GpuExecutable() {
  engine_->work_streams().main()->KeepUntilDone(graphs_.Release());
  engine_->work_streams().main()->KeepUntilDone(compiled_.code);
}

absl::Status GpuExecutable::Check(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) const {
  HAWSER_RETURN_IF_ERROR(runtime::CheckArguments(signature(), arguments));
  const runtime::Client* client = engine_->client();
  if (client == nullptr) {
    return FailedPrecondition("the ", engine_->platform(), " client is gone");
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferPtr>(&arguments[i]);
    if (buffer == nullptr || (*buffer)->client() == client) continue;
    return FailedPrecondition("argument ", i,
                              " is a buffer of another client, not of ",
                              engine_->platform());
  }
  for (int i : options.donated) {
    if (i >= 0 && i < static_cast<int>(arguments.size())) continue;
    return InvalidArgument("donated argument ", i, " is not one of the ",
                           arguments.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BufferPtr>> GpuExecutable::Execute(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) {
  HAWSER_RETURN_IF_ERROR(Check(arguments, options));
  runtime::CallOptions call = options.call;
  call.cancel = runtime::AttemptToken(options.call);
  std::vector<GivenArgument> given(arguments.size());
  bool all_there = !blocks();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto* literal = std::get_if<Literal>(&arguments[i])) {
      given[i].value = engine_->transfers().Upload(*literal);
    } else {
      given[i].buffer = std::get<BufferPtr>(arguments[i]);
      given[i].value = static_cast<GpuBuffer&>(*given[i].buffer).value();
    }
    all_there = all_there && given[i].value.ready();
  }
  for (const int i : options.donated) given[i].is_donated = true;

  absl::StatusOr<std::vector<Future<DeviceValue>>> results =
      all_there ? QueueNow(given, call) : QueueLater(std::move(given), call);
  HAWSER_RETURN_IF_ERROR(results);
  std::vector<BufferPtr> buffers;
  for (size_t r = 0; r < results->size(); ++r) {
    buffers.push_back(std::make_shared<GpuBuffer>(
        engine_, signature().results[r], std::move((*results)[r])));
  }
  return buffers;
}

std::vector<Future<DeviceValue>> GpuExecutable::QueueNow(
    std::vector<GivenArgument>& given, const runtime::CallOptions& call) {
  const auto queue = [&]() -> absl::StatusOr<Results> {
    HAWSER_RETURN_IF_ERROR(call.cancel.Check());
    // The caller holds each buffer too.
    HAWSER_ASSIGN_OR_RETURN(std::vector<RunArgument> taken,
                            TakeArguments(*this, given, 2));
    return Queue(std::move(taken), call);
  };
  absl::StatusOr<Results> queued = queue();
  std::vector<Future<DeviceValue>> results;
  for (size_t r = 0; r < signature().results.size(); ++r) {
    results.emplace_back(
        queued.ok() ? absl::StatusOr<DeviceValue>(std::move((*queued)[r]))
                    : queued.status());
  }
  return results;
}

absl::StatusOr<std::vector<Future<DeviceValue>>> GpuExecutable::QueueLater(
    std::vector<GivenArgument> given, const runtime::CallOptions& call) {
  std::vector<Future<DeviceValue>> awaited;
  for (const GivenArgument& argument : given) {
    if (!argument.value.ready() || !argument.value.Await().ok()) {
      awaited.push_back(argument.value);
    }
  }
  auto work = [self = shared_from_this(), given = std::move(given),
               call]() mutable -> absl::StatusOr<Results> {
    HAWSER_RETURN_IF_ERROR(call.cancel.Check());
    HAWSER_ASSIGN_OR_RETURN(std::vector<RunArgument> taken,
                            TakeArguments(*self, given, 1));
    return self->Queue(std::move(taken), call);
  };
  const auto run = std::make_shared<runtime::PendingRun<DeviceValue>>(
      std::shared_ptr<Gate>(engine_, &engine_->gate()),
      blocks() ? &engine_->blocking_runs() : &engine_->queueing(),
      signature().results.size(), std::move(work));
  if (!run->is_inside()) {
    return FailedPrecondition("the ", engine_->platform(), " client is gone");
  }
  std::vector<Future<DeviceValue>> results = run->results();
  run->Start(std::move(awaited), call.cancel);
  return results;
}

absl::StatusOr<GpuExecutable::Results> GpuExecutable::Queue(
    std::vector<RunArgument> arguments, const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const std::unique_ptr<RunLane> run,
                          RunLane::Take(&engine_->work_streams(), blocks()));
  const std::shared_ptr<WorkStream>& work_stream = run->work_stream();
  Results results(signature().results.size());
  // This stream is no user of arguments that are not waited for.
  HAWSER_RETURN_IF_ERROR(AwaitArguments(work_stream.get(), arguments));
  absl::Status status = PlaceResults(work_stream, arguments, &results);
  if (status.ok()) status = RunSteps(work_stream, arguments, results, call);
  // This happens after a failure, too: some of it may be queued.
  const absl::StatusOr<EventPtr> done = work_stream->Record();
  if (!done.ok()) {
    // If there is no event, nothing may be left that uses the arguments.
    engine_->device().AwaitStream(work_stream->stream()).IgnoreError();
    return status.ok() ? done.status() : status;
  }
  for (RunArgument& a : arguments) a.value.memory->UsedOn(work_stream, *done);
  if (compiled_.constants != nullptr) {
    compiled_.constants->UsedOn(work_stream, *done);
  }
  // The destructor looks after the main stream alone.
  if (blocks()) work_stream->KeepUntilDone(compiled_.code);
  for (DeviceValue& result : results) {
    if (result.memory == nullptr) continue;
    result.memory->UsedOn(work_stream, *done);
    result.ready = *done;
    result.made_on = work_stream.get();
  }
  HAWSER_RETURN_IF_ERROR(status);
  return results;
}

absl::Status GpuExecutable::AwaitArguments(
    WorkStream* work_stream, const std::vector<RunArgument>& arguments) {
  for (const RunArgument& a : arguments) {
    if (a.value.made_on == work_stream) continue;
    HAWSER_RETURN_IF_ERROR(work_stream->AwaitOn(a.value.ready));
  }
  return absl::OkStatus();
}

absl::Status GpuExecutable::PlaceResults(
    const std::shared_ptr<WorkStream>& work_stream,
    std::vector<RunArgument>& arguments, Results* results) {
  const Program& program = compiled_.program;
  for (const plan::Donation& d : program.donations) {
    const RunArgument& given = arguments[d.argument];
    if (!given.is_given) continue;
    for (const EventPtr& use :
         given.value.memory->UsesBeside(work_stream.get())) {
      HAWSER_RETURN_IF_ERROR(work_stream->AwaitOn(use));
    }
    (*results)[d.result].memory = given.value.memory;
  }
  for (size_t r = 0; r < results->size(); ++r) {
    DeviceValue& result = (*results)[r];
    const plan::ResultMemory& place = program.results[r];
    if (place.kind == plan::ResultMemory::kArgument) {
      result.memory = arguments[place.index].value.memory;
    } else if (place.kind == plan::ResultMemory::kOwn &&
               result.memory == nullptr) {
      auto memory = engine_->heap().Allocate(
          work_stream, signature().results[r].byte_size());
      if (!memory.ok()) return Annotate(memory.status(), NoMemoryFor(r));
      result.memory = *std::move(memory);
    }
  }
  for (size_t r = 0; r < results->size(); ++r) {
    const plan::ResultMemory& place = program.results[r];
    if (place.kind == plan::ResultMemory::kResult) {
      (*results)[r].memory = (*results)[place.index].memory;
    }
  }
  return absl::OkStatus();
}

std::string GpuExecutable::NoMemoryFor(size_t result) const {
  const Computation& c = module_->entry();
  const ValueId v = c.results()[result];
  return absl::StrCat("instruction ",
                      plan::NameOf(*module_, c.instructions()[c.producer(v)]),
                      ": no memory for ", c.shape(v).ToString());
}

absl::Status GpuExecutable::RunSteps(
    const std::shared_ptr<WorkStream>& work_stream,
    const std::vector<RunArgument>& arguments, const Results& results,
    const runtime::CallOptions& call) {
  const Program& program = compiled_.program;
  std::vector<DeviceAddress> bases(plan::Slot::kFirstArgument);
  if (program.arena_bytes > 0) {
    auto arena = engine_->heap().Arena(work_stream, program.arena_bytes);
    if (!arena.ok()) return Annotate(arena.status(), "temporary values");
    bases[plan::Slot::kArena] = *arena;
  }
  if (compiled_.constants != nullptr) {
    bases[plan::Slot::kConstants] = compiled_.constants->address();
  }
  for (const RunArgument& a : arguments) {
    bases.push_back(a.value.memory->address());
  }
  for (const DeviceValue& result : results) {
    bases.push_back(result.memory->address());
  }
  StepRunner runner(compiled_, host_, engine_.get(), work_stream.get(),
                    std::move(bases), call);
  if (blocks()) return runner.Run(program.steps);
  return graphs_.Run(work_stream.get(), runner.bases(),
                     [&] { return runner.Run(program.steps); });
}

GraphCache::Counts GpuExecutable::graph_counts() {
  const LaneHold hold(engine_->work_streams().main().get());
  return graphs_.counts();
}

}  // namespace hawser::gpu
