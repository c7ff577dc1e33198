#include "kernels/plan/verdict.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/scatters/scatter_rows.h"

namespace hawser::plan {
namespace {

// Bytes that take less are not looked at.
constexpr double kLongSeconds = 20e-6;
// Of an owner's step over one index vector: 1.06 s for 2^24 of them on an H200
// on 27 November 2026.
constexpr double kOwnerSeconds = 63e-9;
// A scatter may take so many times its bytes.
constexpr double kSlowScatter = 20;
constexpr int64_t kThreads = 256;

int64_t Product(const Dims& dims, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t k = begin; k < end; ++k) product *= dims[k];
  return product;
}

std::string ScatterVerdict(const Computation& c, const Instruction& i,
                           double seconds) {
  const Shape& indices = c.shape(i.operands[i.operands.size() / 2]);
  const double walk =
      static_cast<double>(VectorsOf(i, indices)) * kOwnerSeconds;
  if (walk < kLongSeconds || walk < kSlowScatter * seconds) return "";
  return absl::StrCat("each thread walks ", VectorsOf(i, indices),
                      " index vectors");
}

DType FactorDType(const Module& module, const Region& product) {
  const Computation& body = module.computation(product.body);
  const Instruction& dot =
      body.instructions()[product.epilogue.dot_instruction];
  return body.shape(dot.operands[0]).dtype();
}

}  // namespace

int64_t BlocksOf(const Region& region, const Target& target) {
  const size_t kept = region.num_kept;
  const int64_t results = Product(region.domain, 0, kept);
  const int64_t all = Product(region.domain, 0, region.domain.size());
  switch (region.kind) {
    case RegionKind::kLoop:
    case RegionKind::kTiledTranspose:
      return all / (kThreads * std::max(1, region.vector_width)) + 1;
    case RegionKind::kRow: {
      // Short rows share a block.
      const int64_t length =
          std::max<int64_t>(1, all / std::max<int64_t>(1, results));
      return std::max<int64_t>(
                 1, results / std::max<int64_t>(1, kThreads / length)) *
             region.splits;
    }
    case RegionKind::kColumnReduction:
      return ((results - 1) / target.columns_per_block + 1) * region.splits;
    case RegionKind::kFullReduction:
      return region.splits;
    default:
      return 0;
  }
}

std::string VerdictOf(const Module& module, const Region& region,
                      const Target& target) {
  if (!target.block_kernels) return "";  // a thread is no small part of it
  const Computation& c = module.computation(region.computation);
  const Instruction& i = c.instructions()[region.instruction];
  const double seconds =
      static_cast<double>(region.bytes_read + region.bytes_written) /
      target.bytes_per_second;
  if (region.kind == RegionKind::kLibraryDot && !region.epilogue.call &&
      region.epilogue.dot_instruction >= 0) {
    return target.matrix_products.Has(FactorDType(module, region))
               ? ""
               : "a product that no library call does";
  }
  if (region.kind == RegionKind::kHost) return "runs on the host";
  if (i.op == &kScatter) {
    const bool owned = region.scatter_way == ScatterWay::kOwners;
    return owned ? ScatterVerdict(c, i, seconds) : "";
  }
  const int64_t blocks = BlocksOf(region, target);
  if (seconds < kLongSeconds || blocks == 0 ||
      blocks * 3 >= target.parallel_units) {
    return "";
  }
  return absl::StrCat(blocks, blocks == 1 ? " block" : " blocks", " for ",
                      region.bytes_read + region.bytes_written, " bytes");
}

}  // namespace hawser::plan
