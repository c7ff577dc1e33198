// The process's side of mutant.h: which mutant runs, and what was reached.
#include "tests/mutation/mutant.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unordered_set>

#include "tests/mutation/known_cases.h"

int hawser_mutant = 0;
unsigned char hawser_mutant_reached[1 << 16] = {};

namespace mut {
namespace {

int Number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

// Before any initializer of a mutated source.
__attribute__((constructor(101))) void ReadMutant() {
  hawser_mutant = Number("HAWSER_MUTANT", 0);
}

// The numbers of the sites that were reached, one a line.
__attribute__((destructor)) void WriteReached() {
  const char* path = std::getenv("HAWSER_MUTANT_REACHED");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return;
  for (int site = 0; site < 1 << 16; ++site) {
    if (hawser_mutant_reached[site]) std::fprintf(file, "%d\n", site);
  }
  std::fclose(file);
}

}  // namespace

int Seeds(int count) {
  const int most = Number("HAWSER_MUTANT_SEEDS", count);
  return most < count ? most : count;
}

int KernelsAtOnce() { return Number("HAWSER_MUTANT_BATCH", 400); }

bool IsKnownCase(uint64_t digest) {
  const char* write = std::getenv("HAWSER_MUTANT_WRITE_CASES");
  if (write != nullptr) {
    std::ofstream(write, std::ios::app) << digest << "\n";
    return false;
  }
  static const auto& known = *[] {
    auto* digests = new std::unordered_set<uint64_t>;
    if (const char* path = std::getenv("HAWSER_MUTANT_CASES")) {
      std::ifstream file(path);
      for (uint64_t digest; file >> digest;) digests->insert(digest);
    }
    return digests;
  }();
  if (known.count(digest) > 0) return true;
  // A mutant that changes every kernel is wrong in the first ones, or not seen.
  static const int most = Number("HAWSER_MUTANT_NEW_CASES", 1 << 30);
  static std::atomic<int> cases{0};
  return ++cases > most;
}

}  // namespace mut
