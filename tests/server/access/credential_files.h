// Certificates and tokens for tests, made by deploy/tls as a user would.
#ifndef HAWSER_TESTS_SERVER_ACCESS_CREDENTIAL_FILES_H_
#define HAWSER_TESTS_SERVER_ACCESS_CREDENTIAL_FILES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/remote/link/credentials.h"
#include "server/access/access.h"

namespace hawser::testing {

// A new, empty folder, with a path short enough for a Unix socket; removed when
// the process ends.
std::string NewFolder();
// Replaces the file in one step, as an operator should.
void WriteFile(const std::string& path, absl::string_view text);
std::string ReadFile(const std::string& path);

// What deploy/tls/make_certs.sh makes in `folder`.
struct Certificates {
  std::string folder;

  std::string File(absl::string_view name) const;
  // Certificate and key of a server that asks for certificates.
  server::AccessOptions Server() const;
  // Of the client `tenant`.
  Credentials Client(absl::string_view tenant = "client") const;
};
// Runs it; `variables` are "NAME=value". Dies when it fails.
Certificates MakeCertificates(const std::string& folder,
                              const std::vector<std::string>& hosts = {},
                              const std::vector<std::string>& variables = {});

// A token of deploy/tls/make_token.sh, and the line for the server.
struct Token {
  std::string file;
  std::string text;
  std::string line;
};
Token MakeToken(const std::string& folder, const std::string& tenant);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_ACCESS_CREDENTIAL_FILES_H_
