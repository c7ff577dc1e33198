// Values of all sizes in both directions, and datasets.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/remote/link/transfers.h"
#include "core/base/digest.h"
#include "core/runtime/datasets.h"
#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

// f32[n]: 0, 1, 2, ... so that misplaced bytes show.
Literal Counting(int64_t n) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
  auto values = out.mutable_data<float>();
  std::iota(values.begin(), values.end(), 0.0f);
  return out;
}

// In bytes of u8.
Literal Bytes(int64_t n) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU8, {n}));
  auto values = out.mutable_data<uint8_t>();
  // No two chunks alike.
  for (int64_t i = 0; i < n; ++i) {
    values[i] = static_cast<uint8_t>(i * 7 + (i >> 20) + 3);
  }
  return out;
}

using TransferTest = RemoteTest;

TEST_F(TransferTest, UploadAndFetchOfAllSizes) {
  const int64_t k = 64 << 10;
  for (int64_t n : {k * 0, k / k, k - 1, k, k + 1, k * 160}) {
    SCOPED_TRACE(n);
    const Literal value = Bytes(n);
    ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(value, Soon()));
    ASSERT_OK_AND_ASSIGN(const Literal back, FetchOf(x));
    EXPECT_THAT(back, LiteralBitEquals(value));
  }
  EXPECT_EQ(server.counts().downloads, 2);  // above 64 KiB
  EXPECT_TRUE(server.WaitForHandles(0));
}

TEST_F(TransferTest, ResultsOfAllSizes) {
  for (int64_t n : {0, 1, 1024, 1025, 16384, 16385, 1 << 20}) {
    SCOPED_TRACE(n);
    auto plus_one = CompilePlusOne(n);
    ASSERT_OK_AND_ASSIGN(BufferPtr y, Step(*plus_one, Counting(n)));
    ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(y));
    ASSERT_EQ(value.shape().dim(0), n);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(value.data<float>()[i], static_cast<float>(i) + 1);
    }
  }
  // 4 KiB come along; up to 64 KiB are fetched, the rest downloaded.
  EXPECT_EQ(server.counts().fetches, 4);
  EXPECT_EQ(server.counts().downloads, 2);
}

TEST_F(TransferTest, ValueIsKeptUntilItIsSent) {
  auto plus_one = CompilePlusOne(1 << 16);
  server.Freeze(true);
  // The only Literal of those bytes is inside the client now.
  ASSERT_OK_AND_ASSIGN(BufferPtr y, Step(*plus_one, Counting(1 << 16)));
  server.Freeze(false);
  ASSERT_OK_AND_ASSIGN(const Literal back, FetchOf(y));
  EXPECT_EQ(back.data<float>()[65535], 65536);
  // The temporary handle of the argument goes by itself.
  EXPECT_TRUE(server.WaitForHandles(1));
}

TEST_F(TransferTest, BrokenSideStreamIsTriedAgain) {
  ASSERT_OK(client->capabilities());
  server.FailUploads(2);
  const Literal value = Counting(1 << 16);
  ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(value, Soon()));
  ASSERT_OK_AND_ASSIGN(const Literal back, FetchOf(x));
  EXPECT_THAT(back, LiteralBitEquals(value));
}

TEST_F(TransferTest, FetchSurvivesItsBuffer) {
  ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(Counting(1 << 16), {}));
  Future<Literal> fetched = x->Fetch(Soon());
  x.reset();
  EXPECT_OK(fetched.Await());
  EXPECT_TRUE(server.WaitForHandles(0));
}

// Ends as it is told, attempt by attempt.
class ScriptedTransfer final : public Transfer {
 public:
  explicit ScriptedTransfer(std::vector<absl::Status> ends)
      : ends_(std::move(ends)) {}
  bool Wanted() const override { return true; }
  absl::Status Run(const CancelToken&) override { return ends_[runs_++]; }
  bool MayRetry() const override { return runs_ < ends_.size(); }
  bool InSession() const override { return true; }
  void Done(const absl::Status& status) override {
    done_.Set(status.ok() ? absl::StatusOr<bool>(true) : status);
  }
  absl::Status Await() { return done_.future().Await().status(); }

 private:
  const std::vector<absl::Status> ends_;
  size_t runs_ = 0;  // of the one thread that runs it
  Promise<bool> done_;
};

