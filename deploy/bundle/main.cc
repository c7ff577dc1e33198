// The programs of hawser in one file, for machines that have none of its
// libraries. The name it is called by decides, or else the first argument.
#include <cstdio>
#include <cstring>

int hawser_command(int argc, char** argv);
int hawserd_command(int argc, char** argv);
int device_check_command(int argc, char** argv);
int conformance_command(int argc, char** argv);
int gpu_bench_command(int argc, char** argv);
int compile_bench_command(int argc, char** argv);

namespace {

constexpr int kUsage = 2;  // exit code

struct Program {
  const char* name;
  int (*main)(int argc, char** argv);
  const char* summary;
};
constexpr Program kPrograms[] = {
    {"hawser", hawser_command, "the command line (hawser --help)"},
    {"hawserd", hawserd_command, "the server (hawserd --help)"},
    {"conformance", conformance_command,
     "every way of computing alike; in a folder with tests/vectors"},
    {"device_check", device_check_command,
     "what holds on every device, on the one there is (--gtest_filter=*cuda)"},
    {"gpu_bench", gpu_bench_command,
     "the GPU engine's workloads, timed (--device=emu --shrink=64: without one)"},
    {"compile_bench", compile_bench_command,
     "how long it takes from a module to kernels"},
};

const Program* Find(const char* name) {
  for (const Program& program : kPrograms) {
    if (std::strcmp(program.name, name) == 0) return &program;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const char* slash = argc > 0 ? std::strrchr(argv[0], '/') : nullptr;
  const char* called = slash != nullptr ? slash + 1 : argc > 0 ? argv[0] : "";
  if (const Program* program = Find(called)) return program->main(argc, argv);
  if (argc > 1) {
    if (const Program* program = Find(argv[1])) {
      return program->main(argc - 1, argv + 1);
    }
  }
  std::fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...], or a link to it "
               "that is named like a program:\n", called);
  for (const Program& program : kPrograms) {
    std::fprintf(stderr, "  %-13s %s\n", program.name, program.summary);
  }
  return kUsage;
}
