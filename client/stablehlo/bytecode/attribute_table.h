// AttributeTable: the attributes and locations of an artifact.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_ATTRIBUTE_TABLE_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_ATTRIBUTE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/bytecode/container.h"
#include "client/stablehlo/bytecode/dialects/cursor.h"
#include "client/stablehlo/bytecode/type_table.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Decodes each attribute once, when it is first asked for, to what the text
// would have said. Attributes of other dialects are opaque. Errors:
// kInvalidArgument, also for attributes that are made of themselves.
class AttributeTable {
 public:
  AttributeTable(const Source* source, const Container* container,
                 TypeTable* types, TreeStrings* strings)
      : source_(*source),
        container_(*container),
        types_(*types),
        strings_(*strings),
        known_(container->attributes.size()),
        locations_(container->attributes.size()) {}

  // The attribute whose number comes next. Null: it says that there is none.
  absl::StatusOr<AttributePtr> Read(Cursor* cursor);
  // Likewise, a dictionary, whose fields are appended.
  absl::Status ReadFields(Cursor* cursor, AttributeDict* fields);
  // Likewise, a location: "\"model.py\":12:3" of the first file in it, or "".
  absl::StatusOr<absl::string_view> ReadLocation(Cursor* cursor);

 private:
  struct Known {
    enum State : uint8_t { kCoded, kBusy, kDecoded } state = kCoded;
    AttributePtr value;
  };
  struct KnownLocation {
    bool known = false;
    absl::string_view text;
  };

  absl::StatusOr<AttributePtr> At(size_t index);
  absl::StatusOr<AttributePtr> Decode(const CodedEntry& entry);
  absl::StatusOr<AttributePtr> DecodeVhlo(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeBuiltin(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeList(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeDict(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeString(Cursor cursor,
                                            Attribute::Kind kind);
  absl::StatusOr<AttributePtr> DecodeInteger(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeFloat(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeElements(Cursor cursor);
  absl::StatusOr<AttributePtr> DecodeType(Cursor cursor);
  absl::StatusOr<absl::string_view> LocationAt(size_t index, int depth);
  absl::StatusOr<absl::string_view> DecodeLocation(Cursor cursor, int depth);
  absl::string_view Keep(std::string text);

  const Source& source_;
  const Container& container_;
  TypeTable& types_;
  TreeStrings& strings_;
  std::vector<Known> known_;
  std::vector<KnownLocation> locations_;
  int depth_ = 0;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_ATTRIBUTE_TABLE_H_
