// DrainClient: how a client that dies waits for its work in progress.
#ifndef HAWSER_CORE_RUNTIME_DRAIN_H_
#define HAWSER_CORE_RUNTIME_DRAIN_H_

#include <functional>

namespace hawser::runtime {

// Calls `drain`, which waits for a client's work and ends its threads, from the
// client's destructor. `on_own_thread`: a callback has dropped the last
// reference on one of those threads, which cannot wait for itself. Then `drain`
// is called on a thread of the process, after earlier ones, and this returns at
// once; `drain` holds all that it needs.
void DrainClient(bool on_own_thread, std::function<void()> drain);

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_DRAIN_H_
