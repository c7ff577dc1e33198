#include "server/session/session_table.h"

#include <cstdint>
#include <memory>
#include <set>
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

class SessionTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<Session> Open(absl::string_view tenant = "a") {
    auto session = table_.Open(tenant, "test");
    EXPECT_THAT(session, IsOk());
    return *session;
  }
  std::shared_ptr<RecordingStream> AttachTo(Session& session) {
    auto stream = std::make_shared<RecordingStream>();
    EXPECT_OK(session.Attach(stream, [](uint64_t) { return Reply(); }));
    return stream;
  }

  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);
  SessionTable table_{{.lease = absl::Seconds(60),
                       .sessions = 3,
                       .now = [this] { return now_; }}};
};

TEST_F(SessionTableTest, ASessionIsFoundByTenantIdAndSecret) {
  const auto session = Open();
  ASSERT_OK_AND_ASSIGN(const auto found,
                       table_.Find("a", session->id(), session->secret()));
  EXPECT_EQ(found, session);
  EXPECT_EQ(session->client_name(), "test");
  EXPECT_EQ(table_.size(), 1);
}

TEST_F(SessionTableTest, NothingElseFindsIt) {
  const auto session = Open();
  const std::string& secret = session->secret();
  std::string last_bit = secret;
  last_bit.back() ^= 1;
  const struct {
    absl::string_view tenant;
    uint64_t id;
    std::string secret;
  } rows[] = {
      {"a", session->id(), ""},
      {"a", session->id(), last_bit},
      {"a", session->id(), secret.substr(1)},
      {"a", session->id(), secret + std::string(1, '\0')},
      {"a", session->id(), std::string(secret.size(), '\0')},
      {"a", session->id() + 1, secret},
      {"a", 0, secret},
      {"b", session->id(), secret},
      {"", session->id(), secret},
  };
  for (const auto& row : rows) {
    // The same words whatever is wrong: a client cannot learn which.
    EXPECT_THAT(table_.Find(row.tenant, row.id, row.secret),
                StatusIs(StatusCode::kUnavailable,
                         absl::StrCat("session ", row.id,
                                      " is not known on this server")));
  }
}

TEST_F(SessionTableTest, IdsAndSecretsAreNeverTheSame) {
  SessionTable table({.sessions = 200});
  std::set<uint64_t> ids;
  std::set<std::string> secrets;
  for (int i = 0; i < 200; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto session, table.Open("a", ""));
    EXPECT_NE(session->id(), 0u);
    EXPECT_EQ(session->secret().size(), 32u);
    ids.insert(session->id());
    secrets.insert(session->secret());
  }
  EXPECT_EQ(ids.size(), 200u);
  EXPECT_EQ(secrets.size(), 200u);
}

TEST_F(SessionTableTest, ALongClientNameIsCut) {
  ASSERT_OK_AND_ASSIGN(const auto session,
                       table_.Open("a", std::string(10000, 'x')));
  EXPECT_EQ(session->client_name(), std::string(256, 'x'));
}

TEST_F(SessionTableTest, SessionsAreLimited) {
  const auto first = Open("a");
  const auto stream = AttachTo(*first);
  const auto second = Open("b");
  const auto third = Open("c");
  const auto streams = std::pair(AttachTo(*second), AttachTo(*third));
  EXPECT_THAT(table_.Open("d", ""),
              StatusIs(StatusCode::kResourceExhausted,
                       "this server's limit of 3 sessions"));
  table_.End(first->id(), Cancelled("goodbye"));
  EXPECT_THAT(table_.Open("d", ""), IsOk());
}

TEST_F(SessionTableTest, AFullTableLetsTheLongestDetachedGo) {
  const auto first = Open("a");
  const auto stream = AttachTo(*first);
  const auto second = Open("b");
  now_ += absl::Seconds(1);
  const auto third = Open("c");
  EXPECT_THAT(table_.Open("d", ""), IsOk());
  EXPECT_EQ(table_.size(), 3);
  EXPECT_THAT(table_.Find("b", second->id(), second->secret()),
              StatusIs(StatusCode::kUnavailable, ""));
  EXPECT_THAT(table_.Find("c", third->id(), third->secret()), IsOk());
}

TEST_F(SessionTableTest, ATenantsPartIsItsOwnAffair) {
  SessionTable table({.sessions = 8, .tenant_sessions = 2});
  std::vector<std::shared_ptr<RecordingStream>> streams;
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto session, table.Open("a", ""));
    streams.push_back(AttachTo(*session));
  }
  EXPECT_THAT(table.Open("a", ""),
              StatusIs(StatusCode::kResourceExhausted,
                       "tenant a has 2 sessions, the most one tenant may"));
  EXPECT_THAT(table.Open("b", ""), IsOk());
  EXPECT_EQ(table.tenants(), 2);
}

