// hawser put: files become datasets on the server, known by their tokens.

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"
#include "client/cli/command/progress_bar.h"
#include "client/cli/command/quantity.h"
#include "client/cli/datasets/dataset_text.h"
#include "client/cli/datasets/pin_time.h"
#include "client/cli/put/file_list.h"
#include "client/cli/put/file_put.h"
#include "client/cli/put/read_flags.h"
#include "client/digests/hashed_file.h"
#include "core/base/clock.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--as-one", "-1", "", "all files become one dataset of named arrays"},
    {"--name", "-n", "NAME", "name of an array; once per file, in order"},
    {"--pin", "-p", "TTL", "keep it: 10m, 36h, else forever", "forever"},
    {"--tag", "-t", "@NAME", "let @NAME stand for the dataset"},
    kDTypeFlag,
    kShapeFlag,
    kCsvFlag,
    kNoHeaderFlag,
    kMatrixFlag,
    kEmptyFlag,
    kSeparatorFlag,
    kServerFlag,
};

// The work that the command line asks for.
struct PutPlan {
  ReadOptions read;
  // The files of each dataset.
  std::vector<std::vector<FileToPut>> datasets;
  std::vector<std::string> skipped;
  bool token_alone = false;  // printed without the path
  absl::Duration pin = absl::ZeroDuration();
  std::string tag;
};

// "data/train-images.npy.gz" -> "train-images".
std::string Stem(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != absl::string_view::npos) path.remove_prefix(slash + 1);
  // A dot in front is a part of the name.
  return std::string(path.substr(0, path.find('.', 1)));
}

absl::Status CheckFlags(const PutPlan& plan,
                        const std::vector<std::string>& names, size_t files) {
  if (!names.empty() && plan.datasets.size() != 1) {
    return UsageError(
        absl::StrCat("--name is for one file or --as-one, here are ",
                     plan.datasets.size(), " datasets"));
  }
  if (!names.empty() && names.size() != files) {
    return UsageError(absl::StrCat("--name is given ", names.size(),
                                   " times for ", files, " files"));
  }
  if (!plan.tag.empty() && plan.datasets.size() != 1) {
    return UsageError(absl::StrCat("--tag is for one dataset, here are ",
                                   plan.datasets.size()));
  }
  return absl::OkStatus();
}

absl::Status ReadMarks(const CommandLine& line, PutPlan* plan) {
  if (line.Has("--pin")) {
    HAWSER_ASSIGN_OR_RETURN(plan->pin, ReadPinTime("--pin", line.Get("--pin")));
  }
  plan->tag = line.Get("--tag");
  if (!line.Has("--tag")) return absl::OkStatus();
  const absl::Status tag = CheckTag(plan->tag);
  return tag.ok() ? tag : UsageError(tag.message());
}

absl::StatusOr<PutPlan> MakePlan(const CommandLine& line, DigestCache* cache) {
  PutPlan plan;
  HAWSER_ASSIGN_OR_RETURN(plan.read, ReadOptionsOf(line));
  HAWSER_RETURN_IF_ERROR(ReadMarks(line, &plan));
  const auto wanted = [&](const std::string& path) -> absl::StatusOr<bool> {
    if (IsRemembered(path, plan.read, cache)) return true;
    return IsArrayFile(path, plan.read);
  };
  HAWSER_ASSIGN_OR_RETURN(FileList list, ListFiles(line.words(), wanted));
  const bool as_one = line.Has("--as-one");
  const std::vector<std::string> names = line.All("--name");
  for (size_t i = 0; i < list.paths.size(); ++i) {
    FileToPut file{list.paths[i]};
    if (i < names.size()) file.name = names[i];
    if (as_one && list.paths.size() > 1) file.name_without = Stem(file.path);
    if (plan.datasets.empty() || !as_one) plan.datasets.emplace_back();
    plan.datasets.back().push_back(std::move(file));
  }
  plan.skipped = std::move(list.skipped);
  plan.token_alone = as_one || list.one_file;
  HAWSER_RETURN_IF_ERROR(CheckFlags(plan, names, list.paths.size()));
  return plan;
}

