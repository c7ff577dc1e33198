// Literals, statuses, manifests and capabilities from arbitrary bytes: the
// first byte chooses which.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/base/values/compare.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

void CheckLiteralBytes(const std::string& bytes) {
  v1::LiteralProto proto;
  if (!proto.ParseFromString(bytes)) return;
  const auto copied = FromProto(proto);
  v1::LiteralProto back;
  if (copied.ok()) {
    // Reads every element, which a bool of 2 must not reach.
    (void)copied->ToString();
    ToProto(*copied, &back);
    HAWSER_CHECK(back.data() == proto.data());
  }
  const auto moved = FromProto(std::move(proto));
  HAWSER_CHECK(moved.ok() == copied.ok());
  if (moved.ok()) {
    HAWSER_CHECK(
        CompareLiterals(*moved, *copied, Tolerance{.bits = true}).ok());
  }
}

void CheckStatusBytes(const std::string& bytes) {
  v1::StatusProto proto;
  // The message as whatever bytes an error may quote.
  ToProto(absl::InternalError(bytes), &proto);
  HAWSER_CHECK(proto.message().size() <= 8192);
  v1::StatusProto received;
  HAWSER_CHECK(received.ParseFromString(proto.SerializeAsString()));
  if (received.ParseFromString(bytes)) (void)FromProto(received);
}

void CheckManifestBytes(const std::string& bytes) {
  v1::DatasetManifestProto proto;
  if (!proto.ParseFromString(bytes)) return;
  const auto manifest = FromProto(proto);
  if (!manifest.ok()) return;
  HAWSER_CHECK(CheckManifest(*manifest).ok());
  const auto back = FromProto(ToProto(*manifest));
  HAWSER_CHECK(back.ok() && TokenOf(*back) == TokenOf(*manifest));
  const auto info = FromProto(ToProto(InfoOf(*manifest)));
  HAWSER_CHECK(info.ok() && info->token == TokenOf(*manifest));
}

void CheckCapabilitiesBytes(const std::string& bytes) {
  v1::CapabilitiesProto proto;
  if (!proto.ParseFromString(bytes)) return;
  const auto once = ToProto(FromProto(proto));
  HAWSER_CHECK(ToProto(FromProto(once)).SerializeAsString() ==
               once.SerializeAsString());
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  using Check = void (*)(const std::string&);
  constexpr Check kChecks[] = {
      hawser::CheckLiteralBytes, hawser::CheckStatusBytes,
      hawser::CheckManifestBytes, hawser::CheckCapabilitiesBytes};
  kChecks[data[0] % std::size(kChecks)](
      std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
