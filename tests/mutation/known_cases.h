// What the tests of a scratch build are told, so that a mutant is not asked for
// more than can change: see build.py for where it is put in.
#ifndef HAWSER_TESTS_MUTATION_KNOWN_CASES_H_
#define HAWSER_TESTS_MUTATION_KNOWN_CASES_H_

#include <cstdint>
#include <string>

namespace mut {

// At most as many random modules as HAWSER_MUTANT_SEEDS says.
int Seeds(int count);

// Kernels that are compiled in one go: HAWSER_MUTANT_BATCH.
int KernelsAtOnce();

// Whether these kernels gave these results before anything was mutated.
bool IsKnownCase(uint64_t digest);

// `Case` is RegionBatch::Case.
template <class Case>
bool IsKnown(const Case& c) {
  std::string all;
  const auto add = [&](const auto& text) {
    all.append(text.data(), text.size());
    all += '\n';
  };
  for (const auto& kernel : c.kernels) {
    add(kernel.text);
    const auto& s = kernel.shape;
    for (const int64_t n : {int64_t{s.grid.x}, int64_t{s.grid.y},
                            int64_t{s.grid.z}, int64_t{s.threads},
                            int64_t{s.dynamic_shared_bytes}}) {
      add(std::to_string(n));
    }
    for (const auto& p : kernel.parameters) {
      for (const int64_t n :
           {int64_t{p.kind}, int64_t{p.index}, int64_t{p.offset},
            int64_t{p.bytes}, static_cast<int64_t>(p.access)}) {
        add(std::to_string(n));
      }
    }
  }
  for (const auto* values : {&c.operands, &c.want}) {
    for (const auto& literal : *values) {
      const auto bytes = literal.bytes();
      all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      all += '\n';
    }
  }
  add(std::to_string(c.scratch_bytes));
  add(std::to_string(c.in_place) + std::to_string(c.allowed));
  return IsKnownCase(std::hash<std::string>()(all));
}

}  // namespace mut
#endif  // HAWSER_TESTS_MUTATION_KNOWN_CASES_H_
