// The runtime interfaces. Every way of computing (this CPU, a remote server,
// a fallback pair, several shards, a GPU) is a Client; its holder need not
// know which.
#ifndef HAWSER_CORE_RUNTIME_CLIENT_H_
#define HAWSER_CORE_RUNTIME_CLIENT_H_

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/memory_account.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/ir/verifier.h"
#include "core/runtime/options.h"

namespace hawser {
struct ShardSpec;
}

namespace hawser::runtime {

class Client;
class Datasets;

// A value that lives where its Client computes. Shared; immutable; thread-safe.
// Its death frees the memory (for a remote one: queues a Release).
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual const Shape& shape() const = 0;
  // The client it lives on. Outlived by this buffer's keep-alives.
  virtual Client* client() const = 0;
  // The value in host memory; the future fails with the *first* error of the
  // chain that was to make it. Never blocks.
  virtual Future<Literal> Fetch(const CallOptions& options) = 0;
  // Completes as Fetch would, without the value: true once it is there. The
  // default fetches; an engine whose values are not in host memory does not.
  virtual Future<bool> Ready(const CallOptions& options);
  // Says where it was computed. Final once a Fetch has completed.
  virtual RanOn ran_on() const = 0;
};
using BufferPtr = std::shared_ptr<Buffer>;

// A host value (small ones ride inside the message) or a buffer.
using Argument = std::variant<Literal, BufferPtr>;

// An array of a dataset to be.
struct NamedArgument {
  std::string name;
  Argument value;
};

struct CompileOptions {
  Numerics numerics = Numerics::kFast;
  // The cuts that its user wants, for a client that cuts: core/sharding; 0
  // parts are as many as it has places. Null: nowhere in particular. Others
  // ignore it.
  std::shared_ptr<const ShardSpec> cuts = nullptr;
};

struct ExecuteOptions {
  CallOptions call;
  // Arguments whose buffer may be reused if this was its last reference.
  std::vector<int> donated;
};

// The results of a Call.
struct Called {
  std::vector<Literal> values;
  RanOn ran_on;
};

// A compiled module. Thread-safe; may be executed any number of times at once.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual const Signature& signature() const = 0;
  // About how long one execution keeps the device, by what there is to do; 0
  // where that is not known. For the owner of a device that many share.
  virtual double seconds() const { return 0; }

  // Queues one execution and returns its results at once. The Status covers
  // local errors (wrong count or shape of arguments, foreign buffers, a full
  // window until the deadline); what goes wrong later poisons the results.
  virtual absl::StatusOr<std::vector<BufferPtr>> Execute(
      absl::Span<const Argument> arguments, const ExecuteOptions& options) = 0;

  // One stateless request and its answer, for services: results come back as
  // values. The default is Execute and Fetch of everything.
  virtual Future<Called> Call(absl::Span<const Argument> arguments,
                              const CallOptions& options);
};

class Client {
 public:
  virtual ~Client() = default;

  // "cpu", "gpu-1:7070", "fallback(gpu-1:7070, cpu)".
  virtual std::string name() const = 0;
  // Errors: kUnavailable when the other end was never reached.
  virtual absl::StatusOr<Capabilities> capabilities() = 0;
  // One round trip to where this client computes: OK when it answers now.
  virtual absl::Status Ping(const CallOptions& call) {
    return absl::OkStatus();
  }

  // May block on the first compile of a module; a known module costs nothing.
  virtual absl::StatusOr<std::shared_ptr<Executable>> Compile(
      std::shared_ptr<const Module> module, const CompileOptions& options,
      const CallOptions& call) = 0;

  // Puts a value where this client computes. Returns at once; large values
  // stream in the background.
  virtual absl::StatusOr<BufferPtr> Upload(const Literal& value,
                                           const CallOptions& call) = 0;

  // The datasets that are kept here under tokens (datasets.h).
  virtual Datasets& datasets() = 0;
};

// Evaluates ops an engine has no row for, on the host. Injected by main.cc.
class HostEvaluator {
 public:
  virtual ~HostEvaluator() = default;
  virtual absl::StatusOr<std::vector<Literal>> Evaluate(
      const Module& module, int computation,
      absl::Span<const Literal> arguments, const CancelToken& cancel) = 0;
};

// Checks count and shapes of arguments against a signature, naming the first
// that is wrong. Errors: kInvalidArgument.
absl::Status CheckArguments(const Signature& signature,
                            absl::Span<const Argument> arguments);
const Shape& ShapeOf(const Argument& argument);

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_CLIENT_H_
