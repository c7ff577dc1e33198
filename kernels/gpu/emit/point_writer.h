// PointWriter: a region's points as statements, each value once, where it is
// first needed.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINT_WRITER_H_
#define HAWSER_KERNELS_GPU_EMIT_POINT_WRITER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/gpu/emit/index_text.h"
#include "kernels/gpu/emit/kernel_builder.h"
#include "kernels/gpu/emit/value_text.h"

namespace hawser::gpu {

// A region and where it stands.
struct RegionSource {
  const Module& module;
  const plan::Region& region;
  const EmitOptions& options;

  const Computation& body() const { return module.computation(region.body); }
  const plan::Point& point(plan::PointId id) const {
    return region.points[id];
  }
  const Instruction& instruction(const plan::Point& p) const {
    return body().instructions()[p.instruction];
  }
  const Shape& shape(plan::PointId id) const {
    return body().shape(point(id).value);
  }
};

// One run of the innermost body over `width` neighbours along loop `inner`.
struct Turn {
  int width = 1;
  int inner = -1;
  std::string base;  // `inner`'s index of the first one
  std::vector<int> results;               // stored in it, if not empty
  std::vector<plan::PointId> also_needed;  // beside what results need
  // Written in front of the points and behind them, once for each neighbour.
  std::function<void()> before_points;
  std::function<void()> in_lane;
};

class PointWriter {
 public:
  // `back` gives each loop of the region's domain in loops of the kernel, of
  // which there are `num_loops`.
  PointWriter(const RegionSource& source, KernelBuilder* kernel,
              std::vector<plan::IndexExpr> back, int num_loops);

  const IndexNames& names() const { return names_; }
  void NameLoop(int loop, std::string name) {
    names_.loops[loop] = std::move(name);
  }
  // Declares the indices of loops [first, last), of sizes `extents`, at turn
  // `flat` of all of them, `step` turns of the last one at a time.
  void NameLoops(absl::Span<const int64_t> extents, int first, int last,
                 const std::string& flat, int64_t step);

  // What is defined from here to Leave is forgotten then.
  void Enter() { levels_.emplace_back(); }
  void Leave() { levels_.pop_back(); }
  void Define(plan::PointId id, ValueText value) {
    levels_.back().values[id] = std::move(value);
  }

  // Writes what `roots` need and is not there yet: all of it, or what `keep`
  // holds of, with everything it needs.
  void Write(absl::Span<const plan::PointId> roots);
  void WriteWhere(absl::Span<const plan::PointId> roots,
                  const std::function<bool(const plan::Point&)>& keep);
  // What does not depend on any loop.
  void WriteUniform(absl::Span<const plan::PointId> roots);
  // What it defines is forgotten behind it.
  void WriteTurn(const Turn& turn);
  // A result at the loops' indices.
  void StoreResult(int result);

  // Points that `roots` need and that are not defined, ascending.
  std::vector<plan::PointId> Missing(
      absl::Span<const plan::PointId> roots) const;
  // Marks what the point itself reads, or is placed by.
  void AddNeeds(plan::PointId id, std::vector<bool>* needed) const;
  bool IsDefined(plan::PointId id) const { return Find(id) != nullptr; }
  // Of a defined point.
  ValueText Value(plan::PointId id) const;
  // Defines `id` as a new variable.
  void DefineVariable(plan::PointId id, const ValueText& value);

  // Index `axis` of the point's value.
  std::string AxisText(const plan::Point& p, int axis) {
    return Text(maps_[p.map].axes[axis]);
  }
  // Of the kernel's loops. Symbols are defined first.
  std::string Text(const plan::IndexExpr& e);

  // The first error.
  const absl::Status& status() const { return status_; }

 private:
  struct Level {
    std::map<plan::PointId, ValueText> values;
    std::map<plan::ScopeId, std::string> scopes;
    std::set<int> symbols;
  };

  const ValueText* Find(plan::PointId id) const;
  void WritePoint(plan::PointId id);
  void WriteLoad(plan::PointId id);
  ValueText Choice(const plan::Point& p);
  // The condition of a scope, "" where it always holds.
  std::string Condition(plan::ScopeId scope);
  void UseSymbols(const plan::IndexExpr& e);

  plan::IndexExpr OffsetOf(plan::PointId id) const;
  std::string LoadParameter(const plan::Access& access);
  std::string StoreParameter(const plan::Access& access);
  std::vector<int> NotEmpty(absl::Span<const int> results) const;
  bool IsVector(const plan::Access& access, const Turn& turn) const;

  const RegionSource source_;
  KernelBuilder* const kernel_;
  std::vector<plan::IndexMap> maps_;      // over the kernel's loops
  std::vector<plan::Scope> scopes_;
  std::map<plan::PointId, const plan::Access*> loads_;
  std::vector<const plan::Access*> stores_;
  IndexNames names_;
  std::vector<Level> levels_;
  absl::Status status_;
};

// The loops of the kernel are those of the region, merged.
PointWriter WriterOverLoops(const RegionSource& source, KernelBuilder* kernel);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINT_WRITER_H_
