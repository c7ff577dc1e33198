#include "kernels/gpu/emit/text/kernel_builder.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/digest.h"

namespace hawser::gpu {
namespace {

// The identifiers of a line, in order.
std::vector<absl::string_view> Words(absl::string_view line) {
  const auto is_word = [](char c) {
    return absl::ascii_isalnum(c) || c == '_';
  };
  std::vector<absl::string_view> words;
  for (size_t at = 0; at < line.size();) {
    size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end > at) words.push_back(line.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

// `body` without the indices that nothing uses: emitters declare all of a loop
// nest, and compilers warn.
std::string WithoutUnused(absl::string_view body) {
  std::vector<absl::string_view> lines = absl::StrSplit(body, '\n');
  absl::flat_hash_map<absl::string_view, int> uses;
  for (const absl::string_view line : lines) {
    for (const absl::string_view word : Words(line)) ++uses[word];
  }
  std::vector<absl::string_view> kept;
  for (size_t n = lines.size(); n-- > 0;) {
    const auto words = Words(lines[n]);
    const bool is_index = words.size() > 3 && words[0] == "const" &&
                          (words[1] == "u32" || words[1] == "u64");
    if (is_index && uses[words[2]] == 1) {
      for (const absl::string_view word : words) --uses[word];
    } else {
      kept.push_back(lines[n]);
    }
  }
  std::reverse(kept.begin(), kept.end());
  return absl::StrJoin(kept, "\n");
}

}  // namespace

std::string KernelBuilder::Parameter(const KernelParameter& parameter,
                                     absl::string_view type, bool alone) {
  const auto at = std::find(parameters_.begin(), parameters_.end(), parameter);
  if (at != parameters_.end()) return names_[at - parameters_.begin()];
  const std::string name = absl::StrCat("p", parameters_.size());
  declarations_.push_back(
      absl::StrCat(parameter.access == Access::kRead ? "const " : "", type,
                   alone ? "* __restrict__ " : "* ", name));
  parameters_.push_back(parameter);
  names_.push_back(name);
  return name;
}

EmittedKernel KernelBuilder::Finish(const LaunchShape& shape) const {
  const std::string text = absl::StrCat(
      front_.text(), "HK_GLOBAL HK_BOUNDS(", shape.threads, ") ", kName,
      "(\n    ", absl::StrJoin(declarations_, ",\n    "), ") {\n",
      WithoutUnused(body_.text()), "}\n");
  EmittedKernel kernel;
  kernel.name = absl::StrCat(
      kind_, "_", Sha256({text.data(), text.size()}).ToHex().substr(0, 16));
  kernel.text = absl::StrReplaceAll(text, {{kName, kernel.name}});
  kernel.shape = shape;
  kernel.parameters = parameters_;
  return kernel;
}

}  // namespace hawser::gpu
