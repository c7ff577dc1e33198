#include "server/access/tenant.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr absl::string_view kScheme = "Bearer ";

absl::StatusOr<std::string> OfToken(const Caller& caller,
                                    const TokenFile& tokens) {
  if (caller.authorization.empty()) {
    return absl::UnauthenticatedError(
        "this server wants a token: `authorization: Bearer TOKEN`, which a "
        "hawser client takes from HAWSER_TOKEN_FILE");
  }
  absl::string_view token = caller.authorization[0];
  const bool bearer = absl::StartsWithIgnoreCase(token, kScheme);
  token = absl::StripAsciiWhitespace(
      token.substr(bearer ? kScheme.size() : token.size()));
  // This is done for a token that cannot be right, too, so that all take the
  // same time.
  std::optional<std::string> tenant = tokens.TenantOf(token);
  if (!bearer || caller.authorization.size() > 1 || !tenant.has_value()) {
    return absl::UnauthenticatedError("the token is not one of this server's");
  }
  return *std::move(tenant);
}

absl::StatusOr<std::string> OfCertificate(const Caller& caller) {
  if (caller.common_names.size() != 1) {
    return absl::UnauthenticatedError(
        absl::StrCat("the client certificate has ", caller.common_names.size(),
                     " common names, the tenant is the one it has"));
  }
  const absl::string_view name = caller.common_names[0];
  const absl::Status valid = CheckTenantName(name);
  if (valid.ok()) return std::string(name);
  return absl::UnauthenticatedError(
      absl::StrCat("the client certificate's common name: ", valid.message()));
}

}  // namespace

absl::StatusOr<std::string> TenantOf(const Caller& caller,
                                     const TokenFile* tokens,
                                     bool certificates) {
  if (tokens != nullptr) return OfToken(caller, *tokens);
  if (certificates) return OfCertificate(caller);
  return std::string(kDefaultTenant);
}

}  // namespace hawser::server
