// Tags, pins and deletions by several clients of a real server that is killed
// and whose disk fails: what each client saw is one history.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "proto/datasets.grpc.pb.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/e2e/history/history.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr int kClients = 4;
constexpr int kValues = 48;  // datasets that tags name
constexpr int kDeleted = 3;  // datasets of a round that are deleted
constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
constexpr char kNothing[] = "nothing";

// Slow, so that kills come in the middle; and now and then they fail.
constexpr absl::string_view kFaults =
    "fsync /names/ 5 20 12;fsync /names$ 5 12 4;rename /names/ 5 10 0;"
    "fsync /names/ 0 100 8;unlink /datasets/ 5 20 5;fsync /datasets$ 5 8 5";

int64_t Now() {
  return absl::ToInt64Nanoseconds(absl::Now() - absl::UnixEpoch());
}

// What all clients saw, by what they looked at. Thread-safe.
class Record {
 public:
  void Add(const std::string& what, Call call) {
    const std::lock_guard<std::mutex> lock(mu_);
    calls_[what].push_back(std::move(call));
  }
  const std::map<std::string, std::vector<Call>>& calls() const {
    return calls_;
  }

 private:
  std::mutex mu_;
  std::map<std::string, std::vector<Call>> calls_;
};

// What a round is about.
struct Things {
  std::string tag;
  std::vector<std::string> values;  // tokens
  std::shared_ptr<std::atomic<size_t>> next =
      std::make_shared<std::atomic<size_t>>(0);  // of the values
  std::string pinned;                            // a token
  std::vector<std::string> deleted;              // tokens
};

// What an ABORTED says the tag names.
std::string Named(const std::string& message) {
  const size_t at = message.find(" names ");
  EXPECT_NE(at, std::string::npos) << message;
  return message.substr(at + 7, message.find_first_of(" ,", at + 7) - at - 7);
}

// One connection, one call after the other, each made once.
class HistoryClient {
 public:
  HistoryClient(const std::string& address, uint64_t seed, Record* record)
      : stub_(v1::Datasets::NewStub(grpc::CreateCustomChannel(
            address, grpc::InsecureChannelCredentials(),
            [&] {
              grpc::ChannelArguments own;
              own.SetInt("client", static_cast<int>(seed));
              return own;
            }()))),
        state_(seed * 2654435761u + 1),
        record_(*record) {}

  // False: the server is gone.
  bool Step(const Things& things) {
    const uint64_t kind = Draw(10);
    if (kind < 3) return ReadTag(things);
    if (kind < 6) return Swap(things);
    if (kind < 7) return SetTag(things);
    if (kind < 8) return Pin(things.pinned, Draw(2) == 0);
    const std::string& token = things.deleted[Draw(things.deleted.size())];
    if (kind < 9) return Look(token, "delete ") && Look(things.pinned, "pin ");
    return Draw(3) > 0 || Delete(token);
  }
  void ReadAll(const Things& things) {
    EXPECT_TRUE(ReadTag(things));
    EXPECT_TRUE(Look(things.pinned, "pin "));
    for (const auto& token : things.deleted)
      EXPECT_TRUE(Look(token, "delete "));
  }

 private:
  uint64_t Draw(uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }
  std::unique_ptr<grpc::ClientContext> Context() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() +
                          std::chrono::seconds(20));
    return context;
  }
  static bool Lives(const grpc::Status& status) {
    return status.error_code() != grpc::StatusCode::UNAVAILABLE;
  }
  void Add(const std::string& what, Call call) {
    record_.Add(what, std::move(call));
  }

  bool ReadTag(const Things& things) {
    v1::StatRequest request;
    request.set_token(things.tag);
    v1::DatasetInfoProto info;
    Call call{.begin = Now()};
    const grpc::Status status = stub_->Stat(Context().get(), request, &info);
    call.end = Now();
    call.value = status.ok() ? info.token() : kNothing;
    last_ = call.value;
    const bool told =
        status.ok() || status.error_code() == grpc::StatusCode::NOT_FOUND;
    if (told) Add(things.tag, call);
    return Lives(status);
  }

  bool SetTag(const Things& things) { return Tag(things, nullptr); }
  bool Swap(const Things& things) { return Tag(things, &last_); }
  bool Tag(const Things& things, const std::string* expected) {
    v1::TagRequest request;
    request.set_name(things.tag);
    // As far as there are enough each write has a value of its own.
    request.set_token(things.values[(*things.next)++ % kValues]);
    Call call{.kind = Call::kWrite, .value = request.token()};
    if (expected != nullptr) {
      call.kind = Call::kSwap;
      call.expected = *expected;
      request.set_expected(*expected == kNothing ? "" : *expected);
    }
    v1::TagReply reply;
    call.begin = Now();
    const grpc::Status status = stub_->Tag(Context().get(), request, &reply);
    if (status.ok()) call.end = Now();
    if (status.error_code() == grpc::StatusCode::ABORTED) {
      // "... names hw1-..., not ...": it was a look.
      call.kind = Call::kRead;
      call.value = Named(status.error_message());
      call.end = Now();
    }
    if (call.end != Call::kNever) last_ = call.value;
    Add(things.tag, call);
    return Lives(status);
  }

  bool Pin(const std::string& token, bool pinned) {
    v1::PinRequest request;
    request.set_token(token);
    request.set_ttl_ms(pinned ? kForEver : 0);
    v1::DatasetInfoProto info;
    Call call{.kind = Call::kWrite, .value = pinned ? "pinned" : "loose"};
    call.begin = Now();
    const grpc::Status status = stub_->Pin(Context().get(), request, &info);
    if (status.ok()) call.end = Now();
    Add("pin " + token, call);
    return Lives(status);
  }

  // Whether it is pinned, or there.
  bool Look(const std::string& token, const std::string& at) {
    v1::StatRequest request;
    request.set_token(token);
    v1::DatasetInfoProto info;
    Call call{.begin = Now()};
    const grpc::Status status = stub_->Stat(Context().get(), request, &info);
    call.end = Now();
    if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
      call.value = kNothing;
    } else if (!status.ok()) {
      return Lives(status);
    } else if (at == "pin ") {
      call.value = info.pinned_until_ms() == 0 ? "loose" : "pinned";
    } else {
      call.value = "there";
    }
    Add(at + token, call);
    return true;
  }

  bool Delete(const std::string& token) {
    v1::DeleteRequest request;
    request.set_token(token);
    v1::DeleteReply reply;
    Call call{.kind = Call::kWrite, .value = kNothing};
    call.begin = Now();
    const grpc::Status status = stub_->Delete(Context().get(), request, &reply);
    if (status.ok()) call.end = Now();
    if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
      call.kind = Call::kRead;
      call.end = Now();
    }
    Add("delete " + token, call);
    return Lives(status);
  }

  const std::unique_ptr<v1::Datasets::Stub> stub_;
  uint64_t state_;
  Record& record_;
  std::string last_ = kNothing;
};

