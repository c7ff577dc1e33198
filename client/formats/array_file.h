// Arrays from a file and to one, of whichever format it is in.
#ifndef HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_
#define HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/formats/csv/csv.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/file_to_fill.h"
#include "client/formats/files/named_array.h"
#include "core/base/literal.h"
#include "core/base/shape.h"

namespace hawser {

// What a file cannot say itself.
struct ReadOptions {
  enum class Format {
    kAny,  // the first bytes decide, and for CSV, which has no magic, ".csv"
    kCsv,
    kRaw,
  };
  Format format = Format::kAny;
  CsvOptions csv;
  Shape raw;  // of a kRaw file
};

// All arrays of an npy, npz, safetensors, IDX (plain or gzipped), CSV or raw
// file; at least one.
// Errors: those of the format's reader; kNotFound and the like from the file
// system; kInvalidArgument saying how the file begins when it is none of them.
// All name the path.
absl::StatusOr<NamedArrays> ReadArrays(const std::string& path,
                                       const ReadOptions& options);
// The same of bytes in memory; errors name no file. `name` is what decides
// about CSV.
absl::StatusOr<NamedArrays> ParseArrays(const FileBytes& file,
                                        absl::string_view name,
                                        const ReadOptions& options);

// The array of a file that holds one, whatever it is called there.
// Errors: as ReadArrays; kInvalidArgument naming the arrays of a file that
// holds several.
absl::StatusOr<Literal> ReadArray(const std::string& path);

// Whether ReadArrays would know what to do with the file, judged by name and
// first bytes; it may be damaged all the same.
// Errors: what the file system says, naming the path.
absl::StatusOr<bool> IsArrayFile(const std::string& path,
                                 const ReadOptions& options);

// Whether files of this name keep the names of their arrays, and several;
// others hold one array.
bool HoldsNames(absl::string_view path);

// A file of such arrays without their elements, in the format the path ends in:
// ".safetensors", ".npz" or, for one array, ".npy". Errors: those of the
// format; kInvalidArgument for a path that ends in none of these. All name the
// path.
absl::StatusOr<ArraysToFill> LayOutArrays(const std::string& path,
                                          absl::Span<const ArrayToFill> arrays);

// Writes that file, under another name first, so that `path` never holds half
// of it. Errors: as LayOutArrays; kInvalidArgument for an array without a
// value.
absl::Status WriteArrays(const std::string& path,
                         absl::Span<const NamedArray> arrays);

// What decides, beside its bytes, how a file is read, as a text: two readings
// of a file with the same text give the same arrays; readers of another version
// have another text.
std::string ReadingOf(absl::string_view name, const ReadOptions& options);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_
