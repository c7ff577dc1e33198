// A GPU of a real server is lost: the run that met the fault is told so, what
// comes after goes elsewhere, and the server ends with an exit code of its own.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int kDeviceLost = 69;  // server/README.md

class DeviceFaultTest : public ::testing::Test {
 protected:
  // A server whose emulated GPU fails at a step.
  void Start(int step) {
    auto started = StartHawserd(
        {"--device=emu"}, &address_,
        {"/usr/bin/env", absl::StrCat("HAWSER_EMU_FAULT_AT_STEP=", step)});
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::make_unique<Process>(*std::move(started));
  }
  static absl::Status Add(const Client& client) {
    auto twice = Jit([](Tensor x) { return x + x; }).With({.client = client});
    const absl::StatusOr<Tensor> result =
        twice(Literal::Of<float>({1, 2, 3, 4}, {4}));
    if (!result.ok()) return result.status();
    const absl::StatusOr<Literal> sum = result->Fetch();
    if (!sum.ok()) return sum.status();
    EXPECT_EQ(sum->data<float>()[3], 8.0f);
    return absl::OkStatus();
  }

  std::string address_;
  std::unique_ptr<Process> server_;
};

TEST_F(DeviceFaultTest, EndsTheServerWithItsOwnCode) {
  Start(12);
  const auto client = Connect({.servers = {address_}, .fallback = Client()});
  ASSERT_TRUE(client.ok()) << client.status();
  absl::Status status;
  for (int k = 0; k < 20 && status.ok(); ++k) status = Add(*client);
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "a planned fault")) << status;
  for (int k = 0; k < 3; ++k) {
    status = Add(*client);
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
  const auto code = server_->Wait(kPatience);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, kDeviceLost) << server_->output();
  EXPECT_TRUE(absl::StrContains(server_->output(), "the device is lost"))
      << server_->output();
}

TEST_F(DeviceFaultTest, ClientsFallBack) {
  Start(12);
  const auto client =
      Connect({.servers = {address_}, .fallback = Client::Cpu()});
  ASSERT_TRUE(client.ok()) << client.status();
  // But for the run that met the fault, which might meet it anywhere.
  int failed = 0;
  for (int k = 0; k < 20; ++k) {
    const absl::Status status = Add(*client);
    if (status.ok()) continue;
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    ++failed;
  }
  EXPECT_LE(failed, 1);
  const auto code = server_->Wait(kPatience);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, kDeviceLost) << server_->output();
}

}  // namespace
}  // namespace hawser::testing
