// Clients by name, and values that move between clients.
#include <cstdlib>
#include <thread>
#include <vector>

#include "client/sdk/graph/node.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

// Sets HAWSER_CLIENT and makes the process's default be looked for again.
class NamedDefault {
 public:
  explicit NamedDefault(const char* name) {
    setenv("HAWSER_CLIENT", name, 1);
    SetDefaultClientFactory(nullptr);
  }
  ~NamedDefault() {
    unsetenv("HAWSER_CLIENT");
    SetDefaultClientFactory(nullptr);
  }
};

TEST(NamedClient, TheCpuIsThere) {
  ASSERT_OK_AND_ASSIGN(const Client cpu, Client::Named("cpu"));
  EXPECT_TRUE(cpu == Client::Cpu());
  EXPECT_THAT(ClientNames(), testing::Contains("cpu"));
}

TEST(NamedClient, AThirdPartysIsMadeOnceAndComputes) {
  int made = 0;
  auto counting = std::make_shared<CountingClient>("abacus");
  ASSERT_OK(RegisterClient("abacus", [&]() -> absl::StatusOr<Client> {
    ++made;
    return Client(counting);
  }));
  EXPECT_EQ(made, 0);
  ASSERT_OK_AND_ASSIGN(const Client client, Client::Named("abacus"));
  ASSERT_OK_AND_ASSIGN(const Client again, Client::Named("abacus"));
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(client == again);
  const auto f = Jit([](Tensor x) { return x + 1; }).With({.client = client});
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(T1<float>({1})));
  EXPECT_VALUE(y, Literal::Vector<float>({2}));
  EXPECT_EQ(counting->executions, 1);
  const NamedDefault named("abacus");
  EXPECT_TRUE(Client::Default() == client);
  EXPECT_VALUE(T1<float>({2}) * 3, Literal::Vector<float>({6}));
  EXPECT_EQ(counting->executions, 2);
}

TEST(NamedClient, NamesThatAreRefused) {
  const auto make = [] { return Client::Cpu(); };
  EXPECT_THAT(RegisterClient("cpu", make),
              StatusIs(StatusCode::kAlreadyExists, "\"cpu\" already"));
  for (const char* bad : {"", "a b", "a/b", "gpu-1:7070", "\xc3\xa4"}) {
    EXPECT_THAT(RegisterClient(bad, make),
                StatusIs(StatusCode::kInvalidArgument, "is no name"))
        << bad;
  }
  EXPECT_THAT(RegisterClient("nothing", nullptr),
              StatusIs(StatusCode::kInvalidArgument, "needs a function"));
  EXPECT_THAT(Client::Named("nothing"),
              StatusIs(StatusCode::kNotFound, "there are: "));
}

TEST(NamedClient, AFailureIsTriedAgain) {
  int attempts = 0;
  ASSERT_OK(RegisterClient("late", [&]() -> absl::StatusOr<Client> {
    if (++attempts == 1) return absl::UnavailableError("still asleep");
    if (attempts == 2) return Client();
    return Client(std::make_shared<CountingClient>("late"));
  }));
  EXPECT_THAT(Client::Named("late"),
              StatusIs(StatusCode::kUnavailable,
                       "client \"late\": still asleep"));
  EXPECT_THAT(Client::Named("late"),
              StatusIs(StatusCode::kFailedPrecondition, "without a client"));
  EXPECT_OK(Client::Named("late"));
}

TEST(NamedClient, ManyThreadsMakeItOnce) {
  std::atomic<int> made{0}, wrong{0};
  ASSERT_OK(RegisterClient("shared", [&] {
    ++made;
    return Client(std::make_shared<CountingClient>("shared"));
  }));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto client = Client::Named("shared");
      if (!client.ok() || client->name() != "shared") ++wrong;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(wrong, 0);
}

TEST(NamedClient, AnEnvironmentThatNamesNoneIsPassedOver) {
  const NamedDefault named("nobody");
  EXPECT_EQ(Client::Default().name(), "cpu");
}

// ---- To -----------------------------------------------------------------------

class MoveTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> from_ =
      std::make_shared<CountingClient>("from");
  std::shared_ptr<CountingClient> to_ = std::make_shared<CountingClient>("to");
  const Client here_{from_}, there_{to_};
  ScopedClient scope_{here_};
};

TEST_F(MoveTest, ValuesOfEveryKindMove) {
  const Tensor host = T1<float>({1, 2});
  const Tensor recorded = host + 1;
  const Tensor ready = host * 2;
  ASSERT_OK(ready.Eval());
  for (const Tensor& x : {host, recorded, ready}) {
    ASSERT_OK_AND_ASSIGN(const Literal value, x.Fetch());
    ASSERT_OK_AND_ASSIGN(const Tensor moved, x.To(there_));
    EXPECT_VALUE(moved, value);
    // It computes there from now on.
    const int before = to_->executions;
    EXPECT_OK((moved + 1).Eval());
    EXPECT_EQ(to_->executions, before + 1);
  }
  EXPECT_EQ(to_->uploads, 3);
}

TEST_F(MoveTest, AValueThatIsThereStaysItself) {
  const Tensor x = T1<float>({1}) + 1;
  ASSERT_OK(x.Eval());
  ASSERT_OK_AND_ASSIGN(const Tensor same, x.To(here_));
  EXPECT_EQ(sdk::NodeOf(same), sdk::NodeOf(x));
  EXPECT_EQ(from_->uploads, 0);
}

TEST_F(MoveTest, WhatCannotMove) {
  const Tensor x = T1<float>({1});
  EXPECT_THAT(x.To(Client()),
              StatusIs(StatusCode::kFailedPrecondition, "needs a client"));
  EXPECT_THAT(Tensor().To(there_),
              StatusIs(StatusCode::kFailedPrecondition, "never given"));
  absl::Status inside;
  const auto f = Jit([&](Tensor t) {
    inside = t.To(there_).status();
    return t;
  });
  ASSERT_OK(f(Donate(x)));
  EXPECT_THAT(inside, StatusIs(StatusCode::kInvalidArgument, "traced tensor"));
  EXPECT_THAT(x.To(there_),
              StatusIs(StatusCode::kFailedPrecondition, "donated"));
  CancelToken cancelled = CancelToken::WithFlag();
  cancelled.Cancel();
  EXPECT_THAT((T1<float>({1}) * 7).To(there_, {.cancel = cancelled}),
              StatusIs(StatusCode::kCancelled, ""));
}

// ---- Head ---------------------------------------------------------------------

TEST_F(MoveTest, HeadOfAHostValueAsksNobody) {
  const Tensor x = TN<int32_t>({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_THAT(*x.Head(2), LiteralEquals(Literal::Of<int32_t>({1, 2, 3, 4},
                                                             {2, 2})));
  EXPECT_THAT(*x.Head(0), LiteralEquals(Literal::Of<int32_t>({}, {0, 2})));
  EXPECT_EQ(x.Head(9)->shape().dim(0), 3);
  EXPECT_EQ(from_->compiles, 0);
}

TEST_F(MoveTest, HeadOfAValueElsewhereRunsThere) {
  ASSERT_OK_AND_ASSIGN(const Tensor x, T1<float>({1, 2, 3}).To(there_));
  EXPECT_THAT(*x.Head(1), LiteralEquals(Literal::Vector<float>({1})));
  EXPECT_EQ(from_->executions, 0);
  EXPECT_EQ(to_->executions, 1);
  // A value that was fetched is here.
  ASSERT_OK(x.Fetch());
  EXPECT_THAT(*x.Head(2), LiteralEquals(Literal::Vector<float>({1, 2})));
  EXPECT_EQ(to_->executions, 1);
}

TEST_F(MoveTest, HeadsThatAreRefused) {
  EXPECT_THAT(Scalar(1).Head(1),
              StatusIs(StatusCode::kInvalidArgument, "no 1 rows in s32[]"));
  EXPECT_THAT(T1<float>({1}).Head(-1),
              StatusIs(StatusCode::kInvalidArgument, "no -1 rows"));
  EXPECT_THAT(Tensor().Head(1),
              StatusIs(StatusCode::kFailedPrecondition, "never given"));
}

}  // namespace
}  // namespace hawser
