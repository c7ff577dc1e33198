// Texts of a server go to a terminal without orders to it, whatever the verb.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command/terminal_stream.h"
#include "client/sdk/or_exit.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"
#include "tests/client/cli/keeping_client.h"

namespace hawser::cli {
namespace {

// It clears a screen, rings, and is a control character of two bytes.
constexpr char kOrders[] = "\x1b[2J\x07\x7f\xc2\x9b";

bool HasOrders(absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
    if (c == 0xc2 && i + 1 < text.size() &&
        static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      return true;
    }
  }
  return false;
}

// A result that says so of where it was computed.
class OrderingBuffer final : public runtime::Buffer {
 public:
  explicit OrderingBuffer(runtime::BufferPtr inner)
      : inner_(std::move(inner)) {}
  const Shape& shape() const override { return inner_->shape(); }
  runtime::Client* client() const override { return inner_->client(); }
  Future<Literal> Fetch(const runtime::CallOptions& call) override {
    return inner_->Fetch(call);
  }
  runtime::RanOn ran_on() const override { return {kOrders}; }

 private:
  const runtime::BufferPtr inner_;
};

class OrderingExecutable final : public runtime::Executable {
 public:
  explicit OrderingExecutable(std::shared_ptr<runtime::Executable> inner)
      : inner_(std::move(inner)) {}
  const Signature& signature() const override { return inner_->signature(); }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override {
    HAWSER_ASSIGN_OR_RETURN(auto results, inner_->Execute(arguments, options));
    for (auto& result : results) {
      result = std::make_shared<OrderingBuffer>(std::move(result));
    }
    return results;
  }

 private:
  const std::shared_ptr<runtime::Executable> inner_;
};

// Every text of its answers, or else of its errors, holds orders.
class OrderingClient final : public KeepingClient {
 public:
  bool fails = false;

  std::string name() const override { return kOrders; }
  absl::StatusOr<runtime::Capabilities> capabilities() override {
    HAWSER_ASSIGN_OR_RETURN(auto all, KeepingClient::capabilities());
    all.platform = all.device = all.engine_id = kOrders;
    return all;
  }
  absl::Status Ping(const runtime::CallOptions&) override { return Said(); }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(Said());
    HAWSER_ASSIGN_OR_RETURN(
        auto made, KeepingClient::Compile(std::move(module), options, call));
    return std::make_shared<OrderingExecutable>(std::move(made));
  }
  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(Said());
    HAWSER_ASSIGN_OR_RETURN(auto info, KeepingClient::Put(source, call));
    return Ordering(std::move(info));
  }
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(Said());
    return KeepingClient::Open(part, call);
  }
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(Said());
    HAWSER_ASSIGN_OR_RETURN(auto answer, KeepingClient::Answer(verb, call));
    if (auto* info = std::get_if<DatasetInfo>(&answer)) {
      *info = Ordering(std::move(*info));
    }
    if (auto* page = std::get_if<DatasetPage>(&answer)) {
      for (auto& info : page->datasets) info = Ordering(std::move(info));
    }
    return answer;
  }

 private:
  absl::Status Said() const {
    return fails ? Internal("a text ", kOrders, " of a server")
                 : absl::OkStatus();
  }
  static DatasetInfo Ordering(DatasetInfo info) {
    for (auto& array : info.arrays) absl::StrAppend(&array.name, kOrders);
    info.tags.push_back(absl::StrCat("@", kOrders));
    return info;
  }
};

