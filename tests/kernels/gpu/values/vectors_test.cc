// Case files of tests/vectors on the GPU engine over an emulated device, in
// this process and behind a real server: one of each family as a fast test, all
// of them with --config=full.
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/cases/case_runner.h"
#include "client/connect.h"
#include "client/sdk/client/client.h"
#include "core/base/mutex.h"
#include "kernels/cpu/client/cpu_client.h"
#include "kernels/gpu/compile/compiled.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::gpu {
namespace {

// Runs on the CPU, and keeps the kernels that an emulated device would run.
class KernelCollector : public cpu::CpuClient {
 public:
  explicit KernelCollector(std::shared_ptr<Device> device)
      : CpuClient(cpu::CpuClientOptions()), device_(std::move(device)) {}

  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    DeviceCode code;
    const auto program =
        LowerModule(*module, options.numerics, true, device_, &code);
    if (program.ok()) {
      MutexLock lock(&mu_);
      const bool strict = options.numerics == runtime::Numerics::kStrict;
      for (const EmittedKernel& k : program->kernels) {
        kernels_[strict].emplace(k.name, k);
      }
    }
    return CpuClient::Compile(std::move(module), options, call);
  }

  // By numerics: strict or not.
  std::vector<EmittedKernel> kernels(bool strict) {
    MutexLock lock(&mu_);
    std::vector<EmittedKernel> all;
    for (const auto& [name, kernel] : kernels_[strict]) all.push_back(kernel);
    return all;
  }

 private:
  const std::shared_ptr<Device> device_;
  Mutex mu_;
  std::map<bool, std::map<std::string, EmittedKernel>> kernels_
      ABSL_GUARDED_BY(mu_);
};

// Those that HAWSER_CASE_FILES names, by commas and without their folder; all
// of them without it.
std::vector<std::string> CaseFiles() {
  const char* const chosen = std::getenv("HAWSER_CASE_FILES");
  if (chosen == nullptr) {
    const auto files = cli::FindCaseFiles("tests/vectors");
    EXPECT_OK(files);
    return *files;
  }
  std::vector<std::string> files;
  for (const absl::string_view name : absl::StrSplit(chosen, ',')) {
    files.push_back(absl::StrCat("tests/vectors/", name, ".txtpb"));
  }
  return files;
}

cli::CaseReport RunAllCases(const Client& client) {
  cli::CaseReport report;
  for (const std::string& file : CaseFiles()) {
    cli::RunCaseFile(file, client, &report);
  }
  return report;
}

// A folder with the kernels of all cases: a call of the compiler for each case
// would take minutes.
const std::string& CaseKernels() {
  static const auto& folder = *new std::string([] {
    const std::string made = ::testing::TempDir() + "/case_kernels";
    const std::shared_ptr<Device> device = emu::MakeEmuDevice({});
    const auto collector = std::make_shared<KernelCollector>(device);
    RunAllCases(Client(collector));
    KernelCache cache(device, {.folder = made, .kernels_per_program = 48});
    for (const bool strict : {false, true}) {
      EXPECT_OK(cache.Get(collector->kernels(strict), {.strict = strict},
                          CancelToken()));
    }
    return made;
  }());
  return folder;
}

void ExpectAllHold(const Client& client) {
  const cli::CaseReport report = RunAllCases(client);
  for (const cli::CaseFailure& failure : report.failures) {
    ADD_FAILURE() << failure.file << ": \"" << failure.name
                  << "\": " << failure.what;
  }
  EXPECT_GT(report.passed, 8 * CaseFiles().size());
}

TEST(Vectors, HoldOnAnEmulatedDevice) {
  Rig rig({.client = {.kernels = {.folder = CaseKernels()}}});
  const std::shared_ptr<runtime::Client> client(&rig.client(), [](auto*) {});
  ExpectAllHold(Client(client));
  EXPECT_LT(rig.client().kernel_counts().compiled, 20);
}

TEST(Vectors, HoldOnAServerWithAnEmulatedDevice) {
  std::string address;
  ASSERT_OK_AND_ASSIGN(
      const hawser::testing::Process server,
      hawser::testing::StartHawserd(
          {"--device=emu", absl::StrCat("--kernel_cache=", CaseKernels())},
          &address));
  ASSERT_OK_AND_ASSIGN(const Client client,
                       Connect({.servers = {address}, .fallback = Client()}));
  ExpectAllHold(client);
}

}  // namespace
}  // namespace hawser::gpu
