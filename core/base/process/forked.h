// Tells whether this process is a child that was forked after hawser was used.
#ifndef HAWSER_CORE_BASE_PROCESS_FORKED_H_
#define HAWSER_CORE_BASE_PROCESS_FORKED_H_

#include <utility>

#include "absl/status/status.h"

namespace hawser {

// A fork copies memory and descriptors, but of the threads only the one that
// called it: locks may be held for ever, no pool computes, and what the child
// writes to a connection its parent is blamed for. So a child of a process that
// had threads of hawser's does nothing: verbs say so at once, and destructors
// leave alone what is the parent's. A child that was forked before, or one that
// calls exec, is like any process. All of these may be called on any thread.

// From now on a child of fork() counts as forked. Called by what starts threads
// and connections.
void ForbidForks();
bool IsForked();
// Errors: kFailedPrecondition, saying what a child may do instead.
absl::Status CheckNotForked();
// In a child, keeps for good what belongs to its parent's threads, which cannot
// be destroyed here.
template <typename T>
void Abandon(T value) {
  (void)new T(std::move(value));
}

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_PROCESS_FORKED_H_
