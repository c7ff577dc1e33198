#include "kernels/cpu/points/rotates.h"

#include <cstdint>
#include <optional>

#include "core/ir/leaves.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::cpu {
namespace {

using plan::Point;
using plan::PointId;

class RotateFinder {
 public:
  RotateFinder(const Module& module, const plan::Region& region,
               const std::vector<int>& uses)
      : region_(region), body_(module.computation(region.body)), uses_(uses) {}

  std::optional<Rotate> Find(PointId id) const {
    if (OpOf(id) != &kOr) return std::nullopt;
    const Point& p = region_.points[id];
    const auto a = p.operands[0], b = p.operands[1];
    const auto rotate = OfShifts(id, a, b);
    return rotate.has_value() ? rotate : OfShifts(id, b, a);
  }

 private:
  // Null: the point is no op.
  const OpDef* OpOf(PointId id) const {
    const Point& p = region_.points[id];
    return p.kind == Point::kOp ? body_.instructions()[p.instruction].op
                                : nullptr;
  }

  std::optional<Rotate> OfShifts(PointId id, PointId left,
                                 PointId right) const {
    if (OpOf(left) != &kShiftLeft || OpOf(right) != &kShiftRightLogical) {
      return std::nullopt;
    }
    const Point &l = region_.points[left], &r = region_.points[right];
    const int scope = region_.points[id].scope;
    if (l.operands[0] != r.operands[0] || uses_[left] != 1 ||
        uses_[right] != 1 || l.scope != scope || r.scope != scope) {
      return std::nullopt;
    }
    const uint64_t bits = 8 * ByteWidth(DTypeOf(id));
    const auto by = ConstantOf(l.operands[1]), back = ConstantOf(r.operands[1]);
    if (bits < 32 || !by.has_value() || !back.has_value() || *by == 0 ||
        *by >= bits || *by + *back != bits) {
      return std::nullopt;
    }
    return Rotate{{l.operands[0], l.operands[1]}};
  }

  // The whole number that all elements are, without its sign.
  std::optional<uint64_t> ConstantOf(PointId id) const {
    while (region_.points[id].kind == Point::kMove) {
      id = region_.points[id].operands[0];
    }
    if (OpOf(id) != &kConstant) return std::nullopt;
    const Literal& value = body_.instructions()[region_.points[id].instruction]
                               .attributes.GetLiteral("value");
    if (value.shape().num_elements() != 1) return std::nullopt;
    return VisitDType(value.shape().dtype(),
                      [&](auto tag) -> std::optional<uint64_t> {
                        using T = typename decltype(tag)::type;
                        if constexpr (kIsInteger<T>) {
                          return static_cast<uint64_t>(value.data<T>()[0]);
                        } else {
                          return std::nullopt;
                        }
                      });
  }

  DType DTypeOf(PointId id) const {
    return body_.shape(region_.points[id].value).dtype();
  }

  const plan::Region& region_;
  const Computation& body_;
  const std::vector<int>& uses_;
};

}  // namespace

absl::flat_hash_map<PointId, Rotate> FindRotates(const Module& module,
                                                 const plan::Region& region,
                                                 const std::vector<int>& uses) {
  absl::flat_hash_map<PointId, Rotate> rotates;
  const RotateFinder finder(module, region, uses);
  for (size_t n = 0; n < region.points.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    if (const auto rotate = finder.Find(id)) rotates.emplace(id, *rotate);
  }
  return rotates;
}

}  // namespace hawser::cpu
