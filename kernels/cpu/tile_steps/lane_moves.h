// Elements of memory as lanes of a tile, and back.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_LANE_MOVES_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_LANE_MOVES_H_

#include <cstdint>

namespace hawser::cpu {

// Where lane (j, i) is: at element j * y + i * x.
struct LaneSteps {
  int64_t y = 0, x = 0;
};

// Lanes of `width` bytes an element. Lanes lie next to each other in memory of
// their own; elements where the steps or indices say.
void LoadLanes(int64_t width, const char* elements, LaneSteps steps, int64_t ny,
               int64_t nx, char* lanes);
void StoreLanes(int64_t width, const char* lanes, LaneSteps steps, int64_t ny,
                int64_t nx, char* elements);
// Where `holds` is given, of lanes where it is false nothing is read, and they
// are 0.
void GatherLanes(int64_t width, const char* elements, const int64_t* indices,
                 const bool* holds, int64_t n, char* lanes);
void ScatterLanes(int64_t width, const char* lanes, const int64_t* indices,
                  int64_t n, char* elements);
// lanes[k] = from[k] where it holds; the others stay.
void BlendLanes(int64_t width, const char* from, const bool* holds, int64_t n,
                char* lanes);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_LANE_MOVES_H_
