// PEM files of certificates and keys, looked at before they are relied on.
#ifndef HAWSER_CORE_BASE_PEM_H_
#define HAWSER_CORE_BASE_PEM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hawser {

// Checks that a file holds certificates and nothing broken, and that the first
// of them has not expired at `now`. Errors name the file: kNotFound when it
// cannot be read, else kInvalidArgument.
absl::Status CheckCertificates(const std::string& path, absl::Time now);

// Checks that `key` holds the unencrypted private key of the first certificate
// of `certificate`. Errors: as above, kInvalidArgument naming both files when
// they do not belong together.
absl::Status CheckKeyPair(const std::string& certificate,
                          const std::string& key);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_PEM_H_
