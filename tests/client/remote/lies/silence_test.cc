// No call waits longer for an end that says nothing than its silence, whatever
// that end answers otherwise: (verb) x (lie) x (client).
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/fallback/fallback_client.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/random.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/remote/lies/lying_end.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/loopback.h"

namespace hawser {
namespace {

using runtime::Client;
using testing::Lie;
using testing::LyingEnd;

constexpr absl::Duration kSilence = absl::Milliseconds(500);
// A call of several requests may meet several silences; the rest is for a busy
// machine. What waits for ever is past any of these.
const absl::Duration kPatience = 4 * kSilence + absl::Seconds(6);

// A deadline that no call should need.
runtime::CallOptions Patient() {
  return {.cancel = CancelToken(SteadyNow() + kPatience)};
}

// Each case has its own values, so that none is answered from a cache.
Literal Fresh(int64_t n) {
  Literal value = *Literal::Allocate(Shape::Of(DType::kF32, {n}));
  const auto elements = value.mutable_data<float>();
  for (float& element : elements) {
    element = static_cast<float>(RandomNumber() % 4096);
  }
  return value;
}

absl::StatusOr<std::shared_ptr<const Module>> Doubled(int64_t n) {
  HAWSER_ASSIGN_OR_RETURN(
      Module module,
      ParseModule(
          absl::StrCat("module \"m\"\ncomputation @0 \"main\" (%0: f32[", n,
                       "]) {\n  %1: f32[", n,
                       "] = add(%0, %0)\n  return %1\n}\n"),
          FindOp));
  return std::make_shared<const Module>(std::move(module));
}

absl::Status IsDoubled(const Literal& x, const Literal& got) {
  if (got.shape() != x.shape()) return Internal("another shape came");
  for (int64_t i = 0; i < x.shape().num_elements(); ++i) {
    if (got.data<float>()[i] == 2 * x.data<float>()[i]) continue;
    return Internal("a wrong number came");
  }
  return absl::OkStatus();
}

absl::Status Run(Client& client, int64_t n) {
  const Literal x = Fresh(n);
  HAWSER_ASSIGN_OR_RETURN(auto module, Doubled(n));
  HAWSER_ASSIGN_OR_RETURN(auto executable,
                          client.Compile(module, {}, Patient()));
  HAWSER_ASSIGN_OR_RETURN(
      auto results,
      executable->Execute({runtime::Argument(x)}, {.call = Patient()}));
  HAWSER_ASSIGN_OR_RETURN(const Literal got,
                          results[0]->Fetch(Patient()).Await());
  return IsDoubled(x, got);
}

absl::Status CallOnce(Client& client) {
  const Literal x = Fresh(7);
  HAWSER_ASSIGN_OR_RETURN(auto module, Doubled(7));
  HAWSER_ASSIGN_OR_RETURN(auto executable,
                          client.Compile(module, {}, Patient()));
  HAWSER_ASSIGN_OR_RETURN(
      const auto called,
      executable->Call({runtime::Argument(x)}, Patient()).Await());
  return IsDoubled(x, called.values[0]);
}

DatasetSource FreshSource() {
  DatasetSource source;
  source.arrays.push_back({"x", Fresh(3000)});
  return source;
}

// OK if the end calls it by the name that its bytes have.
absl::Status IsNamed(const DatasetSource& source, const DatasetInfo& info) {
  const std::string token = TokenOf(ManifestOf(source, 1));
  if (info.token == token) return absl::OkStatus();
  return Internal(token, " is called ", info.token);
}

absl::Status PutOne(Client& client) {
  const DatasetSource source = FreshSource();
  HAWSER_ASSIGN_OR_RETURN(const auto info,
                          client.datasets().Put(source, Patient()));
  return IsNamed(source, info);
}

// Of a dataset that was put before the lies begin.
absl::StatusOr<std::string> TokenOnce(Client& client) {
  HAWSER_ASSIGN_OR_RETURN(const auto info,
                          client.datasets().Put(FreshSource(), Patient()));
  return info.token;
}

absl::Status FetchRows(Client& client, const std::string& token) {
  std::vector<char> bytes(3000 * sizeof(float));
  return client.datasets().FetchInto({token, "x"}, absl::MakeSpan(bytes),
                                     Patient());
}

absl::Status FreezeOne(Client& client) {
  DatasetSource source;
  source.arrays.push_back({"x", Fresh(5)});
  const runtime::NamedArgument array = {"x", source.arrays[0].value};
  HAWSER_ASSIGN_OR_RETURN(const auto info,
                          client.datasets().Freeze({&array, 1}, Patient()));
  return IsNamed(source, info);
}

struct Verb {
  const char* name;
  const char* stage;
  std::function<absl::Status(Client&, const std::string& token)> run;
  // Others can do it where one place does not.
  bool others_can = true;
};

std::vector<Verb> Verbs() {
  const auto run = [](int64_t n) {
    return [n](Client& c, const std::string&) { return Run(c, n); };
  };
  const auto ask = [](auto make) {
    return [make](Client& c, const std::string& token) {
      return c.datasets().Ask(make(token), Patient()).status();
    };
  };
  const auto put = [](Client& c, const std::string&) { return PutOne(c); };
  return {
      {"open", "Session/open", run(6)},
      {"compile", "Session/compile", run(11)},
      {"execute", "Session/execute", run(12)},
      {"fetch", "Session/fetch", run(3000)},
      {"upload", "Session/upload", run(20000)},
      {"streamed upload", "Upload", run(40000)},
      {"download", "Download", run(40000)},
      {"call", "Call",
       [](Client& c, const std::string&) { return CallOnce(c); }},
      {"ping", "Session/ping",
       [](Client& c, const std::string&) { return c.Ping(Patient()); }, false},
      {"find missing", "FindMissing", put},
      {"put", "Put", put},
      {"commit", "Commit", put},
      {"get", "Get", FetchRows},
      {"stat", "Stat",
       ask([](const std::string& t) { return StatDataset{t}; })},
      {"list", "List", ask([](const std::string&) { return DatasetQuery{}; })},
      {"usage", "Usage", ask([](const std::string&) { return QueryUsage{}; }),
       false},
      {"pin", "Pin", ask([](const std::string& t) {
         return PinDataset{t, absl::Minutes(1)};
       }),
       false},
      {"tag", "Tag", ask([](const std::string& t) {
         return DatasetTag{"@a", t, std::nullopt};
       }),
       false},
      {"delete", "Delete",
       ask([](const std::string& t) { return DeleteDataset{t}; }), false},
      {"freeze", "Session/freeze",
       [](Client& c, const std::string&) { return FreezeOne(c); }},
  };
}

enum class Kind { kPlain, kFallback, kSharded };
constexpr const char* kKinds[] = {"plain", "fallback", "sharded"};

std::string NameOf(const Verb& verb, Lie lie, Kind kind) {
  return absl::StrCat(kKinds[static_cast<int>(kind)], ", ", verb.name, ", ",
                      testing::LieName(lie));
}

// The stages that a client of this kind does not come to, so that nothing can
// be lied about: a sharded client calls by executions of a session, and freezes
// by a put.
bool ComesToStage(const Verb& verb, Kind kind) {
  const std::string name = verb.name;
  return kind != Kind::kSharded || (name != "call" && name != "freeze");
}

// SILENCE_CASES=part of a name: those alone.
bool Wanted(const std::string& name) {
  const char* part = std::getenv("SILENCE_CASES");
  return part == nullptr || absl::StrContains(name, part);
}

class SilenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (auto& server : servers_) {
      auto started = LoopbackServer::Start({.device = {.threads = 1}});
      ASSERT_OK(started);
      server = *std::move(started);
    }
  }

