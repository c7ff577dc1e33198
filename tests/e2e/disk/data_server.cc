#include "tests/e2e/disk/data_server.h"

#include <signal.h>
#include <stdlib.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "gtest/gtest.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

}  // namespace

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  uint64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

Literal SeededBytes(int64_t bytes, uint64_t seed) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU8, {bytes}));
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (uint8_t& byte : out.mutable_data<uint8_t>()) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(x >> 56);
  }
  return out;
}

absl::Status FetchWhole(const Client& client, const DatasetInfo& info) {
  HAWSER_ASSIGN_OR_RETURN(const Dataset dataset, client.Dataset(info.token));
  DatasetSource source;
  for (const DatasetInfo::Array& array : info.arrays) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, dataset[array.name].Fetch());
    source.arrays.push_back({array.name, std::move(value)});
  }
  const std::string token = TokenOf(ManifestOf(source, 1));
  if (token == info.token) return absl::OkStatus();
  return Internal(info.token, " came back as ", token);
}

absl::Status DataServer::Start(std::vector<std::string> flags) {
  Kill();
  flags.push_back("--data_dir=" + data_dir_);
  HAWSER_ASSIGN_OR_RETURN(Process started,
                          StartHawserd(flags, &address_, launcher_));
  process_ = std::make_unique<Process>(std::move(started));
  HAWSER_ASSIGN_OR_RETURN(client_, Connect({.servers = {address_},
                                            .fallback = Client(),
                                            .timeout = kPatience}));
  return absl::OkStatus();
}

absl::Status DataServer::Stop() {
  process_->Signal(SIGTERM);
  HAWSER_ASSIGN_OR_RETURN(const int code, process_->Wait(kPatience));
  if (code == 0) return absl::OkStatus();
  return Internal("the server ended with ", code, ": ", process_->output());
}

int64_t DataServer::BadFiles() {
  process_->Signal(SIGUSR1);
  const auto line = process_->ReadLineWith("hawserd state ", kPatience);
  if (!line.ok()) return -1;
  for (absl::string_view word : absl::StrSplit(*line, ' ')) {
    int64_t count = 0;
    if (absl::ConsumePrefix(&word, "bad_files=") &&
        absl::SimpleAtoi(word, &count)) {
      return count;
    }
  }
  return -1;
}

}  // namespace hawser::testing
