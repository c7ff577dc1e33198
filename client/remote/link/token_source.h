// TokenSource: the token of a client, from a file that may change.
#ifndef HAWSER_CLIENT_REMOTE_LINK_TOKEN_SOURCE_H_
#define HAWSER_CLIENT_REMOTE_LINK_TOKEN_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "client/remote/link/credentials.h"
#include "core/base/mutex.h"

namespace hawser {

// Thread-safe; asking costs a stat(2).
class TokenSource {
 public:
  // `credentials` has a token. Errors: kInvalidArgument (two of them, or what
  // is no token), kNotFound naming the file; never the token.
  static absl::StatusOr<std::unique_ptr<TokenSource>> Open(
      const Credentials& credentials);

  // Returns the token in the file as it is now; the one of before when it has
  // become unusable.
  std::string Token();

 private:
  // Tells versions of the file apart: inode, bytes, time of the last change.
  using Stamp = std::tuple<uint64_t, int64_t, int64_t, int64_t>;
  TokenSource() = default;
  Stamp StampNow() const;

  std::string path_;  // empty: the token never changes
  Mutex mu_;
  Stamp stamp_ ABSL_GUARDED_BY(mu_);
  std::string token_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_LINK_TOKEN_SOURCE_H_
