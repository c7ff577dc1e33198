// TileSteps: what is done with the lanes of a tile, one after the other.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_TILE_STEP_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_TILE_STEP_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tile_steps/lane_index.h"
#include "kernels/cpu/tile_steps/lane_moves.h"
#include "kernels/cpu/tile_steps/tile.h"

namespace hawser::cpu {

// Immutable and thread-safe. A slot is a value of the tile: a step says where
// its lanes are in Tile::values, in the slot's own memory or elsewhere.
class TileStep {
 public:
  virtual ~TileStep() = default;
  // `scope`: of Tile::scopes; where that holds nowhere nothing is done. -1:
  // always.
  void Do(Tile& tile) const {
    if (scope_ >= 0 && tile.scopes[scope_].holds == TileScope::kNowhere) {
      Skip(tile);
    } else {
      Run(tile);
    }
  }
  // True after Do if the step would do the same for each tile at this place,
  // whatever operands hold, so that it need not be done again.
  virtual bool IsSettled(const Tile&) const { return false; }

 protected:
  explicit TileStep(int scope) : scope_(scope) {}
  virtual void Run(Tile& tile) const = 0;
  // Leaves nothing of an earlier tile.
  virtual void Skip(Tile& tile) const = 0;
  int scope() const { return scope_; }

 private:
  const int scope_;
};
using TileSteps = std::vector<std::unique_ptr<const TileStep>>;

// The lanes of a slot: elements of `width` bytes, as many as its shape says.
struct LaneSlot {
  int slot = -1;
  LaneShape shape = LaneShape::kFull;
  int64_t width = 0;
};

// Lanes of a result, put where they belong.
class StoreStep final : public TileStep {
 public:
  // `bytes`: of the whole result.
  StoreStep(int result, LaneIndex index, LaneSlot from, LaneMoves moves,
            int64_t bytes)
      : TileStep(-1),
        result_(result),
        index_(std::move(index)),
        from_(from),
        moves_(moves),
        bytes_(bytes) {}
  // The address in the result for lanes that lie there as in a slot. Null: they
  // do not, and this step moves them.
  char* Destination(const Tile& tile) const;
  // True if rows of lanes have one.
  bool HasDestinations() const {
    return index_.steps_along_x() && index_.step_x() == 1;
  }
  // True if the result is larger than the caches, so that stores go past them.
  bool IsStreamed() const;

 private:
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override {}

  const int result_;
  const LaneIndex index_;
  const LaneSlot from_;
  const LaneMoves moves_;
  const int64_t bytes_;
};

// A slot that a step fills: in the slot's memory, or directly in the result
// that these lanes are stored to.
class OutputSlot {
 public:
  explicit OutputSlot(LaneSlot slot) : slot_(slot) {}
  // `store` puts the lanes where they belong, next; null: they stay.
  void StoredBy(const StoreStep* store) { store_ = store; }
  const LaneSlot& slot() const { return slot_; }

  // Leaves no lanes of an earlier tile.
  void Skip(Tile& tile) const {
    tile.values[slot_.slot] = tile.memory[slot_.slot];
  }
  // The address that the step writes its lanes to.
  char* Target(Tile& tile) const {
    char* to = store_ == nullptr ? nullptr : store_->Destination(tile);
    if (to == nullptr) to = tile.memory[slot_.slot];
    tile.values[slot_.slot] = to;
    return to;
  }
  // True if stores go past the caches, unless Target is the slot's memory.
  bool IsStreamed() const { return store_ != nullptr && store_->IsStreamed(); }

 private:
  LaneSlot slot_;
  const StoreStep* store_ = nullptr;
};

// A step that fills one slot.
class ValueStep : public TileStep {
 public:
  OutputSlot& output() { return output_; }

 protected:
  ValueStep(int scope, LaneSlot to) : TileStep(scope), output_(to) {}
  void Skip(Tile& tile) const override { output_.Skip(tile); }
  char* Target(Tile& tile) const { return output_.Target(tile); }
  const LaneSlot& own_slot() const { return output_.slot(); }

 private:
  OutputSlot output_;
};

// An operand's elements. They stay where they are when they lie as lanes do,
// unless `copies` says that they may be written over before they are read.
class LoadStep final : public ValueStep {
 public:
  LoadStep(int scope, int operand, LaneIndex index, LaneSlot to,
           LaneMoves moves, bool copies)
      : ValueStep(scope, to),
        operand_(operand),
        index_(std::move(index)),
        moves_(moves),
        copies_(copies) {}
  bool IsSettled(const Tile& tile) const override;

