#include "client/stablehlo/rows/rows.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/stablehlo/body/op_context.h"
#include "core/base/status.h"
#include "core/ops/registry.h"

namespace hawser::stablehlo {
namespace {

using Table = absl::flat_hash_map<std::string, Row>;

// Later rows stand in for earlier ones.
const Table& AllRows() {
  static const Table* const table = [] {
    auto* rows = new Table;
    for (const OpDef* op : AllOps()) {
      if (!op->Is(kElementwise) || !op->attributes.empty() ||
          op->Is(kHawserOnly)) {
        continue;
      }
      for (const absl::string_view dialect : {"stablehlo.", "chlo."}) {
        (*rows)[absl::StrCat(dialect, op->name)] = {op->name, LowerElementwise,
                                                    op};
      }
    }
    for (const auto family :
         {ElementwiseRows(), FormulaRows(), MovementRows(), IndexedRows(),
          ContractionRows(), OrderRows(), RandomRows(), WindowRows(),
          ConvolutionRows(), ControlRows(), CallRows(), DeviceRows(),
          LinalgRows(), FftRows(), LibraryRows()}) {
      for (const Row& row : family) (*rows)[std::string(row.name)] = row;
    }
    return rows;
  }();
  return *table;
}

}  // namespace

const Row* FindRow(absl::string_view name) {
  const auto found = AllRows().find(name);
  return found == AllRows().end() ? nullptr : &found->second;
}

absl::StatusOr<Values> LowerByName(OpContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes,
                          context.AttributesOf(*context.row.op));
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int> called,
                          context.ClosedRegions());
  return context.Add(*context.row.op, context.operands, std::move(attributes),
                     called);
}

}  // namespace hawser::stablehlo
