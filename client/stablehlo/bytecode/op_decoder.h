// OpDecoder: the ops of an artifact.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_OP_DECODER_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_OP_DECODER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/bytecode/attribute_table.h"
#include "client/stablehlo/bytecode/container.h"
#include "client/stablehlo/bytecode/dialects/cursor.h"
#include "client/stablehlo/bytecode/type_table.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Values are numbered within the nearest region that is isolated from what is
// around it; each gets a name of its own in the tree. Errors:
// kInvalidArgument with the byte; kUnimplemented for an op of a newer VHLO.
class OpDecoder {
 public:
  OpDecoder(const Source* source, const Container* container,
            TreeStrings* strings);

  // The ops of the file.
  absl::Status ReadAll(std::vector<Op>* ops);

 private:
  // A value; without a name it is not known yet.
  struct Value {
    absl::string_view name;
    const Type* type = nullptr;  // of the table
  };
  // The values that can be named where the decoder is: of a scope, by number.
  using Scope = std::vector<Value>;
  // What is still to be numbered of a region.
  struct Numbering {
    size_t next = 0;
    size_t end = 0;
  };

  absl::Status ReadRegion(Cursor* cursor, Region* to);
  absl::Status ReadBlock(Cursor* cursor, Numbering* numbers, Region* to);
  absl::StatusOr<Op> ReadOp(Cursor* cursor, Numbering* numbers);
  absl::Status ReadProperties(Cursor* cursor, absl::string_view coded_name,
                              Op* op);
  absl::Status ReadOperands(Cursor* cursor, Op* op);
  absl::Status ReadRegions(Cursor* cursor, Op* op);
  // A hint on the order of uses, of so many values; of no use here.
  absl::Status SkipUseOrders(Cursor* cursor, size_t values);
  absl::StatusOr<absl::string_view> Define(const Cursor& cursor,
                                           const Type* type,
                                           Numbering* numbers);

  const Source& source_;
  const Container& container_;
  TreeStrings& strings_;
  TypeTable types_;
  AttributeTable attributes_;
  std::vector<absl::string_view> names_;  // of ops, as StableHLO has them
  std::vector<Scope> scopes_{1};
  int64_t values_ = 0;
  int depth_ = 0;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_OP_DECODER_H_
