// Access: the credentials of a server: what it shows, what it asks for, and
// which tenant a call is from.
#ifndef HAWSER_SERVER_ACCESS_ACCESS_H_
#define HAWSER_SERVER_ACCESS_ACCESS_H_

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_context.h>

#include <array>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "server/access/file_stamp.h"
#include "server/access/token_file.h"

namespace hawser::server {

// Paths; empty ones are not used.
struct AccessOptions {
  std::string tls_cert;       // chain in PEM, the server's own first
  std::string tls_key;        // of that certificate, not encrypted
  std::string tls_client_ca;  // its certificates may connect: mutual TLS
  std::string tokens_file;    // see TokenFile
};

// Thread-safe. All files are read again when they change; what cannot be used
// then is logged. Connections and sessions that are open stay open.
class Access {
 public:
  // Errors name flag and file: kInvalidArgument, kNotFound.
  static absl::StatusOr<std::unique_ptr<Access>> Open(AccessOptions options);

  bool tls() const { return !options_.tls_cert.empty(); }
  bool mutual_tls() const { return !options_.tls_client_ca.empty(); }
  bool wants_tokens() const { return tokens_ != nullptr; }

  // The credentials of the listener; plaintext without TLS files. gRPC watches
  // the files of these itself.
  std::shared_ptr<grpc::ServerCredentials> Credentials() const;

  // The tenant that a call is from and that its method runs for. Errors:
  // kUnauthenticated.
  absl::StatusOr<std::string> TenantOf(
      const grpc::ServerContextBase& context) const;

  // Looks whether files have changed; to be called every second or so.
  void Refresh();

 private:
  using Stamps = std::array<FileStamp, 3>;
  explicit Access(AccessOptions options) : options_(std::move(options)) {}
  absl::Status CheckTls() const;
  Stamps TlsStamps() const;

  const AccessOptions options_;
  std::unique_ptr<TokenFile> tokens_;  // null: none are asked for
  Mutex mu_;
  Stamps tls_stamps_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_ACCESS_H_
