// Formulas over windows that slide along axes: what they come to, and what
// comes back from them to the elements they hold.
#ifndef HAWSER_CORE_OPS_WINDOWS_WINDOWS_H_
#define HAWSER_CORE_OPS_WINDOWS_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/attributes.h"
#include "core/ops/expression.h"

namespace hawser {

// Windows along one axis: places lie `dilation` elements apart, windows
// `stride`.
struct SlidingWindow {
  int64_t axis = 0;
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;

  // Returns how many fit into `elements`.
  int64_t CountOn(int64_t elements) const;
};

// Reads the attributes of an unfold.
std::vector<SlidingWindow> SlidingWindowsOf(const Attributes& attributes);
Expression Unfolded(const Expression& x,
                    absl::Span<const SlidingWindow> windows);

// What comes back from windows: the transpose of Unfolded. `g` has the shape of
// an Unfolded tensor of sizes `dims`. The result has axes `dims`, then one of
// each window's size: along these it lists for each element what `g` holds at
// the windows and places where that element is, and `nothing`, a scalar, where
// there is no such window. Earlier windows stand first.
Expression ByElement(const Expression& g, const Expression& nothing,
                     const Dims& dims, absl::Span<const SlidingWindow> windows);
// The last axes of x, one of each of `windows`, in front: a reduction along
// them then runs over all others side by side.
Expression PlacesInFront(const Expression& x, int windows);
// Reduces N tensors along their last axes, one of each of `windows`, from the N
// scalars `initial`, by computation `called`.
std::vector<Expression> ReducedPlaces(std::vector<Expression> xs,
                                      absl::Span<const Expression> initial,
                                      int windows, int called);
// The sum of what ByElement lists: the cotangent of x, if `g` is that of
// Unfolded(x, windows).
Expression SummedWindows(const Expression& g, const Dims& dims,
                         absl::Span<const SlidingWindow> windows);

// What Unfolded(x, windows) has at one place of each window: a slice of x.
Expression AtPlace(const Expression& x, absl::Span<const SlidingWindow> windows,
                   absl::Span<const int64_t> place);

// ---- whole tensors ---------------------------------------------------------

// The scalar at every place of a tensor of these sizes.
Expression OfAllSizes(const Expression& scalar, const Dims& dims);

// Windows over all axes of a tensor as StableHLO's reduce_window has them: the
// tensor is spread apart by `base_dilations`, padded (a negative padding cuts),
// then windows slide over it. Each list has one entry an axis.
struct WindowSpec {
  Dims sizes;
  Dims strides;
  Dims base_dilations;
  Dims dilations;
  Dims low;
  Dims high;

  // Windows that stand beside each other on every axis, unpadded.
  static WindowSpec Of(absl::Span<const int64_t> sizes);
  // How many windows there are along each axis of a tensor of these sizes.
  Dims CountsOn(const Dims& dims) const;
  // Along each axis that they slide or reach along.
  std::vector<SlidingWindow> Sliding() const;
};

// x between the spec's padding, which is `value`, a scalar.
Expression PaddedFor(const WindowSpec& spec, const Expression& x,
                     const Expression& value);

// Each result is what N tensors of the same sizes come to in a window, by
// computation `called`, which takes N running values and N elements. It begins
// with the N scalars `initial`, and a place of the padding counts as those; a
// monoid may begin with any number, other computations are taken to find theirs
// neutral, as StableHLO asks.
std::vector<Expression> ReducedWindows(absl::Span<const Expression> xs,
                                       absl::Span<const Expression> initial,
                                       const WindowSpec& spec, int called);

// The largest or smallest of x's reals in each window; NaN wins, and padding
// never does: it is the lowest or highest there is. Its gradient goes to the
// last of the elements that tie, as Nx has it. `spec` has no base dilations.
absl::StatusOr<Expression> WindowExtreme(const Expression& x,
                                         const WindowSpec& spec, bool largest);

// What WindowExtreme's gradient does: adds what `source` holds for each window
// into the last of its largest, or smallest, elements, from `initial` on.
absl::StatusOr<Expression> WindowScatter(const Expression& x,
                                         const Expression& source,
                                         const Expression& initial,
                                         const WindowSpec& spec, bool largest);

// Adds into each element that a window chooses what `source` holds for that
// window: StableHLO's select_and_scatter. `select` is a computation that says
// if the first of two elements is kept, `scatter` one that combines two values,
// of which one may be `initial`. Padding is never chosen. `spec` is not
// dilated.
absl::StatusOr<Expression> SelectAndScatter(const Expression& x,
                                            const Expression& source,
                                            const Expression& initial,
                                            const WindowSpec& spec, int select,
                                            int scatter);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_WINDOWS_WINDOWS_H_
