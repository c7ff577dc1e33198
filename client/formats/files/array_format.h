// The interface of a format of array files to those that take any of them.
#ifndef HAWSER_CLIENT_FORMATS_FILES_ARRAY_FORMAT_H_
#define HAWSER_CLIENT_FORMATS_FILES_ARRAY_FORMAT_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/file_to_fill.h"
#include "client/formats/files/named_array.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"

namespace hawser {

// A row of the table in client/formats/array_file.cc; it stands in the file of
// its format. A file is read by what it holds and written by what it is called.
struct ArrayFormat {
  // True if a file is of this format, judged by its first bytes.
  bool (*is_it)(const FileBytes& file);
  // Reads all arrays of the file. Errors: kInvalidArgument naming no file.
  absl::StatusOr<NamedArrays> (*parse)(const FileBytes& file);
  // For a format that unpacks its arrays, each by itself: lists them without
  // unpacking one. Others are mapped. Errors: as parse.
  absl::StatusOr<std::vector<ArrayReader>> (*list)(const FileBytes& file) =
      nullptr;
  // For a format that is written, too: how the names of its files end, how they
  // are laid out, and whether they hold several arrays with their names.
  absl::string_view suffix = "";
  LayOut lay_out = nullptr;
  bool holds_names = false;
};

// A `parse` for files of one array, which has no name there.
template <absl::StatusOr<Literal> (*parse)(const FileBytes&)>
absl::StatusOr<NamedArrays> ParseOne(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, parse(file));
  NamedArrays arrays;
  arrays.push_back({"", std::move(value)});
  return arrays;
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_ARRAY_FORMAT_H_