TEST(TransfersTest, AServerThatDoesNotKnowTheSessionHasLostIt) {
  Transfers transfers(1, absl::Seconds(60));
  const absl::Status unknown = NotFound("session 7 is not known");
  const auto lost = std::make_shared<ScriptedTransfer>(
      std::vector<absl::Status>{unknown, unknown});
  transfers.Add(lost);
  EXPECT_THAT(lost->Await(), StatusIs(absl::StatusCode::kUnavailable,
                                      "session 7 is not known"));
  const auto found = std::make_shared<ScriptedTransfer>(
      std::vector<absl::Status>{unknown, absl::OkStatus()});
  transfers.Add(found);
  EXPECT_OK(found->Await());
}

DatasetSource Images() {
  return {{{"y", Bytes(10)}, {"x", Bytes((9 << 20) + 1)}}};
}

TEST_F(TransferTest, DatasetIsPutOnce) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo first,
                       client->datasets().Put(Images(), Soon()));
  EXPECT_EQ(first.bytes, (9 << 20) + 11);
  EXPECT_EQ(first.sent_bytes, first.bytes);
  EXPECT_TRUE(first.durable);
  EXPECT_EQ(server.counts().put_bytes, first.bytes);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo again,
                       client->datasets().Put(Images(), Soon()));
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.sent_bytes, 0);
  EXPECT_EQ(server.counts().put_bytes, first.bytes);
}

// Images(), of which every value counts how often it is made.
DatasetSource LazyImages(std::atomic<int>* made) {
  DatasetSource source = Images();
  for (DatasetSource::Array& array : source.arrays) {
    array.chunks = ManifestOf({{array}}, 1).arrays[0].chunks;
    const Literal value = std::exchange(array.value, Literal());
    array.lazy = LazyValue{value.shape(), [made, value] {
                             ++*made;
                             return value;
                           }};
  }
  return source;
}

TEST_F(TransferTest, LazyValuesAreMadeForAServerThatLacksThem) {
  std::atomic<int> made{0};
  const DatasetSource lazy = LazyImages(&made);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo first,
                       client->datasets().Put(lazy, Soon()));
  EXPECT_EQ(first.sent_bytes, first.bytes);
  EXPECT_EQ(made, 2);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo again,
                       client->datasets().Put(lazy, Soon()));
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.sent_bytes, 0);
  EXPECT_EQ(made, 2);
  // Beside a value of which nothing is known.
  DatasetSource mixed = lazy;
  mixed.arrays.push_back({"z", Bytes(20)});
  ASSERT_OK_AND_ASSIGN(const DatasetInfo more,
                       client->datasets().Put(mixed, Soon()));
  EXPECT_EQ(more.sent_bytes, 20);
  EXPECT_EQ(made, 2);
  // What was found and is evicted before the commit.
  server.LoseChunkBeforeCommit();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo lost,
                       client->datasets().Put(lazy, Soon()));
  EXPECT_GT(lost.sent_bytes, 0);
  EXPECT_EQ(made, 3) << "only the array it is of";
}

// 128 MiB of zeros that take no memory, but for their first chunk; counts how
// many of them there are at once.
class LargeArrays {
 public:
  static constexpr int64_t kBytes = int64_t{128} << 20;

  Literal Make(char first) {
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                -1, 0);
    HAWSER_CHECK(memory != MAP_FAILED);
    *static_cast<char*>(memory) = first;
    most_ = std::max<int>(most_, ++alive_);
    return Literal::Adopt(
        Shape::Of(DType::kU8, {kBytes}),
        std::shared_ptr<const char>(static_cast<const char*>(memory),
                                    [this](const char* at) {
                                      ::munmap(const_cast<char*>(at), kBytes);
                                      --alive_;
                                    }));
  }
  // Lazy ones with their digests.
  DatasetSource Source(int count) {
    const std::string zeros(kChunkBytes, '\0');
    const Digest rest = Sha256(absl::MakeSpan(zeros));
    DatasetSource source;
    for (int i = 0; i < count; ++i) {
      const char first = static_cast<char>(i + 1);
      std::string front = zeros;
      front[0] = first;
      std::vector<Digest> chunks(kBytes / kChunkBytes, rest);
      chunks[0] = Sha256(absl::MakeSpan(front));
      source.arrays.push_back(
          {.name = absl::StrCat("x", i),
           .chunks = std::move(chunks),
           .lazy = LazyValue{Shape::Of(DType::kU8, {kBytes}),
                             [this, first] { return Make(first); }}});
    }
    return source;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> alive_{0};
  int most_ = 0;  // values are made by one thread
};

