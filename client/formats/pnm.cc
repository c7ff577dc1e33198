// Images of the Netpbm kind, binary: pgm is u8[height, width], ppm is
// u8[height, width, 3].
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/formats/files/array_format.h"
#include "client/formats/files/mapped_array.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr absl::string_view kPgm = "P5", kPpm = "P6";
constexpr int kColors = 3;
// The most bytes of a header with its comments.
constexpr int64_t kMostHeader = 4096;

// The numbers after the two letters, each after space or comments.
class PnmHeader {
 public:
  explicit PnmHeader(absl::string_view text) : text_(text) {}

  absl::StatusOr<int64_t> Number(absl::string_view name) {
    SkipSpace();
    int64_t number = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && absl::ascii_isdigit(text_[at_]) &&
           number < (int64_t{1} << 32)) {
      number = 10 * number + (text_[at_++] - '0');
    }
    if (at_ == begin) return InvalidArgument("the header has no ", name);
    return number;
  }
  // The one space after the last number.
  absl::Status End() {
    if (at_ < text_.size() && absl::ascii_isspace(text_[at_++])) {
      return absl::OkStatus();
    }
    return InvalidArgument("the header does not end in a space");
  }
  int64_t size() const { return static_cast<int64_t>(at_); }

 private:
  void SkipSpace() {
    bool comment = false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') comment = true;
      if (text_[at_] == '\n') comment = false;
      if (!comment && !absl::ascii_isspace(text_[at_])) return;
    }
  }

  const absl::string_view text_;
  size_t at_ = kPgm.size();
};

absl::StatusOr<Literal> ParseImage(const FileBytes& file) {
  PnmHeader header(absl::string_view(
      file.data.get(), static_cast<size_t>(std::min(file.size, kMostHeader))));
  HAWSER_ASSIGN_OR_RETURN(const int64_t width, header.Number("width"));
  HAWSER_ASSIGN_OR_RETURN(const int64_t height, header.Number("height"));
  HAWSER_ASSIGN_OR_RETURN(const int64_t maximum, header.Number("maximum"));
  HAWSER_RETURN_IF_ERROR(header.End());
  if (maximum != 255) {
    return InvalidArgument("the largest value is ", maximum,
                           ", only images of 255 are read");
  }
  Dims dims = {height, width};
  if (file.StartsWith(kPpm)) dims.push_back(kColors);
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(DType::kU8, dims));
  auto value =
      MappedArray(shape, file.Part(header.size(), file.size - header.size()));
  if (!value.ok()) return Annotate(value.status(), "behind the header");
  return value;
}

absl::StatusOr<ArraysToFill> LayOutImage(const std::string& path,
                                         absl::Span<const ArrayToFill> arrays) {
  const bool color = absl::EndsWithIgnoreCase(path, ".ppm");
  const int rank = color ? 3 : 2;
  if (arrays.size() != 1 || arrays[0].shape.dtype() != DType::kU8 ||
      arrays[0].shape.rank() != rank ||
      (color && arrays[0].shape.dim(2) != kColors)) {
    return InvalidArgument(
        path, ": an image holds one array, ",
        color ? "u8[height,width,3]" : "u8[height,width]",
        arrays.size() == 1 ? absl::StrCat(", not ", arrays[0].shape.ToString())
                           : "");
  }
  const Shape& shape = arrays[0].shape;
  const std::string header = absl::StrCat(
      color ? kPpm : kPgm, "\n", shape.dim(1), " ", shape.dim(0), "\n255\n");
  HAWSER_ASSIGN_OR_RETURN(
      FileToFill file,
      FileToFill::Create(
          path, static_cast<int64_t>(header.size()) + shape.byte_size()));
  std::copy(header.begin(), header.end(), file.bytes().begin());
  const absl::Span<char> elements = file.bytes().subspan(header.size());
  return ArraysToFill{std::move(file), {elements}};
}

}  // namespace

extern constinit const ArrayFormat kPgmFormat = {
    .is_it = [](const FileBytes& file) { return file.StartsWith(kPgm); },
    .parse = ParseOne<ParseImage>,
    .suffix = ".pgm",
    .lay_out = LayOutImage,
};
extern constinit const ArrayFormat kPpmFormat = {
    .is_it = [](const FileBytes& file) { return file.StartsWith(kPpm); },
    .parse = ParseOne<ParseImage>,
    .suffix = ".ppm",
    .lay_out = LayOutImage,
};

}  // namespace hawser
