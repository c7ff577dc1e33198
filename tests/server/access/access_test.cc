// What Access says about files before a server relies on them.
#include "server/access/access.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using testing::Certificates;
using testing::MakeCertificates;
using testing::NewFolder;
using testing::ReadFile;
using testing::WriteFile;

class AccessFilesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    certificates_ = new Certificates(MakeCertificates(NewFolder()));
    others_ = new Certificates(MakeCertificates(NewFolder()));
  }
  // A file of this test's own.
  std::string File(absl::string_view text) {
    const std::string path = NewFolder() + "/file.pem";
    WriteFile(path, text);
    return path;
  }
  static Certificates* certificates_;
  static Certificates* others_;
};
Certificates* AccessFilesTest::certificates_ = nullptr;
Certificates* AccessFilesTest::others_ = nullptr;

TEST_F(AccessFilesTest, TakesWhatTheScriptMakes) {
  ASSERT_OK_AND_ASSIGN(const auto access,
                       Access::Open(certificates_->Server()));
  EXPECT_TRUE(access->tls());
  EXPECT_TRUE(access->mutual_tls());
  EXPECT_FALSE(access->wants_tokens());
  EXPECT_NE(access->Credentials(), nullptr);
  ASSERT_OK_AND_ASSIGN(const auto nothing, Access::Open({}));
  EXPECT_FALSE(nothing->tls());
}

TEST_F(AccessFilesTest, FlagsThatNeedOthersSaySo) {
  const AccessOptions all = certificates_->Server();
  EXPECT_THAT(
      Access::Open({.tls_cert = all.tls_cert}),
      StatusIs(StatusCode::kInvalidArgument, "--tls_cert needs --tls_key"));
  EXPECT_THAT(
      Access::Open({.tls_key = all.tls_key}),
      StatusIs(StatusCode::kInvalidArgument, "--tls_key needs --tls_cert"));
  EXPECT_THAT(Access::Open({.tls_client_ca = all.tls_client_ca}),
              StatusIs(StatusCode::kInvalidArgument,
                       "--tls_client_ca needs --tls_cert and --tls_key"));
}

TEST_F(AccessFilesTest, RefusesBadFilesNamingFlagAndFile) {
  const AccessOptions good = certificates_->Server();
  const std::string certificate = ReadFile(good.tls_cert);
  const std::string damaged =
      File(certificate.substr(0, certificate.size() / 2));
  const std::string text = File("no PEM at all\n");
  const std::string gone = NewFolder() + "/gone.pem";
  const std::string other_key = others_->File("server.key");
  const struct {
    std::string AccessOptions::*flag;
    std::string path;
    absl::string_view name;
    absl::string_view why;
  } cases[] = {
      {&AccessOptions::tls_cert, gone, "--tls_cert", "No such file"},
      {&AccessOptions::tls_cert, text, "--tls_cert", "holds no certificate"},
      {&AccessOptions::tls_cert, damaged, "--tls_cert", "is damaged"},
      {&AccessOptions::tls_cert, good.tls_key, "--tls_cert",
       "holds no certificate"},
      {&AccessOptions::tls_key, gone, "--tls_key", "No such file"},
      {&AccessOptions::tls_key, good.tls_cert, "--tls_key",
       "holds no private key"},
      {&AccessOptions::tls_key, other_key, "--tls_key",
       "is not the private key of the certificate in"},
      {&AccessOptions::tls_client_ca, gone, "--tls_client_ca", "No such file"},
      {&AccessOptions::tls_client_ca, text, "--tls_client_ca",
       "holds no certificate"},
      {&AccessOptions::tokens_file, gone, "--tokens_file", "No such file"},
      {&AccessOptions::tokens_file, text, "--tokens_file", ":1: 4 words"},
  };
  for (const auto& c : cases) {
    AccessOptions options = good;
    options.*c.flag = c.path;
    const absl::Status status = Access::Open(options).status();
    for (absl::string_view part : {c.name, absl::string_view(c.path), c.why}) {
      EXPECT_NE(status.message().find(part), std::string::npos)
          << part << " in " << status;
    }
  }
}

TEST_F(AccessFilesTest, RefusesAnEncryptedKey) {
  AccessOptions options = certificates_->Server();
  options.tls_key = NewFolder() + "/encrypted.key";
  ASSERT_OK_AND_ASSIGN(
      auto openssl,
      testing::Process::Start(
          {"/usr/bin/openssl", "pkey", "-in", certificates_->File("server.key"),
           "-aes256", "-passout", "pass:secret", "-out", options.tls_key}));
  ASSERT_EQ(*openssl.Wait(absl::Seconds(10)), 0) << openssl.output();
  EXPECT_THAT(Access::Open(options),
              StatusIs(StatusCode::kInvalidArgument, "is encrypted"));
}

TEST_F(AccessFilesTest, RefusesAnExpiredCertificate) {
  const Certificates old = MakeCertificates(NewFolder(), {}, {"DAYS=0"});
  EXPECT_THAT(Access::Open(old.Server()),
              StatusIs(StatusCode::kInvalidArgument, "expired on 20"));
}

}  // namespace
}  // namespace hawser::server
