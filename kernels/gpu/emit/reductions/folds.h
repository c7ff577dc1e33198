// Folds: the reductions of a region as operations of the dialect.
#ifndef HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_FOLDS_H_
#define HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_FOLDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/emit/points/point_writer.h"

namespace hawser::gpu {

// One reduction, of one or several values at once. In a kernel its operation
// is the type fold<n>, what it folds the type part<n>.
struct Fold {
  enum Kind : uint8_t {
    kMonoid,       // part: the value
    kExtreme,      // part: Found
    kComputation,  // part: whether there is any, then the values
  };
  Kind kind = kMonoid;
  int number = 0;
  int stage = 0;
  int instruction = -1;
  std::vector<plan::PointId> points;  // its results, those in use
  std::vector<plan::PointId> initial, inputs;
  std::vector<DType> dtypes;  // of a part's values
  std::string operation;      // kMonoid, kExtreme: of the dialect

  std::string type() const { return absl::StrCat("fold", number); }
  std::string part() const { return absl::StrCat("part", number); }
  // The running value of a thread.
  std::string name() const { return absl::StrCat("a", number); }
  // Value `k` of a part.
  std::string Component(const std::string& part, size_t k) const;
  // A part of these values.
  std::string PartOf(absl::Span<const std::string> components) const;
  int64_t part_bytes() const;
};

// Returns the folds of a region. Errors: kUnimplemented, what no kernel
// computes.
absl::StatusOr<std::vector<Fold>> FindFolds(const RegionSource& source);

// Fills in what `fold`, of these dtypes, folds by: `body`.
void DescribeComputation(const Computation& body, Fold* fold);

// Declares the types of `fold`. Errors: kUnimplemented, as FindFolds.
absl::Status DeclareFold(const RegionSource& source, const Fold& fold,
                         KernelBuilder* kernel);
// "part<n> <name><suffix> = <identity>;"
void DeclareRunning(const Fold& fold, KernelBuilder* kernel);
// Declares `size` parts in shared memory: "shared<n>".
void DeclareShared(const Fold& fold, int64_t size, KernelBuilder* kernel);
// Folds the running values of `lanes` lanes of a warp into one, which each of
// them has then.
void ReduceOverLanes(const Fold& fold, int64_t lanes, KernelBuilder* kernel);
// Folds the running values of a block of `threads`; shared memory has a part
// for each of its warps.
void ReduceOverBlock(const Fold& fold, int64_t threads, KernelBuilder* kernel);
// Folds the inputs at the loops' indices, which are defined, into `running`.
void WriteCombine(const RegionSource& source, const Fold& fold,
                  const std::string& running, PointWriter* writer,
                  KernelBuilder* kernel);
// Defines the fold's points from the final running value.
void DefineResults(const RegionSource& source, const Fold& fold,
                   const std::string& folded, PointWriter* writer,
                   KernelBuilder* kernel);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_FOLDS_H_
