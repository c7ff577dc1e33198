// Attributes, out of tokens.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_ATTRIBUTE_READER_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_ATTRIBUTE_READER_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/text/token_reader.h"
#include "client/stablehlo/text/type_reader.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Reads attributes and keeps their aliases, "#name = attribute". An attribute
// that nothing needs to understand (layouts, sharding, precision) becomes
// kOpaque.
// Errors: kInvalidArgument with line and column.
class AttributeReader {
 public:
  // Says if ": type" may follow a value. In pretty forms a colon begins the
  // types of the op.
  enum class Typed { kNo, kYes };

  AttributeReader(TokenReader* tokens, TypeReader* types)
      : tokens_(*tokens), types_(*types) {}

  absl::StatusOr<AttributePtr> Read(Typed typed = Typed::kYes);
  // "{a = 1, b}", of which the fields are appended.
  absl::Status ReadDict(AttributeDict* fields);
  // "dense<...> : type".
  absl::StatusOr<AttributePtr> ReadDense();

  void Define(absl::string_view alias, AttributePtr value) {
    aliases_[alias] = std::move(value);
  }
  // Gives every dense_resource<name> its bytes, which the end of a file holds.
  // Errors: a name without bytes.
  absl::Status Resolve(
      const absl::flat_hash_map<absl::string_view, absl::string_view>& blobs);

 private:
  using Made = std::shared_ptr<Attribute>;

  absl::StatusOr<AttributePtr> ReadValue(Typed typed);
  absl::StatusOr<AttributePtr> ReadWord(Typed typed);
  absl::StatusOr<AttributePtr> ReadAlias();
  absl::StatusOr<AttributePtr> ReadList();
  absl::StatusOr<AttributePtr> ReadArray();
  absl::StatusOr<AttributePtr> ReadResource();
  absl::StatusOr<AttributePtr> ReadBrackets(const char* begin);
  absl::Status ReadFields(absl::string_view end, AttributeDict* fields);

  struct Resource {
    absl::string_view name;
    std::shared_ptr<Elements> elements;
  };
  TokenReader& tokens_;
  TypeReader& types_;
  absl::flat_hash_map<absl::string_view, AttributePtr> aliases_;
  std::vector<Resource> resources_;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_ATTRIBUTE_READER_H_
