#include "client/sharded/values/mover.h"

#include <algorithm>
#include <optional>

#include "core/base/status.h"
#include "core/base/threads/all_of.h"
#include "core/ir/text/printer.h"
#include "core/runtime/datasets.h"
#include "core/sharding/moves.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// A value of at most so many bytes rides along with an execution, as often as
// it is taken; a larger one is sent once.
constexpr int64_t kMostInline = int64_t{64} << 10;

// The rows of a dataset's part, of `shape`, that hold a box of it.
DatasetPart RowsOf(DatasetPart part, const Shape& shape, const Box& box) {
  if (box.empty() || box[0] == Interval{0, shape.dim(0)}) return part;
  const int64_t first = part.rows.has_value() ? part.rows->begin : 0;
  part.rows = RowRange{first + box[0].begin, box[0].size()};
  return part;
}
Box RowBox(const Shape& shape, const Box& box) {
  Box rows = WholeBox(shape);
  if (!rows.empty()) rows[0] = box[0];
  return rows;
}

absl::StatusOr<Argument> SlicedHere(const Literal& value, const Box& of,
                                    const Box& box) {
  HAWSER_ASSIGN_OR_RETURN(Literal part, SliceBox(value, of, box));
  return Argument(std::move(part));
}

}  // namespace

MovedBytes Mover::moved() const {
  MutexLock lock(&mu_);
  return moved_;
}

Future<Argument> Mover::Bring(const ShardedValuePtr& value, const Box& box,
                              int place, Afterwards& later) {
  const ShardedValue::Copy* there = copies_.FindCopy(*value, box, place);
  if (there != nullptr && there->box == box) return there->what;
  auto promise = std::make_shared<Promise<Argument>>();
  const Future<Argument> what = promise->future();
  bool stays = value->uses > 0 && value->host() == nullptr;
  bool came_along = false;
  if (place == kHere) {
    BringHere(value, box, promise, later);
  } else {
    stays = value->needed();
    came_along = !BringThere(value, box, place, promise, later);
  }
  if (!stays) return what;
  Copies::Drop(
      *value,
      [&](const auto& copy) {
        return !copies_.Live(copy) && (!copy.came_along || copy.place == place);
      },
      later);
  const uint64_t life = place == kHere ? 0 : places_[place]->life();
  value->copies.push_back({.box = box,
                           .place = place,
                           .life = life,
                           .what = came_along ? Future<Argument>() : what,
                           .came_along = came_along});
  return what;
}

// ---- to this process --------------------------------------------------------

void Mover::BringHere(const ShardedValuePtr& value, const Box& box,
                      const ArgumentPromise& promise, Afterwards& later) {
  if (const Literal* host = value->host()) {
    later.moves.push_back([host = *host, box, promise] {
      promise->Set(SlicedHere(host, WholeBox(host.shape()), box));
    });
    return;
  }
  const ShardedValue::Copy* copy = copies_.FindCopy(*value, box);
  const auto* part = std::get_if<DatasetPart>(&value->source);
  if (copy == nullptr && part != nullptr) {
    const int place = PlaceOfDataset(*value);
    if (place == kHere) {
      later.moves.push_back([promise, token = part->token] {
        promise->Set(NotFound("no place has the dataset ", token));
      });
      return;
    }
    Bring(value, box, place, later);
    copy = copies_.FindCopy(*value, box, place);
    HAWSER_CHECK(copy != nullptr);  // the value is in use
  }
  if (copy != nullptr) {
    std::erase_if(*copy->fetches,
                  [](const auto& fetch) { return fetch.expired(); });
    copy->fetches->push_back(promise);
    later.moves.push_back(
        [this, copy = *copy, box, promise] { FetchCopy(copy, box, promise); });
    return;
  }
  JoinHere(value, box, promise, later);
}

void Mover::JoinHere(const ShardedValuePtr& value, const Box& box,
                     const ArgumentPromise& promise, Afterwards& later) {
  std::vector<Box> boxes;
  std::vector<Future<Argument>> pieces;
  for (const int i : CoverOf(value->given, box)) {
    boxes.push_back(value->given[i].box);
    const bool is_there = copies_.FindCopy(*value, boxes.back()) != nullptr;
    if (!is_there) {  // it failed meanwhile
      later.moves.push_back([promise] { promise->Set(CopyLost()); });
      return;
    }
    pieces.push_back(Bring(value, boxes.back(), kHere, later));
  }
  later.moves.push_back([pieces = std::move(pieces), boxes = std::move(boxes),
                         shape = ShapeOf(value->shape, box), box, promise] {
    AllOf(pieces).OnReady(
        [boxes, shape, box, promise](const absl::StatusOr<Arguments>& all) {
          if (!all.ok()) {
            promise->Set(all.status());
            return;
          }
          absl::StatusOr<Literal> whole = Literal::Allocate(shape);
          for (size_t i = 0; whole.ok() && i < boxes.size(); ++i) {
            CopyBox(std::get<Literal>((*all)[i]), boxes[i], box, &*whole);
          }
          if (whole.ok()) {
            promise->Set(Argument(*std::move(whole)));
          } else {
            promise->Set(whole.status());
          }
        });
  });
}