 private:
  void Run(Tile& tile) const override;
  // Lanes that are not read become 0.
  void LoadSpans(Tile& tile, const char* from, const LaneSpan* spans,
                 char* to) const;
  void Gather(Tile& tile, const char* from, const bool* holds, char* to) const;

  const int operand_;
  const LaneIndex index_;
  const LaneMoves moves_;
  const bool copies_;
};

// An elementwise op.
class OpStep final : public ValueStep {
 public:
  using Operands = absl::InlinedVector<int, 3>;
  OpStep(int scope, ElementFn fn, Operands operands, LaneSlot to)
      : ValueStep(scope, to), fn_(fn), operands_(std::move(operands)) {}

 private:
  void Run(Tile& tile) const override;

  const ElementFn fn_;
  const Operands operands_;
};

// A constant of one element.
class ConstantStep final : public ValueStep {
 public:
  ConstantStep(Literal value, LaneSlot to)
      : ValueStep(-1, to), value_(std::move(value)) {}
  bool IsSettled(const Tile&) const override { return true; }

 private:
  void Run(Tile& tile) const override;

  const Literal value_;
};

// Indices of an axis, as another dtype.
class IotaStep final : public ValueStep {
 public:
  using Convert = void (*)(const int64_t* from, int64_t n, char* to);
  IotaStep(int scope, LaneIndex index, Convert convert, LaneSlot to)
      : ValueStep(scope, to), index_(std::move(index)), convert_(convert) {}
  static Convert ConvertTo(DType dtype);

 private:
  void Run(Tile& tile) const override;

  const LaneIndex index_;
  const Convert convert_;
};

// Lanes of a lower shape, for each lane of a higher one.
class ExpandStep final : public ValueStep {
 public:
  ExpandStep(int scope, LaneSlot from, LaneSlot to, LaneMoves moves)
      : ValueStep(scope, to), from_(from), moves_(moves) {}

 private:
  void Run(Tile& tile) const override;

  const LaneSlot from_;
  const LaneMoves moves_;
};

// Integers as a symbol of indices: within its bounds, whatever they are.
class SymbolStep final : public ValueStep {
 public:
  using Clamp = void (*)(const char* from, plan::Bounds bounds, int64_t n,
                         int64_t* to);
  SymbolStep(int scope, int symbol, LaneSlot from, Clamp clamp,
             plan::Bounds bounds, LaneSlot to)
      : ValueStep(scope, to),
        symbol_(symbol),
        from_(from),
        clamp_(clamp),
        bounds_(bounds) {}
  // Null: no integers.
  static Clamp ClampOf(DType dtype);

 private:
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override;

  const int symbol_;
  const LaneSlot from_;
  const Clamp clamp_;
  const plan::Bounds bounds_;
};

// Looks whether a scope's predicates hold.
class ScopeStep final : public TileStep {
 public:
  struct Part {
    LaneIndex value;
    plan::Bounds bounds;
  };
  // `number`: of Tile::scopes, as `parent`, which must hold too; -1: none.
  // `to`: its lanes, bool.
  ScopeStep(int number, int parent, std::vector<Part> parts, LaneSlot to);

 private:
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override {}
  // Says if all lanes are alike, as far as ranges tell.
  TileScope::Holds Roughly(const Tile& tile) const;
  // Fill in where all parts and the parent hold; a null parent holds
  // everywhere.
  void FillSpans(Tile& tile, const TileScope* parent, TileScope* scope) const;
  void FillLanes(Tile& tile, TileScope* parent, TileScope* scope) const;

  const int number_, parent_;
  const std::vector<Part> parts_;
  const LaneSlot to_;
  bool is_of_spans_ = true;  // each part steps along a row
};

// Chooses the first of several values whose scope holds, else the last one.
class ChooseStep final : public ValueStep {
 public:
  // `cases`: of Tile::scopes, one for each of `from` but the last.
  ChooseStep(int scope, std::vector<int> cases, std::vector<int> from,
             LaneSlot to, LaneMoves moves)
      : ValueStep(scope, to),
        cases_(std::move(cases)),
        from_(std::move(from)),
        moves_(moves) {}

 private:
  void Run(Tile& tile) const override;

  const std::vector<int> cases_, from_;
  const LaneMoves moves_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_TILE_STEP_H_