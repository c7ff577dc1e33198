// Writes tensors and values to a stream.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/tensor.h"
#include "core/base/mutex.h"

namespace hawser {
namespace {

// Entries of an axis that are shown: all, or some from both ends.
constexpr int64_t kLongestRow = 16, kLongestColumn = 24, kFromEachEnd = 3;
// More elements than this are not laid out.
constexpr int64_t kMostElements = 4096;

class PrintedText {
 public:
  explicit PrintedText(const Literal& value)
      : value_(value), strides_(value.shape().Strides()) {}

  // Returns how many elements are shown.
  int64_t Count() const {
    int64_t count = 1;
    for (int axis = 0; axis < rank() && count <= kMostElements; ++axis) {
      count *= IsLong(axis) ? 2 * kFromEachEnd : value_.shape().dim(axis);
    }
    return count;
  }

  std::string ToString() {
    Walk(0, 0);  // for the width
    text_.clear();
    writing_ = true;
    Walk(0, 0);
    return std::move(text_);
  }

 private:
  int rank() const { return value_.shape().rank(); }
  bool IsLong(int axis) const {
    return value_.shape().dim(axis) >
           (axis + 1 == rank() ? kLongestRow : kLongestColumn);
  }

  void Element(int64_t index) {
    const std::string element = ElementToString(value_, index);
    width_ = std::max(width_, element.size());
    if (writing_) {
      text_.append(rank() > 1 ? width_ - element.size() : 0, ' ');
      text_.append(element);
    }
  }

  // Between entries of an axis: a comma, and lines for the outer axes.
  void Separate(int axis) {
    const int inner = rank() - 1 - axis;
    text_.append(inner == 0 ? ", " : ",");
    text_.append(inner, '\n');
    if (inner > 0) text_.append(axis + 1, ' ');
  }

  void Walk(int axis, int64_t index) {
    if (axis == rank()) return Element(index);
    const int64_t size = value_.shape().dim(axis);
    text_.append("{");
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) Separate(axis);
      if (IsLong(axis) && i == kFromEachEnd) {
        text_.append("...");
        i = size - kFromEachEnd;
        Separate(axis);
      }
      Walk(axis + 1, index + i * strides_[axis]);
    }
    text_.append("}");
  }

  const Literal& value_;
  const Dims strides_;
  bool writing_ = false;
  size_t width_ = 0;
  std::string text_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Literal& literal) {
  const Shape& shape = literal.shape();
  if (!literal.valid() || shape.num_elements() == 0 || shape.rank() == 0) {
    return out << literal.ToString();
  }
  PrintedText layout(literal);
  if (layout.Count() > kMostElements) return out << literal.ToString();
  return out << shape << (shape.rank() > 1 ? "\n" : " ") << layout.ToString();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  const absl::Status status = tensor.status();
  if (!status.ok()) return out << "invalid Tensor: " << status;
  Literal value;
  Client where;
  const char* state = "";
  {
    MutexLock lock(&sdk::graph_mutex);
    sdk::Node* node = sdk::NodeOf(tensor);
    if (const auto* host = node->As<sdk::Host>()) value = host->value;
    if (const auto* ready = node->As<sdk::Ready>()) {
      value = ready->fetched;
      where = ready->client;
    }
    if (node->As<sdk::Traced>() != nullptr) state = " (traced)";
    if (node->As<sdk::Recorded>() != nullptr) state = " (recorded, not run)";
  }
  if (value.valid()) return out << value;
  out << tensor.shape() << state;
  if (where.valid()) out << " on " << where.name() << " (not fetched)";
  return out;
}

}  // namespace hawser