void Mover::FetchCopy(const ShardedValue::Copy& copy, const Box& box,
                      const ArgumentPromise& promise) {
  copy.what.OnReady([this, owner = hooks_.owner(), copy, box,
                     promise](const absl::StatusOr<Argument>& what) {
    if (!what.ok()) {
      promise->Set(what.status());
      return;
    }
    if (const auto* here = std::get_if<Literal>(&*what)) {
      promise->Set(SlicedHere(*here, copy.box, box));
      return;
    }
    FetchBuffer(copy, std::get<BufferPtr>(*what), box, /*is_made=*/false,
                promise);
  });
}

void Mover::FetchBuffer(const ShardedValue::Copy& copy, const BufferPtr& buffer,
                        const Box& box, bool is_made,
                        const ArgumentPromise& promise) {
  buffer->Fetch({}).OnReady([this, owner = hooks_.owner(), copy, buffer, box,
                             is_made,
                             promise](const absl::StatusOr<Literal>& fetched) {
    const auto value = Given(copy.place, fetched, buffer->shape());
    if (absl::IsNotFound(value.status()) && !is_made) {
      return FetchMade(copy, buffer, box, promise);
    }
    if (!value.ok()) {
      return Finish(promise, copy.place, copy.life, value.status());
    }
    {
      MutexLock lock(&mu_);
      moved_.fetched += value->shape().byte_size();
    }
    promise->Set(SlicedHere(*value, is_made ? box : copy.box, box));
  });
}

void Mover::FetchMade(const ShardedValue::Copy& copy, const BufferPtr& buffer,
                      const Box& box, const ArgumentPromise& promise) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return;  // which abandons the promise
  ShardPlace* const at = places_[copy.place].get();
  at->Soon([this, owner = hooks_.owner(), at, copy, buffer, box, promise] {
    const absl::StatusOr<Argument> made = MakeBox(
        *at, buffer->shape().dtype(), {copy.box}, box, {Argument(buffer)});
    if (!made.ok()) return Finish(promise, copy.place, copy.life, made);
    FetchBuffer(copy, std::get<BufferPtr>(*made), box, /*is_made=*/true,
                promise);
  });
}

int Mover::PlaceOfDataset(const ShardedValue& value) const {
  for (size_t p = 0; p < places_.size(); ++p) {
    const int place = static_cast<int>(p);
    if (places_[p]->open() && !value.lacking.contains(place)) return place;
  }
  return kHere;
}

absl::StatusOr<Literal> Mover::Given(int place, absl::StatusOr<Literal> value,
                                     const Shape& wanted) const {
  HAWSER_RETURN_IF_ERROR(value.status());
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return Cancelled("the client is gone");
  HAWSER_RETURN_IF_ERROR(CheckGiven(*places_[place], value->shape(), wanted));
  return value;
}

// ---- to a place -------------------------------------------------------------

void Mover::Finish(const ArgumentPromise& promise, int place, uint64_t life,
                   absl::StatusOr<Argument> result) {
  if (absl::IsUnavailable(result.status()) && place != kHere) {
    hooks_.lost(place, life, result.status());
  }
  promise->Set(std::move(result));
}

void Mover::OnPlace(
    int place, Future<Arguments> takes, const ArgumentPromise& promise,
    Afterwards& later,
    std::function<absl::StatusOr<Argument>(ShardPlace&, Arguments)> work) {
  const uint64_t life = places_[place]->life();
  later.moves.push_back([this, place, life, promise, takes = std::move(takes),
                         work = std::move(work)] {
    takes.OnReady([this, owner = hooks_.owner(), place, life, promise,
                   work](const absl::StatusOr<Arguments>& all) {
      if (!all.ok()) {
        promise->Set(all.status());
        return;
      }
      const Gate::Pass pass = gate_->Enter();
      if (!pass) return;  // which abandons the promise
      ShardPlace* const at = places_[place].get();
      at->Soon([this, owner, at, place, life, promise, work, all = *all] {
        Finish(promise, place, life, work(*at, all));
      });
    });
  });
}

