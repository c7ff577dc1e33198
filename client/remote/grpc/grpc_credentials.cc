#include "client/remote/grpc/grpc_credentials.h"

#include <arpa/inet.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <netinet/in.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/remote/link/token_source.h"
#include "core/base/pem.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// The time between two looks at certificate files.
constexpr unsigned kWatchSeconds = 5;

class TokenPlugin final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit TokenPlugin(std::unique_ptr<TokenSource> source)
      : source_(std::move(source)) {}

  bool IsBlocking() const override { return false; }
  const char* GetType() const override { return "hawser token"; }
  grpc::Status GetMetadata(
      grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
      std::multimap<grpc::string, grpc::string>* metadata) override {
    metadata->emplace("authorization", "Bearer " + source_->Token());
    return grpc::Status::OK;
  }
  // Also what gRPC's own traces print.
  grpc::string DebugString() override { return "a token"; }

 private:
  const std::unique_ptr<TokenSource> source_;
};

bool IsUnix(const std::string& address) {
  return absl::StartsWith(address, "unix:");
}

// True if the address can only be this machine. A host's name may point
// anywhere, but that of this one.
bool IsLoopback(const std::string& address) {
  absl::string_view host = address;
  host = host.substr(0, host.rfind(':'));
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  const std::string name(host);
  in_addr v4{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24) == 127;
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, name.c_str(), &v6) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return name == "localhost";
}

absl::Status CheckFiles(const Credentials& credentials) {
  if (credentials.ca_file.empty()) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(CheckCertificates(credentials.ca_file, absl::Now()));
  if (credentials.cert_file.empty()) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(CheckCertificates(credentials.cert_file, absl::Now()));
  return CheckKeyPair(credentials.cert_file, credentials.key_file);
}

std::shared_ptr<grpc::ChannelCredentials> Tls(const Credentials& credentials) {
  auto files =
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          credentials.key_file, credentials.cert_file, credentials.ca_file,
          kWatchSeconds);
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(files);
  options.watch_root_certs();
  if (!credentials.cert_file.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

// Plaintext. If there is a token, gRPC itself sees to it that both ends of a
// connection are on this machine, whatever "localhost" may point to.
std::shared_ptr<grpc::ChannelCredentials> Plaintext(
    const Credentials& credentials, const std::string& address) {
  if (!credentials.has_token()) return grpc::InsecureChannelCredentials();
  return grpc::experimental::LocalCredentials(IsUnix(address) ? UDS
                                                              : LOCAL_TCP);
}

absl::Status CheckComplete(const Credentials& credentials,
                           const std::string& address) {
  if (credentials.cert_file.empty() != credentials.key_file.empty()) {
    return InvalidArgument(
        "a client certificate needs its key, and a key its certificate "
        "(HAWSER_TLS_CERT, HAWSER_TLS_KEY)");
  }
  if (!credentials.ca_file.empty()) return absl::OkStatus();
  if (!credentials.cert_file.empty()) {
    return InvalidArgument("the client certificate in ", credentials.cert_file,
                           " needs the certificates to trust (HAWSER_TLS_CA)");
  }
  if (credentials.has_token() && !IsUnix(address) && !IsLoopback(address)) {
    return FailedPrecondition(
        "the token would go to ", address,
        " in plaintext: name the certificates to trust (HAWSER_TLS_CA), or "
        "reach the server over loopback or a Unix socket");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::shared_ptr<grpc::ChannelCredentials>>>
ToGrpcCredentials(const Credentials& credentials, const std::string& address,
                  int connections) {
  HAWSER_RETURN_IF_ERROR(CheckComplete(credentials, address));
  HAWSER_RETURN_IF_ERROR(CheckFiles(credentials));
  const bool tls = !credentials.ca_file.empty();
  std::shared_ptr<grpc::CallCredentials> token;
  if (credentials.has_token()) {
    HAWSER_ASSIGN_OR_RETURN(auto source, TokenSource::Open(credentials));
    // The checks above made sure that plaintext stays on this machine.
    token = grpc::experimental::MetadataCredentialsFromPlugin(
        std::make_unique<TokenPlugin>(std::move(source)),
        tls ? GRPC_PRIVACY_AND_INTEGRITY : GRPC_SECURITY_NONE);
  }
  std::vector<std::shared_ptr<grpc::ChannelCredentials>> all;
  for (int i = 0; i < connections; ++i) {
    auto channel = tls ? Tls(credentials) : Plaintext(credentials, address);
    all.push_back(token == nullptr
                      ? std::move(channel)
                      : grpc::CompositeChannelCredentials(channel, token));
  }
  return all;
}

}  // namespace hawser
