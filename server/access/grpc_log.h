// gRPC's own log lines, few enough to read.
#ifndef HAWSER_SERVER_ACCESS_GRPC_LOG_H_
#define HAWSER_SERVER_ACCESS_GRPC_LOG_H_

namespace hawser::server {

// From now on gRPC's lines go to our log, at most ten in ten seconds: gRPC
// writes one for every handshake that fails, so whoever reaches the port could
// fill the disk. Whoever sets GRPC_VERBOSITY gets them all. For the whole
// process.
void LimitGrpcLog();

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_GRPC_LOG_H_
