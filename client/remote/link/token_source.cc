#include "client/remote/link/token_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr size_t kMaxToken = 4096;

// Errors say where it comes from and what is wrong, not what it is.
absl::Status CheckToken(absl::string_view token, absl::string_view from) {
  if (token.empty()) return InvalidArgument(from, " holds no token");
  if (token.size() > kMaxToken) {
    return InvalidArgument(from, " has ", token.size(),
                           " characters, a token at most ", kMaxToken);
  }
  const bool visible = std::all_of(token.begin(), token.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
  if (visible) return absl::OkStatus();
  return InvalidArgument(from,
                         " is no token, which is one word of visible "
                         "ASCII characters");
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    return NotFound("token file ", path,
                    " cannot be read: ", std::strerror(errno));
  }
  // One more than a token and its line end have.
  std::string text(kMaxToken + 3, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StripAsciiWhitespace(&text);
  HAWSER_RETURN_IF_ERROR(CheckToken(text, "token file " + path));
  return text;
}

// Warns once for each file of the process that others can read.
void WarnOfReaders(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return;
  if ((about.st_mode & (S_IRGRP | S_IROTH)) == 0) return;
  static Mutex& mu = *new Mutex;
  static auto& said = *new std::set<std::string>;
  MutexLock lock(&mu);
  if (!said.insert(path).second) return;
  HAWSER_LOG(kWarning) << "token file " << path
                       << " can be read by others (mode "
                       << absl::StrFormat("%03o", about.st_mode & 0777)
                       << "): chmod go-r it";
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenSource>> TokenSource::Open(
    const Credentials& credentials) {
  std::unique_ptr<TokenSource> source(new TokenSource());
  MutexLock lock(&source->mu_);
  if (credentials.token_file.empty()) {
    HAWSER_RETURN_IF_ERROR(CheckToken(credentials.token, "the token"));
    source->token_ = credentials.token;
    return source;
  }
  if (!credentials.token.empty()) {
    return InvalidArgument("both a token and token file ",
                           credentials.token_file, " are given");
  }
  source->path_ = credentials.token_file;
  source->stamp_ = source->StampNow();
  HAWSER_ASSIGN_OR_RETURN(source->token_, ReadToken(source->path_));
  WarnOfReaders(source->path_);
  return source;
}

TokenSource::Stamp TokenSource::StampNow() const {
  struct stat about {};
  if (stat(path_.c_str(), &about) != 0) return {};
  return {about.st_ino, about.st_size, about.st_ctim.tv_sec,
          about.st_ctim.tv_nsec};
}

std::string TokenSource::Token() {
  MutexLock lock(&mu_);
  if (path_.empty()) return token_;
  const Stamp now = StampNow();
  if (now == stamp_) return token_;
  stamp_ = now;
  absl::StatusOr<std::string> token = ReadToken(path_);
  if (token.ok()) {
    token_ = *std::move(token);
  } else {
    HAWSER_LOG(kWarning) << "the token of before is used on: "
                         << token.status().message();
  }
  return token_;
}

}  // namespace hawser
