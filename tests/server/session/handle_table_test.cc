#include "server/session/handle_table.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/server/session/stand_ins.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;

constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();

class HandleTableTest : public ::testing::Test {
 protected:
  HandleTable table_{HandleTable::Limits{.handles = 4, .bytes = 100}};
};

// ---- names

struct NameRow {
  const char* name;
  uint64_t first;
  size_t count;
  StatusCode code;
  const char* part;
};

void PrintTo(const NameRow& row, std::ostream* os) { *os << row.name; }

constexpr NameRow kNameRows[] = {
    {"One", 1, 1, StatusCode::kOk, ""},
    {"NoneOfNothing", 0, 0, StatusCode::kOk, ""},
    {"AllThereIsRoomFor", 8, 3, StatusCode::kOk, ""},
    {"TheLastButOne", kLast - 1, 1, StatusCode::kOk, ""},
    {"Zero", 0, 1, StatusCode::kInvalidArgument, "handle 0 is not a handle"},
    {"Reused", 7, 1, StatusCode::kInvalidArgument,
     "handle 7 is in use; a handle is made once"},
    {"TheThirdIsReused", 5, 3, StatusCode::kInvalidArgument,
     "handle 7 is in use"},
    {"PastTheEnd", kLast, 2, StatusCode::kInvalidArgument,
     "handles 18446744073709551615 and up do not fit in 64 bits"},
    {"CountThatWraps", 2, std::numeric_limits<size_t>::max(),
     StatusCode::kInvalidArgument, "do not fit in 64 bits"},
    {"TooMany", 8, 4, StatusCode::kResourceExhausted,
     "the session's limit of 4 handles: it holds 1 values of 4 bytes, the "
     "largest handle 7 with 4 bytes"},
};

class HandleNames : public ::testing::TestWithParam<NameRow> {};

