// Tags: names that tenants give datasets.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/datasets/storage/record.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/allocation_meter.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::string_view kMe = "me";

absl::Status Tag(DatasetStore& store, absl::string_view tenant,
                 const DatasetTag& tag) {
  Promise<bool> promise;
  store.Tag(tenant, tag, [&](const absl::Status& status) {
    if (status.ok()) {
      promise.Set(true);
    } else {
      promise.Set(status);
    }
  });
  return promise.future().Await().status();
}

class TagTest : public StoreTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Reopen();
    a_ = Put(store(), kMe, Alone(SomeBytes(10, 1)))->token;
    b_ = Put(store(), kMe, Alone(SomeBytes(10, 2)))->token;
  }
  void Reopen() {
    if (GetParam()) {
      Open();
    } else {
      OpenInMemory();
    }
  }
  absl::Status Set(std::string name, std::string token,
                   std::optional<std::string> expected = std::nullopt) {
    return Tag(store(), kMe, {std::move(name), std::move(token), expected});
  }
  std::string a_, b_;
};

// F14c: each write copied all names, under the lock, before its turn came.
TEST_P(TagTest, OneWriteTakesAllThatWaitForIt) {
  constexpr int kTags = 2000;
  std::vector<Promise<bool>> saved(kTags);
  AllocationMeter meter;
  for (int i = 0; i < kTags; ++i) {
    store().Tag(kMe, {absl::StrCat("@tag", i), a_, std::nullopt},
                [&promise = saved[i]](const absl::Status& status) {
                  promise.Set(status.ok());
                });
  }
  for (auto& promise : saved) EXPECT_TRUE(*promise.future().Await());
  EXPECT_LT(meter.peak(), 20 << 20) << "2,000 copies are 200 MB";
  EXPECT_EQ(store().Stat(kMe, a_)->tags.size(), 2000u);
  if (!GetParam()) return;
  Reopen();
  EXPECT_EQ(store().Stat(kMe, "@tag1999")->token, a_);
}

TEST_P(TagTest, StandsForADatasetWhereverATokenMay) {
  ASSERT_OK(Set("@mnist/v1.0", a_));
  auto info = store().Stat(kMe, "@mnist/v1.0");
  ASSERT_OK(info);
  EXPECT_EQ(info->token, a_);
  EXPECT_THAT(info->tags, ElementsAre("@mnist/v1.0"));
  EXPECT_OK(store().Find(kMe, "@mnist/v1.0", "").status());
  ASSERT_OK(Set("@latest", a_));
  EXPECT_THAT(store().Stat(kMe, a_)->tags,
              ElementsAre("@latest", "@mnist/v1.0"));
  // It moves, and goes.
  ASSERT_OK(Set("@latest", b_));
  EXPECT_EQ(store().Stat(kMe, "@latest")->token, b_);
  EXPECT_THAT(store().Stat(kMe, a_)->tags, ElementsAre("@mnist/v1.0"));
  ASSERT_OK(Set("@latest", ""));
  EXPECT_THAT(store().Stat(kMe, "@latest"),
              StatusIs(StatusCode::kNotFound, "tag @latest"));
  EXPECT_THAT(store().Stat(kMe, b_)->tags, IsEmpty());
  EXPECT_OK(Set("@latest", "")) << "gone is gone";
}

TEST_P(TagTest, ComparesBeforeItSets) {
  ASSERT_OK(Set("@x", a_, ""));
  EXPECT_THAT(Set("@x", b_, ""),
              StatusIs(StatusCode::kAborted, absl::StrCat("names ", a_)));
  EXPECT_THAT(Set("@x", b_, b_), StatusIs(StatusCode::kAborted, a_));
  EXPECT_EQ(store().Stat(kMe, "@x")->token, a_);
  ASSERT_OK(Set("@x", b_, a_));
  EXPECT_EQ(store().Stat(kMe, "@x")->token, b_);
  EXPECT_THAT(Set("@y", a_, a_),
              StatusIs(StatusCode::kAborted, "names nothing"));
  EXPECT_THAT(Set("@x", "", a_), StatusIs(StatusCode::kAborted, b_));
  EXPECT_OK(Set("@x", "", b_));
}

