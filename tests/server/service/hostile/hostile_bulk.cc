// Attacks on Upload, Download and the stateless Call.
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "tests/server/service/hostile/attacker.h"
#include "tests/server/service/service_fixture.h"
#include "tests/testing/status_words.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

constexpr StatusCode kUnavailable = StatusCode::kUnavailable;

// Handle 20 is declared as a streamed f32[2]; the frames follow.
absl::Status Streams(Attacker& a, const std::vector<std::string>& data) {
  RawSession& session = a.session();
  HAWSER_RETURN_IF_ERROR(
      session.Do(StreamedUploadMessage(20, Shape::Of(DType::kF32, {2}))));
  std::vector<v1::UploadChunk> frames;
  for (const std::string& d : data) {
    frames.push_back(UploadFrame(session, 20, d));
  }
  return a.Call(kUpload, frames);
}

// One frame of handle 10, to which `damage` is done.
absl::Status OneFrame(Attacker& a, void (*damage)(v1::UploadChunk& f)) {
  v1::UploadChunk frame = UploadFrame(a.session(), 10, "12345678");
  damage(frame);
  return a.Call(kUpload, std::vector{frame});
}

absl::Status Downloads(Attacker& a, void (*damage)(v1::DownloadRequest& r)) {
  v1::DownloadRequest request;
  request.set_session_id(a.session().id());
  request.set_secret(a.session().secret());
  request.set_handle(10);
  damage(request);
  return a.Call(kDownload, std::vector{request});
}

// AddModule, known to the server, on two literals f32[2].
absl::Status Calls(Attacker& a, void (*damage)(v1::CallRequest& r)) {
  a.session();
  v1::CallRequest request;
  request.set_fingerprint(FingerprintOf(EncodeModule(AddModule())));
  for (int i = 0; i < 2; ++i) {
    ToProto(Literal::Vector<float>({1, 2}),
            request.add_arguments()->mutable_literal());
  }
  damage(request);
  return a.Call(kCall, std::vector{request});
}

std::vector<HostileRow> UploadStreams() {
  return {
      {"UploadWithoutAFrame",
       [](Attacker& a) { return a.Call(kUpload, std::vector<std::string>()); },
       kInvalid, "the first chunk names session and handle"},
      {"UploadOfNoise",
       [](Attacker& a) {
         return a.Call(kUpload, std::vector{std::string(1000, '\xA5')});
       },
       kInvalid, "not a frame of this stream"},
      {"UploadFrameCutOff",
       [](Attacker& a) {
         const std::string frame =
             UploadFrame(a.session(), 10, "12345678").SerializeAsString();
         return a.Call(kUpload,
                       std::vector{frame.substr(0, frame.size() - 1)});
       },
       kInvalid, "not a frame of this stream"},
      {"UploadFrameWithDataTwice",
       [](Attacker& a) {
         const std::string frame =
             UploadFrame(a.session(), 10, "1234").SerializeAsString();
         return a.Call(kUpload, std::vector{frame + frame});
       },
       kInvalid, "not a frame of this stream"},
      {"UploadFrameOfFourGigabytes",
       [](Attacker& a) {
         return a.Call(kUpload,
                       std::vector{std::string("\x22\xFF\xFF\xFF\xFF\x0F")});
       },
       kInvalid, "not a frame of this stream"},
      {"UploadWithoutTheSecret",
       [](Attacker& a) {
         return OneFrame(a, [](v1::UploadChunk& f) { f.clear_secret(); });
       },
       kUnavailable, "is not known on this server"},
      {"UploadWithAWrongSecret",
       [](Attacker& a) {
         return OneFrame(a, [](v1::UploadChunk& f) {
           f.set_secret(std::string(32, 's'));
         });
       },
       kUnavailable, "is not known on this server"},
      {"UploadWithAHugeSecret",
       [](Attacker& a) {
         return OneFrame(a, [](v1::UploadChunk& f) {
           f.set_secret(std::string(1 << 20, 's'));
         });
       },
       kInvalid, "not a frame of this stream"},
      {"UploadToAnotherSession",
       [](Attacker& a) {
         v1::UploadChunk frame = UploadFrame(a.session(), 4711, "12345678");
         frame.set_session_id(a.victim().session_id);
         return a.Call(kUpload, std::vector{frame});
       },
       kUnavailable, "is not known on this server"},
      {"UploadToAnUnknownHandle",
       [](Attacker& a) {
         return OneFrame(a, [](v1::UploadChunk& f) { f.set_handle(77); });
       },
       kNotFound, "handle 77 is not known in this session"},
      {"UploadOverAValue",
       [](Attacker& a) { return OneFrame(a, [](v1::UploadChunk&) {}); },
       kInvalid, "handle 10 is not declared as a streamed upload"},
      {"UploadOfTooMuch",
       [](Attacker& a) { return Streams(a, {"1234", "12345"}); }, kInvalid,
       "a frame of 5 bytes where only 4 are missing"},
      {"UploadOfMegabytesTooMuch",
       [](Attacker& a) { return Streams(a, {std::string(15 << 20, 'x')}); },
       kInvalid, "where only 8 are missing"},
      {"UploadOfTooLittle",
       [](Attacker& a) { return Streams(a, {"1234", "", "123"}); },
       StatusCode::kDataLoss, "ended 1 bytes too early"},
  };
}

