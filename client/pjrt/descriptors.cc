// Keeps the plugin's messages out of libprotobuf's pool of descriptors.
//
// Generated code puts the descriptors of its messages into that pool when it is
// loaded, and libprotobuf ends the process where the pool has a message of that
// name: that is so when a process opens two copies of this library, or this one
// and libhawser.so. Nothing here asks for a descriptor, so none is put there.
// The symbol is resolved to this one when the library is linked, and is not
// seen outside (exports.lds).
#include "google/protobuf/generated_message_reflection.h"

namespace google::protobuf::internal {

AddDescriptorsRunner::AddDescriptorsRunner(const DescriptorTable*) {}

}  // namespace google::protobuf::internal
