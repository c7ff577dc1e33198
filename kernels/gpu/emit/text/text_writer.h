// TextWriter: lines of a kernel, indented by their braces.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_TEXT_WRITER_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_TEXT_WRITER_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hawser::gpu {

class TextWriter {
 public:
  explicit TextWriter(int depth = 0) : depth_(depth) {}

  template <typename... Parts>
  void Line(const Parts&... parts) {
    text_.append(2 * depth_, ' ');
    absl::StrAppend(&text_, parts..., "\n");
  }
  // "parts {", until Close.
  template <typename... Parts>
  void Open(const Parts&... parts) {
    Line(parts..., " {");
    ++depth_;
  }
  void Close(absl::string_view behind = "") {
    --depth_;
    Line("}", behind);
  }

  const std::string& text() const { return text_; }

 private:
  int depth_;
  std::string text_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_TEXT_WRITER_H_
