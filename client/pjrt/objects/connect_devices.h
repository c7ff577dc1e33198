// ConnectDevices: the devices of a new client.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_CONNECT_DEVICES_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_CONNECT_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/pjrt/objects/objects.h"

namespace hawser::pjrt {

// A device for each of `servers`, with this machine behind it; without servers
// this machine, which one log line says. A server that does not answer is a
// device all the same: its work is done here until it does. So this never
// fails, but for a server whose name cannot be one.
absl::StatusOr<DevicesPtr> ConnectDevices(
    const std::vector<std::string>& servers);

// Returns the servers of HAWSER_SERVERS.
std::vector<std::string> ServersOfEnvironment();

// The devices that have the number; null once they are gone. Thread-safe.
DevicesPtr DevicesOfNumber(int64_t number);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_CONNECT_DEVICES_H_
