// hawser get: arrays of a dataset become a file.

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"
#include "client/cli/command/interrupt.h"
#include "client/cli/command/progress_bar.h"
#include "client/cli/datasets/dataset_text.h"
#include "client/formats/array_file.h"
#include "client/formats/files/file_to_fill.h"
#include "client/formats/numpy/npy.h"
#include "core/base/status.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kGetCommandFlags[] = {
    {"--output", "-o", "FILE", "the npy, .npz or .safetensors file to write"},
    {"--rows", "-r", "BEGIN:END", "only these rows, END left out"},
    kServerFlag,
};

// The arrays that go into the file, or the rows of each.
absl::StatusOr<std::vector<ArrayToFill>> ShapesOf(
    const DatasetInfo& info, absl::Span<const DatasetInfo::Array> arrays,
    const std::optional<RowSpan>& rows) {
  std::vector<ArrayToFill> shapes;
  for (const DatasetInfo::Array& array : arrays) {
    shapes.push_back({array.name, array.shape});
    if (!rows.has_value()) continue;
    absl::StatusOr<RowBytes> part =
        FindRows(array.shape, RowsOf(*rows, array.shape));
    if (!part.ok()) {
      return Annotate(part.status(), DescribeArray(info.token, array.name));
    }
    shapes.back().shape = std::move(part->shape);
  }
  return shapes;
}

absl::Status FetchInto(const Invocation& invocation, runtime::Client* client,
                       const DatasetInfo& info, const DatasetInfo::Array& array,
                       const std::optional<RowSpan>& rows,
                       absl::Span<char> into, const CancelToken& cancel) {
  std::optional<RowRange> range;
  if (rows.has_value()) range = RowsOf(*rows, array.shape);
  ProgressBar bar(invocation.environment.progress,
                  invocation.environment.err_is_terminal);
  return client->datasets().FetchInto(
      {info.token, array.name, range}, into,
      {.cancel = cancel, .progress = bar.Callback()});
}

// The arrays that go into the file: with `all` every one unless one is named,
// else one.
absl::StatusOr<std::vector<DatasetInfo::Array>> Choose(const DatasetInfo& info,
                                                       absl::string_view wanted,
                                                       bool all) {
  if (all && wanted.empty()) return info.arrays;
  HAWSER_ASSIGN_OR_RETURN(const std::string name, ChooseArray(info, wanted));
  return std::vector<DatasetInfo::Array>{*info.Find(name)};
}

void PrintResult(const Invocation& invocation, const std::string& path,
                 absl::Span<const ArrayToFill> arrays, bool all) {
  std::string text;
  Json list = Json::array();
  for (const auto& [name, shape] : arrays) {
    absl::StrAppend(&text, path, ": ", shape.ToString(),
                    all && !name.empty() ? "  " + name : "", "\n");
    list.push_back(ArrayJson(name, shape));
  }
  Json result = Json::object({{"path", path}});
  result.update(all ? Json::object({{"arrays", std::move(list)}})
                    : ShapeJson(arrays[0].shape));
  invocation.Print(text, result);
}

absl::StatusOr<ExitCode> RunGet(const Invocation& invocation) {
  const std::string path = invocation.line.Get("--output");
  if (path.empty()) return UsageError("get needs -o FILE");
  const bool all = HoldsNames(path);
  const auto [name, wanted] = SplitToken(invocation.line.words()[0]);
  std::optional<RowSpan> rows;
  if (invocation.line.Has("--rows")) {
    auto parsed = ParseRowSpan(invocation.line.Get("--rows"));
    if (!parsed.ok()) return UsageError(parsed.status().message());
    rows = *parsed;
  }
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(name));

  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo info,
      client->datasets().Ask(StatDataset{std::string(name)}, {}));
  HAWSER_ASSIGN_OR_RETURN(const auto chosen, Choose(info, wanted, all));
  HAWSER_ASSIGN_OR_RETURN(const auto shapes, ShapesOf(info, chosen, rows));
  const Interrupt interrupt;  // removes a file that is half done
  HAWSER_ASSIGN_OR_RETURN(
      ArraysToFill filled,
      all ? LayOutArrays(path, shapes) : LayOutNpy(path, shapes[0].shape));
  for (size_t i = 0; i < chosen.size(); ++i) {
    HAWSER_RETURN_IF_ERROR(FetchInto(invocation, client.get(), info, chosen[i],
                                     rows, filled.elements[i],
                                     interrupt.token()));
  }
  HAWSER_RETURN_IF_ERROR(filled.Keep());
  PrintResult(invocation, path, shapes, all);
  return kOk;
}

}  // namespace

extern constinit const Command kGetCommand = {
    .name = "get",
    .arguments = "TOKEN[:ARRAY]",
    .summary = "write arrays of a dataset to a file",
    .description =
        "Fetches an array of a dataset from the server into an npy file. ARRAY "
        "may be\nleft out where the dataset has only one; where FILE ends in "
        ".npz or\n.safetensors all arrays go into it then. With --rows only "
        "those rows along the\nleading axis cross the wire; either end may be "
        "left out.\n\n"
        "  hawser get hw1-...:images -o images.npy\n"
        "  hawser get @mnist:images --rows 0:256 -o first.npy\n"
        "  hawser get @mnist -o mnist.safetensors\n",
    .flags = kGetCommandFlags,
    .words = {1, 1},
    .run = RunGet,
};

}  // namespace hawser::cli
