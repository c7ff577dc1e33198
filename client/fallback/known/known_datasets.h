// KnownDatasets: what this end knows of a primary's datasets.
#ifndef HAWSER_CLIENT_FALLBACK_KNOWN_KNOWN_DATASETS_H_
#define HAWSER_CLIENT_FALLBACK_KNOWN_KNOWN_DATASETS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/datasets.h"

namespace hawser {

// A token is in `sources_` while what it names can be put again from here, in
// `frozen_` from when it was made of values until it is deleted, and in
// `deleted_` while it is gone here and still to be deleted on the primary;
// never in the first and the last at once. Thread-safe; asks neither client,
// and blocks in BeginDeleting alone.
class KnownDatasets {
 public:
  using Tokens = std::set<std::string, std::less<>>;
  using Tags = std::map<std::string, std::string, std::less<>>;
  using Sources = std::map<std::string, DatasetSource, std::less<>>;

  // Nothing can be put again from here unless `keeps_sources` is set.
  explicit KnownDatasets(bool keeps_sources) : keeps_sources_(keeps_sources) {}

  // ---- sources
  void Keep(const std::string& token, DatasetSource source);
  std::optional<DatasetInfo> InfoOf(const std::string& token) const;
  // Returns what is known of all that can be put again.
  std::vector<DatasetInfo> Infos() const;
  // The values of a dataset are to come over and be its source. False: they are
  // here, or under way.
  bool BeginFetching(const std::string& token);
  // They have come; none: they have not. A dataset that was deleted meanwhile
  // keeps no source.
  void EndFetching(const std::string& token,
                   std::optional<DatasetSource> source);

  // ---- where a dataset is
  // It was made of values; `durable`: it survives a restart of the primary.
  void KeepFrozen(const std::string& token, bool durable);
  // True: it was, and is durable. nullopt: it was not made of values.
  std::optional<bool> Frozen(absl::string_view token) const;
  // The primary was seen to have it.
  void SeenThere(absl::string_view token);
  // The primary has it, or had it.
  bool WasThere(absl::string_view token) const;
  // No primary was seen to have it, until NotAlone.
  void SetAlone(const std::string& token);
  void NotAlone(const std::string& token);
  Tokens TakeAlone();

  // ---- tags that the primary does not have yet
  // False: what it names is not known here, or it is compared with the tag of
  // before, which cannot be looked at.
  bool QueueTag(const DatasetTag& tag);
  // Returns the token it names; empty: it is not queued.
  std::string QueuedTag(absl::string_view name) const;
  Tags QueuedTags() const;
  // The primary has it now, or refuses it.
  void UnqueueTag(const std::string& name, const std::string& token);

  // ---- one token at a time is put again or deleted
  // Returns the source of a dataset that is to be put again, until DonePutting;
  // none: it is not known or being deleted.
  std::optional<DatasetSource> BeginPutting(const std::string& token);
  void DonePutting(const std::string& token);
  // Until EndDeleting no call puts it again; waits for calls that do, until
  // `cancel` expires. Errors: what that says then.
  absl::Status BeginDeleting(const std::string& token,
                             const CancelToken& cancel);
  void EndDeleting(const std::string& token);
  // Forgets a deleted dataset. `was_here`: the secondary had it; `away`: the
  // primary is to delete it later. Returns whether anything knew it here.
  bool Forget(const std::string& token, bool was_here, bool away);
  // The primary may have got it again meanwhile, and is to delete it.
  void DeleteLater(const std::string& token);
  void DeletedThere(const std::string& token);

  // ---- the primary is back
  struct Missing {
    Sources sources;
    Tokens deleted;
  };
  // Returns what it may lack, and what it may still have: from then on
  // settled(), until another change.
  Missing TakeMissing();
  // They were not deleted after all.
  void DeleteLater(const Tokens& tokens);
  bool settled() const;

 private:
  void KeepLocked(const std::string& token, DatasetSource source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const bool keeps_sources_;
  mutable Mutex mu_;
  Sources sources_ ABSL_GUARDED_BY(mu_);
  // Seen on the primary.
  Tokens there_ ABSL_GUARDED_BY(mu_);
  // A token leaves it when its dataset is deleted meanwhile.
  Tokens fetching_ ABSL_GUARDED_BY(mu_);
  // True for a token that survives a restart of the primary.
  std::map<std::string, bool, std::less<>> frozen_ ABSL_GUARDED_BY(mu_);
  Tokens deleted_ ABSL_GUARDED_BY(mu_);
  // A token is there once for each call that puts it again, or deletes it.
  std::multiset<std::string> putting_ ABSL_GUARDED_BY(mu_);
  std::multiset<std::string> deleting_ ABSL_GUARDED_BY(mu_);
  CondVar put_again_;  // putting_ has one less
  Tags tags_ ABSL_GUARDED_BY(mu_);
  Tokens alone_ ABSL_GUARDED_BY(mu_);
  // The numbers of changes to sources_, tags_ and deleted_: all there were, and
  // those that TakeMissing has seen.
  int64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t restored_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_KNOWN_KNOWN_DATASETS_H_
