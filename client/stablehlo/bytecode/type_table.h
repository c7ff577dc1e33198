// TypeTable: the types of an artifact.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_TYPE_TABLE_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_TYPE_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/stablehlo/bytecode/container.h"
#include "client/stablehlo/bytecode/dialects/cursor.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

struct CodedType {
  Type type;
  std::shared_ptr<FunctionType> function;  // of a function's type
  bool is_none = false;                    // what stands for no attribute
};

// Decodes each type once, when it is first asked for. Errors:
// kInvalidArgument, also for types that are made of themselves.
class TypeTable {
 public:
  TypeTable(const Source* source, const Container* container,
            TreeStrings* strings);

  // The type whose number comes next.
  absl::StatusOr<const CodedType*> Read(Cursor* cursor);
  // The type of that number, which was read at the cursor.
  absl::StatusOr<const CodedType*> Numbered(const Cursor& cursor,
                                            uint64_t number);

 private:
  struct Known {
    enum State : uint8_t { kCoded, kBusy, kDecoded } state = kCoded;
    CodedType value;
  };

  absl::StatusOr<const CodedType*> At(size_t index);
  absl::Status Decode(const CodedEntry& entry, CodedType* to);
  absl::Status DecodeVhlo(Cursor cursor, CodedType* to);
  absl::Status DecodeBuiltin(Cursor cursor, CodedType* to);
  absl::Status DecodeTensor(Cursor cursor, bool has_encoding, Type* to);
  absl::Status DecodeComplex(Cursor cursor, CodedType* to);
  absl::Status DecodeFunction(Cursor cursor, CodedType* to);
  absl::Status ReadList(Cursor* cursor, std::vector<Type>* to);
  absl::string_view Keep(std::string text);

  const Source& source_;
  const Container& container_;
  TreeStrings& strings_;
  std::vector<Known> known_;
  int depth_ = 0;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_TYPE_TABLE_H_
