#include "client/remote/link/credentials.h"

#include <cstdlib>

namespace hawser {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Credentials Credentials::FromEnvironment() {
  Credentials out;
  out.ca_file = Variable("HAWSER_TLS_CA");
  out.cert_file = Variable("HAWSER_TLS_CERT");
  out.key_file = Variable("HAWSER_TLS_KEY");
  out.token_file = Variable("HAWSER_TOKEN_FILE");
  return out;
}

}  // namespace hawser
