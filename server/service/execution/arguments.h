// Arguments as they come over the wire, turned into values of the device.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_ARGUMENTS_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/threads/future.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"
#include "server/service/execution/device_arrays.h"
#include "server/session/handle_table.h"

namespace hawser::server {

struct Arguments {
  // In order; null where a buffer is still to come.
  std::vector<runtime::Argument> values;
  struct Waiting {
    size_t index;
    Future<runtime::BufferPtr> later;
    bool dataset = false;  // its error is the request's own
  };
  std::vector<Waiting> waiting;
  // Keep those executions going that make arguments and had not ended.
  std::vector<Future<bool>> outcomes;
  std::vector<WantedPtr> wanted;
};

using ArgumentProtos = google::protobuf::RepeatedPtrField<v1::ArgumentProto>;

// The request that arguments are of.
struct ArgumentScope {
  absl::string_view tenant;
  HandleTable* handles = nullptr;  // null: a stateless call
  uint64_t sequence = 0;           // of the request; 0: a stateless call
};

// Takes the bytes of literals out of `protos`. An argument that failed gives
// its own error, in its first words; any other names request and argument.
// Errors: kInvalidArgument, kNotFound, kUnimplemented, or that first cause.
absl::Status ResolveArguments(const ArgumentScope& scope, DeviceArrays& arrays,
                              ArgumentProtos& protos, Arguments* out);

// Calls `done` once: when all that `arguments` wait for is there, or with why
// the first of them is not, as soon as that is known. `done` keeps them alive.
// `sequence` is the request's.
void WhenArrived(Arguments* arguments, uint64_t sequence,
                 std::function<void(const absl::Status&)> done);

// "sequence 17: <status>"; a stateless call's status stays as it is.
absl::Status InSequence(uint64_t sequence, const absl::Status& status);
// "sequence 17: argument 2: <status>"
absl::Status OfArgument(uint64_t sequence, size_t index,
                        const absl::Status& status);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_ARGUMENTS_H_