// "5.0 MiB, 4.0 MiB were there already, sent 1.0 MiB in 1.25 ms"
std::string SentText(int64_t bytes, int64_t sent, absl::Duration time) {
  return absl::StrCat(ReadableBytes(bytes), ", ", ReadableBytes(bytes - sent),
                      " were there already, sent ", ReadableBytes(sent), " in ",
                      ReadableDuration(time));
}

// A dataset that was put.
struct FilePut {
  DatasetInfo info;
  int64_t hashed_bytes = 0;  // 0: all digests were remembered
};

Json PutJson(const FilePut& put) {
  Json members = DatasetJson(put.info);
  members["sent_bytes"] = put.info.sent_bytes;
  members["present_bytes"] = put.info.bytes - put.info.sent_bytes;
  members["hashed_bytes"] = put.hashed_bytes;
  return members;
}

// Puts the datasets of a plan, one after the other, and keeps the sums of those
// that were put. Used once.
class PutRun {
 public:
  PutRun(const Invocation& invocation, const PutPlan& plan,
         runtime::Client* client, DigestCache* cache)
      : invocation_(invocation), plan_(plan), client_(client), cache_(cache) {}

  // Puts the only dataset.
  absl::StatusOr<ExitCode> PutOne() {
    HAWSER_ASSIGN_OR_RETURN(const FilePut put, Put(plan_.datasets[0], ""));
    invocation_.Print(absl::StrCat(put.info.token, "\n"), PutJson(put));
    return kOk;
  }

  // Puts each dataset. Goes on after one that fails, unless the server is gone.
  absl::StatusOr<ExitCode> PutEach() {
    for (const auto& files : plan_.datasets) {
      const std::string& path = files[0].path;
      const absl::StatusOr<FilePut> put = Put(files, path + ": ");
      const absl::Status& status = put.status();
      if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
        return status;
      }
      put.ok() ? Keep(path, *put) : Fail(path, status);
    }
    Note(absl::StrCat(datasets_.size(), " datasets, ",
                      SentText(bytes_, sent_bytes_, SteadyNow() - start_)));
    const ExitCode code = failed_.empty() ? kOk : kFailed;
    invocation_.Print("", Json::object({{"datasets", std::move(datasets_)},
                                        {"failed", std::move(failed_)},
                                        {"bytes", bytes_},
                                        {"sent_bytes", sent_bytes_},
                                        {"present_bytes", bytes_ - sent_bytes_},
                                        {"hashed_bytes", hashed_bytes_}}));
    return code;
  }

 private:
  absl::StatusOr<FilePut> Put(const std::vector<FileToPut>& files,
                              const std::string& label) {
    const absl::Time start = SteadyNow();
    const Environment& environment = invocation_.environment;
    const auto bar_of = [&](absl::string_view what) {
      return ProgressBar(environment.progress, environment.err_is_terminal,
                         absl::StrCat(label, what));
    };
    FilesRead files_read;
    {
      ProgressBar bar = bar_of("hashing ");
      HAWSER_ASSIGN_OR_RETURN(
          files_read,
          ReadFilesToPut(cache_, files, plan_.read, bar.Callback()));
    }
    FilePut put{.hashed_bytes = files_read.hashed_bytes};
    {
      ProgressBar bar = bar_of("");
      HAWSER_ASSIGN_OR_RETURN(
          put.info, client_->datasets().Put(files_read.source,
                                            {.progress = bar.Callback()}));
    }
    HAWSER_RETURN_IF_ERROR(Mark(&put.info));
    Note(label +
         SentText(put.info.bytes, put.info.sent_bytes, SteadyNow() - start));
    return put;
  }

  // Pins and tags the dataset as the plan says.
  absl::Status Mark(DatasetInfo* info) {
    if (plan_.pin > absl::ZeroDuration()) {
      HAWSER_ASSIGN_OR_RETURN(
          const DatasetInfo pinned,
          client_->datasets().Ask(PinDataset{info->token, plan_.pin}, {}));
      info->pinned_until = pinned.pinned_until;
    }
    if (plan_.tag.empty()) return absl::OkStatus();
    HAWSER_RETURN_IF_ERROR(client_->datasets().Ask(
        DatasetTag{.name = plan_.tag, .token = info->token}, {}));
    std::vector<std::string>& tags = info->tags;
    if (std::find(tags.begin(), tags.end(), plan_.tag) == tags.end()) {
      tags.insert(std::upper_bound(tags.begin(), tags.end(), plan_.tag),
                  plan_.tag);
    }
    return absl::OkStatus();
  }

  void Keep(const std::string& path, const FilePut& put) {
    if (!invocation_.json) {
      *invocation_.environment.out << put.info.token << "  " << path
                                   << std::endl;
    }
    Json members = PutJson(put);
    members["path"] = path;
    datasets_.push_back(std::move(members));
    bytes_ += put.info.bytes;
    sent_bytes_ += put.info.sent_bytes;
    hashed_bytes_ += put.hashed_bytes;
  }

  void Fail(const std::string& path, const absl::Status& status) {
    std::string message(status.message());
    if (!absl::StartsWith(message, path)) {  // an error of the server
      message = absl::StrCat(path, ": ", message);
    }
    *invocation_.environment.err << "hawser: " << message << "\n";
    failed_.push_back(
        Json::object({{"path", path},
                      {"code", absl::StatusCodeToString(status.code())},
                      {"message", std::move(message)}}));
  }

  // Prints a line on a terminal only.
  void Note(absl::string_view text) {
    if (!invocation_.environment.err_is_terminal) return;
    *invocation_.environment.err << text << std::endl;
  }

  const Invocation& invocation_;
  const PutPlan& plan_;
  runtime::Client* const client_;
  DigestCache* const cache_;
  const absl::Time start_ = SteadyNow();
  Json datasets_ = Json::array(), failed_ = Json::array();
  int64_t bytes_ = 0, sent_bytes_ = 0, hashed_bytes_ = 0;
};

