// Credentials: whom a client trusts, and what it shows of itself.
#ifndef HAWSER_CLIENT_REMOTE_LINK_CREDENTIALS_H_
#define HAWSER_CLIENT_REMOTE_LINK_CREDENTIALS_H_

#include <string>

namespace hawser {

// Files are in PEM form, and are read again when they change. A token is never
// logged, nor sent in plaintext to another machine.
struct Credentials {
  // One of these must have signed the server's certificate, which must be for
  // the host in the address. Set: TLS; empty: plaintext.
  std::string ca_file;
  // The files for servers that ask for a certificate; the key has no
  // passphrase.
  std::string cert_file;
  std::string key_file;
  // The token itself or a file that holds it; at most one is set.
  std::string token;
  std::string token_file;

  bool has_token() const { return !token.empty() || !token_file.empty(); }

  // HAWSER_TLS_CA, HAWSER_TLS_CERT, HAWSER_TLS_KEY and HAWSER_TOKEN_FILE.
  static Credentials FromEnvironment();
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_LINK_CREDENTIALS_H_
