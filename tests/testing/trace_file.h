// The file of a trace (core/base/trace), read back.
#ifndef HAWSER_TESTS_TESTING_TRACE_FILE_H_
#define HAWSER_TESTS_TESTING_TRACE_FILE_H_

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace hawser {

// Invariant: events that are spans have a "dur".
struct TraceFile {
  nlohmann::json whole;

  static TraceFile Read(const std::string& path) {
    std::ifstream in(path);
    TraceFile file{nlohmann::json::parse(in, nullptr, false)};
    EXPECT_FALSE(file.whole.is_discarded()) << path << " is no JSON";
    return file;
  }
  int64_t dropped() const { return whole["otherData"]["dropped"]; }

  // The events of a name, or of a part of it, in the file's order.
  std::vector<nlohmann::json> Named(const std::string& part) const {
    std::vector<nlohmann::json> found;
    for (const auto& event : whole["traceEvents"]) {
      const std::string name = event["name"];
      if (name.find(part) != std::string::npos) found.push_back(event);
    }
    return found;
  }
  // Whether a span of the one name is within one of the other, on its thread.
  bool IsWithin(const std::string& inner, const std::string& outer) const {
    for (const auto& i : Named(inner)) {
      for (const auto& o : Named(outer)) {
        if (Holds(o, i)) return true;
      }
    }
    return false;
  }

  // Spans overlap on no thread but by lying within each other.
  void ExpectNested() const {
    std::vector<nlohmann::json> spans;
    for (const auto& event : whole["traceEvents"]) {
      if (event["ph"] == "X") spans.push_back(event);
    }
    for (const auto& a : spans) {
      for (const auto& b : spans) {
        if (a["tid"] != b["tid"] || Begin(a) > Begin(b)) continue;
        EXPECT_TRUE(End(a) <= Begin(b) || End(b) <= End(a) || Holds(b, a))
            << a << " and " << b;
      }
    }
  }

 private:
  static int64_t Begin(const nlohmann::json& event) {
    return static_cast<int64_t>(event["ts"].get<double>() * 1000 + 0.5);
  }
  static int64_t End(const nlohmann::json& event) {
    return Begin(event) +
           static_cast<int64_t>(event["dur"].get<double>() * 1000 + 0.5);
  }
  static bool Holds(const nlohmann::json& outer, const nlohmann::json& inner) {
    return outer["ph"] == "X" && inner["ph"] == "X" && outer != inner &&
           outer["tid"] == inner["tid"] && Begin(outer) <= Begin(inner) &&
           End(inner) <= End(outer);
  }
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_TRACE_FILE_H_
