#include "tests/kernels/gpu/rig.h"

#include <utility>

#include "core/base/status.h"
#include "core/base/threads/all_of.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"

namespace hawser::gpu {
namespace {

std::shared_ptr<runtime::HostEvaluator> Host(runtime::Numerics numerics) {
  cpu::CpuEvaluator::Options options;
  options.numerics = numerics;
  return std::make_shared<cpu::CpuEvaluator>(options);
}

}  // namespace

const char kAddText[] = R"(module "add"
computation @0 "main" (%0: f32[4], %1: f32[4]) {
  %2: f32[4] = add(%0, %1)
  return %2
}
)";

const char kCountText[] = R"(module "count"
computation @0 "more" (%0: s32[], %1: s32[]) {
  %2: bool[] = compare(%0, %1) direction="LT"
  return %2
}
computation @1 "next" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {1}
  %3: s32[] = add(%0, %2)
  return %3
}
computation @2 "main" (%0: s32[], %1: s32[]) {
  %2: s32[] = while(%0, %1) num_invariant=1 @0 @1
  return %2
}
)";

const char kHostText[] = R"(module "host"
computation @0 "more" (%0: s32[]) {
  %1: s32[] = constant() value=s32[] {10}
  %2: bool[] = compare(%0, %1) direction="LT"
  return %2
}
computation @1 "next" (%0: s32[]) {
  %1: s32[] = constant() value=s32[] {1}
  %2: s32[] = add(%0, %1)
  return %2
}
computation @2 "fused" (%0: s32[]) {
  %1: s32[] = negate(%0)
  %2: s32[] = while(%1) @0 @1
  return %1, %2
}
computation @3 "main" (%0: s32[]) {
  %1: s32[], %2: s32[] = fusion(%0) @2
  %3: s32[] = add(%1, %2)
  return %1, %2, %3
}
)";

Rig::Rig(RigOptions options)
    : Rig(std::shared_ptr<Device>(emu::MakeEmuDevice(options.device)),
          std::move(options.client), options.has_host) {}

Rig::Rig(std::shared_ptr<Device> device, GpuClientOptions options,
         bool has_host)
    : device_(std::move(device)) {
  if (has_host) {
    options.host = {Host(runtime::Numerics::kFast),
                    Host(runtime::Numerics::kStrict)};
  }
  auto client = GpuClient::Make(device_, options);
  HAWSER_CHECK(client.ok());
  client_ = *std::move(client);
}

absl::StatusOr<ExecutablePtr> Rig::Compile(absl::string_view text,
                                           runtime::Numerics numerics) {
  return Compile(Parse(text), numerics);
}

absl::StatusOr<ExecutablePtr> Rig::Compile(Module module,
                                           runtime::Numerics numerics) {
  HAWSER_ASSIGN_OR_RETURN(
      const auto executable,
      client_->Compile(std::make_shared<const Module>(std::move(module)),
                       {.numerics = numerics}, {}));
  return std::static_pointer_cast<GpuExecutable>(executable);
}

runtime::BufferPtr Rig::Put(const Literal& value) {
  auto buffer = client_->Upload(value, {});
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  return buffer.ok() ? *buffer : nullptr;
}

Module Parse(absl::string_view text) {
  auto module = ParseModule(text, FindOp);
  if (!module.ok()) ADD_FAILURE() << module.status();
  HAWSER_CHECK(module.ok());
  return *std::move(module);
}

absl::StatusOr<Values> Fetch(const std::vector<runtime::BufferPtr>& buffers) {
  std::vector<Future<Literal>> futures;
  for (const auto& b : buffers) futures.push_back(b->Fetch({}));
  return AllOf(std::move(futures)).Await(absl::Now() + absl::Seconds(60));
}

absl::StatusOr<Values> RunOn(const ExecutablePtr& executable,
                             const std::vector<runtime::Argument>& arguments,
                             const runtime::ExecuteOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(const auto buffers,
                          executable->Execute(arguments, options));
  return Fetch(buffers);
}

absl::StatusOr<Values> Reference(const Module& module, const Values& arguments,
                                 runtime::Numerics numerics) {
  return Host(numerics)->Evaluate(
      module, static_cast<int>(module.computations().size()) - 1, arguments,
      CancelToken());
}

Literal F32(std::vector<float> values) {
  const auto n = static_cast<int64_t>(values.size());
  return F32(std::move(values), {n});
}
Literal F32(std::vector<float> values, const Dims& dims) {
  return Literal::Of<float>(values, dims);
}

}  // namespace hawser::gpu
