// What the rounds of kill -9 share: how many, and what each of them is.
#ifndef HAWSER_TESTS_E2E_KILLS_KILL_ROUNDS_H_
#define HAWSER_TESTS_E2E_KILLS_KILL_ROUNDS_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/e2e/kills/kill_work.h"

namespace hawser::testing {

// One kill: of what, and after which part of the time that it takes.
struct KillRound {
  int number = 0;
  const KillWork* work = nullptr;
  uint64_t seed = 0;  // of the values, unlike that of any other round
  double moment = 0;  // now and then above 1: after the end
  bool fallback = false;
  bool restart_at_once = false;  // the server, while the client is at it
};
std::ostream& operator<<(std::ostream& out, const KillRound& round);

// Half of HAWSER_KILL_ROUNDS, each kind of work equally often, shuffled and
// timed by HAWSER_SEED (else always alike) and `salt`.
std::vector<KillRound> DrawRounds(uint64_t salt);

// How long each work takes undisturbed, by name.
using DryTimes = std::map<absl::string_view, absl::Duration>;

// A dataset that a server has called durable.
struct DurablePut {
  std::string token;
  uint64_t seed = 0;
};
// Expects that each comes back from the server as it was put.
void ExpectAllThere(const std::string& address,
                    const std::vector<DurablePut>& puts);

// Expects that every dataset the server lists, beyond `seen`, is what its name
// says; adds it there.
void ExpectListedAreWhole(const std::string& address,
                          std::set<std::string>* seen);
// Puts ArraysToPut(seed) once more. Expects that what a server over `data_dir`
// has on its disk is not sent again; returns how many bytes of the others were
// not sent either.
int64_t PutOnceMore(const std::string& address, const std::string& data_dir,
                    uint64_t seed);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_E2E_KILLS_KILL_ROUNDS_H_
