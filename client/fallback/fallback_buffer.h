// FallbackBuffer: {a buffer of the primary, a recipe}.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_BUFFER_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_BUFFER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "client/fallback/fallback_client.h"

namespace hawser {

// The primary has it as `primary_`, made in `epoch_` of the breaker: in a later
// epoch that is lost. The recipe is always there.
class FallbackBuffer : public runtime::Buffer,
                       public RecipeHolder,
                       public std::enable_shared_from_this<FallbackBuffer> {
 public:
  // `primary` was begun in `attempt`; null when the value exists only as a
  // recipe, which tells the buffer when it is followed on the primary.
  static std::shared_ptr<FallbackBuffer> Make(FallbackClient* client,
                                              runtime::BufferPtr primary,
                                              const Attempt& attempt,
                                              RecipePtr recipe);
  // Only Make calls it.
  FallbackBuffer(FallbackClient* client, runtime::BufferPtr primary,
                 const Attempt& attempt, RecipePtr recipe)
      : client_(client),
        gate_(client->gate_),
        primary_(std::move(primary)),
        epoch_(attempt.epoch),
        end_(attempt.end),
        recipe_(std::move(recipe)) {}

  const Shape& shape() const override { return recipe_->shape(); }
  // nullptr once it is gone.
  runtime::Client* client() const override {
    const Gate::Pass pass = gate_->Enter();
    return pass ? client_ : nullptr;
  }
  Future<Literal> Fetch(const runtime::CallOptions& options) override;
  Future<bool> Ready(const runtime::CallOptions& options) override;
  runtime::RanOn ran_on() const override;

  const RecipePtr& recipe() const { return recipe_; }
  const std::shared_ptr<Gate>& gate() const { return gate_; }
  // Returns an argument for the primary: the buffer there, or else one made
  // again, from the value, which may be computed on the secondary first, or by
  // replaying what led to it. Blocks only in that case, until the caller's
  // deadline. Called inside the gate.
  absl::StatusOr<runtime::BufferPtr> OnPrimary(
      const Attempt& attempt, const runtime::CallOptions& call);
  // The primary's copy was donated, or turned out to be an error.
  void ForgetPrimary();
  // The name a dataset's array has on every server: a new epoch asks again.
  void SetDataset(DatasetPart part) { dataset_ = std::move(part); }
  void Remade(uint64_t life, const runtime::BufferPtr& value) override;

 private:
  using LiteralPromise = std::shared_ptr<Promise<Literal>>;

  Future<Literal> FetchFor(const PatientCall& call);
  // The primary's copy, if it is still one in `epoch`.
  runtime::BufferPtr PrimaryIn(uint64_t epoch);
  // Uploads the value where this end can make it, else replays the recipe over
  // there.
  absl::StatusOr<runtime::BufferPtr> RemakeOnPrimary(
      const Attempt& attempt, const runtime::CallOptions& call);
  absl::StatusOr<Literal> ValueFromHome(const runtime::CallOptions& call);
  void OnAnswer(const absl::StatusOr<Literal>& value, Attempt attempt,
                const PatientCall& call, const LiteralPromise& promise);
  // Makes the value on the secondary, on the client's worker; inside the gate.
  // A value that only the primary can make is fetched when that is back, unless
  // it has just refused (`may_replay` false): then the error is `why`.
  void MakeOnSecondary(const LiteralPromise& promise, const PatientCall& call,
                       const absl::Status& why, bool may_replay);
  void FetchFrom(const runtime::BufferPtr& secondary,
                 const LiteralPromise& promise, const PatientCall& call,
                 const absl::Status& why);
  void FetchWhenBack(const LiteralPromise& promise, const PatientCall& call,
                     const absl::Status& why);
  // Runs on the client's worker, once the primary is there.
  void FetchRemade(const LiteralPromise& promise, const PatientCall& call);
  void SetRanOn(const runtime::RanOn& ran_on);

  FallbackClient* const client_;  // only inside the gate
  const std::shared_ptr<Gate> gate_;
  mutable Mutex mu_;
  runtime::BufferPtr primary_ ABSL_GUARDED_BY(mu_);
  uint64_t epoch_ ABSL_GUARDED_BY(mu_);  // of primary_
  // When the primary's time to make it was over.
  absl::Time end_ ABSL_GUARDED_BY(mu_);
  const RecipePtr recipe_;
  DatasetPart dataset_;  // token "" when it is none; set before sharing
  runtime::RanOn ran_on_ ABSL_GUARDED_BY(mu_);  // once the value was seen
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_BUFFER_H_
