// Every verb with every name of another tenant: the answer is the one for a
// name that no tenant has, and nothing of the other's was looked at.
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "tests/server/access/access_server.h"
#include "tests/server/access/calls/tenant_things.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process_counts.h"

namespace hawser::testing {
namespace {

class TenantMatrixTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = NewFolder();
    const Token alice = MakeToken(folder, "alice");
    const Token bob = MakeToken(folder, "bob");
    WriteFile(folder + "/tokens.txt", alice.line + bob.line);
    ASSERT_OK_AND_ASSIGN(
        host_, StartHost({.tokens_file = folder + "/tokens.txt"},
                         "127.0.0.1:0", lease_));
    alice_ = std::make_unique<RawClient>(host_->address(), alice.text);
    bob_ = std::make_unique<RawClient>(host_->address(), bob.text);
    session_ = std::make_unique<RawSession>(*alice_);
    things_ = MakeThings(*alice_, *session_, 7);
  }
  // How often an index that tenants share was looked into, by index.
  std::map<std::string, int64_t> SharedLookups() {
    server::Executor& executor = host_->executor();
    return {
        {"chunks and arrays", host_->datasets().statistics().shared_lookups},
        {"executables", executor.executables.shared_lookups()},
        {"device arrays", executor.arrays.shared_lookups()}};
  }

  absl::Duration lease_ = absl::Seconds(60);
  std::unique_ptr<server::Host> host_;
  std::unique_ptr<RawClient> alice_, bob_;
  std::unique_ptr<RawSession> session_;  // alice's
  Things things_;                        // alice's
};

TEST_F(TenantMatrixTest, AnotherTenantsThingsAreLikeUnknownOnes) {
  const Things unknown = UnknownThings();
  for (const Attempt& attempt : Attempts()) {
    const std::string at = absl::StrCat(attempt.method, ": ", attempt.what);
    const std::string answer = attempt.run(*bob_, things_);
    EXPECT_EQ(answer, attempt.run(*bob_, unknown)) << at;
    // All of these are refusals, but for the question what is missing.
    EXPECT_NE(answer, "0  ") << at;
  }
}

// A session whose lease is over, a dataset that was deleted: to their owner too.
class ThingsThatAreOver : public TenantMatrixTest {
 protected:
  ThingsThatAreOver() { lease_ = absl::Milliseconds(50); }
};

TEST_F(ThingsThatAreOver, AreLikeUnknownOnes) {
  session_.reset();
  host_->datasets().Delete("alice", things_.token(),
                           [](const absl::Status& gone) { EXPECT_OK(gone); });
  const auto& sessions = host_->executor().sessions;
  ASSERT_TRUE(Await(absl::Seconds(30), [&] { return sessions.size() == 0; }));
  const Things unknown = UnknownThings();
  // What was compiled is no session's: it stays.
  const std::set<std::string> stays = {"compile a fingerprint",
                                       "call a fingerprint"};
  for (const Attempt& attempt : Attempts()) {
    if (stays.contains(std::string(attempt.what))) continue;
    EXPECT_EQ(attempt.run(*alice_, things_), attempt.run(*alice_, unknown))
        << attempt.method << ": " << attempt.what;
  }
}

// Else the rows above could agree by being wrong in the same way.
TEST_F(TenantMatrixTest, TheOwnerGetsAnotherAnswerThanAnOutsider) {
  const std::set<std::string> alike = {
      // Bytes that are not the chunk's are no tenant's; handles and executables
      // are numbers within a session, and these rows ask in a new one.
      "put other bytes as a chunk", "fetch a handle", "freeze a handle",
      "execute on a handle", "execute an executable"};
  for (const Attempt& attempt : Attempts()) {
    if (alike.contains(std::string(attempt.what))) continue;
    EXPECT_NE(attempt.run(*alice_, things_), attempt.run(*bob_, things_))
        << attempt.method << ": " << attempt.what;
  }
}

TEST_F(TenantMatrixTest, EveryMethodHasARow) {
  std::set<std::string> rows, methods;
  for (const Attempt& attempt : Attempts()) rows.emplace(attempt.method);
  const google::protobuf::FileDescriptor* files[] = {
      v1::CallRequest::descriptor()->file(),
      v1::StatRequest::descriptor()->file()};
  for (const auto* file : files) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.insert(absl::StrCat(file->service(s)->name(), ".",
                                    file->service(s)->method(m)->name()));
      }
    }
  }
  EXPECT_EQ(rows, methods);
}

TEST_F(TenantMatrixTest, NothingOfOthersIsLookedAt) {
  // What of these attempts is bob's own: his module, compiled once.
  for (const Attempt& attempt : Attempts()) attempt.run(*bob_, UnknownThings());
  for (const Attempt& attempt : Attempts()) {
    const auto before = SharedLookups();
    for (const auto& [index, count] : before) EXPECT_GT(count, 0) << index;
    attempt.run(*bob_, UnknownThings());
    const auto own = SharedLookups();
    attempt.run(*bob_, things_);
    const auto after = SharedLookups();
    for (const auto& [index, count] : after) {
      // As many as with unknown names: those for his own module.
      EXPECT_EQ(count - own.at(index), own.at(index) - before.at(index))
          << index << ", " << attempt.method << ": " << attempt.what;
      if (index != "executables") {
        EXPECT_EQ(count, before.at(index))
            << index << ", " << attempt.method << ": " << attempt.what;
      }
    }
  }
}

TEST_F(TenantMatrixTest, WhatIsAttemptedLeavesTheOwnersThingsAsTheyAre) {
  for (const Attempt& attempt : Attempts()) attempt.run(*bob_, things_);
  v1::ClientMessage fetch;
  fetch.mutable_fetch()->set_handle(things_.handle);
  fetch.mutable_fetch()->set_max_inline_bytes(1024);
  const v1::ServerMessage answer = session_->Ask(fetch);
  ASSERT_EQ(answer.status().code(), 0) << answer.status().message();
  const float want[] = {-7, -7};
  EXPECT_EQ(answer.fetch().data(),
            std::string(reinterpret_cast<const char*>(want), sizeof(want)));
  EXPECT_OK(host_->datasets().Stat("alice", things_.token()));
  EXPECT_FALSE(host_->datasets().Stat("bob", things_.token()).ok());
}

}  // namespace
}  // namespace hawser::testing
