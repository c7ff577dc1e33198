// ChainWriter: elementwise ops on each other's results, written as one chain.
#ifndef HAWSER_KERNELS_CPU_CHAINS_CHAIN_WRITER_H_
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_WRITER_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "kernels/cpu/chains/chain_rows.h"
#include "kernels/cpu/chains/chains.h"

namespace hawser::cpu {

// The writer's number of a value: lanes that a chain reads or an op makes.
using ChainValue = int;

// A link that names values instead of addresses.
struct WrittenLink {
  ChainOp op = ChainOp::kEnd;
  ChainOperand b = ChainOperand::kNone;
  // kLanes, kBroadcast: the value that is read or stored. kIota: the result.
  ChainValue value = -1;
  int spill = -1;        // the value's spill slot; -1: other memory has it
  bool is_last = false;  // a store whose value no later link reads back
  // A kStore of a half that has no spill slot stores it as f32, for later links
  // to read. A wanted half is stored as a half besides.
};

// True for the ops that write memory.
bool IsStore(ChainOp op);

// When a value is stored where the caller wants it.
enum class Wanted : uint8_t {
  kNo,
  kYes,
  // Its memory may be that of an operand whose lanes are as wide, so the store
  // follows the last load that may alias it.
  kAfterLoads,
};

// Values that ops pass to each other stay in registers or in spill slots.
// Invariant: operands are added before the ops on them. Used once.
class ChainWriter {
 public:
  static constexpr int kSpillSlots = 16;

  // Allocates room for so many values.
  void Reserve(int values);
  // Adds a value that the chain loads. `b`: kLanes or kBroadcast.
  ChainValue AddRead(DType dtype, ChainOperand b);
  // Adds integers that grow by 1 from lane to lane. The links of several are
  // written in the order in which they are added.
  ChainValue AddIota(DType dtype);
  // `rows`: the ways to compute the op on these operands; at least one.
  ChainValue AddOp(absl::Span<const ChainRow* const> rows,
                   absl::Span<const ChainValue> operands, DType result);
  int num_ops() const { return static_cast<int>(ops_.size()); }

  // `wanted`: by value. Values that find no free spill slot are stored too.
  std::vector<WrittenLink> Write(absl::Span<const Wanted> wanted);

 private:
  struct Value {
    DType dtype;
    ChainOperand read = ChainOperand::kNone;  // kNone: an op makes it
    Wanted wanted = Wanted::kNo;
    bool is_stored = false;  // stored where it is wanted, by a spill
    bool is_readable =
        false;  // links can load it from memory, not a spill slot
    int spill = -1;
    int uses = 0;  // by ops that are not written yet
    absl::InlinedVector<int, 2> users;
  };
  struct Op {
    // Empty for kIota, which has no operand, and for a late store of its one.
    absl::InlinedVector<const ChainRow*, 2> rows;
    absl::InlinedVector<ChainValue, 3> operands;
    ChainValue result = -1;
    int missing = 0;  // operands that are not made yet
    bool is_written = false;
  };

  ChainValue AddMade(DType dtype, Op op);
  // Returns an op whose operands are made: one that reads a register if there
  // is one, else the first.
  int Next();
  bool IsReady(const Op& op) const;
  void WriteOp(int number);
  void AddLateStore(ChainValue v);
  // True if ops that are not written load lanes as wide as v's, whose memory a
  // store of v might overwrite.
  bool HasAliasingLoads(ChainValue v) const;
  // Returns the row that needs the cheapest moves. Loads of m cost the same for
  // all rows of an op and do not count.
  const ChainRow& Choose(const Op& op) const;
  int CostOf(const ChainRow& row, const Op& op) const;
  // True if the row can read its operand from h and leave its result in h, so
  // that a is not touched.
  bool GoesIntoH(const ChainRow& row, const Op& op) const;
  // Writes the links that bring v into a, and save it if the op overwrites it
  // and others need it.
  void LoadA(ChainValue v, const Op& op, bool is_overwritten);
  void LoadM(ChainValue v);
  // Copies a to h, or spills it if h is needed.
  void SaveA();
  void Spill(ChainValue v);
  // Writes the store of v where it is wanted.
  void Store(ChainValue v);
  void AddLinks(const ChainRow& row, const Op& op);
  WrittenLink ReadOf(ChainOp op, ChainValue v) const;

  // True if no memory has v.
  bool IsOnlyInRegisters(ChainValue v) const {
    const Value& value = values_[v];
    return value.read == ChainOperand::kNone && value.spill < 0 &&
           !value.is_readable;
  }
  // True if ops that are not written need v, and only one register has it.
  // `beside`: the value of another register.
  bool IsNeeded(ChainValue v, ChainValue beside) const {
    return v >= 0 && v != beside && values_[v].uses > 0 && IsOnlyInRegisters(v);
  }
  // The same once `op` is written.
  bool IsNeededAfter(const Op& op, ChainValue v, ChainValue beside) const;

  std::vector<Value> values_;
  std::vector<Op> ops_;
  // The values in a, m, h and the spill slots after links_; -1: undefined. The
  // ops before `first_` are written.
  ChainValue a_ = -1, m_ = -1, h_ = -1;
  absl::InlinedVector<ChainValue, kSpillSlots> spill_slots_;
  size_t first_ = 0;
  std::vector<WrittenLink> links_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_CHAIN_WRITER_H_
