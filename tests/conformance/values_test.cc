// Values on their way there, through a computation and back, on every target.
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/dtype.h"
#include "tests/conformance/programs.h"
#include "tests/conformance/target.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

constexpr DType kDTypes[] = {
    DType::kBool, DType::kU8,   DType::kU16, DType::kU32, DType::kU64,
    DType::kS8,   DType::kS16,  DType::kS32, DType::kS64, DType::kF16,
    DType::kBF16, DType::kF32,  DType::kF64, DType::kC64, DType::kC128};

// Scalar, none, one, odd sizes, the highest rank, and sizes on both sides of
// what rides inline (4 KiB), what one message holds and what is streamed.
std::vector<Dims> EdgeDims() {
  return {{},
          {0},
          {3, 0, 2},
          {1},
          {7},
          {2, 3, 5},
          Dims(16, 1),
          {1, 2, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 2},
          {1023},
          {4097},
          {70001},
          {1 << 20, 1}};
}

class ValuesTest : public TargetTest {};

TEST_P(ValuesTest, EveryDTypeAndShapeComesBackBitForBit) {
  uint64_t seed = 0;
  for (const DType dtype : kDTypes) {
    std::vector<std::pair<Literal, BufferPtr>> sent;
    for (const Dims& dims : EdgeDims()) {
      // 16 MiB of the widest dtype would only test the machine's patience.
      if (dims.size() == 2 && dims[0] > 70001 && ByteWidth(dtype) > 4) continue;
      const Literal value = RandomBits(Shape::Of(dtype, dims), ++seed);
      ASSERT_OK_AND_ASSIGN(BufferPtr there, client().Upload(value, Patient()));
      EXPECT_EQ(there->shape(), value.shape());
      sent.emplace_back(value, std::move(there));
    }
    for (const auto& [value, there] : sent) {
      ASSERT_OK_AND_ASSIGN(const Literal back, Get(there));
      EXPECT_TRUE(back.BitEquals(value)) << value.shape().ToString();
    }
  }
}

TEST_P(ValuesTest, ResultsComeBackBitForBitAndSayWhereTheyWereMade) {
  for (const Dims& dims : EdgeDims()) {
    const Literal value = RandomBits(Shape::Of(DType::kU32, dims), 7);
    const auto results =
        Execute(Compile(client(), NegateModule(value.shape())), {value});
    for (const BufferPtr& result : results) {
      ASSERT_OK_AND_ASSIGN(const Literal back, Get(result));
      ASSERT_EQ(back.shape(), value.shape());
      const bool first = result == results[0];
      for (size_t i = 0; i < back.data<uint32_t>().size(); ++i) {
        const uint32_t x = value.data<uint32_t>()[i];
        ASSERT_EQ(back.data<uint32_t>()[i], first ? x : -x) << i;
      }
      EXPECT_THAT(result->ran_on().where, ::testing::HasSubstr(target_->where));
      EXPECT_EQ(result->client(), target_->client.get());
    }
  }
}

TEST_P(ValuesTest, ArgumentsMayBeValuesOrBuffers) {
  for (const int64_t n : {1, 2000, 300000}) {  // inline, one message, streamed
    const Shape shape = Shape::Of(DType::kS64, {n});
    const auto add = Compile(client(), AddModule(shape));
    const Literal x = RandomBits(shape, 1), y = RandomBits(shape, 2);
    const BufferPtr there = *client().Upload(y, {});
    const auto want = Get(Execute(add, {x, y})[0]);
    ASSERT_OK(want);
    EXPECT_THAT(*Get(Execute(add, {x, there})[0]), LiteralBitEquals(*want));
    EXPECT_THAT(*Get(Execute(add, {there, x})[0]), LiteralBitEquals(*want));
    const auto called =
        add->Call({Argument(x), Argument(y)}, Patient()).Await();
    ASSERT_OK(called);
    EXPECT_THAT(called->values[0], LiteralBitEquals(*want));
    EXPECT_THAT(called->ran_on.where, ::testing::HasSubstr(target_->where));
  }
}

TEST_P(ValuesTest, AChainNeedsNoWaiting) {
  const Shape shape = Shape::Of(DType::kS64, {100});
  const auto add = Compile(client(), AddModule(shape));
  const Literal one = Full(1, 100);
  BufferPtr x = Execute(add, {one, one})[0];
  for (int i = 0; i < 500; ++i) x = Execute(add, {x, one})[0];
  ASSERT_OK_AND_ASSIGN(const Literal value, Get(x));
  EXPECT_EQ(value.data<int64_t>()[99], 502);
  // Both arguments the same buffer, and an old value is as good as ever.
  const BufferPtr twice = Execute(add, {x, x})[0];
  EXPECT_EQ(Get(twice)->data<int64_t>()[0], 1004);
  EXPECT_THAT(*Get(x), LiteralBitEquals(value));
}

