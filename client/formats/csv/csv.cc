#include "client/formats/csv/csv.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/strip.h"
#include "client/formats/csv/csv_number.h"
#include "client/formats/csv/csv_records.h"
#include "client/formats/files/quoted.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::string_view WithoutBlanks(absl::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// The shape of a file, which the first pass over it finds.
struct Table {
  std::vector<std::string> names;  // of columns; empty without a header
  size_t columns = 0;
  int64_t rows = 0;  // without the header
};

absl::StatusOr<Table> Survey(absl::string_view text,
                             const CsvOptions& options) {
  CsvRecords records(text, options.separator);
  std::vector<CsvField> fields;
  Table table;
  for (;;) {
    HAWSER_ASSIGN_OR_RETURN(const bool more, records.Next(&fields));
    if (!more) break;
    if (records.row() == 1) {
      table.columns = fields.size();
    } else if (fields.size() != table.columns) {
      return InvalidArgument("row ", records.row(), " has ", fields.size(),
                             " fields, the first has ", table.columns);
    }
    if (records.row() != 1 || !options.header) {
      ++table.rows;
      continue;
    }
    for (const CsvField& field : fields) table.names.push_back(field.Value());
  }
  if (table.columns == 0) return InvalidArgument("holds no records");
  return table;
}

// A column's elements, and how its fields are stored there.
struct Column {
  DType dtype;
  StoreNumber store;
  char* next;
  int64_t step;
};

absl::Status StoreField(const CsvField& field, bool empty_is_nan,
                        const Column& column) {
  const absl::string_view text = WithoutBlanks(field.text);
  if (column.store(text, column.next)) return absl::OkStatus();
  if (!text.empty()) {
    return InvalidArgument(Quoted(text), " is no ", DTypeName(column.dtype));
  }
  if (!empty_is_nan || !IsFloat(column.dtype)) {
    return InvalidArgument("\"\" is no ", DTypeName(column.dtype));
  }
  StoreNan(column.dtype, column.next);
  return absl::OkStatus();
}

// The second pass: stores the fields. Survey has checked the records.
absl::Status StoreRecords(absl::string_view text, const CsvOptions& options,
                          const Table& table, std::vector<Column> columns) {
  CsvRecords records(text, options.separator);
  std::vector<CsvField> fields;
  for (;;) {
    HAWSER_ASSIGN_OR_RETURN(const bool more, records.Next(&fields));
    if (!more) return absl::OkStatus();
    if (records.row() == 1 && options.header) continue;
    for (size_t c = 0; c < fields.size(); ++c) {
      const absl::Status stored =
          StoreField(fields[c], options.empty_is_nan, columns[c]);
      if (!stored.ok()) {
        const std::string name =
            options.header ? absl::StrCat(" (", Quoted(table.names[c]), ")")
                           : "";
        return Annotate(stored, CsvPlace(records.row(), c) + name);
      }
      columns[c].next += columns[c].step;
    }
  }
}

absl::Status CheckOptions(const CsvOptions& options) {
  if (options.dtypes.empty()) {
    return InvalidArgument("CSV needs a dtype, for all columns or for each");
  }
  if (absl::string_view("\"\r\n").find(options.separator) !=
      absl::string_view::npos) {
    return InvalidArgument("CSV cannot be separated by ",
                           Quoted(absl::string_view(&options.separator, 1)));
  }
  if (options.matrix && options.dtypes.size() != 1) {
    return InvalidArgument("a matrix has one dtype, ", options.dtypes.size(),
                           " are given");
  }
  return absl::OkStatus();
}

absl::Status CheckColumns(const CsvOptions& options, const Table& table) {
  const size_t dtypes = options.dtypes.size();
  if (dtypes != 1 && dtypes != table.columns) {
    return InvalidArgument("has ", table.columns, " columns, dtypes are given ",
                           "for ", dtypes);
  }
  return absl::OkStatus();
}

absl::StatusOr<NamedArrays> MakeArrays(const CsvOptions& options,
                                       const Table& table) {
  NamedArrays arrays;
  if (options.matrix) {
    HAWSER_ASSIGN_OR_RETURN(
        const Shape shape,
        Shape::Make(options.dtypes[0],
                    {table.rows, static_cast<int64_t>(table.columns)}));
    HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape));
    arrays.push_back({"", std::move(value)});
    return arrays;
  }
  absl::flat_hash_set<std::string> names;
  for (size_t c = 0; c < table.columns; ++c) {
    const DType dtype = options.dtypes[options.dtypes.size() == 1 ? 0 : c];
    HAWSER_ASSIGN_OR_RETURN(const Shape shape,
                            Shape::Make(dtype, {table.rows}));
    HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape));
    const std::string name =
        options.header ? table.names[c] : absl::StrCat("column", c + 1);
    if (!names.insert(name).second) {
      return InvalidArgument("two columns are called ", Quoted(name));
    }
    arrays.push_back({name, std::move(value)});
  }
  return arrays;
}

absl::StatusOr<std::vector<Column>> ColumnsOf(const CsvOptions& options,
                                              const Table& table,
                                              NamedArrays* arrays) {
  std::vector<Column> columns;
  for (size_t c = 0; c < table.columns; ++c) {
    Literal& value = (*arrays)[options.matrix ? 0 : c].value;
    const DType dtype = value.shape().dtype();
    HAWSER_ASSIGN_OR_RETURN(const StoreNumber store, NumberStore(dtype));
    const int64_t width = ByteWidth(dtype);
    char* first = value.mutable_bytes().data();
    columns.push_back(options.matrix
                          ? Column{dtype, store, first + c * width,
                                   width * static_cast<int64_t>(table.columns)}
                          : Column{dtype, store, first, width});
  }
  return columns;
}

}  // namespace

absl::StatusOr<NamedArrays> ParseCsv(const FileBytes& file,
                                     const CsvOptions& options) {
  HAWSER_RETURN_IF_ERROR(CheckOptions(options));
  absl::string_view text(file.data.get(), static_cast<size_t>(file.size));
  absl::ConsumePrefix(&text, kByteOrderMark);
  HAWSER_ASSIGN_OR_RETURN(const Table table, Survey(text, options));
  HAWSER_RETURN_IF_ERROR(CheckColumns(options, table));
  HAWSER_ASSIGN_OR_RETURN(NamedArrays arrays, MakeArrays(options, table));
  HAWSER_ASSIGN_OR_RETURN(std::vector<Column> columns,
                          ColumnsOf(options, table, &arrays));
  HAWSER_RETURN_IF_ERROR(
      StoreRecords(text, options, table, std::move(columns)));
  return arrays;
}

}  // namespace hawser
