// The kernel dialect as text. Two compilers take it: NVRTC for a GPU, g++ for
// this machine.
#ifndef HAWSER_KERNELS_DIALECT_DIALECT_H_
#define HAWSER_KERNELS_DIALECT_DIALECT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser::dialect {

// Returns the text that stands in front of every kernel, for either compiler.
absl::string_view Prelude();
// SHA-256 of all texts, in hex: part of a cache key.
absl::string_view PreludeDigest();

// A header that g++ needs besides the prelude, by the name it is included by.
struct HostHeader {
  absl::string_view name;
  absl::string_view text;
};
absl::Span<const HostHeader> HostHeaders();

// A kernel that a text defines.
struct KernelName {
  std::string name;
  std::string bounds;  // the argument of HK_BOUNDS as written; "" without one
};
// Returns the kernels in order of appearance. Comments and strings are looked
// through.
std::vector<KernelName> FindKernels(absl::string_view text);

// `text` with the prelude in front, as NVRTC takes it; `name` and its own line
// numbers stand in messages.
std::string DeviceSource(absl::string_view name, absl::string_view text);
// The same for g++ -I<folder of HostHeaders>, with what makes its kernels
// callable after it.
std::string HostSource(absl::string_view name, absl::string_view text);

}  // namespace hawser::dialect
#endif  // HAWSER_KERNELS_DIALECT_DIALECT_H_
