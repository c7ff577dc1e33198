// What clients do in the rounds of kill -9: each of it may be cut off anywhere,
// and knows what is right.
#ifndef HAWSER_TESTS_E2E_KILLS_KILL_WORK_H_
#define HAWSER_TESTS_E2E_KILLS_KILL_WORK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/hawser.h"
#include "core/runtime/dataset.h"

namespace hawser::testing {

// Is told the token of a dataset as soon as a server has called it durable.
using OnDurable = std::function<void(const std::string& token)>;

// The part that may be cut off. OK: everything was there and right. kInternal:
// a wrong value.
using CutOff = std::function<absl::Status(const OnDurable&)>;

struct KillWork {
  absl::string_view name;
  // Does what must be there before. Works of one seed use the same values.
  absl::StatusOr<CutOff> (*prepare)(const Client& client, uint64_t seed);
  // Whether kDataLoss is a right answer also with a fallback: what was frozen
  // may be there alone.
  bool may_lose = false;
  bool puts = false;  // a dataset of ArraysToPut(seed)
};

const std::vector<KillWork>& AllKillWorks();
// Null: none is called that.
const KillWork* FindKillWork(absl::string_view name);

// What "put", "commit" and "freeze" make a dataset of.
std::vector<DatasetSource::Array> ArraysToPut(uint64_t seed);
// Whether that dataset comes back as it was.
absl::Status CheckPut(const Client& client, const std::string& token,
                      uint64_t seed);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_E2E_KILLS_KILL_WORK_H_
