// FallbackDatasets::Freeze: values become a dataset where they are.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fallback/fallback_buffer.h"
#include "client/fallback/fallback_client.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/threads/all_of.h"
#include "core/runtime/datasets.h"

namespace hawser {
namespace {

// Null: a host value.
FallbackBuffer* OwnBuffer(const runtime::NamedArgument& array) {
  const auto* buffer = std::get_if<runtime::BufferPtr>(&array.value);
  return buffer == nullptr ? nullptr
                           : static_cast<FallbackBuffer*>(buffer->get());
}

// A dataset whose values did not come over.
void SayNotHere(absl::string_view token, const absl::Status& why) {
  HAWSER_LOG(kWarning) << "dataset " << token
                       << " is not copied to this process: " << why;
}

}  // namespace

absl::StatusOr<FallbackDatasets::NamedArguments>
FallbackDatasets::FreezableOnPrimary(
    absl::Span<const runtime::NamedArgument> arrays, const Attempt& attempt,
    const runtime::CallOptions& call) {
  NamedArguments there(arrays.begin(), arrays.end());
  for (runtime::NamedArgument& array : there) {
    FallbackBuffer* own = OwnBuffer(array);
    if (own == nullptr) continue;
    HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr buffer,
                            own->OnPrimary(attempt, call));
    array.value = std::move(buffer);
  }
  return there;
}

absl::StatusOr<FallbackDatasets::NamedArguments>
FallbackDatasets::FreezableOnSecondary(
    absl::Span<const runtime::NamedArgument> arrays) {
  NamedArguments here(arrays.begin(), arrays.end());
  for (runtime::NamedArgument& array : here) {
    FallbackBuffer* own = OwnBuffer(array);
    if (own == nullptr) continue;
    auto buffer = client_->recipes_.AtHome(own->recipe());
    if (!buffer.ok()) {
      return Annotate(buffer.status(),
                      absl::StrCat("array \"", array.name, "\""));
    }
    array.value = *std::move(buffer);
  }
  return here;
}

absl::Status FallbackDatasets::CheckFreezable(
    absl::Span<const runtime::NamedArgument> arrays) {
  for (const runtime::NamedArgument& array : arrays) {
    const auto* buffer = std::get_if<runtime::BufferPtr>(&array.value);
    if (buffer == nullptr) continue;
    // The gate too: an address may be used again by another client.
    if (*buffer == nullptr || (*buffer)->client() != client_ ||
        OwnBuffer(array)->gate() != client_->gate_) {
      return FailedPrecondition("array \"", array.name, "\" does not live on ",
                                client_->name());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DatasetInfo> FallbackDatasets::Freeze(
    absl::Span<const runtime::NamedArgument> arrays,
    const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(CheckFreezable(arrays));
  const Attempt attempt = client_->BeginTransfer(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto there = FreezableOnPrimary(arrays, attempt, call);
    auto info = there.ok() ? client_->primary_->datasets().Freeze(
                                 *there, Bounded(call, attempt))
                           : absl::StatusOr<DatasetInfo>(there.status());
    if (info.ok()) {
      known_.KeepFrozen(info->token, info->durable);
      const std::vector<RecipePtr> recipes = RecipesOf(arrays);
      if (info->durable) RootRecipes(info->token, arrays, recipes);
      if (info->bytes <= client_->policy_.checkpoint_bytes) {
        FetchSource(info->token, *there, recipes);
      }
      return info;
    }
    if (!client_->GiveUp(info.status(), attempt)) return info;
  }
  HAWSER_ASSIGN_OR_RETURN(const NamedArguments here,
                          FreezableOnSecondary(arrays));
  HAWSER_ASSIGN_OR_RETURN(
      DatasetInfo info,
      client_->secondary_->datasets().Freeze(here, WithoutAttempt(call)));
  SayIsHere(info.token);
  known_.KeepFrozen(info.token, info.durable);
  FetchSource(info.token, here, RecipesOf(arrays));
  return info;
}

std::vector<RecipePtr> FallbackDatasets::RecipesOf(
    absl::Span<const runtime::NamedArgument> arrays) {
  std::vector<RecipePtr> recipes;
  for (const runtime::NamedArgument& array : arrays) {
    FallbackBuffer* own = OwnBuffer(array);
    recipes.push_back(own == nullptr ? nullptr : own->recipe());
  }
  return recipes;
}

void FallbackDatasets::RootRecipes(
    const std::string& token, absl::Span<const runtime::NamedArgument> arrays,
    absl::Span<const RecipePtr> recipes) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (recipes[i] == nullptr) continue;
    client_->recipes_.Root(recipes[i], {token, arrays[i].name});
  }
}

void FallbackDatasets::FetchSource(const std::string& token,
                                   const NamedArguments& arrays,
                                   std::vector<RecipePtr> recipes) {
  if (!known_.BeginFetching(token)) return;
  std::vector<Future<Literal>> values;
  DatasetSource source;
  for (const runtime::NamedArgument& array : arrays) {
    source.arrays.push_back({array.name, Literal()});
    const auto* value = std::get_if<Literal>(&array.value);
    values.push_back(
        value != nullptr
            ? Future<Literal>(*value)
            : std::get<runtime::BufferPtr>(array.value)->Fetch({}));
  }
  AllOf(std::move(values))
      .OnReady([this, gate = client_->gate_, token, source = std::move(source),
                recipes = std::move(recipes)](
                   const absl::StatusOr<std::vector<Literal>>& all) mutable {
        const Gate::Pass pass = gate->Enter();
        if (!pass) return;
        if (!all.ok()) SayNotHere(token, all.status());
        // The frozen values are the roots of their recipes from now on.
        for (size_t i = 0; all.ok() && i < recipes.size(); ++i) {
          if (recipes[i] == nullptr) continue;
          client_->recipes_.Checkpoint(recipes[i], (*all)[i]);
        }
        if (!all.ok()) return known_.EndFetching(token, std::nullopt);
        for (size_t i = 0; i < all->size(); ++i) {
          source.arrays[i].value = (*all)[i];
        }
        known_.EndFetching(token, std::move(source));
      });
}

void FallbackDatasets::KeepLocal(const DatasetInfo& info) {
  const Attempt attempt = client_->Begin({});
  if (Breaker::IsOpen(attempt.epoch)) return;
  NamedArguments arrays;
  for (const DatasetInfo::Array& array : info.arrays) {
    auto there = client_->primary_->datasets().Open({info.token, array.name},
                                                    Bounded({}, attempt));
    if (!there.ok()) return SayNotHere(info.token, there.status());
    arrays.push_back({array.name, *std::move(there)});
  }
  FetchSource(info.token, arrays, {});
}

}  // namespace hawser
