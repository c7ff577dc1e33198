#include "kernels/cpu/tile_steps/chain_step.h"

#include <utility>

#include "hwy/cache_control.h"

namespace hawser::cpu {
namespace {

bool Differs(const LaneSlot& slot, LaneShape shape) {
  return shape == LaneShape::kFull && (slot.shape == LaneShape::kRows ||
                                       slot.shape == LaneShape::kColumns);
}

// Bytes from a row's lanes to the next one's.
int64_t BytesOfARow(const LaneSlot& slot, const Tile& tile) {
  switch (slot.shape) {
    case LaneShape::kRows:
      return slot.width;
    case LaneShape::kFull:
      return slot.width * tile.nx;
    case LaneShape::kOne:
    case LaneShape::kColumns:
      break;
  }
  return 0;
}

bool Gives(ChainOp op) {
  return op == ChainOp::kGive || op == ChainOp::kGiveBools;
}

}  // namespace

ChainStep::ChainStep(int scope, ChainFn fn, std::vector<Link> links,
                     LaneSlot to, std::optional<LaneIndex> count)
    : ValueStep(scope, to),
      fn_(fn),
      links_(std::move(links)),
      count_(std::move(count)),
      by_rows_(count_.has_value()) {
  for (const Link& link : links_) {
    by_rows_ = by_rows_ || (link.slot.slot >= 0 && Differs(link.slot, to.shape));
  }
}

void ChainStep::Skip(Tile& tile) const {
  ValueStep::Skip(tile);
  for (const Link& link : links_) {
    if (Gives(link.op)) {
      tile.values[link.slot.slot] = tile.memory[link.slot.slot];
    }
  }
}

ChainStep::Links ChainStep::LinksOf(Tile& tile, int64_t* first) const {
  // Element by element, as one store that a later load spans waits for all.
  Links links(links_.size() + 1);
  for (size_t k = 0; k < links_.size(); ++k) {
    const Link& link = links_[k];
    links[k].op = link.op;
    links[k].other = link.other;
    if (link.op == ChainOp::kCount) {
      links[k].at = reinterpret_cast<char*>(first);
    } else if (link.op == ChainOp::kAhead) {
      // Where the next tile's lie, if this one's are read where they are.
      links[k].at = const_cast<char*>(tile.values[link.slot.slot]) +
                    tile.lanes(link.slot.shape) * link.slot.width;
    } else if (Gives(link.op) && link.slot.slot != to_.slot) {
      links[k].at = tile.memory[link.slot.slot];
      tile.values[link.slot.slot] = links[k].at;
    } else if (!Gives(link.op) && link.slot.slot >= 0) {
      links[k].at =
          const_cast<char*>(tile.values[link.slot.slot]);  // only read
    }
  }
  // Behind all that is read: its slot may be one of those.
  ChainLink& last = links[links_.size() - 1];
  last.at = Target(tile);
  if (last.op == ChainOp::kGive && IsStreamed() &&
      last.at != tile.memory[to_.slot]) {
    last.op = ChainOp::kGivePast;
  }
  return links;
}

void ChainStep::Run(Tile& tile) const {
  int64_t first = 0;
  Links links = LinksOf(tile, &first);
  const bool goes_past = links[links_.size() - 1].op == ChainOp::kGivePast;
  if (by_rows_) {
    RunRows(tile, &first, links);
  } else {
    fn_(links.data(), tile.lanes(to_.shape));
  }
  if (goes_past) hwy::FlushStream();
}

void ChainStep::RunRows(const Tile& tile, int64_t* first, Links& links) const {
  for (int64_t j = 0; j < tile.ny; ++j) {
    if (count_.has_value()) *first = count_->At(tile, j, 0);
    fn_(links.data(), tile.nx);
    for (size_t k = 0; k < links_.size(); ++k) {
      if (links_[k].slot.slot >= 0) {
        links[k].at += BytesOfARow(links_[k].slot, tile);
      }
    }
  }
}

}  // namespace hawser::cpu
