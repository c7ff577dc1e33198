// What a bench has found, as the table that README.md shows.
#ifndef HAWSER_TESTS_BENCH_MEASURE_REPORT_H_
#define HAWSER_TESTS_BENCH_MEASURE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hawser::bench {

struct Row {
  std::string placement;  // "two cores", "one core"
  std::string what;
  std::string ours;
  std::string floor;
  double ratio = 0;
  std::string target;  // of the ratio; "" for a figure that explains another
};

struct Report {
  std::vector<Row> rows;
  // Data bytes that the second put of the same dataset has sent.
  int64_t put_again_bytes = -1;
};

// In Markdown.
std::string ToTable(const Report& report);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_MEASURE_REPORT_H_
