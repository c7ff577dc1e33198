// TokenFile: which bearer token belongs to which tenant.
#ifndef HAWSER_SERVER_ACCESS_TOKEN_FILE_H_
#define HAWSER_SERVER_ACCESS_TOKEN_FILE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "server/access/file_stamp.h"

namespace hawser::server {

// Letters, digits and . _ - @, 1 to 64 of them. Errors: kInvalidArgument.
absl::Status CheckTenantName(absl::string_view name);

// A file of lines "<tenant> <SHA-256 of the token, in hex>"; a tenant may have
// several. Blank lines and lines that begin with # say nothing. The tokens
// themselves are nowhere on the server. Thread-safe.
class TokenFile {
 public:
  // Errors name the file and the line: kNotFound, kInvalidArgument (also for
  // a file without any token).
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(std::string path);

  // Takes a time that depends on the number of tokens and the length of this
  // one alone.
  std::optional<std::string> TenantOf(absl::string_view token) const;

  // Reads the file again if it has changed; it may be without tokens then. A
  // file that cannot be used leaves everything as it was, and is an error once
  // per change.
  absl::Status Refresh();

  size_t size() const;

 private:
  struct Entry {
    Digest hash;
    std::string tenant;
  };
  using Entries = std::vector<Entry>;
  explicit TokenFile(std::string path) : path_(std::move(path)) {}
  static absl::StatusOr<Entries> Parse(absl::string_view path,
                                       absl::string_view text);

  const std::string path_;
  mutable Mutex mu_;
  FileStamp stamp_ ABSL_GUARDED_BY(mu_);
  Entries entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_TOKEN_FILE_H_
