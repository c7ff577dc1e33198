#include "kernels/plan/region/work.h"

#include <algorithm>
#include <vector>

#include "core/ops/contraction/dot.h"
#include "kernels/plan/library/library_ops.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

void CountBytes(const Computation& c, absl::Span<const ValueId> operands,
                Region* region) {
  const int64_t iterations_kept = IterationsOf(*region, region->num_kept);
  const int64_t iterations = IterationsOf(*region, region->domain.size());
  std::vector<double> read(operands.size(), 0);
  for (MemoryAccess& a : region->accesses) {
    const Point& p = region->points[a.point];
    const Shape& shape = c.shape(p.value);
    a.bytes = std::min(p.per_result ? iterations_kept : iterations,
                       shape.num_elements()) *
              ElementBytes(c, *region, a);
    if (a.operand >= 0) read[a.operand] += static_cast<double>(a.bytes);
    if (a.result >= 0) region->bytes_written += shape.byte_size();
  }
  for (size_t k = 0; k < operands.size(); ++k) {
    const int64_t whole = c.shape(operands[k]).byte_size();
    region->bytes_read += std::min(whole, static_cast<int64_t>(read[k]));
  }
  // A product reads its factors whole, through no point.
  for (const Point& p : region->points) {
    const Instruction& i = c.instructions()[p.instruction];
    if (p.kind != Point::kOp || NodeOf(*i.op).node != NodeClass::kDot) continue;
    const ValueId left = i.operands[0], right = i.operands[1];
    region->bytes_read += c.shape(left).byte_size();
    if (right != left) region->bytes_read += c.shape(right).byte_size();
  }
}

int64_t ContractedSize(const Computation& c, const Instruction& dot) {
  int64_t size = 1;
  if (dot.op != &kDotGeneral) {
    const Shape& kernel = c.shape(dot.operands[1]);
    for (int a = 0; a + 1 < kernel.rank(); ++a) size *= kernel.dim(a);
    return size;
  }
  for (const int64_t a : dot.attributes.GetInts("lhs_contracting_dimensions")) {
    size *= c.shape(dot.operands[0]).dim(static_cast<int>(a));
  }
  return size;
}

void CountOperations(const Computation& c, const Target& target,
                     Region* region) {
  const auto iterations_kept =
      static_cast<double>(IterationsOf(*region, region->num_kept));
  const auto iterations =
      static_cast<double>(IterationsOf(*region, region->domain.size()));
  double total = 0, seconds = 0;
  for (const Point& p : region->points) {
    if (p.kind == Point::kLoad) continue;
    const Instruction& i = c.instructions()[p.instruction];
    const bool once = p.per_result && p.kind != Point::kReduce;
    const double times = once ? iterations_kept : iterations;
    const double cost = NodeOf(*i.op).cost;
    total += cost * times;
    if (cost > 0) {
      seconds += times * target.ElementSeconds(*i.op, WidestDType(c, i), cost);
    }
    if (NodeOf(*i.op).node != NodeClass::kDot) continue;
    const double products =
        2.0 * iterations * static_cast<double>(ContractedSize(c, i));
    total += products;
    seconds += products / target.lanes_per_second;
  }
  region->lane_seconds = seconds;
  region->lane_operations = static_cast<int64_t>(std::min(total, 9e18));
}

}  // namespace

int64_t IterationsOf(const Region& region, size_t num_loops) {
  int64_t iterations = 1;
  for (size_t d = 0; d < num_loops; ++d) iterations *= region.domain[d];
  return iterations;
}

int64_t ElementBytes(const Computation& computation, const Region& region,
                     const MemoryAccess& access) {
  return ByteWidth(
      computation.shape(region.points[access.point].value).dtype());
}

void CountWork(const Computation& computation, const Target& target,
               absl::Span<const ValueId> operands, Region* region) {
  CountBytes(computation, operands, region);
  CountOperations(computation, target, region);
}

void CountConvolution(const Computation& computation, const Instruction& call,
                      const Target& target, Region* region) {
  // Of y [batch, results..., out] and w [out, places..., features]: each result
  // is a sum over the places and features.
  const Shape& result = computation.shape(call.first_result);
  const Shape& first = computation.shape(call.operands[0]);
  const Shape& second = computation.shape(call.operands[1]);
  const auto direction = call.attributes.GetString("direction");
  const bool forward = direction == kForwardConvolution;
  const Shape& y = forward ? result : second;
  const Shape& w = forward                         ? second
                   : direction == kDataConvolution ? first
                                                   : result;
  const double total = 2.0 * static_cast<double>(y.num_elements()) *
                       static_cast<double>(w.num_elements() / w.dim(0));
  region->lane_operations = static_cast<int64_t>(std::min(total, 9e18));
  region->lane_seconds = total / target.lanes_per_second;
}

}  // namespace hawser::plan
