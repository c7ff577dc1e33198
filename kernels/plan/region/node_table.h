// The planner's table of ops: how each takes part in regions. A fusible op is a
// row in node_table.cc; elementwise ops need none, nor does control flow.
#ifndef HAWSER_KERNELS_PLAN_REGION_NODE_TABLE_H_
#define HAWSER_KERNELS_PLAN_REGION_NODE_TABLE_H_

#include "core/ir/module.h"
#include "kernels/plan/region/point_graph.h"

namespace hawser::plan {

enum class NodeClass : uint8_t {
  kLoop,     // an element of the result from elements of operands
  kReduce,   // folds axes away
  kDot,      // a library's product
  kUpdate,   // writes into its operand 0
  kBlock,    // never fused: kernels in which a block's threads work together
  kControl,  // calls computations that are planned on their own
  kBytes,    // its operand's bytes, never fused
  kLibrary,  // never fused: a call of the device's library
  kHost,     // never fused: no row here, or values decide its work
};

// Fills in `*point` (of `instruction`, with value, map and scope set) and
// demands its operands through `graph`, where the point's number is `id`.
using ExpandFn = void (*)(PointGraph& graph, const Instruction& instruction,
                          PointId id, Point* point);

struct NodeRow {
  const OpDef* op = nullptr;
  NodeClass node = NodeClass::kHost;
  double cost = 1;  // lane operations per element
  ExpandFn expand = nullptr;
  // Its value is a function of indices and of at most one element: recomputing
  // it is cheaper than reading it.
  bool free = false;
  bool view = false;  // alone it is its operand's bytes
};

const NodeRow& NodeOf(const OpDef& op);
// Returns the row of one instruction, which may differ: a bitcast to another
// width is its operand's bytes, and no element of an element.
const NodeRow& NodeOf(const Computation& computation, const Instruction& i);
// The widest of its operands and its first result: what its cost goes by.
DType WidestDType(const Computation& computation,
                  const Instruction& instruction);

// A reduction's input and what becomes of its axes.
struct ReduceAxes {
  Dims input;
  Dims kept;     // axes of the input, ascending
  Dims reduced;  // ascending
  // Loops [kept..., reduced...] and where each axis of the input is in them.
  Dims Domain() const;
  IndexMap InputMap() const;   // axis of the input -> its loop
  IndexMap ResultMap() const;  // the kept loops
  bool IsInnermost() const;    // only axes of one element stand after
  bool operator==(const ReduceAxes&) const = default;
};
// Returns the axes of a kReduce instruction.
ReduceAxes AxesOfReduce(const Computation& computation,
                        const Instruction& instruction);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_NODE_TABLE_H_