TEST_P(HandleNames, AreChecked) {
  HandleTable table({.handles = 4, .bytes = 100});
  table.Insert(7, ValueOf(1), 4);
  EXPECT_THAT(table.CheckNames(GetParam().first, GetParam().count),
              StatusIs(GetParam().code, GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(Rows, HandleNames, ::testing::ValuesIn(kNameRows),
                         [](const auto& row) { return row.param.name; });

TEST_F(HandleTableTest, RoomIsCountedInBytes) {
  const Shape of80 = Shape::Of(DType::kF32, {20});
  const Shape huge = Shape::Of(DType::kU8, {int64_t{1} << 61});
  EXPECT_OK(table_.CheckRoom({of80}));
  EXPECT_THAT(table_.CheckRoom({of80, of80}),
              StatusIs(StatusCode::kResourceExhausted,
                       "100 bytes does not leave 160 more"));
  // The sum of the sizes must not wrap round to something small.
  EXPECT_THAT(table_.CheckRoom(std::vector<Shape>(9, huge)),
              StatusIs(StatusCode::kResourceExhausted,
                       "does not leave 9223372036854775807 more"));
  table_.Insert(1, ValueOf(1), 80);
  EXPECT_THAT(table_.CheckRoom({of80}),
              StatusIs(StatusCode::kResourceExhausted,
                       "the largest handle 1 with 80 bytes"));
  table_.Release({1});
  EXPECT_OK(table_.CheckRoom({of80}));
  EXPECT_EQ(table_.bytes(), 0);
}

// ---- values and errors

TEST_F(HandleTableTest, AValueIsFoundUntilItIsReleased) {
  table_.Insert(1, ValueOf(5), 4);
  ASSERT_OK_AND_ASSIGN(const Value value, table_.Find(1));
  table_.Release({1});
  EXPECT_THAT(table_.Find(1),
              StatusIs(StatusCode::kNotFound,
                       "handle 1 is not known in this session"));
  ASSERT_OK(value.now);
  EXPECT_EQ(Content(*value.now), 5) << "who found it keeps the buffer";
}

TEST_F(HandleTableTest, UnknownHandlesMayBeReleased) {
  table_.Insert(1, ValueOf(5), 4);
  table_.Release({9, 1, 1, 0});
  EXPECT_EQ(table_.num_handles(), 0);
}

TEST_F(HandleTableTest, AReleaseFreesTheBuffer) {
  BufferPtr buffer = BufferOf(1);
  const std::weak_ptr<runtime::Buffer> watch = buffer;
  table_.Insert(1, Value{.now = std::move(buffer)}, 4);
  EXPECT_FALSE(watch.expired());
  table_.Release({1});
  EXPECT_TRUE(watch.expired());
}

TEST_F(HandleTableTest, AnErrorIsAValueThatTakesNoRoom) {
  table_.Insert(1, Value{.now = DataLoss("first cause")}, 80);
  EXPECT_EQ(table_.bytes(), 0);
  ASSERT_OK_AND_ASSIGN(const Value value, table_.Find(1));
  EXPECT_THAT(value.now, StatusIs(StatusCode::kDataLoss, "first cause"));
}

TEST_F(HandleTableTest, APoisonedValueLosesItsBuffer) {
  BufferPtr buffer = BufferOf(1);
  const std::weak_ptr<runtime::Buffer> watch = buffer;
  table_.Insert(1, Value{.now = std::move(buffer)}, 4);
  table_.Poison(1, Internal("the device fell off"));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(table_.bytes(), 0);
  ASSERT_OK_AND_ASSIGN(const Value value, table_.Find(1));
  EXPECT_THAT(value.now, StatusIs(StatusCode::kInternal, "fell off"));
  table_.Poison(2, Internal("nobody"));
  EXPECT_THAT(table_.Find(2), StatusIs(StatusCode::kNotFound, "handle 2"));
}

// ---- values that come later

TEST_F(HandleTableTest, ADeclaredResultCompletesWithItsFill) {
  Promise<bool> outcome;
  table_.DeclareResult(1, ScalarShape(), outcome.future());
  EXPECT_EQ(table_.bytes(), 4);
  ASSERT_OK_AND_ASSIGN(const Value early, table_.Find(1));
  ASSERT_TRUE(early.later.valid());
  EXPECT_FALSE(early.later.ready());
  table_.Fill(1, ValueOf(3));
  ASSERT_OK_AND_ASSIGN(const BufferPtr buffer, early.later.Await());
  EXPECT_EQ(Content(buffer), 3);
  ASSERT_OK_AND_ASSIGN(const Value late, table_.Find(1));
  EXPECT_FALSE(late.later.valid());
  EXPECT_EQ(table_.bytes(), 4);
}

TEST_F(HandleTableTest, ADeclaredResultCompletesWithItsFirstCause) {
  Promise<bool> outcome;
  table_.DeclareResult(1, ScalarShape(), outcome.future());
  ASSERT_OK_AND_ASSIGN(const Value early, table_.Find(1));
  table_.Poison(1, InvalidArgument("first cause"));
  table_.Fill(1, ValueOf(3));  // too late
  EXPECT_THAT(early.later.Await(),
              StatusIs(StatusCode::kInvalidArgument, "first cause"));
  ASSERT_OK_AND_ASSIGN(const Value late, table_.Find(1));
  EXPECT_THAT(late.now, StatusIs(StatusCode::kInvalidArgument, "first cause"));
  EXPECT_EQ(table_.bytes(), 0);
}

TEST_F(HandleTableTest, AReleasedDeclarationWaitsForWhoeverAwaitsIt) {
  table_.DeclareUpload(1, ScalarShape());
  ASSERT_OK_AND_ASSIGN(const Value awaited, table_.Find(1));
  table_.Release({1});
  EXPECT_THAT(table_.Find(1), StatusIs(StatusCode::kNotFound, "handle 1"));
  EXPECT_THAT(table_.BeginUpload(1), IsOk());
  table_.FinishUpload(1, BufferOf(7));
  ASSERT_OK_AND_ASSIGN(const BufferPtr buffer, awaited.later.Await());
  EXPECT_EQ(Content(buffer), 7);
  EXPECT_EQ(table_.num_handles(), 0);
  EXPECT_EQ(table_.bytes(), 0);
}

TEST_F(HandleTableTest, AReleasedDeclarationNobodyAwaitsGoesAtOnce) {
  table_.DeclareUpload(1, ScalarShape());
  table_.Release({1});
  EXPECT_EQ(table_.num_handles(), 0);
  EXPECT_EQ(table_.bytes(), 0);
  EXPECT_THAT(table_.BeginUpload(1), StatusIs(StatusCode::kNotFound, ""));
  table_.Fill(1, ValueOf(1));  // nothing to fill
  EXPECT_EQ(table_.num_handles(), 0);
}

TEST_F(HandleTableTest, AFillMayFindTheTableFromItsCallback) {
  table_.DeclareUpload(1, ScalarShape());
  ASSERT_OK_AND_ASSIGN(const Value awaited, table_.Find(1));
  int64_t seen = -1;
  awaited.later.OnReady([&](const auto&) { seen = table_.num_handles(); });
  table_.Fill(1, ValueOf(1));
  EXPECT_EQ(seen, 1) << "no lock is held while others are told";
}

// ---- uploads on side streams

TEST_F(HandleTableTest, OneUploadFillsItsHandleOnce) {
  table_.DeclareUpload(1, ScalarShape());
  ASSERT_OK_AND_ASSIGN(std::optional<Shape> shape, table_.BeginUpload(1));
  EXPECT_EQ(shape, ScalarShape());
  EXPECT_THAT(table_.BeginUpload(1),
              StatusIs(StatusCode::kUnavailable,
                       "another upload is filling handle 1"));
  table_.FinishUpload(1, Cancelled("the link broke"));
  EXPECT_THAT(table_.BeginUpload(1), IsOk()) << "another attempt may begin";
  table_.FinishUpload(1, BufferOf(2));
  ASSERT_OK_AND_ASSIGN(shape, table_.BeginUpload(1));
  EXPECT_EQ(shape, std::nullopt) << "a repeat: it is there already";
}

TEST_F(HandleTableTest, OnlyAStreamedUploadMayBeFilledFromOutside) {
  Promise<bool> outcome;
  table_.Insert(1, ValueOf(1), 4);
  table_.DeclareResult(2, ScalarShape(), outcome.future());
  for (uint64_t handle : {1, 2}) {
    EXPECT_THAT(table_.BeginUpload(handle),
                StatusIs(StatusCode::kInvalidArgument,
                         "is not declared as a streamed upload"));
  }
  EXPECT_THAT(table_.BeginUpload(3),
              StatusIs(StatusCode::kNotFound, "handle 3 is not known"));
}

TEST_F(HandleTableTest, AFailedUploadIsNotTakenForARepeat) {
  table_.DeclareUpload(1, ScalarShape());
  ASSERT_OK(table_.BeginUpload(1));
  table_.Poison(1, ResourceExhausted("no memory"));
  EXPECT_THAT(table_.BeginUpload(1),
              StatusIs(StatusCode::kInvalidArgument, "not declared"));
}

// ---- the end

TEST_F(HandleTableTest, ClosingFreesEverythingAndTellsWhoWaits) {
  BufferPtr buffer = BufferOf(1);
  const std::weak_ptr<runtime::Buffer> watch = buffer;
  table_.Insert(1, Value{.now = std::move(buffer)}, 4);
  table_.DeclareUpload(2, ScalarShape());
  ASSERT_OK_AND_ASSIGN(const Value awaited, table_.Find(2));
  table_.Close(Unavailable("the lease is over"));
  EXPECT_TRUE(watch.expired());
  EXPECT_THAT(awaited.later.Await(),
              StatusIs(StatusCode::kUnavailable, "the lease is over"));
  EXPECT_EQ(table_.num_handles(), 0);
  EXPECT_EQ(table_.bytes(), 0);
}

TEST_F(HandleTableTest, AClosedTableTakesNothing) {
  table_.Close(Unavailable("the lease is over"));
  EXPECT_THAT(table_.CheckNames(1, 1),
              StatusIs(StatusCode::kUnavailable, "the session is over"));
  table_.Insert(1, ValueOf(1), 4);
  table_.DeclareUpload(2, ScalarShape());
  EXPECT_EQ(table_.num_handles(), 0);
  EXPECT_EQ(table_.bytes(), 0);
}

TEST(HandleTable, ItsDeathTellsWhoWaits) {
  Future<BufferPtr> later;
  {
    HandleTable table({});
    table.DeclareUpload(1, ScalarShape());
    later = table.Find(1)->later;
  }
  EXPECT_THAT(later.Await(),
              StatusIs(StatusCode::kUnavailable, "the session is over"));
}

TEST(HandleTable, FillsReleasesAndTheEndMayMeet) {
  constexpr uint64_t kHandles = 200;
  HandleTable table({});
  std::vector<Future<BufferPtr>> waiting;
  for (uint64_t h = 1; h <= kHandles; ++h) {
    table.DeclareUpload(h, ScalarShape());
    if (h % 2 == 0) waiting.push_back(table.Find(h)->later);
  }
  std::thread fill([&] {
    for (uint64_t h = 1; h <= kHandles; ++h) table.Fill(h, ValueOf(1));
  });
  std::thread release([&] {
    for (uint64_t h = kHandles; h > kHandles / 4; --h) table.Release({h});
  });
  fill.join();
  release.join();
  table.Close(Unavailable("done"));
  for (const auto& value : waiting) EXPECT_THAT(value.Await(), IsOk());
  EXPECT_EQ(table.bytes(), 0);
}

TEST_F(HandleTableTest, KeepsWhatWasUsedUntilItCloses) {
  const auto thing = std::make_shared<const int>(7);
  EXPECT_EQ(table_.FindUsed("hw1-a:x"), nullptr);
  table_.KeepUsed("hw1-a:x", thing);
  EXPECT_EQ(table_.FindUsed("hw1-a:x"), thing);
  EXPECT_EQ(table_.FindUsed("hw1-a:y"), nullptr);
  for (int i = 0; i < 10000; ++i) {
    table_.KeepUsed(absl::StrCat("hw1-b:", i), thing);
  }
  EXPECT_LT(thing.use_count(), 5000) << "there is a bound";
  EXPECT_EQ(table_.FindUsed("hw1-b:9999"), thing);
  table_.Close(absl::CancelledError("over"));
  table_.KeepUsed("hw1-a:x", thing);
  EXPECT_EQ(thing.use_count(), 1);
}

}  // namespace
}  // namespace hawser::server
