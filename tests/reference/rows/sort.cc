// Elements in an order that a computation decides.
#include "core/ops/movement/sort.h"

#include <utility>

#include "core/base/status.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

// One run of the axis: places in the operands, which are sorted.
class Run {
 public:
  Run(const Context& c, std::vector<int64_t> places)
      : c_(c), places_(std::move(places)) {}

  // Each goes before those in front of it that it is less than, so that equals
  // keep their order.
  absl::Status Sort() {
    for (size_t i = 1; i < places_.size(); ++i) {
      for (size_t k = i; k > 0; --k) {
        HAWSER_ASSIGN_OR_RETURN(const bool less,
                                Less(places_[k], places_[k - 1]));
        if (!less) break;
        std::swap(places_[k], places_[k - 1]);
      }
    }
    return absl::OkStatus();
  }
  const std::vector<int64_t>& places() const { return places_; }

 private:
  absl::StatusOr<bool> Less(int64_t left, int64_t right) const {
    HAWSER_RETURN_IF_ERROR(c_.cancel.Check());
    Values arguments;
    for (const Literal& operand : c_.operands) {
      for (const int64_t place : {left, right}) {
        arguments.push_back(
            ScalarOf(ReadNumber(operand, place), operand.shape().dtype()));
      }
    }
    HAWSER_ASSIGN_OR_RETURN(const Values less,
                            c_.call(0, std::move(arguments)));
    return ReadNumber(less[0], 0).bits != 0;
  }

  const Context& c_;
  std::vector<int64_t> places_;
};

absl::StatusOr<Values> Sort(const Context& c) {
  const int64_t axis = c.attributes().GetInt("dimension");
  const Shape& shape = c.shape(0);
  Values out;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    HAWSER_ASSIGN_OR_RETURN(
        out.emplace_back(),
        Literal::Allocate(c.result_shape(static_cast<int>(k))));
  }
  Dims others = shape.dims();
  if (others[axis] > 0) others[axis] = 1;
  HAWSER_RETURN_IF_ERROR(
      ForEachIndex(others, c.cancel, [&](Index at) -> absl::Status {
        std::vector<int64_t> places;
        Dims index(at.begin(), at.end());
        for (index[axis] = 0; index[axis] < shape.dim(axis); ++index[axis]) {
          places.push_back(PlaceOf(shape, index));
        }
        Run run(c, places);
        HAWSER_RETURN_IF_ERROR(run.Sort());
        for (size_t k = 0; k < c.operands.size(); ++k) {
          for (size_t i = 0; i < places.size(); ++i) {
            WriteNumber(ReadNumber(c.operands[k], run.places()[i]), places[i],
                        &out[k]);
          }
        }
        return absl::OkStatus();
      }));
  return out;
}

constexpr Row kSortRows[] = {{&kSort, Sort}};

}  // namespace

absl::Span<const Row> SortRows() { return kSortRows; }

}  // namespace hawser::reference
