// ScatterLoops: a scatter as loops, and where an update goes, as text.
#ifndef HAWSER_KERNELS_GPU_EMIT_SCATTER_LOOPS_H_
#define HAWSER_KERNELS_GPU_EMIT_SCATTER_LOOPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/text_writer.h"
#include "kernels/plan/index/index_map.h"

namespace hawser::gpu {

// A scatter as two loops: over index vectors, "n", and over places in a window,
// "w".
struct ScatterLoops {
  // An axis of the input that an index vector moves along.
  struct Moved {
    int64_t size, stride;
    plan::IndexExpr component;  // offset in the indices
  };

  // Writes the components of index vector n, "i0", ..., from `indices`.
  void WriteComponents(const std::string& indices, const IndexNames& names,
                       TextWriter* body) const;
  // True if they name a place of the input.
  std::string InsideText() const;
  // The number of that place among those that an index vector may name.
  std::string PlaceText(const IndexNames& names) const;
  // Writes "at", the element of the input, and "from", that of the update.
  void WriteOffsets(const IndexNames& names, TextWriter* body) const;

  int64_t vectors = 1, window = 1;
  int64_t places = 1;             // that an index vector may name
  plan::IndexExpr window_offset;  // in the input, from where the window starts
  plan::IndexExpr update_offset;
  std::vector<Moved> moved;
};

// The names of both loops; 64 bits wide where a size needs them.
IndexNames NamesOfScatter(const Computation& c, const Instruction& scatter);

// Errors: kUnimplemented for windows that overlap when they move.
absl::StatusOr<ScatterLoops> FindScatterLoops(const Computation& c,
                                              const Instruction& scatter);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_SCATTER_LOOPS_H_
