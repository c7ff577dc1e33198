#include "core/base/memory_account.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr absl::string_view kUseNames[kMemoryUses] = {
    "session state", "waiting requests",  "uploads",
    "values",        "executables",       "kept answers",
    "datasets",      "index of datasets", "spare"};

std::string Quantity(int64_t bytes) {
  if (bytes < 1 << 20) return absl::StrCat(bytes, " bytes");
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string UsesText(const std::array<int64_t, kMemoryUses>& uses) {
  std::string out;
  for (size_t i = 0; i < kMemoryUses; ++i) {
    if (uses[i] == 0) continue;
    absl::StrAppend(&out, out.empty() ? "" : ", ", kUseNames[i], " ",
                    Quantity(uses[i]));
  }
  return out;
}

}  // namespace

absl::string_view MemoryUseName(MemoryUse use) {
  return kUseNames[static_cast<size_t>(use)];
}

// ---- MemoryCharge ---------------------------------------------------------

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  holder_ = std::move(other.holder_);
  use_ = other.use_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void MemoryCharge::Reset() {
  if (holder_ == nullptr) return;
  holder_->Add(use_, -bytes_);
  holder_ = nullptr;
  bytes_ = 0;
}

// ---- MemoryHolder ---------------------------------------------------------

MemoryHolder::MemoryHolder(std::shared_ptr<MemoryAccount> account,
                           std::shared_ptr<MemoryHolder> parent,
                           std::string name, int64_t limit)
    : account_(std::move(account)),
      parent_(std::move(parent)),
      name_(std::move(name)),
      limit_(limit) {}

void MemoryHolder::Add(MemoryUse use, int64_t bytes) {
  uses_[static_cast<size_t>(use)].fetch_add(bytes, std::memory_order_relaxed);
  for (MemoryHolder* at = this; at != nullptr; at = at->parent_.get()) {
    at->held_.fetch_add(bytes, std::memory_order_relaxed);
  }
  const int64_t before =
      account_->held_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > 0) account_->NotePeak(before + bytes);
}

bool MemoryHolder::AddWithin(MemoryUse use, int64_t bytes) {
  Add(use, bytes);
  bool fits = account_->held() <= account_->limit();
  for (MemoryHolder* at = this; fits && at != nullptr; at = at->parent_.get()) {
    fits = at->held() <= at->limit_;
  }
  if (!fits) Add(use, -bytes);
  return fits;
}

MemoryCharge MemoryHolder::ChargeOf(MemoryUse use, int64_t bytes) {
  MemoryCharge charge;
  charge.holder_ = shared_from_this();
  charge.use_ = use;
  charge.bytes_ = bytes;
  return charge;
}

MemoryCharge MemoryHolder::TryTake(MemoryUse use, int64_t bytes) {
  if (!AddWithin(use, bytes)) return MemoryCharge();
  return ChargeOf(use, bytes);
}

MemoryCharge MemoryHolder::TakeAnyway(MemoryUse use, int64_t bytes) {
  Add(use, bytes);
  return ChargeOf(use, bytes);
}

absl::StatusOr<MemoryCharge> MemoryHolder::Take(MemoryUse use, int64_t bytes) {
  if (AddWithin(use, bytes)) return ChargeOf(use, bytes);
  // More than was ever to be had: no reason to empty the caches.
  if (bytes > limit_ || bytes > account_->limit()) return Refusal(use, bytes);
  account_->Reclaim(bytes);
  if (AddWithin(use, bytes)) return ChargeOf(use, bytes);
  return Refusal(use, bytes);
}

absl::Status MemoryHolder::Refusal(MemoryUse use, int64_t bytes) const {
  const MemoryHolder* top = this;
  while (top->parent_ != nullptr) top = top->parent_.get();
  // The error says no more of other tenants than their sum.
  std::string out = absl::StrCat(bytes, " bytes of ", MemoryUseName(use),
                                 " do not fit: ", top->name_, " holds ",
                                 Quantity(top->held()), " of the ",
                                 Quantity(top->limit_), " it may");
  if (top != this) {
    absl::StrAppend(&out, ", ", name_, " ", Quantity(held()), " of these");
  }
  std::array<int64_t, kMemoryUses> uses{};
  for (size_t i = 0; i < kMemoryUses; ++i) uses[i] = uses_[i].load();
  const std::string own = UsesText(uses);
  if (!own.empty()) absl::StrAppend(&out, " (", own, ")");
  absl::StrAppend(&out, "; all together hold ", Quantity(account_->held()),
                  " of ", Quantity(account_->limit()), account_->hint_);
  if (bytes > account_->limit()) {
    absl::StrAppend(&out, "; that is more than there is, at any time");
  } else {
    absl::StrAppend(&out,
                    use == MemoryUse::kIndex ? "; delete datasets or tags"
                                             : "; release values",
                    ", or try again later");
  }
  return absl::ResourceExhaustedError(out);
}

MemoryHolderPtr MemoryHolder::Part(std::string name) {
  return account_->Register(MemoryHolderPtr(
      new MemoryHolder(account_, shared_from_this(), std::move(name), limit_)));
}

// ---- MemoryAccount --------------------------------------------------------

std::shared_ptr<MemoryAccount> MemoryAccount::Make(int64_t limit,
                                                   std::string hint) {
  return std::shared_ptr<MemoryAccount>(
      new MemoryAccount(limit, std::move(hint)));
}

MemoryHolderPtr MemoryAccount::Tenant(absl::string_view name) {
  return Find(absl::StrCat("tenant ", name), limit_ / 4 * 3);
}

MemoryHolderPtr MemoryAccount::Own(absl::string_view name) {
  return Find(name, limit_);
}