TEST_F(TransferTest, LazyValuesAreNotAllMadeAtOnce) {
  LargeArrays arrays;
  const DatasetSource source = arrays.Source(5);
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client->datasets().Put(source, Within(absl::Seconds(60))));
  EXPECT_EQ(info.bytes, 5 * LargeArrays::kBytes);
  EXPECT_EQ(info.sent_bytes, 6 * kChunkBytes);
  // 256 MiB at a time.
  EXPECT_EQ(arrays.most(), 2);
}

TEST_F(TransferTest, ALazyValueThatCannotBeMadeIsTheErrorOfItsPut) {
  std::atomic<int> made{0};
  DatasetSource lazy = LazyImages(&made);
  lazy.arrays[1].lazy->make = [] { return NotFound("the file is gone"); };
  EXPECT_THAT(client->datasets().Put(lazy, Soon()),
              StatusIs(absl::StatusCode::kNotFound, "the file is gone"));
  lazy.arrays[1].lazy->make = [] { return Bytes(3); };
  EXPECT_THAT(client->datasets().Put(lazy, Soon()),
              StatusIs(absl::StatusCode::kAborted, "array \"x\" is now u8[3]"));
  // Not what its digests say: no server takes that.
  lazy.arrays[1].lazy->make = [&lazy] {
    return Literal::Zeros(lazy.arrays[1].shape());
  };
  EXPECT_FALSE(client->datasets().Put(lazy, Soon()).ok());
}

TEST_F(TransferTest, EqualChunksAreSentOnce) {
  const Literal zeros = Literal::Zeros(Shape::Of(DType::kU8, {20 << 20}));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", zeros}}}, Soon()));
  EXPECT_EQ(info.bytes, 20 << 20);
  EXPECT_EQ(info.sent_bytes, kChunkBytes);
}

TEST_F(TransferTest, PutReportsProgressToTheEnd) {
  Mutex mu;
  int64_t last = 0, calls = 0;
  runtime::CallOptions call = Soon();
  call.progress = [&](int64_t done, int64_t total) {
    MutexLock lock(&mu);
    EXPECT_EQ(total, (9 << 20) + 11);
    last = std::max(last, done);
    ++calls;
  };
  ASSERT_OK(client->datasets().Put(Images(), call));
  MutexLock lock(&mu);
  EXPECT_EQ(last, (9 << 20) + 11);
  EXPECT_GE(calls, 3);
}

TEST_F(TransferTest, PutSendsAgainWhatWasEvicted) {
  ASSERT_OK(client->datasets().Put(Images(), Soon()));
  server.LoseChunkBeforeCommit();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put(Images(), Soon()));
  EXPECT_EQ(info.sent_bytes, kChunkBytes);
}

TEST_F(TransferTest, LargeArraysAreFetchedOnSeveralStreams) {
  const Literal value = Bytes((20 << 20) + 3);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", value}}}, Soon()));
  std::vector<char> room(info.bytes);
  runtime::CallOptions call = Soon();
  call.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, info.bytes);
    EXPECT_LE(done, total);
  };
  ASSERT_OK(client->datasets().FetchInto({info.token, "", std::nullopt},
                                         absl::MakeSpan(room), call));
  EXPECT_TRUE(absl::MakeConstSpan(room) == value.bytes());
  const RowRange rows{1, 18 << 20};
  room.assign(rows.count, '?');
  ASSERT_OK(client->datasets().FetchInto({info.token, "", rows},
                                         absl::MakeSpan(room), Soon()));
  EXPECT_TRUE(absl::MakeConstSpan(room) ==
              value.bytes().subspan(rows.begin, rows.count));
  ASSERT_OK(client->datasets().Ask(DeleteDataset{info.token}, Soon()));
  EXPECT_THAT(client->datasets().FetchInto({info.token, "", rows},
                                           absl::MakeSpan(room), Soon()),
              StatusIs(absl::StatusCode::kNotFound, ""));
}

TEST_F(TransferTest, TheFirstStreamOfAnArrayThatFailsEndsTheOthers) {
  const int64_t rows = 32 << 20;
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", Bytes(rows)}}}, Soon()));
  std::vector<char> room(rows);
  int ended = 0;
  // What the caller's own thread reads, and what another does.
  for (const int64_t row : {int64_t{0}, rows / 2}) {
    server.FailGetAt(row);
    EXPECT_THAT(client->datasets().FetchInto({info.token, "", std::nullopt},
                                             absl::MakeSpan(room), Soon()),
                StatusIs(absl::StatusCode::kDataLoss, absl::StrCat(row)));
    const int before = std::exchange(ended, server.counts().cancelled_gets);
    EXPECT_GT(ended, before);
  }
}

