// Roots: the numbers on the unit circle that transforms multiply by.
#ifndef HAWSER_KERNELS_CPU_BUTTERFLIES_ROOTS_H_
#define HAWSER_KERNELS_CPU_BUTTERFLIES_ROOTS_H_

#include <complex>
#include <cstdint>
#include <vector>

namespace hawser::cpu {

// A number as an unevaluated sum of two, of twice the digits.
struct DoubleDouble {
  double high = 0, low = 0;
};

// e^(-2 pi i m / n). They are made by ours alone, with twice the digits, since
// the sines of C libraries differ between machines. Angles are folded into the
// first octant, so that roots which mirror each other do so exactly.
class Roots {
 public:
  explicit Roots(int64_t n);  // at least 1
  // 0 <= m < n. Either part is off by hardly more than half a unit in its last
  // place.
  std::complex<double> At(int64_t m) const;

 private:
  struct Point {
    DoubleDouble cosine, sine;
  };
  Point PointAt(int64_t eighths) const;

  int64_t n_;
  int64_t step_ = 1;
  // Of the angles pi / 4 * k / n: k < step_, and k a multiple of step_.
  std::vector<Point> fine_, coarse_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_BUTTERFLIES_ROOTS_H_
