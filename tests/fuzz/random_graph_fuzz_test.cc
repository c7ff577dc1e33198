// Random graphs computed four ways: as they are (the reference), optimized,
// encoded and decoded, printed and parsed. The results are the same, where one
// NaN is as good as another. The bytes are the seed and the generator's options.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/passes/optimize.h"
#include "core/wire/codec.h"
#include "kernels/cpu/evaluator.h"
#include "tests/fuzz/inputs/sound_parse.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

using Results = absl::StatusOr<std::vector<Literal>>;

cpu::CpuEvaluator& Evaluator() {
  static auto& evaluator = *new cpu::CpuEvaluator(
      {.numerics = runtime::Numerics::kStrict});
  return evaluator;
}

// All elements as text, which tells -0 from 0 but no NaN from another.
std::string Values(const Module& module, absl::Span<const Literal> arguments) {
  const int entry = static_cast<int>(module.computations().size()) - 1;
  const Results results =
      Evaluator().Evaluate(module, entry, arguments, CancelToken());
  if (!results.ok()) return results.status().ToString();
  std::string text;
  for (const Literal& l : *results) {
    text += l.ToString(l.shape().num_elements()) + "\n";
  }
  return text;
}

void CheckSame(const char* way, const absl::StatusOr<Module>& module,
               const Module& reference, absl::Span<const Literal> arguments,
               const std::string& want) {
  HAWSER_CHECK(module.ok() && Verify(*module).ok());
  const std::string got = Values(*module, arguments);
  if (got == want) return;
  std::fprintf(stderr, "%s:\n%s\nis\n%s\nwant\n%s\nreference:\n%s\n", way,
               Print(*module).c_str(), got.c_str(), want.c_str(),
               Print(reference).c_str());
  HAWSER_CHECK(got == want);
}

void CheckGraph(uint64_t seed, const RandomModuleOptions& options) {
  const Module module = RandomModule(seed, options);
  Random random(seed);
  const auto arguments = RandomArguments(module.signature(), random);
  const std::string want = Values(module, arguments);
  const ConstantEvaluator fold = [](const Module& m, int computation) {
    return Evaluator().Evaluate(m, computation, {}, CancelToken());
  };
  CheckSame("optimized", Optimize(module, {.verify = true}), module, arguments,
            want);
  CheckSame("folded", Optimize(module, {.evaluate = fold, .verify = true}),
            module, arguments, want);
  CheckSame("decoded", DecodeModule(EncodeModule(module)), module, arguments,
            want);
  CheckSame("parsed", ParseModule(Print(module), FindOp), module, arguments,
            want);
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint8_t bytes[12] = {};
  if (size > 0) std::memcpy(bytes, data, size < 12 ? size : 12);
  uint64_t seed = 0;
  std::memcpy(&seed, bytes, sizeof(seed));
  hawser::RandomModuleOptions options;
  options.parameters = 1 + bytes[8] % 4;
  options.instructions = 1 + bytes[9] % 40;
  options.max_rank = bytes[10] % 6;
  options.max_elements = int64_t{1} << bytes[11] % 9;
  hawser::CheckGraph(seed, options);
  return 0;
}
