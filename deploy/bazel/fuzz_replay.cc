// The main of a fuzz_test built without libFuzzer: feeds it the corpus files
// named on the command line, then --mutations=N seeded mutations of them. g++ has no
// libFuzzer, and a plain test run should still touch the input space a little.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Without --mutations: few enough to stay within a second for a decoder under
// asan.
constexpr int kMutations = 2000;
constexpr unsigned kSeed = 20240607;
// Long enough to reach every field of a small message from nothing.
constexpr size_t kLongestRandomInput = 256;

void Feed(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()),
                         input.size());
}

std::string Mutate(std::string input, std::mt19937& random) {
  const int edits = 1 + random() % 4;
  for (int i = 0; i < edits; ++i) {
    const size_t at = input.empty() ? 0 : random() % input.size();
    switch (random() % 4) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 1:
        if (!input.empty()) input[at] ^= static_cast<char>(1u << random() % 8);
        break;
      case 2:
        input.insert(at, 1 + random() % 8, static_cast<char>(random()));
        break;
      default:
        input.erase(at, 1 + random() % 8);
    }
  }
  return input;
}

std::string RandomBytes(std::mt19937& random) {
  std::string bytes(random() % kLongestRandomInput, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> corpus;
  int mutations = kMutations;
  for (int i = 1; i < argc; ++i) {
    if (std::sscanf(argv[i], "--mutations=%d", &mutations) == 1) continue;
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return EXIT_FAILURE;
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
    Feed(corpus.back());
  }
  std::mt19937 random(kSeed);
  for (int i = 0; i < mutations; ++i) {
    Feed(corpus.empty() ? RandomBytes(random)
                        : Mutate(corpus[random() % corpus.size()], random));
  }
  std::printf("%zu corpus files and %d mutations (seed %u)\n", corpus.size(),
              mutations, kSeed);
  return EXIT_SUCCESS;
}
