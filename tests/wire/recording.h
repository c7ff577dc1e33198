// RecordingTransport: writes down what is said over another transport.
#ifndef HAWSER_TESTS_WIRE_RECORDING_H_
#define HAWSER_TESTS_WIRE_RECORDING_H_

#include <memory>

#include "client/remote/link/transport.h"
#include "tests/wire/conversation.h"

namespace hawser {

// What a Recorder has seen so far. Thread-safe.
class Recorder;
std::shared_ptr<Recorder> NewRecorder();
Conversation Recorded(Recorder& recorder);

// `inner`, with session messages, stateless calls and the unary requests of
// datasets written down. Bulk streams pass unseen; requests go one by one,
// never in batches.
std::unique_ptr<Transport> Recording(std::unique_ptr<Transport> inner,
                                     std::shared_ptr<Recorder> recorder);

}  // namespace hawser
#endif  // HAWSER_TESTS_WIRE_RECORDING_H_
