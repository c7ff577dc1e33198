// KernelBuilder: a kernel's text while it grows: parameters as they are met,
// types of its own in front, the body, and the name at the end.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_KERNEL_BUILDER_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_KERNEL_BUILDER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"
#include "kernels/gpu/emit/text/text_writer.h"

namespace hawser::gpu {

class KernelBuilder {
 public:
  // Stands for the kernel's name until that is known, for names at file scope
  // that no other kernel may have.
  static constexpr absl::string_view kName = "@";

  explicit KernelBuilder(std::string kind) : kind_(std::move(kind)), body_(1) {}

  TextWriter& front() { return front_; }
  TextWriter& body() { return body_; }

  // The parameter's name; the same one for the same parameter. `alone`: no
  // other parameter that is written can be the same memory.
  std::string Parameter(const KernelParameter& parameter,
                        absl::string_view type, bool alone);
  // A name no other variable of the kernel has: `stem` and a number.
  std::string Unique(absl::string_view stem) {
    return absl::StrCat(stem, next_++);
  }

  EmittedKernel Finish(const LaunchShape& shape) const;

 private:
  std::string kind_;
  TextWriter front_, body_;
  std::vector<KernelParameter> parameters_;
  std::vector<std::string> declarations_, names_;
  int next_ = 0;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_KERNEL_BUILDER_H_
