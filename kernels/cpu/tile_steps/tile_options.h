// TileOptions: which steps a program of tiles has.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_TILE_OPTIONS_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_TILE_OPTIONS_H_

#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {

struct TileOptions {
  Isa isa = MachineIsa();  // whose loops elementwise ops use
  // Ops whose rows promise no bits use the rows' loops, and sums are those of
  // whole runs.
  bool strict = false;
  // RunTiles may be given boxes.
  bool boxes = false;
  // Results are read again soon: none go past the caches.
  bool is_read_again = false;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_TILE_OPTIONS_H_
