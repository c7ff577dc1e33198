#include "tests/server/access/credential_files.h"

#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

// The output of a script of deploy/tls, which must succeed.
std::string RunScript(const std::string& name, std::vector<std::string> words,
                      const std::vector<std::string>& variables) {
  words.insert(words.begin(), Runfile("deploy/tls/" + name));
  auto script = Process::Start(words, variables);
  HAWSER_CHECK(script.ok());
  const auto code = script->Wait(absl::Seconds(30));
  EXPECT_TRUE(code.ok() && *code == 0) << name << ": " << script->output();
  return script->output();
}

}  // namespace

std::string NewFolder() {
  // Sockets need short names. They go at the end of the program.
  static std::deque<TemporaryFolder> folders;
  return folders.emplace_back("/tmp").path();
}

void WriteFile(const std::string& path, absl::string_view text) {
  const std::string fresh = path + ".new";
  std::ofstream(fresh, std::ios::binary) << text;
  HAWSER_CHECK(rename(fresh.c_str(), path.c_str()) == 0);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Certificates::File(absl::string_view name) const {
  return absl::StrCat(folder, "/", name);
}

server::AccessOptions Certificates::Server() const {
  return {.tls_cert = File("server.crt"),
          .tls_key = File("server.key"),
          .tls_client_ca = File("ca.crt")};
}

Credentials Certificates::Client(absl::string_view tenant) const {
  return {.ca_file = File("ca.crt"),
          .cert_file = File(absl::StrCat(tenant, ".crt")),
          .key_file = File(absl::StrCat(tenant, ".key"))};
}

Certificates MakeCertificates(const std::string& folder,
                              const std::vector<std::string>& hosts,
                              const std::vector<std::string>& variables) {
  std::vector<std::string> words = {folder};
  words.insert(words.end(), hosts.begin(), hosts.end());
  RunScript("make_certs.sh", words, variables);
  return {folder};
}

Token MakeToken(const std::string& folder, const std::string& tenant) {
  Token token;
  token.file = absl::StrCat(folder, "/", tenant, ".token");
  token.line = RunScript("make_token.sh", {tenant, token.file}, {});
  token.text = ReadFile(token.file);
  absl::StripAsciiWhitespace(&token.text);
  return token;
}

}  // namespace hawser::testing
