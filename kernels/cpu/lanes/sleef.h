// Sleef: elementary functions of vectors, from a library found at run time.
#ifndef HAWSER_KERNELS_CPU_LANES_SLEEF_H_
#define HAWSER_KERNELS_CPU_LANES_SLEEF_H_

namespace hawser::cpu {

// Version 3 of libsleef, opened once for the process.
class Sleef {
 public:
  static const Sleef& OfProcess();

  bool is_there() const { return library_ != nullptr; }
  // The function of these parts of a name: "exp", "f8_u", "10", "avx2". Null:
  // it has none.
  void* Find(const char* function, const char* vector, const char* bound,
             const char* set) const;

 private:
  Sleef();

  void* library_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_SLEEF_H_