class NamesHistoryTest : public ::testing::Test {
 protected:
  // Datasets for all rounds.
  void Put(int rounds) {
    DataServer server(folder_.path());
    ASSERT_TRUE(server.Start().ok());
    const int all = kValues + rounds * (1 + kDeleted);
    for (int i = 0; i < all; ++i) {
      const auto put = server.client().Put(
          {{"", SeededBytes(8, first_seed_ * 100'000 + i)}});
      ASSERT_TRUE(put.ok()) << put.status();
      tokens_.push_back(put->token());
    }
    ASSERT_TRUE(server.Stop().ok());
  }
  Things ThingsOf(int round) {
    const auto first = tokens_.begin() + kValues + round * (1 + kDeleted);
    return {.tag = absl::StrCat("@round/", round),
            .values = {tokens_.begin(), tokens_.begin() + kValues},
            .pinned = *first,
            .deleted = {first + 1, first + 1 + kDeleted}};
  }
  // A disk that fails may keep it from starting, too.
  std::unique_ptr<DataServer> Start(bool faults) {
    std::vector<std::string> launcher;
    if (faults) {
      launcher = {"/usr/bin/env",
                  "LD_PRELOAD=" + Runfile("tests/testing/faulty_files_preload.so"),
                  absl::StrCat("HAWSER_TEST_FAULTS=", kFaults)};
    }
    for (int tries = 0; tries < 20; ++tries) {
      auto server = std::make_unique<DataServer>(folder_.path(), launcher);
      if (server->Start({"--device=cpu"}).ok()) return server;
    }
    ADD_FAILURE() << "no server starts";
    return nullptr;
  }
  // Clients work until the server is killed, which comes after `life`.
  void Live(const Things& things, absl::Duration life, Record* record) {
    const auto server = Start(true);
    ASSERT_NE(server, nullptr);
    std::atomic<bool> over{false};
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&, seed = ++seed_] {
        HistoryClient client(server->address(), seed, record);
        while (!over && client.Step(things)) {
        }
      });
    }
    absl::SleepFor(life);
    server->Kill();
    over = true;
    for (std::thread& client : clients) client.join();
  }
  static std::string FirstOf(const std::string& what) {
    if (what[0] == '@') return kNothing;
    return what[0] == 'p' ? "loose" : "there";
  }
  // How many histories there were.
  static int Check(const Record& record) {
    for (const auto& [what, calls] : record.calls()) {
      if (IsLinearizable(calls, FirstOf(what))) continue;
      std::string text;
      for (const Call& call : calls)
        absl::StrAppend(&text, "\n", call.ToString());
      ADD_FAILURE() << what << " has no order:" << text;
    }
    return static_cast<int>(record.calls().size());
  }

  TemporaryFolder folder_;
  const uint64_t first_seed_ = FromEnvironment("HAWSER_SEED", 1);
  uint64_t seed_ = first_seed_;
  std::vector<std::string> tokens_;
};

TEST_F(NamesHistoryTest, WhatClientsSeeIsOneHistory) {
  const int rounds =
      static_cast<int>(FromEnvironment("HAWSER_HISTORY_ROUNDS", 5));
  Put(rounds);
  int histories = 0;
  size_t calls = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round, ", HAWSER_SEED=", first_seed_));
    const Things things = ThingsOf(round);
    Record record;
    for (int life = 0; life < 2; ++life) {
      Live(things, absl::Milliseconds(60 + (seed_ * 37 + round) % 140),
           &record);
      // What the next finds after the kill.
      const auto server = Start(false);
      ASSERT_NE(server, nullptr);
      HistoryClient(server->address(), ++seed_, &record).ReadAll(things);
    }
    histories += Check(record);
    for (const auto& [what, all] : record.calls()) calls += all.size();
    if (HasFailure()) return;
  }
  std::cout << rounds << " rounds, " << histories << " histories of " << calls
            << " calls\n";
  EXPECT_GT(calls, static_cast<size_t>(rounds) * 20);
}

}  // namespace
}  // namespace hawser::testing
