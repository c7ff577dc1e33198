// Ops and regions, out of tokens.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_OP_READER_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_OP_READER_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/stablehlo/text/attribute_reader.h"
#include "client/stablehlo/text/token_reader.h"
#include "client/stablehlo/text/type_reader.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Reads the ops of one file. The differences between pretty forms are in
// pretty_form.h; the reader has what they share. Errors: kInvalidArgument with
// line and column.
class OpReader {
 public:
  explicit OpReader(const Source& source)
      : tokens_(source), types_(&tokens_), attributes_(&tokens_, &types_) {}
  OpReader(const OpReader&) = delete;
  OpReader& operator=(const OpReader&) = delete;

  TokenReader& tokens() { return tokens_; }
  TypeReader& types() { return types_; }
  AttributeReader& attributes() { return attributes_; }

  // Everything up to the end of the text. Call it once.
  absl::StatusOr<Tree> ReadFile();

  // "{ ... }", one block, with or without its head. Arguments are appended to
  // those that the region has already.
  absl::Status ReadRegion(Region* region);
  // "(%a: type, %b: type)".
  absl::Status ReadArguments(std::vector<BlockArgument>* arguments);
  // "%a" or "%a#1".
  absl::Status ReadOperand(Op* op);
  // "(types) -> types", "types -> types" or "types", which are those of the
  // results, or of operands where there are no results.
  absl::Status ReadTypes(Op* op);

 private:
  absl::StatusOr<Op> ReadOp();
  absl::Status ReadResultNames(Op* op);
  absl::Status ReadGeneric(Op* op);
  absl::Status ReadLocation(Op* op);
  absl::Status ReadAlias(Tree* tree);
  absl::Status ReadTrailer();

  TokenReader tokens_;
  TypeReader types_;
  AttributeReader attributes_;
  // Holds the trailer: name -> hexadecimal digits after "0x".
  absl::flat_hash_map<absl::string_view, absl::string_view> blobs_;
};

// Returns how many values the names of an op's results stand for.
int NumResults(const Op& op);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_OP_READER_H_