TEST_P(ValuesTest, ResultsMayBeFetchedInAnyOrder) {
  const Shape shape = Shape::Of(DType::kS64, {3});
  const auto add = Compile(client(), AddModule(shape));
  std::vector<BufferPtr> results;
  for (int64_t i = 0; i < 200; ++i) {
    results.push_back(Execute(add, {Literal::Vector<int64_t>({i, i, i}),
                                Literal::Vector<int64_t>({1, 2, 3})})[0]);
  }
  for (int64_t i = 199; i >= 0; --i) {
    EXPECT_THAT(*Get(results[i]),
                LiteralEquals(Literal::Vector<int64_t>({i + 1, i + 2, i + 3})));
  }
}

TEST_P(ValuesTest, ManyThreadsShareClientAndExecutable) {
  const Shape shape = Shape::Of(DType::kS64, {50});
  const auto add = Compile(client(), AddModule(shape));
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Literal step = Full(t, 50);
      BufferPtr x = Execute(add, {step, step})[0];
      for (int i = 0; i < 50; ++i) {
        x = Execute(add, {x, step})[0];
        if (i % 10 != 0) continue;
        EXPECT_EQ(Get(x)->data<int64_t>()[49], t * (i + 3));
      }
      EXPECT_EQ(Get(x)->data<int64_t>()[0], t * 52);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ValuesTest, DonatedArgumentsMakeTheSameResults) {
  for (const int64_t n : {5, 200000}) {
    const Shape shape = Shape::Of(DType::kS64, {n});
    const auto add = Compile(client(), AddModule(shape));
    const Literal one = Full(1, n);
    BufferPtr x = *client().Upload(one, {});
    for (int i = 0; i < 30; ++i) {
      std::vector<Argument> arguments = {std::move(x), one};
      auto results = add->Execute(arguments, {.donated = {0}});
      ASSERT_OK(results);
      x = (*results)[0];
    }
    ASSERT_OK_AND_ASSIGN(const Literal value, Get(x));
    EXPECT_EQ(value.data<int64_t>()[0], 31);
    EXPECT_EQ(value.data<int64_t>()[n - 1], 31);
  }
}

TEST_P(ValuesTest, NothingIsLeftWhenTheLastBufferGoes) {
  const Shape shape = Shape::Of(DType::kS64, {1000});
  const auto add = Compile(client(), AddModule(shape));
  const Literal one = Full(1, 1000);
  std::vector<BufferPtr> held = {*client().Upload(one, {})};
  ASSERT_OK(Get(held[0]));
  const int64_t uploaded = target_->uploads_at_once ? 1 : 0;
  EXPECT_EQ(target_->AwaitLiveBuffers(uploaded), uploaded);
  for (int i = 0; i < 40; ++i) {
    held.push_back(Execute(add, {held.back(), one})[0]);
  }
  // Some are fetched, some never were.
  EXPECT_EQ(Get(held[20])->data<int64_t>()[0], 21);
  held.clear();
  EXPECT_EQ(target_->AwaitLiveBuffers(0), 0);
}

TEST_P(ValuesTest, NothingIsLeftWhenTheClientGoes) {
  const auto count = Compile(client(), CountModule());
  const BufferPtr held = *client().Upload(Literal::Scalar<int64_t>(3), {});
  {
    const auto other = target_->another();
    const auto theirs = Compile(*other, CountModule());
    const BufferPtr kept = *other->Upload(Literal::Scalar<int64_t>(4), {});
    EXPECT_EQ(Get(Execute(theirs, {kept, Literal::Scalar<int64_t>(9)})[0])
                  ->data<int64_t>()[0],
              9);
  }
  EXPECT_EQ(Get(Execute(count, {held, Literal::Scalar<int64_t>(8)})[0])
                ->data<int64_t>()[0],
            8);
  const int64_t uploaded = target_->uploads_at_once ? 1 : 0;
  EXPECT_EQ(target_->AwaitLiveBuffers(uploaded), uploaded);
}

TEST_P(ValuesTest, SaysWhatItIs) {
  EXPECT_NE(client().name(), "");
  ASSERT_OK_AND_ASSIGN(const runtime::Capabilities c, client().capabilities());
  EXPECT_EQ(c.platform, target_->platform);
  EXPECT_EQ(c.dtypes, kAnyDType);
  EXPECT_GT(c.memory_bytes, 0);
  EXPECT_OK(client().Ping(Patient()));
}

INSTANTIATE_TEST_SUITE_P(All, ValuesTest, ::testing::ValuesIn(AllTargets()),
                         TargetName);

}  // namespace
}  // namespace hawser
