// Types, out of tokens.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_TYPE_READER_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_TYPE_READER_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/text/token_reader.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Reads types and keeps their aliases, "!name = type". Encodings of tensors are
// skipped. Errors: kInvalidArgument with line and column.
class TypeReader {
 public:
  explicit TypeReader(TokenReader* tokens) : tokens_(*tokens) {}

  absl::StatusOr<Type> Read();
  // "(a, b) -> c" or "(a, b) -> (c, d)". Attributes and locations after a type
  // are skipped.
  absl::StatusOr<FunctionType> ReadFunction();
  // "(a, b)", or one type without parentheses.
  absl::Status ReadList(std::vector<Type>* types);
  // "{...}" and "loc(...)", where they stand after a type.
  absl::Status SkipNotes();
  void Define(absl::string_view alias, Type type) {
    aliases_[alias] = std::move(type);
  }

 private:
  absl::StatusOr<Type> ReadTensor();
  absl::Status ReadSizes(Type* type);

  TokenReader& tokens_;
  absl::flat_hash_map<absl::string_view, Type> aliases_;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_TYPE_READER_H_
