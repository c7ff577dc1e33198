// A good text with some of its tokens changed: gets behind the grammar, to the
// shape rules and the claims. The first byte chooses the text, every five after
// it one edit: place (two), kind, other place (two).
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/text/lexer.h"
#include "tests/fuzz/inputs/sound_parse.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sample_modules.h"

namespace hawser {
namespace {

using Tokens = std::vector<std::string>;

Tokens TokensOf(const Module& module) {
  const std::string text = Print(module);
  Lexer lexer(text);
  Tokens tokens;
  for (Token t = lexer.Next(); t.kind != Token::kEnd; t = lexer.Next()) {
    tokens.emplace_back(t.text);
  }
  return tokens;
}

const std::vector<Tokens>& Originals() {
  static const auto* const originals = [] {
    auto* all = new std::vector<Tokens>;
    for (const NamedModule& sample : SampleModules()) {
      all->push_back(TokensOf(sample.module));
    }
    for (uint64_t seed = 0; seed < 58; ++seed) {
      all->push_back(TokensOf(RandomModule(seed, {.instructions = 12})));
    }
    return all;
  }();
  return *originals;
}

void Edit(const uint8_t* edit, Tokens* tokens) {
  if (tokens->empty()) return;
  const size_t at = (edit[0] | edit[1] << 8) % tokens->size();
  const size_t other = (edit[3] | edit[4] << 8) % tokens->size();
  const char* const kEdges[] = {"-1", "0", "9223372036854775807", "inf",
                                "nan(0x7fc00001)", "%0", "@0", "1e400"};
  switch (edit[2] % 5) {
    case 0:
      (*tokens)[at] = (*tokens)[other];
      break;
    case 1:
      std::swap((*tokens)[at], (*tokens)[other]);
      break;
    case 2:
      tokens->erase(tokens->begin() + static_cast<ptrdiff_t>(at));
      break;
    case 3:
      tokens->insert(tokens->begin() + static_cast<ptrdiff_t>(at),
                     std::string((*tokens)[other]));
      break;
    default:
      (*tokens)[at] = kEdges[edit[3] % std::size(kEdges)];
  }
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto& originals = hawser::Originals();
  hawser::Tokens tokens = originals[data[0] % originals.size()];
  for (size_t at = 1; at + 5 <= size; at += 5) {
    hawser::Edit(data + at, &tokens);
  }
  std::string text;
  for (const std::string& token : tokens) text += token + " ";
  hawser::CheckSoundParse(text);
  return 0;
}
