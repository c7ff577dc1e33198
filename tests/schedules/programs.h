// Random programs for schedules, and what they have to compute.
#ifndef HAWSER_TESTS_SCHEDULES_PROGRAMS_H_
#define HAWSER_TESTS_SCHEDULES_PROGRAMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {

// Ends every wait, long after anything here should.
runtime::CallOptions Patiently();

// What stays the same for all schedules: a few modules, and this machine's CPU
// that computes what they give. Thread-safe.
class Reference {
 public:
  static const Reference& Shared();

  int num_modules() const { return static_cast<int>(modules_.size()); }
  const std::shared_ptr<const Module>& module(int i) const {
    return modules_[i];
  }
  const Signature& signature(int i) const {
    return executables_[i]->signature();
  }
  std::vector<Literal> Run(int i, const std::vector<Literal>& arguments) const;

 private:
  Reference();
  std::shared_ptr<runtime::Client> client_;
  std::vector<std::shared_ptr<const Module>> modules_;
  std::vector<std::shared_ptr<runtime::Executable>> executables_;
};

// An error that the faults of the schedule account for.
using Explained = std::function<bool(absl::string_view step,
                                     const absl::Status& error)>;

// What one thread does with a client: compiles, uploads, runs, fetches, gives
// away and lets go, by chance. Each value is either what the reference made of
// the same arguments or an error that is explained. Not thread-safe.
class RandomProgram {
 public:
  RandomProgram(runtime::Client* client, uint64_t seed, Explained explained);
  ~RandomProgram();

  // The first thing that was wrong, or OK.
  absl::Status Run(int steps);

 private:
  struct Value {
    runtime::BufferPtr buffer;
    Literal want;
  };
  struct Pending {
    Future<Literal> fetched;
    Literal want;
  };
  using ExecutablePtr = std::shared_ptr<runtime::Executable>;

  absl::Status Step();
  absl::Status Execute(int module);
  absl::Status Chain();
  absl::Status Call();
  absl::Status Upload();
  absl::Status Fetch(bool wait);
  absl::Status Release();
  absl::StatusOr<ExecutablePtr> Compile(int module);

  // A value of this shape: one there is, or a new one that rides along.
  runtime::Argument PickArgument(const Shape& shape, Literal* want, int* held);
  // OK for an error that is explained.
  absl::Status Judge(absl::string_view step, const absl::Status& error) const;
  absl::Status Check(absl::string_view step,
                     const absl::StatusOr<Literal>& got,
                     const Literal& want) const;

  runtime::Client* const client_;
  const Explained explained_;
  Random random_;
  std::vector<ExecutablePtr> executables_;
  std::vector<Value> values_;
  std::vector<Pending> pending_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_SCHEDULES_PROGRAMS_H_
