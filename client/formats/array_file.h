// Arrays from a file and to one, of whichever format it is in.
#ifndef HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_
#define HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/formats/csv/csv.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/file_to_fill.h"
#include "client/formats/files/named_array.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"

namespace hawser {

// The facts that a file cannot say itself.
struct ReadOptions {
  enum class Format {
    kAny,  // by the first bytes; CSV, which has no magic word, by ".csv"
    kCsv,
    kRaw,
  };
  Format format = Format::kAny;
  CsvOptions csv;
  Shape raw;  // for kRaw
};

// Reads all arrays of an npy, npz, safetensors, IDX (plain or gzipped), CSV or
// raw file; at least one.
// Errors: those of the format's reader; kNotFound and the like from the file
// system; kInvalidArgument saying how the file begins when it is none of them.
// All name the path.
absl::StatusOr<NamedArrays> ReadArrays(const std::string& path,
                                       const ReadOptions& options);
// The same for bytes in memory; errors name no file. `name` decides whether the
// bytes are CSV.
absl::StatusOr<NamedArrays> ParseArrays(const FileBytes& file,
                                        absl::string_view name,
                                        const ReadOptions& options);

// Opens such a file, whose arrays are then read one by one, in order: one that
// is packed takes no memory before it is read, nor after it has been used. The
// file stays mapped for as long as a reader lives. Errors, also of the readers:
// as ReadArrays; kAborted when the file changed since.
absl::StatusOr<std::vector<ArrayReader>> OpenArrays(const std::string& path,
                                                    const ReadOptions& options);

// Reads the array of a file that holds one; its name does not matter.
// Errors: as ReadArrays; kInvalidArgument naming the arrays of a file that
// holds several.
absl::StatusOr<Literal> ReadArray(const std::string& path);

// True if ReadArrays knows the file's format, judged by its name and its first
// bytes; the file may be damaged. Errors: those of the file system, naming the
// path.
absl::StatusOr<bool> IsArrayFile(const std::string& path,
                                 const ReadOptions& options);

// True if a file of this name keeps the names of its arrays and may hold
// several; other files hold one array.
bool HoldsNames(absl::string_view path);

// Creates a file of such arrays without their elements, in the format that the
// path's ending names:
// ".safetensors", ".npz" or, for one array, ".npy". Errors: those of the
// format; kInvalidArgument for a path that ends in none of these. All name the
// path.
absl::StatusOr<ArraysToFill> LayOutArrays(const std::string& path,
                                          absl::Span<const ArrayToFill> arrays);

// Writes the arrays to a file of that format, under another name first, so that
// `path` never holds half of it. Errors: as LayOutArrays; kInvalidArgument for
// an array without a value.
absl::Status WriteArrays(const std::string& path,
                         absl::Span<const NamedArray> arrays);

// A text of all that decides, besides the bytes, what is read from a file: two
// readings of the same bytes with the same text give the same arrays. A change
// of the readers changes the text.
std::string ReadingOf(absl::string_view name, const ReadOptions& options);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_
