#include "tests/bench/measure/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hawser::bench {

std::string ToTable(const Report& report) {
  std::string table =
      "| placement | what | hawser | floor | ratio | target |\n"
      "|---|---|---|---|---|---|\n";
  for (const Row& row : report.rows) {
    absl::StrAppendFormat(&table, "| %s | %s | %s | %s | %.2f | %s |\n",
                          row.placement, row.what, row.ours, row.floor,
                          row.ratio, row.target);
  }
  if (report.put_again_bytes >= 0) {
    absl::StrAppendFormat(
        &table, "| two cores | put again | %d data bytes | 0 | | 0 |\n",
        report.put_again_bytes);
  }
  return table;
}

}  // namespace hawser::bench
