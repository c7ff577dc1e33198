#include "kernels/cpu/tile_steps/chain_step.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "hwy/cache_control.h"
#include "kernels/cpu/chains/chain_writer.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kLine = 64;  // bytes

bool Differs(const LaneSlot& slot, LaneShape shape) {
  return shape == LaneShape::kFull &&
         (slot.shape == LaneShape::kRows || slot.shape == LaneShape::kColumns);
}

// Bytes from a row's lanes to the next one's; none of what is in no slot.
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

}  // namespace

ChainStep::ChainStep(int scope, const Chains& chains,
                     const std::vector<Link>& links, LaneShape shape,
                     std::vector<LaneIndex> counts)
    : TileStep(scope),
      chains_(chains),
      shape_(shape),
      counts_(std::move(counts)),
      by_rows_(!counts_.empty()) {
  links_.reserve(links.size() + 1);
  places_.reserve(links.size());
  for (const Link& link : links) {
    const bool of_given =
        !Gives(link.op) && absl::c_any_of(given_, [&](const GivenSlot& given) {
          return given.slot().slot == link.slot.slot;
        });
    AddPlace(link);
    links_.push_back({.code = chains.find(link.op, link.other),
                      .of_strip = link.kept >= 0,
                      .of_given = of_given});
    by_rows_ = by_rows_ || (link.slot.slot >= 0 && Differs(link.slot, shape));
  }
  links_.push_back({.code = chains.find(ChainOp::kEnd, ChainOther::kNone)});
}

void ChainStep::AddPlace(const Link& link) {
  Place place = {Place::kRead, static_cast<int>(links_.size()), -1, link.slot};
  if (link.kept >= 0) {
    place.kind = Place::kKept;
    place.number = link.kept;
  } else if (link.count >= 0) {
    place.kind = Place::kCount;
    place.number = link.count;
  } else if (link.slot.slot < 0) {
    return;
  } else if (link.op == ChainOp::kAhead) {
    place.kind = Place::kAhead;
  } else if (Gives(link.op)) {
    place.kind = link.is_last && link.op == ChainOp::kGive ? Place::kGivenLast
                                                           : Place::kGiven;
    place.number = static_cast<int>(given_.size());
    given_.emplace_back(link.slot);
  }
  places_.push_back(place);
}

void ChainStep::Skip(Tile& tile) const {
  for (const GivenSlot& given : given_) given.Skip(tile);
}

bool ChainStep::PlaceLinks(Tile& tile, char* kept, int64_t* firsts) const {
  tile.links.assign(links_.begin(), links_.end());
  bool any_past = false;
  for (const Place& place : places_) {
    ChainLink& link = tile.links[place.link];
    switch (place.kind) {
      case Place::kRead:
        link.at = const_cast<char*>(tile.values[place.slot.slot]);  // only read
        break;
      case Place::kAhead:
        // Where the next tile's lie, if this one's are read where they are.
        link.at = const_cast<char*>(tile.values[place.slot.slot]) +
                  tile.lanes(place.slot.shape) * place.slot.width;
        break;
      case Place::kGiven:
        link.at = given_[place.number].Target(tile);
        break;
      case Place::kGivenLast: {
        const GivenSlot& given = given_[place.number];
        link.at = given.Target(tile);
        if (given.IsStreamed() && link.at != tile.memory[place.slot.slot]) {
          link.goes_past = any_past = true;
        }
        break;
      }
      case Place::kKept:
        link.at = kept + place.number * kStripBytes;
        break;
      case Place::kCount:
        link.at = reinterpret_cast<char*>(firsts + place.number);
        break;
    }
  }
  return any_past;
}

void ChainStep::Run(Tile& tile) const {
  alignas(kLine) char kept[ChainWriter::kPlaces * kStripBytes];
  Firsts firsts(counts_.size());
  const bool any_past = PlaceLinks(tile, kept, firsts.data());
  if (by_rows_) {
    RunRows(tile, firsts.data());
  } else {
    RunChain(chains_, tile.links, tile.lanes(shape_));
  }
  if (any_past) hwy::FlushStream();
}

void ChainStep::RunRows(Tile& tile, int64_t* firsts) const {
  for (int64_t j = 0; j < tile.ny; ++j) {
    for (size_t c = 0; c < counts_.size(); ++c) {
      firsts[c] = counts_[c].At(tile, j, 0);
    }
    RunChain(chains_, tile.links, tile.nx);
    for (const Place& place : places_) {
      tile.links[place.link].at += BytesOfARow(place.slot, tile);
    }
  }
}

}  // namespace hawser::cpu
