// Target: the costs and limits of an engine, as numbers. The planner knows of
// no device; each engine gives it one of these.
// FIXED: fields may be added, with a default.
#ifndef HAWSER_KERNELS_PLAN_TARGET_TARGET_H_
#define HAWSER_KERNELS_PLAN_TARGET_TARGET_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "kernels/plan/target/product_call.h"

namespace hawser::plan {

// The elementwise tails that a matrix product takes along in its own call.
enum class EpilogueSupport : uint8_t {
  kNone,
  kTable,  // bias, then one of the activations a library knows
  kAny,    // any expression of the product, rows, columns and residuals
};

struct Target {
  std::string name;

  // ---- costs --------------------------------------------------------------
  double bytes_per_second = 0;  // of device memory, measured copy
  double lanes_per_second = 0;  // simple lane operations
  // Seconds of one element of an op, as measured. Null: by how many simple
  // operations the op's row says.
  double (*element_seconds)(const OpDef& op, DType dtype) = nullptr;
  double launch_seconds = 0;  // one kernel, or one step of a loop
  // Of an op in a kernel, however few its elements.
  double op_seconds = 0;

  // ---- limits of a region -------------------------------------------------
  int max_buffers = 24;  // operands and results
  int max_instructions = 400;
  int max_points = 800;      // evaluations, see region.h
  int max_predicates = 3;    // nested: pad within concatenate within pad
  int max_concatenated = 8;  // operands of a concatenate that is fused
  // Loops over the same sizes, of at most so many elements, that wait for
  // nothing of each other are one region; 0: only where they read alike.
  int64_t joined_elements = 0;
  // A load of up to so many bytes may be strided: caches hold it.
  int64_t cached_bytes = int64_t{8} << 20;
  // A load that runs along another loop than the stores goes through tiles if
  // both loops have at least so many turns; else caches hold what it skips.
  int64_t least_transposed = 1;
  // A product that is several times as large, and larger than its factors, is
  // computed in tiles of at most so many bytes, with what reads it (tiling/);
  // 0: whole.
  int64_t tile_bytes = 0;
  // Turns of a loop are written out one after the other up to so many
  // instructions, if none of its values has more elements; 0: none is.
  int64_t unrolled_instructions = 0;
  int64_t unrolled_elements = int64_t{1} << 62;
  // A reduction over at most so many elements is elementwise work; 0: none is.
  int64_t unrolled_folds = 0;
  // The longest row, in bytes of the widest value, that stays resident between
  // the passes of a row region; longer ones become several regions.
  int64_t max_row_bytes = int64_t{200} << 10;

  // ---- how regions are run ------------------------------------------------
  int vector_bytes = 16;       // of one load
  int64_t parallel_units = 1;  // blocks that keep the device busy
  // Neighbouring columns that one block sums.
  int64_t columns_per_block = 256;
  // True if scans and sorts run as kernels (kBlock); else they are kHost.
  bool block_kernels = false;
  // A reduction whose results keep fewer than 4 blocks a unit busy is split
  // into parts of at least so many elements, with a second pass over the
  // partial results. Sizes alone decide, so that the order of a sum is fixed.
  int64_t split_above_elements = int64_t{1} << 62;
  EpilogueSupport epilogues = EpilogueSupport::kNone;
  // Scatters of at least so many index vectors may go by integers that threads
  // combine where they meet (scatter_way.h); 0: none does.
  int64_t atomic_scatters = 0;
  // Other scatters of at least so many index vectors go by sorted places
  // (core/ops/scatters); 0: none does.
  int64_t sorted_scatters = 0;
  // A sort of whose rows at most so many first elements are read selects them
  // (selection/); 0: none does.
  int64_t selected = 0;
  // True if a loop whose index is divided becomes two, as index_map.h says.
  bool splits_loops = false;
  // True if convolutions run as they are, as products do; else they are
  // products of windows that are written out.
  bool convolutions = false;
  // True if products are a library's calls over strides (product_call.h): then
  // each is brought into an order of axes that has such a call.
  bool strided_products = false;
  // Operations a second of s8 products in which a factor's summed axis does not
  // lie innermost; 0: as many as of others.
  double slow_byte_products = 0;
  // Dtypes of factors that kernels multiply by matrix instructions where there
  // is no such call.
  DTypeSet matrix_products;
  // Says if the library of this device takes a call. Null: all that there are.
  std::function<bool(const ProductCall&)> takes_product;
  // Says if the library of this device takes an instruction of plan/library
  // over such operands. Null: it takes none.
  std::function<bool(const OpDef&, absl::Span<const Shape>, const Attributes&)>
      takes_call;
  // A convolution of at least so many products is worth such a call: with
  // fewer, it and the order that it wants of its kernel cost more than the
  // product of windows that are written out.
  double least_convolution = 1 << 17;
  // True if an evaluator on the host runs regions of kHost.
  bool has_host = true;
  int64_t alignment = 256;  // of every buffer in the arena

  // Returns the seconds of one element of `op`, which takes so many simple
  // operations.
  double ElementSeconds(const OpDef& op, DType dtype, double operations) const {
    return element_seconds == nullptr ? operations / lanes_per_second
                                      : element_seconds(op, dtype);
  }
  bool Takes(const ProductCall& call) const {
    return takes_product == nullptr || takes_product(call);
  }
};

// An H200 class device by the numbers of the design: 4.3 TB/s, 132 units.
Target GpuTarget();
// Two cores of a server CPU: loops cost little to start, caches are the
// memory that counts.
Target CpuTarget();

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_TARGET_TARGET_H_