std::vector<HostileRow> DownloadsAndCalls() {
  return {
      {"DownloadOfNoise",
       [](Attacker& a) {
         return a.Call(kDownload, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.DownloadRequest"},
      {"DownloadWithAWrongSecret",
       [](Attacker& a) {
         return Downloads(a, [](v1::DownloadRequest& r) {
           r.set_secret(std::string(32, 's'));
         });
       },
       kUnavailable, "is not known on this server"},
      {"DownloadOfAnUnknownHandle",
       [](Attacker& a) {
         return Downloads(a, [](v1::DownloadRequest& r) { r.set_handle(77); });
       },
       kNotFound, "handle 77 is not known"},
      {"DownloadOfAnotherSession",
       [](Attacker& a) {
         return Downloads(a,
                          [](v1::DownloadRequest& r) { r.set_handle(4711); });
       },
       kNotFound, "handle 4711 is not known"},

      {"CallOfNoise",
       [](Attacker& a) {
         return a.Call(kCall, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.CallRequest"},
      {"CallOfNothing",
       [](Attacker& a) { return a.Call(kCall, std::vector{std::string()}); },
       kInvalid, "fingerprint: "},
      {"CallOfTheUnknown",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           r.set_fingerprint(std::string(32, 'f'));
         });
       },
       kNotFound, "is not known; send the module"},
      {"CallOfAnotherModule",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           r.set_fingerprint(std::string(32, 'f'));
           r.set_module(EncodeModule(PairModule()));
         });
       },
       kInvalid, "is not that of the module and options sent"},
      {"CallOnAHandle",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           r.mutable_arguments(1)->set_handle(10);
         });
       },
       kInvalid, "argument 1: a handle; a call takes literals and datasets"},
      {"CallWithTooFew",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           r.mutable_arguments()->RemoveLast();
         });
       },
       kInvalid, "takes 2 arguments, got 1"},
      {"CallOfAnotherShape",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           ToProto(Literal::Scalar(1.0f),
                   r.mutable_arguments(1)->mutable_literal());
         });
       },
       kInvalid, "argument 1 is f32[], must be f32[2]"},
      {"CallForTerabytes",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           r.set_fingerprint(FingerprintOf(EncodeModule(HugeModule())));
           r.clear_arguments();
         });
       },
       kTooMuch, "the results have more than 16777216 bytes"},
      {"CallWithAMillionArguments",
       [](Attacker& a) {
         return Calls(a, [](v1::CallRequest& r) {
           for (int i = 0; i < 1000000; ++i) r.add_arguments();
         });
       },
       kTooMuch, "a hawser.v1.CallRequest of 2000"},
      {"CallTooLargeForAnyMessage",
       [](Attacker& a) {
         return a.Call(kCall, std::vector{std::string(21 << 20, '\0')});
       },
       kTooMuch, "larger than max"},
      {"MethodThatIsNot",
       [](Attacker& a) {
         return a.Call("/hawser.v1.Executor/Shutdown",
                       std::vector{std::string()});
       },
       StatusCode::kUnimplemented, ""},
      {"ServiceThatIsNot",
       [](Attacker& a) {
         return a.Call("/hawser.v2.Executor/Call", std::vector{std::string()});
       },
       StatusCode::kUnimplemented, ""},
  };
}

}  // namespace

std::vector<HostileRow> HostileBulk() {
  std::vector<HostileRow> rows = UploadStreams();
  for (const HostileRow& row : DownloadsAndCalls()) rows.push_back(row);
  return rows;
}

}  // namespace hawser::testing
