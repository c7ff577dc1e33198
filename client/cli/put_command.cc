// hawser put: files become a dataset on the server, known by its token.

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/dataset_text.h"
#include "client/cli/progress_bar.h"
#include "client/cli/quantity.h"
#include "client/formats/array_file.h"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--name", "-n", "NAME", "name of an array; once per file, in order"},
    kServerFlag,
};

// "data/train-images.npy.gz" -> "train-images".
std::string Stem(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != absl::string_view::npos) path.remove_prefix(slash + 1);
  // A dot in front is part of the name.
  return std::string(path.substr(0, path.find('.', 1)));
}

absl::StatusOr<DatasetSource> ReadFiles(const CommandLine& line) {
  const std::vector<std::string>& paths = line.words();
  const std::vector<std::string> names = line.All("--name");
  if (!names.empty() && names.size() != paths.size()) {
    return UsageError(absl::StrCat("--name is given ", names.size(),
                                   " times for ", paths.size(), " files"));
  }
  DatasetSource source;
  for (size_t i = 0; i < paths.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, ReadArray(paths[i]));
    const std::string name = !names.empty()      ? names[i]
                             : paths.size() == 1 ? ""
                                                 : Stem(paths[i]);
    source.arrays.push_back({name, std::move(value)});
  }
  return source;
}

absl::StatusOr<ExitCode> RunPut(const Invocation& invocation) {
  const Environment& environment = invocation.environment;
  HAWSER_ASSIGN_OR_RETURN(const DatasetSource source,
                          ReadFiles(invocation.line));
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  const absl::Time start = absl::Now();
  absl::StatusOr<DatasetInfo> info;
  {
    ProgressBar bar(environment.err, environment.err_is_terminal);
    info = client->PutDataset(source, {.progress = bar.Callback()});
  }
  HAWSER_RETURN_IF_ERROR(info);
  if (environment.err_is_terminal) {
    *environment.err << ReadableBytes(info->bytes) << ", "
                     << ReadableBytes(info->bytes - info->sent_bytes)
                     << " were there already, sent "
                     << ReadableBytes(info->sent_bytes) << " in "
                     << ReadableDuration(absl::Now() - start) << "\n";
  }
  Json::Members result = DatasetMembers(*info);
  result.emplace_back("sent_bytes", info->sent_bytes);
  result.emplace_back("present_bytes", info->bytes - info->sent_bytes);
  invocation.Print(absl::StrCat(info->token, "\n"), std::move(result));
  return kOk;
}

}  // namespace

constinit const Command kPutCommand = {
    .name = "put",
    .arguments = "FILE...",
    .summary = "put arrays on the server, print their token",
    .description =
        "Sends the arrays of npy files, and of IDX files plain or gzipped, to\n"
        "the server and prints the token by which every later program finds\n"
        "them. What the server has already is not sent again, so a put that "
        "was cut\nshort goes on where it stopped.\n\n"
        "One file becomes a dataset of one array without a name. Several "
        "files\nbecome one dataset, each array named by its file up to the "
        "first dot, or\nby --name, given once per file. For a token per file, "
        "call put per file.\n\n"
        "  hawser put images.npy\n"
        "  hawser put train-images.gz train-labels.gz -n images -n labels\n",
    .flags = kFlags,
    .words = {1, kMany},
    .run = RunPut,
};

}  // namespace hawser::cli
