#include "core/base/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "core/base/status.h"

namespace hawser {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;

absl::StatusOr<BioPtr> Open(const std::string& path) {
  errno = 0;
  BioPtr bio(BIO_new_file(path.c_str(), "rb"));
  const int error = errno;
  ERR_clear_error();
  if (bio != nullptr) return bio;
  return NotFound(path, " cannot be read: ", std::strerror(error));
}

absl::StatusOr<std::vector<CertificatePtr>> ReadCertificates(
    const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const BioPtr bio, Open(path));
  std::vector<CertificatePtr> found;
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    found.emplace_back(next);
  }
  // The end of the file is an error to OpenSSL, like a damaged block.
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  if (reason != PEM_R_NO_START_LINE) {
    return InvalidArgument(path, " is damaged after ", found.size(),
                           " certificates in PEM form");
  }
  if (found.empty()) {
    return InvalidArgument(path, " holds no certificate in PEM form");
  }
  return found;
}

// OpenSSL asks for it when a key is encrypted; none can be typed in.
int NoPassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

absl::StatusOr<KeyPtr> ReadKey(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const BioPtr bio, Open(path));
  bool encrypted = false;
  KeyPtr key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, &encrypted));
  ERR_clear_error();
  if (key != nullptr) return key;
  if (encrypted) {
    return InvalidArgument(path,
                           " is encrypted; it must be a private key "
                           "without a passphrase");
  }
  return InvalidArgument(path, " holds no private key in PEM form");
}

}  // namespace

absl::Status CheckCertificates(const std::string& path, absl::Time now) {
  HAWSER_ASSIGN_OR_RETURN(const auto certificates, ReadCertificates(path));
  std::time_t time = absl::ToTimeT(now);
  const ASN1_TIME* end = X509_get0_notAfter(certificates[0].get());
  if (X509_cmp_time(end, &time) > 0) return absl::OkStatus();
  std::tm until{};
  ASN1_TIME_to_tm(end, &until);
  return InvalidArgument(
      path, " holds a certificate that expired on ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S",
                       absl::FromTM(until, absl::UTCTimeZone()),
                       absl::UTCTimeZone()),
      " UTC");
}

absl::Status CheckKeyPair(const std::string& certificate,
                          const std::string& key) {
  HAWSER_ASSIGN_OR_RETURN(const auto certificates,
                          ReadCertificates(certificate));
  HAWSER_ASSIGN_OR_RETURN(const KeyPtr own, ReadKey(key));
  const bool match = X509_check_private_key(certificates[0].get(), own.get());
  ERR_clear_error();
  if (match) return absl::OkStatus();
  return InvalidArgument(key, " is not the private key of the certificate in ",
                         certificate);
}

}  // namespace hawser
