// The process's side of mutant.h: which mutant runs, and what was reached.
#include "tests/mutation/mutant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <unordered_set>

#include "tests/mutation/known_cases.h"

namespace {

constexpr int kSites = 1 << 18;
unsigned char unshared[kSites];

int Number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

}  // namespace

int hawser_mutant = 0;
unsigned char* hawser_mutant_reached = unshared;

namespace mut {
namespace {

// Before any initializer of a mutated source. What is reached is noted in a
// file that all processes of a test share, however they end.
__attribute__((constructor(101))) void ReadMutant() {
  hawser_mutant = Number("HAWSER_MUTANT", 0);
  const char* path = std::getenv("HAWSER_MUTANT_REACHED");
  if (path == nullptr) return;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ftruncate(file, kSites) != 0) return;
  void* shared =
      mmap(nullptr, kSites, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared != MAP_FAILED) {
    hawser_mutant_reached = static_cast<unsigned char*>(shared);
  }
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
