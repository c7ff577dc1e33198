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

// Lanes that a chain reads, or that an op of it makes: the writer's number.
using ChainValue = int;

// A link, of values instead of memory.
struct WrittenLink {
  ChainOp op = ChainOp::kEnd;
  ChainOther other = ChainOther::kNone;
  ChainValue value = -1;  // kLanes, kOne: what is read or given; or kCount's
  int kept = -1;          // which place of the strip's it is in; -1: elsewhere
  bool is_last = false;   // of a give: no link behind it reads what it gave
  // kept is -1 and the op kGive though the value is of halves: it is given as
  // f32, for links to read, beside what it is given as if wanted.
};

// Whether the op puts a value somewhere.
bool Gives(ChainOp op);

// Whether a value is to be given.
enum class Wanted : uint8_t {
  kNo,
  kYes,
  kLate,  // behind all reads of lanes as wide, which may be where it goes
};

// What ops need of each other stays in registers or in places of the strip.
// Invariant: operands are added before the ops on them. Used once.
class ChainWriter {
 public:
  // Places that a strip has.
  static constexpr int kPlaces = 16;

  // Room for so many.
  void Reserve(int values);
  // What is read: as many lanes, or one element for all of them.
  ChainValue AddRead(DType dtype, ChainOther other);
  // Whole numbers that grow by 1 from lane to lane.
  ChainValue AddCount(DType dtype);
  // `rows`: ways to compute an op on these operands; at least one.
  ChainValue AddOp(absl::Span<const ChainRow* const> rows,
                   absl::Span<const ChainValue> operands, DType result);
  int num_ops() const { return static_cast<int>(ops_.size()); }

  // `wanted`: by value. Others it may give too, where places do not suffice.
  std::vector<WrittenLink> Write(absl::Span<const Wanted> wanted);

 private:
  struct Value {
    DType dtype;
    ChainOther read = ChainOther::kNone;  // kNone: an op makes it
    Wanted wanted = Wanted::kNo;
    bool is_given = false;     // where it is wanted, for want of a place
    bool is_readable = false;  // in memory that is no place
    int kept = -1;
    int uses = 0;  // by ops that are not written yet
    absl::InlinedVector<int, 2> users;
  };
  struct Op {
    // None: kCount without an operand, or what gives its operand late.
    absl::InlinedVector<const ChainRow*, 2> rows;
    absl::InlinedVector<ChainValue, 3> operands;
    ChainValue result = -1;
    int missing = 0;  // operands that are not made yet
    bool is_written = false;
  };

  ChainValue AddMade(DType dtype, Op op);
  // An op whose operands are there: one on what registers hold, else the first.
  int Next();
  bool IsReady(const Op& op) const;
  void WriteOp(int number);
  void AddLateGive(ChainValue v);
  // Whether ops that are not written read lanes as wide as v's.
  bool MayReadWhere(ChainValue v) const;
  // The row that has least to be moved for it, but for truths that all rows of
  // the op take.
  const ChainRow& Choose(const Op& op) const;
  int CostOf(const ChainRow& row, const Op& op) const;
  // Whether h may be what the row is on and what it leaves, beside a.
  bool IsToHeld(const ChainRow& row, const Op& op) const;
  // Has a hold v, which the op writes over if so said.
  void TakeLanes(ChainValue v, const Op& op, bool is_overwritten);
  void TakeTruths(ChainValue v);
  // Of a: holds it, or keeps it in a place.
  void SetAside();
  void Keep(ChainValue v);
  // Where it is wanted.
  void Give(ChainValue v);
  void AddLinks(const ChainRow& row, const Op& op);
  WrittenLink ReadOf(ChainOp op, ChainValue v) const;

  // Whether registers alone hold it.
  bool IsHomeless(ChainValue v) const {
    const Value& value = values_[v];
    return value.read == ChainOther::kNone && value.kept < 0 &&
           !value.is_readable;
  }
  // Whether ops that are not written need what a register holds and nothing
  // else, `beside` neither.
  bool IsNeeded(ChainValue v, ChainValue beside) const {
    return v >= 0 && v != beside && values_[v].uses > 0 && IsHomeless(v);
  }
  // Likewise, but for the op.
  bool IsNeededBehind(const Op& op, ChainValue v, ChainValue beside) const;

  std::vector<Value> values_;
  std::vector<Op> ops_;
  // While links are written: what is in a, m and h, and in the places; -1:
  // nothing. The ops before `first_` are written.
  ChainValue lanes_ = -1, truths_ = -1, held_ = -1;
  absl::InlinedVector<ChainValue, kPlaces> places_;
  size_t first_ = 0;
  std::vector<WrittenLink> links_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_CHAIN_WRITER_H_