// F12: a plaintext link flips a bit of what is read. Whole arrays and rows that
// cut chunks, anywhere in them.
TEST_F(TransferTest, AByteFlippedOnceIsReadAgain) {
  const int64_t size = (9 << 20) + 5;
  const Literal value = Bytes(size);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", value}}}, Soon()));
  for (const RowRange rows : {RowRange{0, size}, RowRange{7, 100},
                              RowRange{kChunkBytes - 1, 2},
                              RowRange{5, size - 9}}) {
    for (const int64_t at : {int64_t{0}, rows.count / 2, rows.count - 1}) {
      server.FlipGetAt(rows.begin + at, 1);
      std::vector<char> room(rows.count);
      ASSERT_OK(client->datasets().FetchInto({info.token, "", rows},
                                             absl::MakeSpan(room), Soon()));
      EXPECT_TRUE(absl::MakeConstSpan(room) ==
                  value.bytes().subspan(rows.begin, rows.count));
    }
  }
}

TEST_F(TransferTest, AByteThatStaysFlippedIsDataLoss) {
  const Literal value = Bytes(9 << 20);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", value}}}, Soon()));
  server.FlipGetAt(kChunkBytes + 17, 1000);
  std::vector<char> room(9 << 20);
  EXPECT_THAT(client->datasets().FetchInto({info.token, "", std::nullopt},
                                           absl::MakeSpan(room), Soon()),
              StatusIs(absl::StatusCode::kDataLoss, "chunk 1 "));
  ASSERT_OK_AND_ASSIGN(BufferPtr x,
                       client->datasets().Open({info.token, ""}, {}));
  EXPECT_THAT(FetchOf(x), StatusIs(absl::StatusCode::kDataLoss, info.token));
}

TEST_F(TransferTest, DigestsThatDoNotMakeTheTokenAreNotBelieved) {
  const Literal value = Bytes(100);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", value}}}, Soon()));
  server.FlipDigests(2);
  std::vector<char> room(100);
  EXPECT_THAT(client->datasets().FetchInto({info.token, "", std::nullopt},
                                           absl::MakeSpan(room), Soon()),
              StatusIs(absl::StatusCode::kDataLoss, info.token));
  server.FlipDigests(1);
  EXPECT_OK(client->datasets().FetchInto({info.token, "", std::nullopt},
                                         absl::MakeSpan(room), Soon()));
}

TEST_F(TransferTest, EmptyArraysMakeADataset) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", Bytes(0)}}}, Soon()));
  EXPECT_EQ(info.bytes, 0);
  ASSERT_OK_AND_ASSIGN(BufferPtr x,
                       client->datasets().Open({info.token, ""}, {}));
  ASSERT_OK_AND_ASSIGN(const Literal back, FetchOf(x));
  EXPECT_EQ(back.shape(), Shape::Of(DType::kU8, {0}));
}

TEST_F(TransferTest, DatasetArraysAreArgumentsWithoutATransfer) {
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client->datasets().Put({{{"a", Filled(2, 4)}, {"b", Filled(2, 5)}}},
                             Soon()));
  ASSERT_OK_AND_ASSIGN(BufferPtr b,
                       client->datasets().Open({info.token, "b"}, Soon()));
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr y, Step(*plus_one, b));
  ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(y));
  EXPECT_THAT(value, LiteralEquals(Filled(2, 6)));
  auto called = plus_one->Call({b}, Soon()).Await();
  ASSERT_OK(called);
  EXPECT_THAT(called->values[0], LiteralEquals(Filled(2, 6)));
  ASSERT_OK_AND_ASSIGN(const Literal back, FetchOf(b));
  EXPECT_THAT(back, LiteralEquals(Filled(2, 5)));
  // It is no part of a session.
  server.Restart();
  EXPECT_OK(FetchOf(b));
}

TEST_F(TransferTest, UnknownTokensAndArraysAreNamed) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put(Images(), Soon()));
  EXPECT_THAT(client->datasets().Open({info.token, "z"}, Soon()),
              StatusIs(absl::StatusCode::kNotFound,
                       "no array \"z\", it has \"x\", \"y\""));
  EXPECT_THAT(client->datasets().Ask(StatDataset{"nonsense"}, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument, "nonsense"));
  EXPECT_THAT(client->datasets().Ask(StatDataset{TokenOf(Digest())}, Soon()),
              StatusIs(absl::StatusCode::kNotFound, "hw1-"));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo stat,
                       client->datasets().Ask(StatDataset{info.token}, Soon()));
  EXPECT_EQ(stat.bytes, info.bytes);
}

}  // namespace
}  // namespace hawser
