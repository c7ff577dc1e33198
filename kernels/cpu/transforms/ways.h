// FftWay: how a Fourier transform of so many numbers is computed, by that
// alone.
#ifndef HAWSER_KERNELS_CPU_TRANSFORMS_WAYS_H_
#define HAWSER_KERNELS_CPU_TRANSFORMS_WAYS_H_

#include <cstdint>
#include <vector>

namespace hawser::cpu {

// Transforms of at most so many numbers are passes over all of them. (Measured:
// 2,048 numbers as a matrix take as long for each as 512 in passes, and a
// transform alone, of which a group has one lane, an eighth.)
inline constexpr int64_t kMostInPasses = 256;
// Longer ones may run in lanes, too, but not so long that these leave the
// second cache.
inline constexpr int64_t kMostInLanes = 4096;

struct FftWay {
  enum Kind : uint8_t {
    kPasses,  // a pass for each radix
    // The numbers as a matrix: transforms of its columns, which are turned,
    // then of its rows.
    kMatrix,
    // Multiplied by a chirp, folded with another by two transforms of `wide`
    // numbers, and multiplied again (Bluestein).
    kChirps,
  };
  Kind kind = kPasses;
  std::vector<int> radices;       // kPasses, in order
  int64_t columns = 0, rows = 0;  // kMatrix: the lengths of both
  int64_t wide = 0;               // kChirps
};

// n is at least 1.
FftWay WayOf(int64_t n);
// kPasses, where that is possible, however long it is; else WayOf.
FftWay WayInLanes(int64_t n);
// The numbers that a lane holds for it.
int64_t LaneRoomOf(const FftWay& way, int64_t n);

// About how many steps of work one transform takes, of many: of f32, and twice
// of f64.
double StepsOf(int64_t n);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TRANSFORMS_WAYS_H_
