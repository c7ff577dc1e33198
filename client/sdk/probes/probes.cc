#include "client/sdk/probes/probes.h"

#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/probes/verdict.h"
#include "core/base/status.h"
#include "core/environment/environment.h"

namespace hawser::sdk {
namespace {

const CheckKinds& WantedChecks() {
  static const CheckKinds kinds = {
      .nan = IsSwitchedOn("HAWSER_CHECK_NAN"),
      .indices = IsSwitchedOn("HAWSER_CHECK_INDICES")};
  return kinds;
}

// "turn 7", "turns 2, 7 (of the outermost loop first)"
std::string TurnsText(absl::Span<const int64_t> turns) {
  if (turns.size() == 1) return absl::StrCat("turn ", turns[0]);
  return absl::StrCat("turns ", absl::StrJoin(turns, ", "),
                      " (of the outermost loop first)");
}

void WriteLine(absl::string_view text) {
  std::cerr << absl::StrCat(text, "\n") << std::flush;
}

absl::Status Failure(const Check& check, absl::Span<const int64_t> turns) {
  const absl::Status said =
      turns.empty() ? InvalidArgument(check.what)
                    : InvalidArgument(check.what, ", in ", TurnsText(turns));
  return At(said, check.where);
}

}  // namespace

void WriteValue(const Printed& printed, const Literal& value,
                absl::Span<const int64_t> turns) {
  const std::string place =
      absl::StrCat(printed.where.file, ":", printed.where.line);
  const auto of_loops = turns.empty() ? turns : turns.subspan(1);
  if (!turns.empty() && turns[0] < 0) {
    if (of_loops.empty()) return;
    return WriteLine(absl::StrCat(printed.label, ": in no turn (", place, ")"));
  }
  WriteLine(absl::StrCat(
      printed.label, " = ", value.ToString(), " (", place,
      of_loops.empty() ? "" : absl::StrCat(", ", TurnsText(of_loops)), ")"));
}

void Show(Printed printed) {
  if (Trace* const trace = Trace::Current()) {
    return trace->Print(std::move(printed));
  }
  auto value = printed.value.Fetch();
  absl::StatusOr<Literal> turns = Literal();
  if (value.ok() && printed.turns.has_value()) turns = printed.turns->Fetch();
  const absl::Status& status = value.ok() ? turns.status() : value.status();
  if (!status.ok()) {
    return WriteLine(absl::StrCat(printed.label, ": ", status.message()));
  }
  WriteValue(printed, *value,
             printed.turns.has_value() ? turns->data<int64_t>()
                                       : absl::Span<const int64_t>());
}

absl::StatusOr<Probes> Probes::Make(std::vector<Printed> prints,
                                    const Places& places, Module* module) {
  Probes probes;
  probes.prints_ = std::move(prints);
  for (Printed& p : probes.prints_) {
    p.value = Tensor();
    if (p.turns.has_value()) p.turns.emplace();
  }
  Checker checker(*module, WantedChecks());
  if (!checker.has_checks()) return probes;
  HAWSER_ASSIGN_OR_RETURN(Module checked, checker.Run(places));
  probes.checks_ = checker.TakeChecks();
  if (!probes.checks_.empty()) *module = std::move(checked);
  return probes;
}

size_t Probes::size() const {
  size_t size = checks_.empty() ? 0 : 1;
  for (const Printed& p : prints_) size += p.turns.has_value() ? 2 : 1;
  return size;
}

absl::Status Probes::Tell(absl::Span<const Literal> hidden) const {
  size_t next = 0;
  for (const Printed& p : prints_) {
    const Literal& value = hidden[next++];
    WriteValue(p, value,
               p.turns.has_value() ? hidden[next++].data<int64_t>()
                                   : absl::Span<const int64_t>());
  }
  if (checks_.empty()) return absl::OkStatus();
  const auto verdict = hidden.back().data<int64_t>();
  if (verdict[0] == kNoCheck) return absl::OkStatus();
  const Check& check = checks_[verdict[0]];
  return Failure(check, verdict.subspan(1, check.loops));
}

}  // namespace hawser::sdk
