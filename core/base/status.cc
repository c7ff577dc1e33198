#include "core/base/status.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/cord.h"

namespace hawser {

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status out(status.code(),
                   absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    out.SetPayload(url, payload);
  });
  return out;
}

namespace internal {
void CheckFailed(const char* file, int line, const char* what) {
  Die(file, line, absl::StrCat("HAWSER_CHECK failed: ", what));
}

void Die(const char* file, int line, absl::string_view what) {
  std::fprintf(stderr, "%s:%d: %.*s\n", file, line,
               static_cast<int>(what.size()), what.data());
  std::abort();
}
}  // namespace internal
}  // namespace hawser
