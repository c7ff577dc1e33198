// ExportedProgram: a StableHLO file with the arguments that it is timed with.
#ifndef HAWSER_TESTS_BENCH_GPU_PROGRAMS_EXPORTED_PROGRAM_H_
#define HAWSER_TESTS_BENCH_GPU_PROGRAMS_EXPORTED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/options.h"

namespace hawser::bench {

struct ExportedProgram {
  std::string name;  // of the file, without its ending
  std::shared_ptr<const Module> module;  // as a client sends it: optimized
  std::vector<Literal> arguments;  // one for each parameter
  // So many results are the first arguments of the next run.
  int carried = 0;
  runtime::Numerics numerics = runtime::Numerics::kFast;
};

// Reads a program. `programs.json` beside it gives the ranges of its arguments
// and how many results are carried; if it has no entry of that name, floats are
// from [-1, 1), integers from [0, 2), and nothing is carried. Errors: those of
// the files, of stablehlo::ReadProgram; kInvalidArgument for an entry of other
// arguments, and for arrays of datasets.
absl::StatusOr<ExportedProgram> ReadExportedProgram(const std::string& path);

// Argument `number`, from 1, of a program: elements from [low, high) that two
// sides can make alike (../README.md has the formula). Complex and bool are
// kUnimplemented.
absl::StatusOr<Literal> HashedArgument(const Shape& shape, uint32_t number,
                                       double low, double high);

// What two sides compare of a result: the number of elements, the mean and the
// mean magnitude of up to 65,536 of them and 24 elements, as a JSON object.
std::string SummaryOf(const Literal& result);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_PROGRAMS_EXPORTED_PROGRAM_H_
