#include "core/ops/registry.h"

#include <set>
#include <string>
#include <vector>

#include "core/ir/leaves.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

TEST(ReferenceRegistryTest, EveryOpButParameterHasARow) {
  std::vector<std::string> missing;
  for (const OpDef* op : AllOps()) {
    if (op != &kParameter && FindRow(*op) == nullptr) {
      missing.emplace_back(op->name);
    }
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(ReferenceRegistryTest, NoOpHasTwoRows) {
  std::set<const OpDef*> seen;
  for (const auto family :
       {ElementwiseRows(), MathRows(), CompareRows(), ConvertRows(),
        ShapeRows(), SliceRows(), GatherRows(), ReduceRows(), DotRows(),
        ControlRows()}) {
    for (const Row& row : family) {
      EXPECT_TRUE(seen.insert(row.op).second) << row.op->name;
    }
  }
}

}  // namespace
}  // namespace hawser::reference
