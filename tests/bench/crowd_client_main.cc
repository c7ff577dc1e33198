// crowd_client: many connections, each with one unary call after another, all
// on one thread. What is called is bytes to it, so hawser's client and the
// floor's are the same. Prints "CALLS_PER_SECOND P50 P99 CALLS", times in
// microseconds, the last also of those that warm up. Usage:
//   crowd_client ADDRESS call|echo CONNECTIONS SECONDS
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/bench/timing.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "proto/executor.pb.h"
#include "proto/grpc_status.h"
#include "tests/bench/calls/small_calls.h"
#include "tests/bench/echo/echo_client.h"
#include "tests/bench/echo/message_sizes.h"

namespace hawser::bench {
namespace {

// Calls of each connection before any is counted: it connects by the first.
constexpr int kWarmUp = 3;

// What is sent, first and from then on.
struct Script {
  std::string method;
  grpc::ByteBuffer first;
  grpc::ByteBuffer request;
};

grpc::ByteBuffer BytesOf(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

absl::StatusOr<Script> ScriptOf(const std::string& kind) {
  if (kind == "echo") {
    const grpc::ByteBuffer request = BytesOf(RequestOf(SizesOfCall()));
    return Script{"/hawser.bench.Echo/Unary", request, request};
  }
  HAWSER_ASSIGN_OR_RETURN(const auto module, SumModule());
  const std::string bytes = EncodeModule(*module);
  const Digest fingerprint = Fingerprint(bytes, {});
  v1::CallRequest request;
  request.set_fingerprint(std::string(fingerprint.bytes()));
  *request.mutable_options() = ToProto(runtime::CompileOptions());
  for (const Literal& argument : SumArguments()) {
    ToProto(argument, request.add_arguments()->mutable_literal());
  }
  v1::CallRequest first = request;
  first.set_module(bytes);
  return Script{"/hawser.v1.Executor/Call", BytesOf(first), BytesOf(request)};
}

// What all connections have seen.
struct Counts {
  bool counting = false;
  int connected = 0;
  int calls = 0;
  absl::Status failure;  // the first
  std::vector<double> micros;
};

// A connection of its own with one call under way.
class Caller {
 public:
  Caller(const std::string& address, const Script& script,
         grpc::CompletionQueue* queue, Counts* counts)
      : script_(script), queue_(queue), counts_(counts) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_.emplace(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments));
  }

  void Start() {
    started_ = NowMicros();
    context_.emplace();
    call_ = stub_->PrepareUnaryCall(
        &*context_, script_.method,
        calls_ == 0 ? script_.first : script_.request, queue_);
    call_->StartCall();
    call_->Finish(&answer_, &status_, this);
  }

  // Its call is over.
  void Done() {
    ++counts_->calls;
    if (++calls_ == kWarmUp) ++counts_->connected;
    if (!status_.ok()) counts_->failure.Update(FromGrpc(status_));
    if (answer_.Length() == 0) counts_->failure.Update(Internal("no answer"));
    if (counts_->counting) counts_->micros.push_back(NowMicros() - started_);
  }

 private:
  const Script& script_;
  grpc::CompletionQueue* const queue_;
  Counts* const counts_;
  std::optional<grpc::GenericStub> stub_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  double started_ = 0;
  int calls_ = 0;
};

// Calls until all are warm and `seconds` are over, or one fails, then until
// nothing is under way. Returns how long it counted, in seconds.
double Run(const std::vector<std::unique_ptr<Caller>>& callers, double seconds,
           grpc::CompletionQueue* queue, Counts* counts) {
  for (const auto& caller : callers) caller->Start();
  size_t under_way = callers.size();
  double start = 0, counted = 0;
  void* tag;
  bool ok;
  while (under_way > 0 && queue->Next(&tag, &ok)) {
    auto* caller = static_cast<Caller*>(tag);
    caller->Done();
    const double now = NowMicros();
    if (start == 0 && counts->connected == static_cast<int>(callers.size())) {
      counts->counting = true;
      start = now;
    }
    if (counts->counting) {
      counted = (now - start) / 1e6;
      counts->counting = counted < seconds;
    }
    if (counts->failure.ok() && (start == 0 || counts->counting)) {
      caller->Start();
    } else {
      --under_way;
    }
  }
  return counted;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "crowd_client: see crowd_client_main.cc\n");
    return 2;
  }
  const absl::StatusOr<Script> script = ScriptOf(argv[2]);
  if (!script.ok()) {
    std::fprintf(stderr, "crowd_client: %s\n",
                 script.status().ToString().c_str());
    return 1;
  }
  grpc::CompletionQueue queue;
  Counts counts;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    callers.push_back(
        std::make_unique<Caller>(argv[1], *script, &queue, &counts));
  }
  const double seconds = Run(callers, std::atof(argv[4]), &queue, &counts);
  if (counts.failure.ok() && counts.micros.empty()) {
    counts.failure = Internal("no call was counted");
  }
  if (!counts.failure.ok()) {
    std::fprintf(stderr, "crowd_client: %s\n",
                 counts.failure.ToString().c_str());
    return 1;
  }
  std::printf("%.0f %.1f %.1f %d\n",
              static_cast<double>(counts.micros.size()) / seconds,
              Quantile(counts.micros, 0.5), Quantile(counts.micros, 0.99),
              counts.calls);
  return 0;
}

}  // namespace hawser::bench

int main(int argc, char** argv) { return hawser::bench::Main(argc, argv); }
