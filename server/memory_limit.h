// Finds how much memory a server may take where it runs.
#ifndef HAWSER_SERVER_MEMORY_LIMIT_H_
#define HAWSER_SERVER_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

namespace hawser::server {

// The smaller of this machine's memory and the limits of the process's memory
// cgroup and of those above it, version 1 and 2. Files are looked for below
// `root`. 0: no file says.
int64_t MemoryToBeHad(const std::string& root = "");

// The parts of --memory: what clients may make the server hold, and from where
// on connections are closed. Between them lie the program itself, gRPC's
// buffers and what the allocator has not given back.
constexpr int64_t MemoryForClients(int64_t memory) { return memory / 4 * 3; }
constexpr int64_t MemoryToCloseAt(int64_t memory) { return memory / 8 * 7; }

}  // namespace hawser::server
#endif  // HAWSER_SERVER_MEMORY_LIMIT_H_
