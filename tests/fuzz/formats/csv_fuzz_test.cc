// Arbitrary text as a CSV file: two bytes of options, then the text. A matrix
// holds what the columns hold; memory stays in proportion to the bytes.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "client/formats/csv/csv.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckSameValues(const NamedArrays& columns, const Literal& matrix) {
  const int64_t width = ByteWidth(matrix.shape().dtype());
  const auto count = static_cast<int64_t>(columns.size());
  HAWSER_CHECK(matrix.shape().dim(1) == count);
  for (int64_t c = 0; c < count; ++c) {
    const Literal& column = columns[c].value;
    HAWSER_CHECK(column.shape().dim(0) == matrix.shape().dim(0));
    for (int64_t r = 0; r < column.shape().dim(0); ++r) {
      HAWSER_CHECK(std::memcmp(column.bytes().data() + r * width,
                               matrix.bytes().data() + (r * count + c) * width,
                               width) == 0);
    }
  }
}

void CheckCsv(uint8_t flags, uint8_t dtype, const std::string& text) {
  CsvOptions options;
  options.dtypes = {AllDTypes()[dtype % AllDTypes().size()]};
  options.header = flags & 1;
  options.empty_is_nan = flags & 2;
  options.separator = flags & 4 ? ';' : ',';
  const FileBytes file = FileBytes::Of(text);
  const auto columns = ParseCsv(file, options);
  options.matrix = true;
  const auto matrix = ParseCsv(file, options);
  for (const absl::Status& status : {columns.status(), matrix.status()}) {
    HAWSER_CHECK(status.ok() || absl::IsInvalidArgument(status));
    HAWSER_CHECK(status.message().size() < 16384);
  }
  if (!columns.ok()) return;
  // The other way round, two columns may have one name.
  HAWSER_CHECK(matrix.ok() && matrix->size() == 1);
  CheckSameValues(*columns, (*matrix)[0].value);
  // A field takes a byte, if only that of a separator.
  HAWSER_CHECK((*matrix)[0].value.shape().byte_size() <= 8 * (file.size + 1));
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  hawser::CheckCsv(
      data[0], data[1],
      std::string(reinterpret_cast<const char*>(data) + 2, size - 2));
  return 0;
}