// Every command that asks a server.
std::vector<std::vector<std::string>> LinesOfServer(const std::string& token) {
  const std::string x = NpyFile("terminal.npy", Literal::Vector<float>({1, 2}));
  const std::string odd = NpyFile(absl::StrCat("odd", kOrders, ".npy"),
                                  Literal::Vector<float>({1, 2}));
  const std::string module =
      TextFile("terminal.txt",
               "module \"m\"\ncomputation @0 \"main\" (%0: f32[2]) {\n"
               "  %1: f32[2] = add(%0, %0)\n  return %1\n}\n");
  const std::string to = TempPath("terminal_out.npy");
  return {{"status"},
          {"put", x},
          {"put", x, odd},
          {"put", "--as-one", x, "--tag", "@t"},
          {"get", token, "-o", to},
          {"get", absl::StrCat(token, ":no", kOrders), "-o", to},
          {"get", token, "-o", TempPath("terminal_out.npz")},
          {"ls"},
          {"ls", "-l"},
          {"ls", "@"},
          {"stat", token},
          {"stat", absl::StrCat("@no", kOrders)},
          {"tag", "@x", token},
          {"tag", absl::StrCat("@x", kOrders), token},
          {"pin", token},
          {"unpin", token},
          {"du"},
          {"run", module, "--arg", x},
          {"run", module, "--arg", token},
          {"check", "--target", "near", module},
          {"bench", "--seconds=1"},
          {absl::StrCat("no", kOrders)},
          {"rm", token, absl::StrCat("hw1-no", kOrders)}};
}

TEST(TerminalTest, TextsOfAServerAreNoOrders) {
  auto server = std::make_shared<OrderingClient>();
  CommandRun hawser(server);
  hawser.environment().bare =
      [](const std::string&,
         const CancelToken&) -> absl::StatusOr<std::unique_ptr<BareCalls>> {
    return Internal("no bare ", kOrders);
  };
  int runs = 0, escaped = 0;
  for (const bool fails : {false, true}) {
    for (const bool json : {false, true}) {
      server->fails = false;
      ASSERT_EQ(hawser.Run({"put", NpyFile("terminal.npy",
                                           Literal::Vector<float>({1, 2}))}),
                kOk)
          << hawser.err();
      const std::string token = hawser.out().substr(0, hawser.out().find('\n'));
      server->fails = fails;
      for (std::vector<std::string> words : LinesOfServer(token)) {
        if (json) words.push_back("--json");
        (void)hawser.Run(words);
        ++runs;
        const std::string name =
            absl::StrCat(fails ? "fails: " : "", absl::StrJoin(words, " "));
        EXPECT_FALSE(HasOrders(hawser.out())) << name << "\n" << hawser.out();
        EXPECT_FALSE(HasOrders(hawser.err())) << name << "\n" << hawser.err();
        escaped += absl::StrContains(hawser.out() + hawser.err(), "x1b[2J") ||
                   absl::StrContains(hawser.out(), "u001b[2J");
        if (json) {
          EXPECT_TRUE(Json::accept(hawser.out())) << name << hawser.out();
        }
      }
    }
  }
  std::cout << runs << " command lines, " << escaped << " with orders\n";
  EXPECT_GE(escaped, 40);
}

TEST(TerminalTest, JsonIsTheTextItWas) {
  std::ostringstream out;
  TerminalStream stream(&out);
  const std::string text = absl::StrCat("a\n\t", kOrders, "\xc3\xa4");
  PrintJson(Json::object({{"text", text}}), &stream);
  EXPECT_FALSE(HasOrders(out.str())) << out.str();
  EXPECT_EQ(Json::parse(out.str())["text"], text);
}

TEST(TerminalTest, CharactersMayComeInParts) {
  std::ostringstream out;
  {
    TerminalStream stream(&out);
    stream << "\xc3" << '\xa4' << "\x1b"
           << "[K\n\xe2\x82";
    EXPECT_EQ(out.str(), "\xc3\xa4\\x1b[K\n");
    stream << '\xac';
  }
  EXPECT_EQ(out.str(), "\xc3\xa4\\x1b[K\n\xe2\x82\xac");
}

TEST(TerminalDeathTest, ErrorsThatEndAProgramAreNoOrders) {
  EXPECT_EXIT(sdk::ExitFor(Internal("a ", kOrders, " b"), {"here.cc", 3}),
              ::testing::ExitedWithCode(1), "here.cc:3: .*a .x1b.2J.x07");
}

}  // namespace
}  // namespace hawser::cli
