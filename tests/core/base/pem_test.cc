#include "core/base/pem.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

std::string PathOf(absl::string_view name) {
  return absl::StrCat(::testing::TempDir(), "/pem_test.", name);
}

std::string WriteText(absl::string_view name, absl::string_view text) {
  const std::string path = PathOf(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A key and a certificate of it, signed by itself, as files.
class Identity {
 public:
  explicit Identity(absl::string_view name)
      : certificate(PathOf(absl::StrCat(name, ".crt"))),
        key(PathOf(absl::StrCat(name, ".key"))),
        key_(EVP_EC_gen("P-256")) {
    WriteCertificate(absl::Hours(1));
    WriteKey(nullptr);
  }
  ~Identity() { EVP_PKEY_free(key_); }

  // Valid from a day ago until `from_now`.
  void WriteCertificate(absl::Duration from_now) {
    X509* x509 = X509_new();
    X509_set_version(x509, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), absl::ToInt64Seconds(from_now));
    X509_set_pubkey(x509, key_);
    ASSERT_GT(X509_sign(x509, key_, EVP_sha256()), 0);
    FILE* file = fopen(certificate.c_str(), "wb");
    ASSERT_EQ(PEM_write_X509(file, x509), 1);
    fclose(file);
    X509_free(x509);
  }
  // Encrypted when there is a passphrase.
  void WriteKey(const char* passphrase) {
    FILE* file = fopen(key.c_str(), "wb");
    ASSERT_EQ(PEM_write_PKCS8PrivateKey(
                  file, key_, passphrase == nullptr ? nullptr
                                                    : EVP_aes_256_cbc(),
                  nullptr, 0, nullptr, const_cast<char*>(passphrase)),
              1);
    fclose(file);
  }

  const std::string certificate;
  const std::string key;

 private:
  EVP_PKEY* const key_;
};

TEST(CheckCertificates, TakesOneAndAChain) {
  const Identity a("a"), b("b");
  EXPECT_OK(CheckCertificates(a.certificate, absl::Now()));
  const std::string chain = WriteText(
      "chain", ReadText(a.certificate) + "a remark\n" +
                   ReadText(b.certificate));
  EXPECT_OK(CheckCertificates(chain, absl::Now()));
}

TEST(CheckCertificates, NamesTheFileAndWhatIsWrongWithIt) {
  const Identity a("a");
  const std::string good = ReadText(a.certificate);
  std::string damaged = good;
  damaged[damaged.size() / 2] = '!';
  EXPECT_THAT(CheckCertificates(PathOf("gone"), absl::Now()),
              StatusIs(StatusCode::kNotFound, "pem_test.gone cannot be read: "
                                              "No such file"));
  const struct {
    std::string text;
    const char* part;
  } rows[] = {
      {"", "holds no certificate in PEM form"},
      {"not PEM at all\n", "holds no certificate in PEM form"},
      {ReadText(a.key), "holds no certificate in PEM form"},
      {damaged, "is damaged after 0 certificates"},
      {good + damaged, "is damaged after 1 certificates"},
      {good.substr(0, good.size() / 2), "is damaged after 0 certificates"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(CheckCertificates(WriteText("bad", row.text), absl::Now()),
                StatusIs(StatusCode::kInvalidArgument, row.part));
  }
}

TEST(CheckCertificates, RefusesTheFirstOneOnceItHasExpired) {
  Identity a("a");
  a.WriteCertificate(absl::Seconds(-60));
  const absl::Time end = absl::Now() - absl::Seconds(60);
  EXPECT_THAT(CheckCertificates(a.certificate, absl::Now()),
              StatusIs(StatusCode::kInvalidArgument,
                       absl::StrCat("expired on ",
                                    absl::FormatTime("%Y-%m-%d ", end,
                                                     absl::UTCTimeZone()))));
  EXPECT_OK(CheckCertificates(a.certificate, end - absl::Seconds(60)));
}

TEST(CheckKeyPair, TakesTheCertificatesOwnKeyOnly) {
  const Identity a("a"), b("b");
  EXPECT_OK(CheckKeyPair(a.certificate, a.key));
  EXPECT_THAT(
      CheckKeyPair(a.certificate, b.key),
      StatusIs(StatusCode::kInvalidArgument,
               absl::StrCat(b.key, " is not the private key of the "
                                   "certificate in ", a.certificate)));
}

TEST(CheckKeyPair, NamesTheFileThatIsWrong) {
  Identity a("a");
  EXPECT_THAT(CheckKeyPair(PathOf("gone"), a.key),
              StatusIs(StatusCode::kNotFound, "pem_test.gone"));
  EXPECT_THAT(CheckKeyPair(a.certificate, PathOf("gone")),
              StatusIs(StatusCode::kNotFound, "pem_test.gone"));
  EXPECT_THAT(CheckKeyPair(a.certificate, a.certificate),
              StatusIs(StatusCode::kInvalidArgument,
                       "a.crt holds no private key in PEM form"));
  a.WriteKey("secret");
  EXPECT_THAT(CheckKeyPair(a.certificate, a.key),
              StatusIs(StatusCode::kInvalidArgument,
                       "a.key is encrypted; it must be a private key without"));
}

}  // namespace
}  // namespace hawser
