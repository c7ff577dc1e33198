// That a target is what its name says.
#include "tests/conformance/target.h"

#include "absl/strings/string_view.h"
#include "client/remote/grpc/grpc_transport.h"
#include "tests/conformance/programs.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

const TargetRow& RowOf(absl::string_view name) {
  for (const TargetRow& row : AllTargets()) {
    if (row.name == name) return row;
  }
  HAWSER_CHECK(false);
  return AllTargets()[0];
}

TEST(TlsTargetTest, LetsNobodyInWithoutCertificateAndToken) {
  const auto target = RowOf("loopback_tls").make();
  ASSERT_NE(target, nullptr);
  EXPECT_OK(target->runtime().Ping(Patient()));
  const std::string& address = target->server->address();
  Credentials credentials = target->server->credentials();
  credentials.token_file.clear();
  ASSERT_OK_AND_ASSIGN(const auto nameless,
                       ConnectRemote(address, {.credentials = credentials}));
  EXPECT_THAT(nameless->capabilities(),
              StatusIs(absl::StatusCode::kUnauthenticated, "token"));
  ASSERT_OK_AND_ASSIGN(const auto plain, ConnectRemote(address, {}));
  EXPECT_THAT(plain->capabilities(),
              StatusIs(absl::StatusCode::kUnavailable, address));
}

}  // namespace
}  // namespace hawser