bool Mover::BringThere(const ShardedValuePtr& value, const Box& box, int place,
                       const ArgumentPromise& promise, Afterwards& later) {
  const DType dtype = value->shape.dtype();
  if (const ShardedValue::Copy* copy = copies_.FindCopy(*value, box, place)) {
    OnPlace(place, AllOf<Argument>({copy->what}), promise, later,
            [this, dtype, of = copy->box, box](ShardPlace& at, Arguments all) {
              return MakeBox(at, dtype, {of}, box, all);
            });
    return true;
  }
  if (std::holds_alternative<DatasetPart>(value->source) &&
      !value->lacking.contains(place)) {
    OpenDataset(value, box, place, promise, later);
    return true;
  }
  if (value->host() == nullptr && copies_.FindCopy(*value, box) == nullptr) {
    const std::vector<int> cover = CoverOf(value->given, box);
    if (std::any_of(cover.begin(), cover.end(), [&](int i) {
          return copies_.FindCopy(*value, value->given[i].box, place) !=
                 nullptr;
        })) {
      Join(value, box, place, cover, promise, later);
      return true;
    }
  }
  bool stays = ShapeOf(value->shape, box).byte_size() > kMostInline;
  for (const ShardedValue::Copy& copy : value->copies) {
    stays =
        stays || (copy.came_along && copy.place == place && copy.box == box);
  }
  const Future<Argument> here = Bring(value, box, kHere, later);
  if (!stays) {  // nothing is to be done there
    later.moves.push_back([this, here, promise] {
      here.OnReady([this, owner = hooks_.owner(),
                    promise](const absl::StatusOr<Argument>& what) {
        if (what.ok()) CountSent(std::get<Literal>(*what));
        promise->Set(what);
      });
    });
    return false;
  }
  OnPlace(place, AllOf<Argument>({here}), promise, later,
          [this](ShardPlace& at, Arguments all) {
            return Send(at, std::get<Literal>(all[0]));
          });
  return true;
}

void Mover::CountSent(const Literal& value) {
  MutexLock lock(&mu_);
  moved_.sent += value.shape().byte_size();
}

absl::StatusOr<Argument> Mover::Send(ShardPlace& place, const Literal& value) {
  CountSent(value);
  HAWSER_ASSIGN_OR_RETURN(BufferPtr there, place.client().Upload(value, {}));
  HAWSER_RETURN_IF_ERROR(CheckGiven(place, there->shape(), value.shape()));
  return Argument(std::move(there));
}

void Mover::Join(const ShardedValuePtr& value, const Box& box, int place,
                 const std::vector<int>& cover, const ArgumentPromise& promise,
                 Afterwards& later) {
  std::vector<Box> boxes;
  std::vector<Future<Argument>> pieces;
  for (const int i : cover) {
    boxes.push_back(value->given[i].box);
    pieces.push_back(Bring(value, boxes.back(), place, later));
  }
  OnPlace(place, AllOf(std::move(pieces)), promise, later,
          [this, dtype = value->shape.dtype(), boxes = std::move(boxes), box](
              ShardPlace& at, Arguments all) {
            return MakeBox(at, dtype, boxes, box, all);
          });
}

void Mover::OpenDataset(const ShardedValuePtr& value, const Box& box, int place,
                        const ArgumentPromise& promise, Afterwards& later) {
  const DatasetPart part =
      RowsOf(std::get<DatasetPart>(value->source), value->shape, box);
  const Box rows = RowBox(value->shape, box);
  const uint64_t life = places_[place]->life();
  later.moves.push_back([this, value, box, rows, place, life, promise, part] {
    const Gate::Pass pass = gate_->Enter();
    if (!pass) return;  // which abandons the promise
    ShardPlace* const at = places_[place].get();
    at->Soon([this, owner = hooks_.owner(), at, value, box, rows, place, life,
              promise, part] {
      const auto open = at->client().datasets().Open(part, {});
      if (absl::IsNotFound(open.status())) {
        // Another place may have it.
        hooks_.locked([&](Afterwards& then) {
          value->lacking.insert(place);
          const auto opened_now = [&](const ShardedValue::Copy& copy) {
            return copy.place == place && copy.box == box;
          };
          Copies::Drop(*value, opened_now, then);
        });
        promise->Set(CopyLost());
        return;
      }
      const absl::Status right =
          open.ok()
              ? CheckGiven(*at, (*open)->shape(), ShapeOf(value->shape, rows))
              : open.status();
      if (!right.ok() || rows == box) {
        Finish(promise, place, life,
               right.ok() ? absl::StatusOr<Argument>(*open) : right);
        return;
      }
      Finish(
          promise, place, life,
          MakeBox(*at, value->shape.dtype(), {rows}, box, {Argument(*open)}));
    });
  });
}

absl::StatusOr<Argument> Mover::MakeBox(ShardPlace& place, DType dtype,
                                        const std::vector<Box>& pieces,
                                        const Box& box,
                                        const Arguments& arguments) {
  HAWSER_ASSIGN_OR_RETURN(Module module, JoinModule(dtype, pieces, box));
  std::shared_ptr<const Module> known;
  {
    MutexLock lock(&mu_);
    auto& at = modules_[Print(module)];
    if (at == nullptr) at = std::make_shared<const Module>(std::move(module));
    known = at;
  }
  HAWSER_ASSIGN_OR_RETURN(auto results,
                          program_.Run(place, known, arguments, {}));
  return Argument(std::move(results[0]));
}

}  // namespace hawser
