#include "core/runtime/client.h"

#include <string>
#include <utility>
#include <vector>

#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::runtime {
namespace {

using absl::StatusCode;

// A buffer whose value the test sets, or never does.
class PromisedBuffer : public Buffer {
 public:
  explicit PromisedBuffer(Shape shape) : shape_(std::move(shape)) {}
  const Shape& shape() const override { return shape_; }
  Client* client() const override { return nullptr; }
  Future<Literal> Fetch(const CallOptions&) override {
    return promise_.future();
  }
  runtime::RanOn ran_on() const override { return {"test"}; }
  Promise<Literal>& promise() { return promise_; }

 private:
  Shape shape_;
  Promise<Literal> promise_;
};

// Gives its arguments back.
class Echo : public Executable {
 public:
  explicit Echo(Signature signature) : signature_(std::move(signature)) {}
  const Signature& signature() const override { return signature_; }
  absl::StatusOr<std::vector<BufferPtr>> Execute(
      absl::Span<const Argument> arguments, const ExecuteOptions&) override {
    HAWSER_RETURN_IF_ERROR(CheckArguments(signature_, arguments));
    std::vector<BufferPtr> results;
    for (const Argument& a : arguments) {
      auto buffer = std::make_shared<PromisedBuffer>(ShapeOf(a));
      buffer->promise().Set(std::get<Literal>(a));
      results.push_back(std::move(buffer));
    }
    return results;
  }

 private:
  const Signature signature_;
};

// Knows only what every client must.
class Plain : public Client {
 public:
  std::string name() const override { return "plain"; }
  absl::StatusOr<Capabilities> capabilities() override {
    return Capabilities();
  }
  absl::StatusOr<std::shared_ptr<Executable>> Compile(
      std::shared_ptr<const Module>, const CompileOptions&,
      const CallOptions&) override {
    return std::make_shared<Echo>(Signature());
  }
  absl::StatusOr<BufferPtr> Upload(const Literal& value,
                                   const CallOptions&) override {
    return std::make_shared<PromisedBuffer>(value.shape());
  }
  Datasets& datasets() override { return none_; }

 private:
  NoDatasets none_{this};
};

const Literal kNoValue;
const Shape kVector = Shape::Of(DType::kF32, {2});

Signature TwoParameters() {
  return {.parameters = {kVector, Shape::Scalar(DType::kS32)}, .results = {}};
}

Literal Number(float value) { return Literal::Scalar(value); }

TEST(CheckArguments, TakesLiteralsAndBuffers) {
  const BufferPtr buffer = std::make_shared<PromisedBuffer>(kVector);
  EXPECT_OK(CheckArguments({}, {}));
  EXPECT_OK(
      CheckArguments(TwoParameters(), {buffer, Literal::Scalar<int32_t>(1)}));
  EXPECT_OK(CheckArguments(
      TwoParameters(), {Literal::Zeros(kVector), Literal::Scalar<int32_t>(1)}));
}

TEST(CheckArguments, NamesTheFirstThatIsWrong) {
  const Literal vector = Literal::Zeros(kVector);
  const Literal scalar = Literal::Scalar<int32_t>(1);
  const BufferPtr wide =
      std::make_shared<PromisedBuffer>(Shape::Of(DType::kF32, {3}));
  const struct {
    std::vector<Argument> arguments;
    const char* part;
  } rows[] = {
      {{}, "takes 2 arguments, got 0"},
      {{vector}, "takes 2 arguments, got 1"},
      {{vector, scalar, scalar}, "takes 2 arguments, got 3"},
      {{wide, vector}, "argument 0 is f32[3], must be f32[2]"},
      {{vector, vector}, "argument 1 is f32[2], must be s32[]"},
      {{vector, Number(1)}, "argument 1 is f32[], must be s32[]"},
      {{vector, Literal::Zeros(Shape::Of(DType::kS32, {1}))},
       "argument 1 is s32[1], must be s32[]"},
      {{vector, BufferPtr()}, "argument 1 is no buffer"},
      {{kNoValue, scalar}, "argument 0 is invalid"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(CheckArguments(TwoParameters(), row.arguments),
                StatusIs(StatusCode::kInvalidArgument, row.part));
  }
}

TEST(ExecutableCall, GivesTheResultsAsValues) {
  Echo echo(TwoParameters());
  const Literal vector = Literal::Vector<float>({1, 2});
  const Literal scalar = Literal::Scalar<int32_t>(3);
  ASSERT_OK_AND_ASSIGN(const Called called,
                       echo.Call({vector, scalar}, {}).Await());
  ASSERT_EQ(called.values.size(), 2u);
  EXPECT_THAT(called.values[0], LiteralEquals(vector));
  EXPECT_THAT(called.values[1], LiteralEquals(scalar));
  EXPECT_EQ(called.ran_on, "test");
}

TEST(ExecutableCall, GivesLocalErrorsToo) {
  Echo echo(TwoParameters());
  EXPECT_THAT(echo.Call({}, {}).Await(),
              StatusIs(StatusCode::kInvalidArgument, "takes 2 arguments"));
}

TEST(NoDatasets, EveryVerbNamesTheClient) {
  Plain client;
  char room[4];
  const absl::Status statuses[] = {
      client.datasets().Put({}, {}).status(),
      client.datasets().Open({"hw1-", "x"}, {}).status(),
      client.datasets().FetchInto({"hw1-", "x"}, room, {}),
      client.datasets().Freeze({}, {}).status(),
      client.datasets().Ask(StatDataset{"hw1-"}, {}).status(),
      client.datasets().Ask(QueryUsage(), {}).status(),
  };
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(status, StatusIs(StatusCode::kUnimplemented,
                                 "client plain keeps no datasets"));
  }
}

TEST(BufferReady, FollowsTheValue) {
  PromisedBuffer good(kVector), bad(kVector);
  const Future<bool> good_ready = good.Ready({});
  const Future<bool> bad_ready = bad.Ready({});
  EXPECT_FALSE(good_ready.ready());
  good.promise().Set(Literal::Zeros(kVector));
  bad.promise().Set(absl::DataLossError("gone"));
  EXPECT_TRUE(*good_ready.Await());
  EXPECT_THAT(bad_ready.Await(), StatusIs(StatusCode::kDataLoss, "gone"));
}

}  // namespace
}  // namespace hawser::runtime
