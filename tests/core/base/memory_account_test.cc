#include "core/base/memory_account.h"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

constexpr int64_t kMiB = 1 << 20;

class MemoryAccountTest : public ::testing::Test {
 protected:
  MemoryCharge Take(const MemoryHolderPtr& holder, int64_t bytes,
                    MemoryUse use = MemoryUse::kUpload) {
    auto charge = holder->Take(use, bytes);
    EXPECT_THAT(charge, IsOk());
    return charge.ok() ? *std::move(charge) : MemoryCharge();
  }

  const std::shared_ptr<MemoryAccount> account_ =
      MemoryAccount::Make(16 * kMiB, " (a hint)");
};

TEST_F(MemoryAccountTest, WhatASessionHoldsItsTenantAndTheAccountHold) {
  const MemoryHolderPtr tenant = account_->Tenant("a");
  const MemoryHolderPtr session = tenant->Part("session 7");
  MemoryCharge charge = Take(session, 3 * kMiB);
  EXPECT_EQ(session->held(), 3 * kMiB);
  EXPECT_EQ(tenant->held(), 3 * kMiB);
  EXPECT_EQ(account_->held(), 3 * kMiB);
  const MemoryCharge moved = std::move(charge);
  EXPECT_EQ(account_->held(), 3 * kMiB);
  charge.Reset();
  EXPECT_EQ(account_->held(), 3 * kMiB);
  EXPECT_EQ(account_->Tenant("a"), tenant);
  EXPECT_NE(account_->Tenant("b"), tenant);
}

TEST_F(MemoryAccountTest, GivesBackWhenTheChargeDies) {
  {
    const MemoryCharge charge = Take(account_->Tenant("a"), kMiB);
    EXPECT_EQ(account_->held(), kMiB);
  }
  EXPECT_EQ(account_->held(), 0);
  EXPECT_EQ(account_->peak(), kMiB);
}

TEST_F(MemoryAccountTest, ATenantHoldsAtMostThreeQuarters) {
  const MemoryHolderPtr a = account_->Tenant("a");
  const MemoryCharge most = Take(a->Part("session 1"), 12 * kMiB);
  EXPECT_THAT(a->Part("session 2")->Take(MemoryUse::kUpload, 1),
              StatusIs(StatusCode::kResourceExhausted,
                       "1 bytes of uploads do not fit: tenant a holds 12.0 MiB "
                       "of the 12.0 MiB it may, session 2 0 bytes of these; "
                       "all together hold 12.0 MiB of 16.0 MiB (a hint); "));
  EXPECT_EQ(account_->held(), 12 * kMiB);
  const MemoryCharge other = Take(account_->Tenant("b"), 4 * kMiB);
}

TEST_F(MemoryAccountTest, RefusesBeyondTheWhole) {
  const MemoryCharge a = Take(account_->Tenant("a"), 10 * kMiB);
  EXPECT_THAT(account_->Tenant("b")->Take(MemoryUse::kValue, 7 * kMiB),
              StatusIs(StatusCode::kResourceExhausted, "a hint"));
  EXPECT_EQ(account_->Tenant("b")->TryTake(MemoryUse::kValue, 7 * kMiB).bytes(),
            0);
  const MemoryCharge anyway =
      account_->Own("datasets")->TakeAnyway(MemoryUse::kDataset, 7 * kMiB);
  EXPECT_EQ(account_->held(), 17 * kMiB);
}

TEST_F(MemoryAccountTest, LetsGoOfWhatCanBeHadAgainFirst) {
  auto kept = std::make_shared<std::vector<MemoryCharge>>();
  for (int i = 0; i < 8; ++i) {
    kept->push_back(Take(account_->Own("cache"), kMiB, MemoryUse::kSpare));
  }
  int calls = 0;
  account_->OnPressure(kept, [&calls, kept = kept.get()](int64_t bytes) {
    ++calls;
    for (; bytes > 0 && !kept->empty(); bytes -= kMiB) kept->pop_back();
  });
  const MemoryCharge charge = Take(account_->Tenant("a"), 10 * kMiB);
  EXPECT_EQ(calls, 1);
  EXPECT_LE(account_->held(), 16 * kMiB);
  // More than could ever be had empties no cache.
  const size_t before = kept->size();
  EXPECT_FALSE(account_->Tenant("a")->Take(MemoryUse::kValue, 99 * kMiB).ok());
  EXPECT_EQ(kept->size(), before);
  kept.reset();
  EXPECT_FALSE(account_->Tenant("a")->Take(MemoryUse::kValue, 7 * kMiB).ok());
  EXPECT_EQ(calls, 1);
}

