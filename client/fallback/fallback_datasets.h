// FallbackDatasets: the datasets of a FallbackClient. A dataset that was put
// from here can be put again.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_DATASETS_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_DATASETS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/fallback/attempt.h"
#include "client/fallback/known/known_datasets.h"
#include "client/recipes/recipe.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/datasets.h"

namespace hawser {

class FallbackClient;

// Asks the primary, then the secondary, and tells `known_` what it learns; no
// call to either is made under a lock. Thread-safe.
class FallbackDatasets final : public runtime::Datasets {
 public:
  // `client` outlives it.
  FallbackDatasets(FallbackClient* client, bool keeps_sources)
      : client_(client), known_(keeps_sources) {}

  // Keeps `source` (a shared value, or a mapped file) as the dataset's recipe.
  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override;
  // Straight from the primary where it can give it.
  absl::Status FetchInto(const DatasetPart& part, absl::Span<char> into,
                         const runtime::CallOptions& call) override;
  // A dataset that was made on the primary is a recipe's root: values up to the
  // policy's checkpoint_bytes come over in the background, to be its source;
  // others are kDataLoss while the primary is away.
  absl::StatusOr<DatasetInfo> Freeze(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;
  // Its values come over to be its source.
  void KeepLocal(const DatasetInfo& info) override;
  // While the primary is away: a list is of what is known here; what is deleted
  // goes here at once, there when it is back; pins, tags and usage, which the
  // primary keeps, are kUnavailable.
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override;

  // ---- for the client and its buffers

  // The part at `where`, put there first if only its source is known.
  absl::StatusOr<runtime::BufferPtr> Find(runtime::Client& where,
                                          const DatasetPart& part,
                                          const runtime::CallOptions& call);
  // Errors: IsElsewhere for what the primary may have.
  absl::StatusOr<runtime::BufferPtr> OnSecondary(const DatasetPart& part);
  // Makes the primary, which is back, what it would be had it not been away.
  // Blocks. Errors: those of the link.
  absl::Status Restore(const CancelToken& cancel);
  // True if the last Restore has seen all changes.
  bool Settled() const { return known_.settled(); }
  // Gives what is in this process alone to the policy's on_unsent, each once.
  // Called at the end of the process, or of the client.
  void GiveUnsent();

 private:
  using NamedArguments = std::vector<runtime::NamedArgument>;
  struct Verbs;

  absl::StatusOr<runtime::BufferPtr> OpenFor(const DatasetPart& part,
                                             PatientCall* call);
  absl::StatusOr<DatasetInfo> Stat(const std::string& token,
                                   const runtime::CallOptions& call);
  absl::StatusOr<DatasetPage> List(const DatasetQuery& query,
                                   const runtime::CallOptions& call);
  absl::Status Delete(const std::string& token,
                      const runtime::CallOptions& call);
  absl::Status DeleteEverywhere(const std::string& token,
                                const runtime::CallOptions& call);
  // `found`, which `where` says of a dataset; kDataLoss for one that was made
  // of values and that the primary does not have, or not on a disk and is away.
  absl::Status NotAt(const runtime::Client& where, absl::string_view token,
                     const absl::Status& found);
  // After a change that `attempt` could make here only: makes it on the primary
  // too if that is back, since its probe may not have seen the change.
  void CatchUp(
      const Attempt& attempt, const runtime::CallOptions& call,
      absl::FunctionRef<absl::Status(const runtime::CallOptions&)> change);

  // fallback_freeze.cc
  absl::Status CheckFreezable(absl::Span<const runtime::NamedArgument> arrays);
  absl::StatusOr<NamedArguments> FreezableOnPrimary(
      absl::Span<const runtime::NamedArgument> arrays, const Attempt& attempt,
      const runtime::CallOptions& call);
  absl::StatusOr<NamedArguments> FreezableOnSecondary(
      absl::Span<const runtime::NamedArgument> arrays);
  // In the log: what was put or frozen is on no server.
  void SayIsHere(const std::string& token);
  // Fetches the values of a dataset, to be its source, and those at which
  // `recipes` begin from then on; there are none, or one for each array, or
  // null for a host value.
  void FetchSource(const std::string& token, const NamedArguments& arrays,
                   std::vector<RecipePtr> recipes);
  static std::vector<RecipePtr> RecipesOf(
      absl::Span<const runtime::NamedArgument> arrays);
  void RootRecipes(const std::string& token,
                   absl::Span<const runtime::NamedArgument> arrays,
                   absl::Span<const RecipePtr> recipes);
  // Keeps a tag of what is known here until the primary is back, and says so.
  // False: it is not of that kind.
  bool QueueTag(const DatasetTag& tag);
  absl::Status RestoreTags(const CancelToken& cancel);

  FallbackClient* const client_;
  KnownDatasets known_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_DATASETS_H_