  std::shared_ptr<Client> Remote(const std::string& address, bool stands_in) {
    RemoteOptions options;
    options.connect_timeout = kSilence;
    options.silence = kSilence;
    options.give_up_silent = stands_in;
    if (stands_in) options.reattach_for = kSilence;
    return *ConnectRemote(address, options);
  }
  std::shared_ptr<Client> MakeClient(Kind kind, const std::string& address) {
    auto lying = Remote(address, kind != Kind::kPlain);
    if (kind == Kind::kPlain) return lying;
    if (kind == Kind::kFallback) {
      FallbackPolicy policy;
      policy.wait_for_primary = kSilence;
      return MakeFallbackClient(lying, cpu::MakeCpuClient({.threads = 1}),
                                policy);
    }
    return *MakeShardedClient({lying, Remote(servers_[1]->address(), true),
                               Remote(servers_[2]->address(), true)});
  }

  // What is wrong with it; empty: nothing.
  std::string Try(const Verb& verb, Lie lie, Kind kind) {
    auto end = LyingEnd::Start(servers_[0]->address(), verb.stage, lie);
    if (!end.ok()) return end.status().ToString();
    std::shared_ptr<Client> client = MakeClient(kind, (*end)->address());
    std::string token;
    if (std::string(verb.stage) != "Session/open") {
      const auto put = TokenOnce(*client);
      if (!put.ok()) return absl::StrCat("before: ", put.status().ToString());
      token = *put;
    }
    (*end)->Begin();
    const absl::Time start = absl::Now();
    const absl::Status status = verb.run(*client, token);
    const absl::Duration took = absl::Now() - start;
    lies_ += (*end)->lies();
    std::string wrong;
    if (((*end)->lies() > 0) != ComesToStage(verb, kind)) {
      wrong = absl::StrCat((*end)->lies(), " lies were told; ");
    }
    if (took > kPatience) {
      absl::StrAppend(&wrong, "took ", absl::FormatDuration(took), "; ");
    }
    if (absl::IsDeadlineExceeded(status) || absl::IsInternal(status) ||
        absl::IsInvalidArgument(status) || absl::IsUnknown(status)) {
      absl::StrAppend(&wrong, "is no error of a lost end: ", status.ToString());
    } else if (!status.ok() && kind != Kind::kPlain && verb.others_can) {
      absl::StrAppend(&wrong, "others could: ", status.ToString());
    }
    return wrong;
  }