TEST_F(MemoryAccountTest, AnOwnerMayDieOfItsOwnCall) {
  auto owner = std::make_shared<MemoryCharge>(
      Take(account_->Own("cache"), 16 * kMiB, MemoryUse::kSpare));
  account_->OnPressure(owner, [&owner](int64_t) { owner.reset(); });
  // It is kept alive until the call is over, and gone before it is tried again.
  const MemoryCharge charge = Take(account_->Tenant("a"), kMiB);
  EXPECT_EQ(owner, nullptr);
}

TEST_F(MemoryAccountTest, ARegistrationEndsWithItsOwner) {
  int calls = 0;
  {
    const LetGoWhileAlive registration(account_, [&](int64_t) { ++calls; });
    account_->Reclaim(1);
    EXPECT_EQ(calls, 1);
  }
  account_->Reclaim(1);
  EXPECT_EQ(calls, 1);
  const LetGoWhileAlive none(nullptr, [](int64_t) {});
}

TEST_F(MemoryAccountTest, ATallyMovesInSteps) {
  MemoryTally tally(account_->Tenant("a"), MemoryUse::kSession);
  constexpr int64_t kStep = MemoryTally::kLeastStep;
  EXPECT_TRUE(tally.Set(1));
  EXPECT_EQ(account_->held(), kStep);
  EXPECT_TRUE(tally.Set(kStep));
  EXPECT_EQ(account_->held(), kStep);
  EXPECT_TRUE(tally.Set(kStep + 1));
  EXPECT_EQ(account_->held(), 2 * kStep);
  EXPECT_FALSE(tally.Set(13 * kMiB));
  EXPECT_EQ(account_->held(), 2 * kStep);
  EXPECT_TRUE(tally.Set(4 * kMiB));
  EXPECT_TRUE(tally.Set(0));
  EXPECT_LE(account_->held(), kStep);
  MemoryTally of_nobody;
  EXPECT_TRUE(of_nobody.Set(99 * kMiB));
}

// What is charged is never less than the count and at most an eighth and two of
// the smallest steps more; most changes move nothing.
TEST_F(MemoryAccountTest, ATallyIsNearItsCountOnTheWayUpAndDown) {
  MemoryTally tally(account_->Tenant("a"), MemoryUse::kSession);
  int moves = 0;
  int64_t before = 0;
  const auto look = [&](int64_t bytes) {
    ASSERT_TRUE(tally.Set(bytes)) << bytes;
    ASSERT_GE(account_->held(), bytes);
    ASSERT_LE(account_->held(),
              bytes + bytes / 4 + 2 * MemoryTally::kLeastStep);
    moves += account_->held() != before ? 1 : 0;
    before = account_->held();
  };
  constexpr int64_t kOne = 900;
  for (int64_t n = 0; n < 9000; ++n) look(n * kOne);
  for (int64_t n = 9000; n > 0; --n) look(n * kOne);
  EXPECT_LT(moves, 500);
}

TEST_F(MemoryAccountTest, SaysWhoHoldsWhat) {
  const MemoryHolderPtr session = account_->Tenant("a")->Part("session 7");
  const MemoryCharge upload = Take(session, 2 * kMiB);
  const MemoryCharge value = Take(session, kMiB, MemoryUse::kValue);
  const MemoryCharge data =
      Take(account_->Own("datasets"), kMiB, MemoryUse::kDataset);
  EXPECT_EQ(account_->ToString(),
            "held 4.0 MiB of 16.0 MiB, peak 4.0 MiB: tenant a 3.0 MiB; tenant "
            "a session 7 3.0 MiB (uploads 2.0 MiB, values 1.0 MiB); datasets "
            "1.0 MiB (datasets 1.0 MiB)");
}

TEST_F(MemoryAccountTest, ThreadsNeverHoldMoreThanThereIs) {
  std::vector<std::thread> threads;
  std::atomic<bool> beyond{false};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const MemoryHolderPtr holder =
          account_->Tenant(t % 2 == 0 ? "a" : "b")->Part("session");
      for (int i = 0; i < 5000; ++i) {
        MemoryCharge charge =
            holder->TryTake(MemoryUse::kValue, (i % 7 + 1) * kMiB);
        if (charge.bytes() > 0 && holder->held() > 12 * kMiB) beyond = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account_->held(), 0);
  EXPECT_FALSE(beyond);
}

}  // namespace
}  // namespace hawser
