// FallbackBuffer: {a buffer of the primary, a recipe}.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_BUFFER_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_BUFFER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "client/fallback/fallback_client.h"

namespace hawser {

class FallbackBuffer : public runtime::Buffer,
                       public std::enable_shared_from_this<FallbackBuffer> {
 public:
  // `primary` was made in `epoch` of the breaker; null when the value exists
  // only as a recipe.
  FallbackBuffer(FallbackClient* client, runtime::BufferPtr primary,
                 uint64_t epoch, RecipePtr recipe)
      : client_(client),
        gate_(client->gate_),
        primary_(std::move(primary)),
        epoch_(epoch),
        recipe_(std::move(recipe)) {}

  const Shape& shape() const override { return recipe_->shape(); }
  runtime::Client* client() const override { return client_; }
  Future<Literal> Fetch(const runtime::CallOptions& options) override;
  std::string ran_on() const override;

  const RecipePtr& recipe() const { return recipe_; }
  // As an argument for the primary in `epoch`: the buffer there, or else the
  // value itself, computed on the secondary; blocks only in that case, until
  // the deadline of `call`.
  absl::StatusOr<runtime::Argument> OnPrimary(
      uint64_t epoch, const runtime::CallOptions& call);
  // The caller donated the value: nothing here keeps the primary's copy alive.
  void ForgetPrimary();
  // The name a dataset's array has on every server: a new epoch asks again.
  void SetDataset(std::string token, std::string array) {
    dataset_ = {std::move(token), std::move(array)};
  }

 private:
  struct Attempt;
  runtime::BufferPtr primary(uint64_t epoch) const;
  void Decide(Attempt& attempt, const absl::StatusOr<Literal>& value);
  void FetchFromSecondary(Promise<Literal> promise,
                          const runtime::CallOptions& options,
                          const absl::Status& why);
  void UseSecondary(const std::shared_ptr<Promise<Literal>>& promise,
                    const runtime::CallOptions& options,
                    const absl::Status& why);

  FallbackClient* const client_;  // only inside the gate
  const std::shared_ptr<Gate> gate_;
  mutable Mutex mu_;
  runtime::BufferPtr primary_ ABSL_GUARDED_BY(mu_);
  const uint64_t epoch_;
  const RecipePtr recipe_;
  Recipe::Dataset dataset_;  // token "" when it is none; set before sharing
  // Set once the secondary's value was used instead.
  std::string fallback_reason_ ABSL_GUARDED_BY(mu_);
  runtime::BufferPtr secondary_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_BUFFER_H_