  std::unique_ptr<LoopbackServer> servers_[3];
  std::atomic<int> lies_{0};
};

TEST_F(SilenceTest, NoCallWaitsForAnEndThatLies) {
  struct Case {
    Verb verb;
    Lie lie;
    Kind kind;
  };
  std::vector<Case> cases;
  for (const Kind kind : {Kind::kPlain, Kind::kFallback, Kind::kSharded}) {
    for (const Lie lie :
         {Lie::kMute, Lie::kStopped, Lie::kByteASecond, Lie::kWrongNumber,
          Lie::kEmpty, Lie::kWrongResult, Lie::kGarbage}) {
      for (const Verb& verb : Verbs()) {
        if (Wanted(NameOf(verb, lie, kind))) cases.push_back({verb, lie, kind});
      }
    }
  }
  std::atomic<size_t> next{0};
  Mutex mu;
  std::vector<std::string> wrong;
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {
    threads.emplace_back([&] {
      for (size_t k = next++; k < cases.size(); k = next++) {
        const Case& one = cases[k];
        const std::string text = Try(one.verb, one.lie, one.kind);
        if (text.empty()) continue;
        MutexLock lock(&mu);
        wrong.push_back(
            absl::StrCat(NameOf(one.verb, one.lie, one.kind), ": ", text));
        std::cout << wrong.back() << std::endl;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(wrong.begin(), wrong.end());
  for (const std::string& text : wrong) ADD_FAILURE() << text;
  std::cout << cases.size() << " cases, " << lies_ << " lies\n";
  EXPECT_GT(lies_.load(), static_cast<int>(cases.size()) / 2);
}

}  // namespace
}  // namespace hawser
