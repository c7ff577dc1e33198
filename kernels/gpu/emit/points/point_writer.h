// PointWriter: a region's points as statements, each value once, where it is
// first needed.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINTS_POINT_WRITER_H_
#define HAWSER_KERNELS_GPU_EMIT_POINTS_POINT_WRITER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/gpu/emit/points/definitions.h"
#include "kernels/gpu/emit/points/kernel_maps.h"
#include "kernels/gpu/emit/points/region_memory.h"
#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/kernel_builder.h"
#include "kernels/gpu/emit/text/value_text.h"

namespace hawser::gpu {

// Invariant: a point is written at most once in the braces that are open, and
// after all points it needs.
class PointWriter {
 public:
  // `back` gives each loop of the region's domain in loops of the kernel, of
  // which there are `num_loops`. `kernel` outlives this object.
  PointWriter(const RegionSource& source, KernelBuilder* kernel,
              std::vector<plan::IndexExpr> back, int num_loops);

  const RegionSource& source() const { return source_; }
  KernelBuilder& kernel() const { return *kernel_; }
  const KernelMaps& maps() const { return maps_; }
  const RegionMemory& memory() const { return memory_; }

  const IndexNames& names() const { return names_; }
  // Indices are u64, whatever the region's points need. In front of all text.
  void CountWide() { names_.wide = true; }
  void NameLoop(int loop, std::string name) {
    names_.loops[loop] = std::move(name);
  }
  // Declares the indices of loops [first, last), of sizes `extents`, at
  // iteration `flat` of all of them, `step` iterations of the last one at a
  // time.
  void NameLoops(absl::Span<const int64_t> extents, int first, int last,
                 const std::string& flat, int64_t step);

  // Points that are defined from here to Leave are forgotten then.
  void Enter() { definitions_.Enter(); }
  void Leave() { definitions_.Leave(); }
  void Define(plan::PointId id, ValueText value) {
    definitions_.Define(id, std::move(value));
  }

  // Writes the points that `roots` need and that are not defined: all of them,
  // or those for which `keep` holds, with everything they need.
  void Write(absl::Span<const plan::PointId> roots);
  void WriteWhere(absl::Span<const plan::PointId> roots,
                  const std::function<bool(const plan::Point&)>& keep);
  // Writes like Write, but only the points that depend on no loop.
  void WriteUniform(absl::Span<const plan::PointId> roots);

  // Points that `roots` need and that are not defined, ascending.
  std::vector<plan::PointId> Missing(
      absl::Span<const plan::PointId> roots) const;
  bool IsDefined(plan::PointId id) const {
    return definitions_.Find(id) != nullptr;
  }
  // The value of a defined point.
  ValueText Value(plan::PointId id) const;
  // Defines `id` as a new variable.
  void DefineVariable(plan::PointId id, const ValueText& value);

  // Index `axis` of the point's value.
  std::string AxisText(const plan::Point& p, int axis) {
    return Text(maps_.MapOf(p).axes[axis]);
  }
  // An expression over the kernel's loops. Symbols are defined first.
  std::string Text(const plan::IndexExpr& e);

  // The first error.
  const absl::Status& status() const { return status_; }

 private:
  void WritePoint(plan::PointId id);
  void WriteLoad(plan::PointId id);
  ValueText Choice(const plan::Point& p);
  // The condition of a scope, "" where it always holds.
  std::string Condition(plan::ScopeId scope);
  void UseSymbols(const plan::IndexExpr& e);

  const RegionSource source_;
  KernelBuilder* const kernel_;
  const KernelMaps maps_;
  const RegionMemory memory_;
  IndexNames names_;
  Definitions definitions_;
  absl::Status status_;
};

// The loops of the kernel are those of the region, merged.
PointWriter WriterOverLoops(const RegionSource& source, KernelBuilder* kernel);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINTS_POINT_WRITER_H_