MemoryHolderPtr MemoryAccount::Find(absl::string_view name, int64_t limit) {
  // Outlives the lock: the last of a holder may die here.
  std::vector<MemoryHolderPtr> looked_at;
  MutexLock lock(&mu_);
  for (const auto& weak : holders_) {
    MemoryHolderPtr holder = weak.lock();
    if (holder == nullptr) continue;
    looked_at.push_back(holder);
    if (holder->parent_ == nullptr && holder->name_ == name) return holder;
  }
  MemoryHolderPtr fresh(
      new MemoryHolder(shared_from_this(), nullptr, std::string(name), limit));
  holders_.push_back(fresh);
  return fresh;
}

MemoryHolderPtr MemoryAccount::Register(MemoryHolderPtr holder) {
  MutexLock lock(&mu_);
  if (holders_.size() >= sweep_at_) {
    holders_.erase(std::remove_if(holders_.begin(), holders_.end(),
                                  [](const auto& h) { return h.expired(); }),
                   holders_.end());
    sweep_at_ = 2 * holders_.size() + 64;
  }
  holders_.push_back(holder);
  return holder;
}

void MemoryAccount::NotePeak(int64_t held) {
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (held > peak && held <= limit_ &&
         !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
  }
}

void MemoryAccount::OnPressure(std::weak_ptr<void> owner, LetGo let_go) {
  MutexLock lock(&reclaim_mu_);
  reclaimers_.push_back({std::move(owner), std::move(let_go)});
}

void MemoryAccount::Reclaim(int64_t bytes) {
  std::vector<std::shared_ptr<void>> owners;  // die after the lock
  MutexLock lock(&reclaim_mu_);
  const int64_t before = held();
  for (auto at = reclaimers_.begin(); at != reclaimers_.end();) {
    auto owner = at->owner.lock();
    if (owner == nullptr) {
      at = reclaimers_.erase(at);
      continue;
    }
    owners.push_back(std::move(owner));
    const int64_t freed = std::max<int64_t>(before - held(), 0);
    if (freed >= bytes) return;
    at->let_go(bytes - freed);
    ++at;
  }
}

std::vector<MemoryAccount::Row> MemoryAccount::Rows() const {
  std::vector<MemoryHolderPtr> holders;
  {
    MutexLock lock(&mu_);
    for (const auto& weak : holders_) {
      if (MemoryHolderPtr holder = weak.lock()) holders.push_back(holder);
    }
  }
  std::vector<Row> rows;
  for (const MemoryHolderPtr& holder : holders) {
    if (holder->held() == 0) continue;
    Row row;
    row.name = holder->parent_ == nullptr
                   ? holder->name_
                   : absl::StrCat(holder->parent_->name_, " ", holder->name_);
    row.held = holder->held();
    for (size_t i = 0; i < kMemoryUses; ++i) row.uses[i] = holder->uses_[i];
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.held > b.held; });
  return rows;
}

std::string MemoryAccount::ToString() const {
  constexpr size_t kMostRows = 20;
  std::string out = absl::StrCat("held ", Quantity(held()), " of ",
                                 Quantity(limit_), ", peak ", Quantity(peak()));
  const std::vector<Row> rows = Rows();
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const std::string uses = UsesText(rows[i].uses);
    absl::StrAppend(&out, i == 0 ? ": " : "; ", rows[i].name, " ",
                    Quantity(rows[i].held), uses.empty() ? "" : " (", uses,
                    uses.empty() ? "" : ")");
  }
  if (rows.size() > kMostRows) {
    absl::StrAppend(&out, "; and ", rows.size() - kMostRows, " more");
  }
  return out;
}

// ---- LetGoWhileAlive ------------------------------------------------------

LetGoWhileAlive::LetGoWhileAlive(const std::shared_ptr<MemoryAccount>& account,
                                 MemoryAccount::LetGo let_go) {
  if (account == nullptr) return;
  {
    MutexLock lock(&state_->mu);
    state_->let_go = std::move(let_go);
  }
  account->OnPressure(state_, [state = state_.get()](int64_t bytes) {
    MutexLock lock(&state->mu);
    if (state->let_go != nullptr) state->let_go(bytes);
  });
}

LetGoWhileAlive::~LetGoWhileAlive() {
  MutexLock lock(&state_->mu);
  state_->let_go = nullptr;
}

// ---- MemoryTally ----------------------------------------------------------

int64_t MemoryTally::StepOf(int64_t bytes) {
  int64_t step = kLeastStep;
  while (step < kMostStep && 16 * step <= bytes) step *= 2;
  return step;
}

namespace {

int64_t Rounded(int64_t bytes) {
  const int64_t step = MemoryTally::StepOf(bytes);
  return (bytes + step - 1) / step * step;
}

}  // namespace

bool MemoryTally::Set(int64_t bytes) {
  const int64_t charged = charge_.bytes();
  if (bytes <= charged && bytes + 2 * StepOf(bytes) > charged) return true;
  const int64_t wanted = Rounded(bytes);
  if (holder_ == nullptr || wanted == charged) return true;
  if (wanted == 0) {
    charge_.Reset();
    return true;
  }
  if (wanted < charged) {
    charge_ = holder_->TakeAnyway(use_, wanted);
    return true;
  }
  MemoryCharge more = holder_->TryTake(use_, wanted - charged);
  if (more.bytes() == 0) return false;
  MemoryCharge whole = holder_->TakeAnyway(use_, wanted);
  charge_ = std::move(whole);
  return true;
}

void MemoryTally::SetAnyway(int64_t bytes) {
  if (!Set(bytes)) charge_ = holder_->TakeAnyway(use_, Rounded(bytes));
}

}  // namespace hawser
