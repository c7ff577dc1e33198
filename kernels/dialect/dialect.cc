#include "kernels/dialect/dialect.h"

#include <cctype>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/digest.h"
#include "kernels/dialect/texts.h"

namespace hawser::dialect {
namespace {

constexpr absl::string_view kMark = "HK_GLOBAL";
constexpr absl::string_view kBoundsMark = "HK_BOUNDS";

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Takes a text apart word by word from the front; `left_` is the rest.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : left_(text) {}

  // Past the next `mark` that is a word of its own.
  bool SkipPast(absl::string_view mark) {
    for (;;) {
      const size_t at = left_.find(mark);
      if (at == absl::string_view::npos) return false;
      const bool starts = at == 0 || !IsWord(left_[at - 1]);
      left_.remove_prefix(at + mark.size());
      if (starts && (left_.empty() || !IsWord(left_[0]))) return true;
    }
  }
  std::string Word() {
    SkipSpace();
    size_t n = 0;
    while (n < left_.size() && IsWord(left_[n])) ++n;
    return Take(n);
  }
  // "(...)" without its parentheses; "" when there is none.
  std::string Parenthesized() {
    SkipSpace();
    if (left_.empty() || left_[0] != '(') return "";
    int depth = 0;
    for (size_t i = 0; i < left_.size(); ++i) {
      depth += left_[i] == '(' ? 1 : left_[i] == ')' ? -1 : 0;
      if (depth == 0) {
        const std::string all = Take(i + 1);
        return all.substr(1, all.size() - 2);
      }
    }
    return "";
  }

 private:
  void SkipSpace() {
    while (!left_.empty() &&
           std::isspace(static_cast<unsigned char>(left_[0]))) {
      left_.remove_prefix(1);
    }
  }
  std::string Take(size_t n) {
    std::string taken(left_.substr(0, n));
    left_.remove_prefix(n);
    return taken;
  }

  absl::string_view left_;
};

// `text` as the file `name`, its lines counted from 1.
std::string Lines(absl::string_view name, absl::string_view text) {
  return absl::StrCat("#line 1 \"", absl::CEscape(name), "\"\n", text, "\n");
}

constexpr absl::string_view kUse = "using namespace hk;\n";

}  // namespace

absl::string_view Prelude() {
  static const std::string* const kText = new std::string(
      absl::StrCat(Lines("prelude.cuh", internal::kPreludeText),
                   Lines("bits.cuh", internal::kBitsText),
                   Lines("reduce.cuh", internal::kReduceText),
                   Lines("matrix.cuh", internal::kMatrixText),
                   Lines("radix.cuh", internal::kRadixText),
                   Lines("fixed.cuh", internal::kFixedText),
                   Lines("complex.cuh", internal::kComplexText),
                   Lines("powers.cuh", internal::kPowersText), kUse));
  return *kText;
}

absl::string_view PreludeDigest() {
  static const std::string* const kDigest = new std::string([] {
    Hasher hasher;
    hasher.Text(Prelude());
    for (const HostHeader& header : HostHeaders()) {
      hasher.Text(header.name).Text(header.text);
    }
    return hasher.Finish().ToHex();
  }());
  return *kDigest;
}

absl::Span<const HostHeader> HostHeaders() {
  static const HostHeader kHeaders[] = {
      {"kernels/dialect/host.h", internal::kHostText},
      {"kernels/dialect/host_context.h", internal::kHostContextText},
  };
  return kHeaders;
}

std::vector<KernelName> FindKernels(absl::string_view text) {
  std::vector<KernelName> kernels;
  Scanner scanner(text);
  while (scanner.SkipPast(kMark)) {
    KernelName kernel;
    kernel.name = scanner.Word();
    if (kernel.name == kBoundsMark) {
      kernel.bounds = scanner.Parenthesized();
      kernel.name = scanner.Word();
    }
    if (!kernel.name.empty()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string DeviceSource(absl::string_view name, absl::string_view text) {
  return absl::StrCat(Prelude(), Lines(name, text));
}

std::string HostSource(absl::string_view name, absl::string_view text) {
  std::string source = absl::StrCat("#define HK_HOST 1\n", Prelude(),
                                    Lines(name, text), "HK_HOST_MODULE()\n");
  for (const KernelName& kernel : FindKernels(text)) {
    absl::StrAppend(&source, "HK_HOST_KERNEL(", kernel.name, ", ",
                    kernel.bounds.empty() ? "0" : kernel.bounds, ")\n");
  }
  return source;
}

}  // namespace hawser::dialect