TEST_F(SessionTableTest, WhatASessionHoldsIsChargedUntilItIsGone) {
  const auto account = MemoryAccount::Make(1 << 20);
  {
    SessionTable table({.memory = account});
    ASSERT_OK_AND_ASSIGN(const auto session, table.Open("a", ""));
    const int64_t opened = account->held();
    EXPECT_GT(opened, 0);
    for (uint64_t handle = 1; handle <= 1000; ++handle) {
      ASSERT_OK(session->handles().CheckNames(handle, 1));
      session->handles().Insert(
          handle, Value{.now = NotFound(std::string(200, 'x'))}, 0);
    }
    EXPECT_GT(account->held(), opened + 300 * 1000);
    EXPECT_EQ(account->Tenant("a")->held(), account->held());
    // Three quarters of a MiB are what the tenant may have.
    absl::Status status;
    uint64_t handle = 1000;
    while (status.ok() && handle < 10000) {
      status = session->handles().CheckNames(++handle, 1);
      session->handles().Insert(
          handle, Value{.now = NotFound(std::string(200, 'x'))}, 0);
    }
    EXPECT_THAT(status, StatusIs(StatusCode::kResourceExhausted, "memory for"));
  }
  EXPECT_EQ(account->held(), 0);
}

TEST_F(SessionTableTest, ASessionThatDoesNotFitIsRefusedByName) {
  const auto account = MemoryAccount::Make(200 << 10);
  SessionTable table({.memory = account});
  std::vector<std::shared_ptr<Session>> sessions;
  absl::Status refused;
  while (refused.ok() && sessions.size() < 10) {
    auto session = table.Open("a", "");
    refused = session.status();
    if (session.ok()) sessions.push_back(*session);
  }
  EXPECT_THAT(refused,
              StatusIs(StatusCode::kResourceExhausted,
                       "tenant a holds 147456 bytes of the 153600 bytes"));
}

TEST_F(SessionTableTest, ASessionEndsWithItsLease) {
  const auto session = Open();
  session->handles().Insert(1, ValueOf(1), 4);
  now_ += absl::Seconds(60) - absl::Nanoseconds(1);
  table_.Sweep();
  EXPECT_EQ(table_.size(), 1);
  now_ += absl::Nanoseconds(1);
  table_.Sweep();
  EXPECT_EQ(table_.size(), 0);
  EXPECT_EQ(session->handles().num_handles(), 0);
  EXPECT_THAT(table_.Find("a", session->id(), session->secret()),
              StatusIs(StatusCode::kUnavailable, ""));
  EXPECT_THAT(session->Attach(nullptr, nullptr),
              StatusIs(StatusCode::kUnavailable, "is over"));
}

TEST_F(SessionTableTest, AnAttachedSessionHasNoLease) {
  const auto session = Open();
  const auto stream = AttachTo(*session);
  now_ += absl::Hours(24);
  table_.Sweep();
  EXPECT_EQ(table_.size(), 1);
  session->Detach(stream.get(), now_);
  now_ += absl::Seconds(59);
  table_.Sweep();
  EXPECT_EQ(table_.size(), 1) << "the lease runs from the detach";
  now_ += absl::Seconds(1);
  table_.Sweep();
  EXPECT_EQ(table_.size(), 0);
}

TEST_F(SessionTableTest, ReattachingStopsTheLease) {
  const auto session = Open();
  session->Detach(AttachTo(*session).get(), now_);
  now_ += absl::Seconds(59);
  ASSERT_OK_AND_ASSIGN(const auto found,
                       table_.Find("a", session->id(), session->secret()));
  const auto stream = AttachTo(*found);
  now_ += absl::Hours(1);
  table_.Sweep();
  EXPECT_EQ(table_.size(), 1);
}

TEST_F(SessionTableTest, EndingOneLeavesTheOthers) {
  const auto one = Open(), two = Open();
  const auto stream_one = AttachTo(*one), stream_two = AttachTo(*two);
  table_.End(one->id(), Cancelled("goodbye"));
  table_.End(one->id(), Cancelled("twice"));
  table_.End(12345, Cancelled("unknown"));
  EXPECT_EQ(stream_one->closed().size(), 1u);
  EXPECT_TRUE(stream_two->closed().empty());
  EXPECT_EQ(table_.size(), 1);
}

TEST_F(SessionTableTest, EndAllAndDeathCloseEveryStream) {
  const auto session = Open();
  const auto stream = AttachTo(*session);
  table_.EndAll(Unavailable("the server is stopping"));
  EXPECT_EQ(table_.size(), 0);
  ASSERT_EQ(stream->closed().size(), 1u);
  EXPECT_THAT(stream->closed()[0],
              StatusIs(StatusCode::kUnavailable, "the server is stopping"));
  auto table = std::make_unique<SessionTable>(SessionTableOptions{});
  ASSERT_OK_AND_ASSIGN(const auto other, table->Open("a", ""));
  const auto other_stream = AttachTo(*other);
  table.reset();
  EXPECT_EQ(other_stream->closed().size(), 1u);
}

TEST(SessionTable, OpensFindsSweepsAndEndsOnManyThreads) {
  SessionTable table({.lease = absl::ZeroDuration()});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string tenant(1, static_cast<char>('a' + t));
      for (int i = 0; i < 100; ++i) {
        auto session = table.Open(tenant, "");
        ASSERT_OK(session);
        (void)table.Find(tenant, (*session)->id(), (*session)->secret());
        if (i % 3 == 0) table.Sweep();
        table.End((*session)->id(), Cancelled("goodbye"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.size(), 0);
}

}  // namespace
}  // namespace hawser::server
