// Tenants: whose sessions, executables and datasets a caller may name.
#ifndef HAWSER_SERVER_ACCESS_TENANT_H_
#define HAWSER_SERVER_ACCESS_TENANT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/token_file.h"

namespace hawser::server {

// The one tenant of a server that asks for no credentials.
inline constexpr absl::string_view kDefaultTenant = "default";

// One call's statements about its caller. The views live as long as the call.
struct Caller {
  // All values of the metadata key `authorization`.
  std::vector<absl::string_view> authorization;
  // The common names of a certificate that the connection has verified.
  std::vector<absl::string_view> common_names;
};

// The tenant of a caller: by its token where there are `tokens`, else by its
// certificate where those are asked for, else kDefaultTenant.
// Errors: kUnauthenticated, with the same text for every unknown token.
absl::StatusOr<std::string> TenantOf(const Caller& caller,
                                     const TokenFile* tokens,
                                     bool certificates);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_TENANT_H_