absl::StatusOr<ExitCode> RunPut(const Invocation& invocation) {
  DigestCache cache(invocation.environment.cache_folder);
  HAWSER_ASSIGN_OR_RETURN(const PutPlan plan,
                          MakePlan(invocation.line, &cache));
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  for (const std::string& path : plan.skipped) {
    *invocation.environment.err << "hawser: skips " << path
                                << ", no file of arrays\n";
  }
  PutRun run(invocation, plan, client.get(), &cache);
  return plan.token_alone ? run.PutOne() : run.PutEach();
}

}  // namespace

extern constinit const Command kPutCommand = {
    .name = "put",
    .arguments = "FILE...",
    .summary = "put arrays on the server, print their tokens",
    .description =
        "Sends the arrays of npy, npz, safetensors, IDX (plain or gzipped), "
        "CSV and raw\nfiles to the server and prints the tokens by which every "
        "later program finds\nthem. What the server has already is not sent "
        "again, so a put that was cut\nshort goes on where it stopped; files "
        "that did not change since they were put\nare not read again.\n\n"
        "Each file becomes a dataset. A FILE may be a folder (all files of "
        "arrays in it)\nor a pattern in quotes. One file: prints its token. "
        "Several, a folder, a\npattern: a line per file, its token and its "
        "path. With --as-one all files\nbecome one dataset and one token, each "
        "array named by its file up to the first\ndot, or by --name.\n\n"
        "CSV files need --dtype: one for all columns, or one for each, by "
        "commas. Each\ncolumn becomes an array named by its header. Files "
        "without any form are read by\n--dtype and --shape.\n\n"
        "  hawser put images.npy --tag @images --pin=36h\n"
        "  hawser put 'shards/*.npz' more/\n"
        "  hawser put -1 train-images.gz train-labels.gz -n images -n labels\n"
        "  hawser put table.csv --dtype f32,f32,s64\n"
        "  hawser put frames.bin --dtype u8 --shape 1000,480,640\n",
    .flags = kFlags,
    .words = {1, kMany},
    .run = RunPut,
};

}  // namespace hawser::cli