TEST_P(TagTest, IsATenantsOwn) {
  ASSERT_OK(Set("@x", a_));
  EXPECT_THAT(store().Stat("you", "@x"),
              StatusIs(StatusCode::kNotFound, "tag @x"));
  EXPECT_THAT(Tag(store(), "you", {"@x", a_, std::nullopt}),
              StatusIs(StatusCode::kNotFound, a_));
}

TEST_P(TagTest, OutlivesItsDataset) {
  ASSERT_OK(Set("@x", a_));
  Promise<bool> gone;
  store().Delete(kMe, "@x", [&](const absl::Status& status) {
    EXPECT_OK(status);
    gone.Set(true);
  });
  ASSERT_OK(gone.future().Await());
  EXPECT_THAT(store().Stat(kMe, "@x"), StatusIs(StatusCode::kNotFound, a_));
  ASSERT_OK(Put(store(), kMe, Alone(SomeBytes(10, 1))));
  EXPECT_EQ(store().Stat(kMe, "@x")->token, a_);
  EXPECT_THAT(store().Stat(kMe, a_)->tags, ElementsAre("@x"));
}

TEST_P(TagTest, MustBeOne) {
  for (const std::string& name :
       {std::string(), std::string("x"), std::string("@"), std::string("@a b"),
        std::string("@\n"), "@" + std::string(129, 'a'), a_}) {
    EXPECT_THAT(Set(name, a_),
                StatusIs(StatusCode::kInvalidArgument, "is no tag"));
  }
  EXPECT_OK(Set("@" + std::string(128, 'a'), a_));
  EXPECT_THAT(Set("@x", "@x"), StatusIs(StatusCode::kInvalidArgument, "@x"));
  EXPECT_THAT(store().Stat(kMe, "@a b"),
              StatusIs(StatusCode::kInvalidArgument, "is no tag"));
}

INSTANTIATE_TEST_SUITE_P(Where, TagTest, ::testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "OnDisk" : "InMemory";
                         });

class NamesOnDiskTest : public StoreTest {};

TEST_F(NamesOnDiskTest, OutliveARestart) {
  Open();
  const std::string token = Put(store(), kMe, Alone(SomeBytes(10, 1)))->token;
  ASSERT_OK(Tag(store(), kMe, {"@x", token, std::nullopt}));
  Open();
  EXPECT_EQ(store().Stat(kMe, "@x")->token, token);
  EXPECT_THAT(store().Stat(kMe, token)->tags, ElementsAre("@x"));
  EXPECT_THAT(store().Stat("you", "@x").status(),
              StatusIs(StatusCode::kNotFound, "@x"));
}

TEST_F(NamesOnDiskTest, ADamagedFileIsSetAsideAndTheRestIsThere) {
  Open();
  const std::string token = Put(store(), kMe, Alone(SomeBytes(10, 1)))->token;
  ASSERT_OK(Tag(store(), kMe, {"@x", token, std::nullopt}));
  store().Stop(absl::InfiniteFuture());
  const std::string path = folder_.Find("names", "").at(0);
  std::string bytes = ReadWhole(path);
  bytes[bytes.size() / 2] ^= 1;
  WriteWhole(path, bytes);
  Open();
  EXPECT_EQ(store().statistics().bad_files, 1);
  EXPECT_OK(store().Stat(kMe, token).status());
  EXPECT_THAT(store().Stat(kMe, "@x").status(),
              StatusIs(StatusCode::kNotFound, "@x"));
}

TEST(NamesRecordTest, ComesBackAsItWent) {
  NamesRecord record{"me",
                     {{"@a", Sha256({"1", 1})}, {"@b", Sha256({"2", 1})}},
                     {{Sha256({"3", 1}), absl::FromUnixMillis(12345)},
                      {Sha256({"4", 1}), absl::InfiniteFuture()}}};
  const std::string bytes = EncodeNames(record);
  auto back = DecodeNames(bytes);
  ASSERT_OK(back);
  EXPECT_EQ(back->tenant, "me");
  EXPECT_EQ(back->tags, record.tags);
  EXPECT_EQ(back->pins, record.pins);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THAT(DecodeNames(bytes.substr(0, n)).status(),
                StatusIs(StatusCode::kDataLoss, ""))
        << n;
  }
}

}  // namespace
}  // namespace hawser::server
