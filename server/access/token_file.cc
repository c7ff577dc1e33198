#include "server/access/token_file.h"

#include <openssl/crypto.h>

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr size_t kMaxTenantName = 64;

}  // namespace

absl::Status CheckTenantName(absl::string_view name) {
  bool valid = !name.empty() && name.size() <= kMaxTenantName;
  for (char c : name) {
    valid =
        valid && (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::string_view("._-@").find(c) != absl::string_view::npos);
  }
  if (valid) return absl::OkStatus();
  return InvalidArgument("\"", absl::CHexEscape(name.substr(0, kMaxTenantName)),
                         "\" is no tenant, which has 1 to ", kMaxTenantName,
                         " of letters, digits and . _ - @");
}

absl::StatusOr<TokenFile::Entries> TokenFile::Parse(absl::string_view path,
                                                    absl::string_view text) {
  Entries entries;
  absl::flat_hash_map<Digest, int> lines;  // where a token stands
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const auto at = [&] { return absl::StrCat(path, ":", number); };
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    // The text may be a token by mistake, so it is not quoted.
    if (words.size() != 2) {
      return InvalidArgument(at(), ": ", words.size(),
                             " words, expected a tenant and the SHA-256 of "
                             "its token in hex");
    }
    HAWSER_RETURN_IF_ERROR(Annotate(CheckTenantName(words[0]), at()));
    const auto hash = Digest::FromHex(absl::AsciiStrToLower(words[1]));
    if (!hash.ok()) {
      return InvalidArgument(at(), ": the second word has ", words[1].size(),
                             " characters and is no SHA-256 in hex, which has "
                             "64 digits");
    }
    const auto [known, fresh] = lines.emplace(*hash, number);
    if (!fresh) {
      return InvalidArgument(at(), ": the token of line ", known->second,
                             " again");
    }
    entries.push_back({*hash, std::string(words[0])});
  }
  return entries;
}

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(std::string path) {
  HAWSER_ASSIGN_OR_RETURN(auto read, ReadStamped(path));
  HAWSER_ASSIGN_OR_RETURN(Entries entries, Parse(path, read.first));
  if (entries.empty()) {
    return InvalidArgument(path, " holds no token, so nobody could enter");
  }
  std::unique_ptr<TokenFile> file(new TokenFile(std::move(path)));
  MutexLock lock(&file->mu_);
  file->stamp_ = read.second;
  file->entries_ = std::move(entries);
  return file;
}

std::optional<std::string> TokenFile::TenantOf(absl::string_view token) const {
  const Digest hash = Sha256({token.data(), token.size()});
  MutexLock lock(&mu_);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    const bool equal = CRYPTO_memcmp(entry.hash.bytes().data(),
                                     hash.bytes().data(), Digest::kSize) == 0;
    found = equal ? &entry : found;
  }
  if (found == nullptr) return std::nullopt;
  return found->tenant;
}

absl::Status TokenFile::Refresh() {
  const FileStamp stamp = FileStamp::Of(path_);
  {
    MutexLock lock(&mu_);
    if (stamp == stamp_) return absl::OkStatus();
    stamp_ = stamp;  // of what is read now, good or bad
  }
  HAWSER_ASSIGN_OR_RETURN(auto read, ReadStamped(path_));
  HAWSER_ASSIGN_OR_RETURN(Entries entries, Parse(path_, read.first));
  const size_t tokens = entries.size();
  {
    MutexLock lock(&mu_);
    stamp_ = read.second;
    entries_ = std::move(entries);
  }
  HAWSER_LOG(kInfo) << path_ << " was read again: " << tokens << " tokens";
  return absl::OkStatus();
}

size_t TokenFile::size() const {
  MutexLock lock(&mu_);
  return entries_.size();
}

}  // namespace hawser::server
