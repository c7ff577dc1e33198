#include "kernels/gpu/emit/points/turn.h"

#include <map>

#include "absl/strings/str_cat.h"

namespace hawser::gpu {
namespace {

using plan::PointId;

// Invariant: `loaded_` and `stored_` name the vectors of the loads and results
// that move as vectors; all others move one element at a time.
class TurnWriter {
 public:
  TurnWriter(const Turn& turn, PointWriter* writer)
      : turn_(turn),
        writer_(*writer),
        memory_(writer->memory()),
        body_(writer->kernel().body()),
        roots_(turn.also_needed) {
    for (const int r : turn.results) {
      if (memory_.IsEmpty(r)) continue;
      results_.push_back(r);
      roots_.push_back(memory_.StoreOf(r).point);
    }
  }

  void Write() {
    LoadVectors();
    DeclareVectors();
    if (turn_.width > 1) OpenLane();
    WriteLane();
    if (turn_.width > 1) CloseLane();
    StoreVectors();
  }

 private:
  bool IsVector(const plan::MemoryAccess& access) const {
    return turn_.width > 1 && access.vector_width > 1;
  }
  std::string VectorType(PointId id) const {
    return absl::StrCat("Vector<", TypeName(writer_.source().shape(id).dtype()),
                        ", ", turn_.width, ">");
  }
  std::string OffsetText(PointId id) {
    return writer_.Text(writer_.maps().OffsetOf(id));
  }

  void LoadVectors() {
    for (const PointId id : writer_.Missing(roots_)) {
      const plan::MemoryAccess* load = memory_.FindLoad(id);
      if (load == nullptr || !IsVector(*load)) continue;
      loaded_[id] = writer_.kernel().Unique("x");
      const std::string offset = OffsetText(id);
      body_.Line("const ", VectorType(id), " ", loaded_[id], " = LoadVector<",
                 turn_.width, ">(", memory_.LoadParameter(*load), " + (",
                 offset, "));");
    }
  }

  void DeclareVectors() {
    for (const int r : results_) {
      if (!IsVector(memory_.StoreOf(r))) continue;
      stored_[r] = writer_.kernel().Unique("y");
      body_.Line(VectorType(memory_.StoreOf(r).point), " ", stored_[r], ";");
    }
  }

  void OpenLane() {
    const IndexNames& names = writer_.names();
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 j = 0; j < ", turn_.width, "u; ++j)");
    writer_.NameLoop(turn_.inner, writer_.kernel().Unique("d"));
    body_.Line("const ", names.type(), " ", names.loops[turn_.inner], " = ",
               turn_.base, " + j;");
  }

  void CloseLane() {
    body_.Close();
    writer_.NameLoop(turn_.inner, turn_.base);
  }

  void WriteLane() {
    writer_.Enter();
    for (const auto& [id, name] : loaded_) {
      writer_.Define(id, {name + ".v[j]", writer_.source().shape(id).dtype()});
    }
    if (turn_.before_points) turn_.before_points();
    writer_.Write(roots_);
    for (const int r : results_) StoreElement(r);
    if (turn_.in_lane) turn_.in_lane();
    writer_.Leave();
  }

  void StoreElement(int result) {
    const plan::MemoryAccess& store = memory_.StoreOf(result);
    const auto vector = stored_.find(result);
    if (vector != stored_.end()) {
      body_.Line(vector->second,
                 ".v[j] = ", writer_.Value(store.point).Stored(), ";");
      return;
    }
    const std::string offset = OffsetText(store.point);
    body_.Line("Store(", memory_.StoreParameter(store), " + (", offset, "), ",
               writer_.Value(store.point).Stored(), ");");
  }

  void StoreVectors() {
    for (const auto& [r, name] : stored_) {
      const plan::MemoryAccess& store = memory_.StoreOf(r);
      const std::string offset = OffsetText(store.point);
      body_.Line("StoreVector<", turn_.width, ">(",
                 memory_.StoreParameter(store), " + (", offset, "), ", name,
                 ");");
    }
  }

  const Turn& turn_;
  PointWriter& writer_;
  const RegionMemory& memory_;
  TextWriter& body_;
  std::vector<int> results_;    // with elements
  std::vector<PointId> roots_;  // what the turn needs
  std::map<PointId, std::string> loaded_;
  std::map<int, std::string> stored_;
};

}  // namespace

void WriteTurn(const Turn& turn, PointWriter* writer) {
  TurnWriter(turn, writer).Write();
}

}  // namespace hawser::gpu
