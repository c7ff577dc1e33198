// ConnectionLimits: what connections may send and take.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_LIMITS_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_LIMITS_H_

#include <cstdint>
#include <functional>

#include "absl/strings/string_view.h"

namespace hawser::server {

struct ConnectionLimits {
  // The bytes that a connection may receive before its first authorised call
  // begins.
  int64_t stranger_bytes = 64 << 10;
  // The bytes that it may receive after that, since its last message was
  // complete: more than the largest message, less than gRPC can be made to
  // buffer.
  int64_t unfinished_bytes = 24 << 20;
  // Memory of the process; beyond, connections are closed: those with much of a
  // message that is not complete, then one of the tenant that holds most. 0: no
  // limit.
  int64_t resident_bytes = 0;
  // Memory of the process that `charged`, what clients are charged for, leaves
  // over: gRPC's buffers. Beyond, connections with much of a message that is
  // not complete are closed, of the tenant that has most of these. 0: no limit.
  int64_t uncharged_bytes = 0;
  std::function<int64_t()> charged = [] { return int64_t{0}; };
  // The bytes that a tenant is charged for.
  std::function<int64_t(absl::string_view tenant)> held =
      [](absl::string_view) { return int64_t{0}; };
  // Calls that a connection may give up in a row without having sent a message
  // (CVE-2023-44487).
  int given_up = 1000;
  // Authorised connections of one tenant.
  int64_t of_tenant = 4096;
  // Memory of the process; null: ResidentBytes.
  std::function<int64_t()> resident;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_LIMITS_H_
