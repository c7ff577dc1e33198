// Arguments as they come over the wire, turned into values of the device.
#ifndef HAWSER_SERVER_SERVICE_ARGUMENTS_H_
#define HAWSER_SERVER_SERVICE_ARGUMENTS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/future.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"
#include "server/service/device_arrays.h"
#include "server/session/handle_table.h"

namespace hawser::server {

struct Arguments {
  // In order; null buffers where they are still to come.
  std::vector<runtime::Argument> values;
  struct Waiting {
    size_t index;
    Future<runtime::BufferPtr> later;
  };
  std::vector<Waiting> waiting;
  // Of executions that make arguments and had not ended.
  std::vector<Future<bool>> outcomes;
};

using ArgumentProtos = google::protobuf::RepeatedPtrField<v1::ArgumentProto>;

// Takes the bytes of literals out of `protos`. `handles` is null where there is
// no session. The error is an argument's own, in the words of its maker, or
// new and then names the argument. Errors: kInvalidArgument, kNotFound,
// kUnimplemented, whatever an argument failed with.
absl::Status ResolveArguments(absl::string_view tenant, HandleTable* handles,
                              DeviceArrays& arrays, ArgumentProtos& protos,
                              Arguments* out);

// Whether an error of ResolveArguments was an argument's own.
bool IsInherited(const absl::Status& status);
absl::Status MarkInherited(absl::Status status);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_ARGUMENTS_H_
