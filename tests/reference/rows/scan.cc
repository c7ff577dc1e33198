// Scans: each element becomes what it and those before it come to.
#include "core/ops/contraction/scan.h"

#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

// The steps of a scan: the same for each index of the other axes.
struct Track {
  explicit Track(const Context& c)
      : axis(c.attributes().GetInt("dimension")),
        reverse(c.attributes().GetBool("reverse")),
        size(c.shape(0).dim(axis)),
        others(c.shape(0).dims()) {
    if (size > 0) others[axis] = 1;
  }
  // Returns where step `step` is, for the index `at` of the other axes.
  int64_t Place(const Context& c, Index at, int64_t step) const {
    Dims index(at.begin(), at.end());
    index[axis] = reverse ? size - 1 - step : step;
    return PlaceOf(c.shape(0), index);
  }

  const int64_t axis;
  const bool reverse;
  const int64_t size;
  Dims others;
};

absl::StatusOr<Values> NewResults(const Context& c) {
  Values out;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    HAWSER_ASSIGN_OR_RETURN(out.emplace_back(),
                            Literal::Allocate(c.result_shape(k)));
  }
  return out;
}

// Sums and products of floats, each rounded once.
absl::StatusOr<Values> ScanWide(const Context& c, bool adds) {
  const Track track(c);
  const DType dtype = c.shape(0).dtype();
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  HAWSER_RETURN_IF_ERROR(
      ForEachIndex(track.others, c.cancel, [&](Index at) -> absl::Status {
        WideComplex all;
        for (int64_t step = 0; step < track.size; ++step) {
          const int64_t place = track.Place(c, at, step);
          const auto x = WideOf(ReadNumber(c.operands[0], place));
          if (step == 0) {
            all = x;
          } else if (adds) {
            all += x;
          } else {
            all = IsComplex(dtype) ? ProductOf(all, x)
                                   : WideComplex(all.real() * x.real());
          }
          WriteNumber(InDType(all, dtype), place, &out[0]);
        }
        return c.cancel.Check();
      }));
  return out;
}

// Scans by its computation, one element after another.
absl::StatusOr<Values> ScanByCalls(const Context& c) {
  const Track track(c);
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  HAWSER_RETURN_IF_ERROR(
      ForEachIndex(track.others, c.cancel, [&](Index at) -> absl::Status {
        Values running;
        for (int64_t step = 0; step < track.size; ++step) {
          const int64_t place = track.Place(c, at, step);
          for (const Literal& operand : c.operands) {
            running.push_back(
                ScalarOf(ReadNumber(operand, place), operand.shape().dtype()));
          }
          if (step > 0) {
            HAWSER_ASSIGN_OR_RETURN(running, c.call(0, std::move(running)));
          }
          for (size_t k = 0; k < out.size(); ++k) {
            WriteNumber(ReadNumber(running[k], 0), place, &out[k]);
          }
        }
        return c.cancel.Check();
      }));
  return out;
}

absl::StatusOr<Values> Scan(const Context& c) {
  const DType dtype = c.shape(0).dtype();
  const bool rounds = IsFloat(dtype) || IsComplex(dtype);
  const OpDef* monoid =
      c.operands.size() == 1
          ? MonoidOf(c.module.computation(c.instruction.called[0]))
          : nullptr;
  if (rounds && (monoid == &kAdd || monoid == &kMultiply)) {
    return ScanWide(c, monoid == &kAdd);
  }
  return ScanByCalls(c);
}

constexpr Row kScanRows[] = {{&kScan, Scan}};

}  // namespace

absl::Span<const Row> ScanRows() { return kScanRows; }

}  // namespace hawser::reference
