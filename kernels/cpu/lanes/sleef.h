// Sleef: elementary functions of vectors, from a library found at run time.
#ifndef HAWSER_KERNELS_CPU_LANES_SLEEF_H_
#define HAWSER_KERNELS_CPU_LANES_SLEEF_H_

#include "absl/strings/string_view.h"

namespace hawser::cpu {

// Version 3 of libsleef, opened once for the process.
class Sleef {
 public:
  static const Sleef& OfProcess();

  bool is_there() const { return library_ != nullptr; }
  // "Sleef_expf8_u10avx2"; null: it has no such function.
  void* Find(absl::string_view name) const;

 private:
  Sleef();

  void* library_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_SLEEF_H_
