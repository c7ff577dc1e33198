// The C program that opens the plugin does what it says.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/client/stablehlo/artifact_writer.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

using testing::Process;

// (a, b) -> a * b.
std::string Product() {
  stablehlo::ArtifactWriter writer;
  const int row = writer.Tensor(writer.F32(), {2});
  const std::string multiply = writer.Op(
      {.name = "vhlo.multiply_v1", .results = {row}, .operands = {0, 1}});
  const std::string last =
      writer.Op({.name = "vhlo.return_v1", .operands = {2}});
  const std::string main =
      writer.Op({.name = "vhlo.func_v1",
                 .properties = {writer.List({}, 1),
                                writer.FunctionType({row, row}, {row}),
                                writer.List({}, 1), writer.Text("main"),
                                writer.Text("public")},
                 .regions = {writer.Region({row, row}, 3, {multiply, last})},
                 .isolated = true,
                 .has_properties = true});
  return writer.File({writer.Op({.name = "builtin.module",
                                 .regions = {writer.Region({}, 0, {main})},
                                 .isolated = true})});
}

// What it prints, with HAWSER_SERVERS as given.
std::string Printed(const std::string& servers) {
  const TemporaryFolder folder;
  const std::string artifact = folder.Write("product.mlirbc", Product());
  auto program = Process::Start(
      {testing::Runfile("client/examples/pjrt"),
       testing::Runfile("client/pjrt/libhawser_pjrt.so"), artifact},
      {"HAWSER_SERVERS=" + servers, "HAWSER_LOG_LEVEL=2"});
  EXPECT_OK(program);
  if (!program.ok()) return "";
  const auto code = program->Wait(absl::Seconds(50));
  EXPECT_OK(code);
  EXPECT_EQ(*code, 0);
  return program->output();
}

constexpr char kWant[] =
    "sum: 11 22\n"
    "sum again: error: argument 0: f32[2] was deleted or donated\n"
    "without an argument: error: argument 0: there is no buffer\n"
    "error: 1:18: expected a type, got '{'\n"
    "artifact: 100 400\n";

TEST(PjrtExample, RunsHere) { EXPECT_EQ(Printed(""), kWant); }

TEST(PjrtExample, RunsOnAServer) {
  std::string address;
  const auto server = testing::StartHawserd({"--device=cpu"}, &address);
  ASSERT_OK(server);
  EXPECT_EQ(Printed(address), kWant);
}

}  // namespace
}  // namespace hawser
