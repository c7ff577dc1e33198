// gRPC's own log lines, few enough to read.
#ifndef HAWSER_SERVER_ACCESS_GRPC_LOG_H_
#define HAWSER_SERVER_ACCESS_GRPC_LOG_H_

namespace hawser::server {

// From now on gRPC's lines go to hawser's log, at most ten in ten seconds: gRPC
// writes one for every handshake that fails, with which strangers could fill
// the disk. If GRPC_VERBOSITY is set, all are written. For the whole process.
void LimitGrpcLog();

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_GRPC_LOG_H_
