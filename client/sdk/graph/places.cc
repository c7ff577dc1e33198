#include "client/sdk/graph/places.h"

namespace hawser::sdk {

std::shared_ptr<const Places> PlacesBy(absl::Span<const int> origins,
                                       const Places& from,
                                       const Computation& was,
                                       const Computation& copy) {
  // For each instruction of `was`, the number of calling ones before it.
  std::vector<size_t> calls_before;
  size_t calls = 0;
  for (const Instruction& i : was.instructions()) {
    calls_before.push_back(calls);
    calls += i.called.empty() ? 0 : 1;
  }
  auto places = std::make_shared<Places>();
  for (size_t i = 0; i < origins.size(); ++i) {
    const bool known = origins[i] >= 0;
    const auto origin = static_cast<size_t>(known ? origins[i] : 0);
    places->at.emplace_back();
    if (known && origin < from.at.size()) places->at[i] = from.at[origin];
    const auto& called = copy.instructions()[i].called;
    if (called.empty()) continue;
    places->called.emplace_back(called.size());
    if (!known || called != was.instructions()[origin].called ||
        calls_before[origin] >= from.called.size()) {
      continue;
    }
    places->called.back() = from.called[calls_before[origin]];
  }
  return places;
}

}  // namespace hawser::sdk
