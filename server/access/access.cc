#include "server/access/access.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>

#include "absl/strings/string_view.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/pem.h"
#include "core/base/status.h"
#include "server/access/tenant.h"

namespace hawser::server {
namespace {

constexpr unsigned kWatchSeconds = 1;

absl::string_view View(grpc::string_ref text) {
  return {text.data(), text.size()};
}

absl::Status CheckComplete(const AccessOptions& options) {
  const struct {
    bool missing;
    absl::string_view flag;
    absl::string_view needs;
  } rules[] = {
      {!options.tls_cert.empty() && options.tls_key.empty(), "--tls_cert",
       "--tls_key"},
      {!options.tls_key.empty() && options.tls_cert.empty(), "--tls_key",
       "--tls_cert"},
      {!options.tls_client_ca.empty() && options.tls_cert.empty(),
       "--tls_client_ca", "--tls_cert and --tls_key"},
  };
  for (const auto& rule : rules) {
    if (rule.missing) return InvalidArgument(rule.flag, " needs ", rule.needs);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Access>> Access::Open(AccessOptions options) {
  HAWSER_RETURN_IF_ERROR(CheckComplete(options));
  std::unique_ptr<Access> access(new Access(std::move(options)));
  {
    MutexLock lock(&access->mu_);
    access->tls_stamps_ = access->TlsStamps();
  }
  HAWSER_RETURN_IF_ERROR(access->CheckTls());
  if (access->options_.tokens_file.empty()) return access;
  auto tokens = TokenFile::Open(access->options_.tokens_file);
  if (!tokens.ok()) return Annotate(tokens.status(), "--tokens_file");
  access->tokens_ = *std::move(tokens);
  return access;
}

absl::Status Access::CheckTls() const {
  if (!tls()) return absl::OkStatus();
  const absl::Time now = SteadyNow();
  HAWSER_RETURN_IF_ERROR(
      Annotate(CheckCertificates(options_.tls_cert, now), "--tls_cert"));
  HAWSER_RETURN_IF_ERROR(
      Annotate(CheckKeyPair(options_.tls_cert, options_.tls_key), "--tls_key"));
  if (!mutual_tls()) return absl::OkStatus();
  return Annotate(CheckCertificates(options_.tls_client_ca, now),
                  "--tls_client_ca");
}

Access::Stamps Access::TlsStamps() const {
  return {FileStamp::Of(options_.tls_cert), FileStamp::Of(options_.tls_key),
          FileStamp::Of(options_.tls_client_ca)};
}

std::shared_ptr<grpc::ServerCredentials> Access::Credentials() const {
  if (!tls()) return grpc::InsecureServerCredentials();
  auto files =
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          options_.tls_key, options_.tls_cert, options_.tls_client_ca,
          kWatchSeconds);
  grpc::experimental::TlsServerCredentialsOptions credentials(files);
  credentials.watch_identity_key_cert_pairs();
  if (mutual_tls()) {
    credentials.watch_root_certs();
    credentials.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(credentials);
}

absl::StatusOr<std::string> Access::TenantOf(
    const grpc::ServerContextBase& context) const {
  Caller caller;
  const auto sent = context.client_metadata().equal_range("authorization");
  for (auto at = sent.first; at != sent.second; ++at) {
    caller.authorization.push_back(View(at->second));
  }
  std::shared_ptr<const grpc::AuthContext> peer;  // owns the names
  if (mutual_tls()) peer = context.auth_context();
  if (peer != nullptr && peer->IsPeerAuthenticated()) {
    for (grpc::string_ref name :
         peer->FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME)) {
      caller.common_names.push_back(View(name));
    }
  }
  return server::TenantOf(caller, tokens_.get(), mutual_tls());
}

void Access::Refresh() {
  if (tokens_ != nullptr) {
    const absl::Status read = tokens_->Refresh();
    if (!read.ok()) {
      HAWSER_LOG(kWarning) << "--tokens_file has changed, the tokens of before "
                              "count on: "
                           << read.message();
    }
  }
  if (!tls()) return;
  const Stamps stamps = TlsStamps();
  {
    MutexLock lock(&mu_);
    if (stamps == tls_stamps_) return;
    tls_stamps_ = stamps;
  }
  const absl::Status usable = CheckTls();
  if (usable.ok()) {
    HAWSER_LOG(kInfo) << "TLS files have changed, new connections use them";
  } else {
    HAWSER_LOG(kWarning) << "TLS files have changed and cannot be used, new "
                            "connections may fail: "
                         << usable.message();
  }
}

}  // namespace hawser::server
