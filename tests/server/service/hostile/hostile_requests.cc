// Attacks by Execute, Upload and Fetch on a session that works.
#include <limits>
#include <string>

#include "core/wire/codec.h"
#include "tests/server/service/hostile/attacker.h"
#include "tests/testing/status_words.h"

namespace hawser::testing {
namespace {

constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();

// AddModule on handle 10 and a literal f32[2], to which `damage` is done.
absl::Status WithLiteral(Attacker& a, void (*damage)(v1::LiteralProto& p)) {
  v1::ClientMessage m = ExecuteMessage(1, 20, {10});
  AddLiteral(m, Literal::Vector<float>({1, 2}));
  damage(*m.mutable_execute()->mutable_arguments(1)->mutable_literal());
  return a.Ask(m);
}

// AddModule on handles 10 and 11, to which `damage` is done.
absl::Status WithExecute(Attacker& a, void (*damage)(v1::ExecuteRequest& e)) {
  v1::ClientMessage m = ExecuteMessage(1, 20, {10, 11});
  damage(*m.mutable_execute());
  return a.Ask(m);
}

// Handle 20 of f32[2], to which `damage` is done.
absl::Status WithUpload(Attacker& a, void (*damage)(v1::UploadRequest& u)) {
  v1::ClientMessage m = UploadMessage(20, Literal::Vector<float>({1, 2}));
  damage(*m.mutable_upload());
  return a.Ask(m);
}

std::vector<HostileRow> Literals() {
  return {
      {"LiteralThatClaimsMore",
       [](Attacker& a) {
         return WithLiteral(
             a, [](v1::LiteralProto& p) { p.set_data("1234567"); });
       },
       kInvalid, "argument 1: f32[2] takes 8 bytes, got 7"},
      {"LiteralThatClaimsLess",
       [](Attacker& a) {
         return WithLiteral(
             a, [](v1::LiteralProto& p) { p.set_data("123456789"); });
       },
       kInvalid, "takes 8 bytes, got 9"},
      {"LiteralThatClaimsExabytes",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           p.mutable_shape()->set_dims(0, int64_t{1} << 59);
         });
       },
       kInvalid, "takes 2305843009213693952 bytes, got 8"},
      {"LiteralThatOverflows",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           p.mutable_shape()->set_dims(0, int64_t{1} << 32);
           p.mutable_shape()->add_dims(int64_t{1} << 32);
         });
       },
       kInvalid, "is larger than 2^62 bytes"},
      {"LiteralOfNegativeSize",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           p.mutable_shape()->set_dims(0, -2);
         });
       },
       kInvalid, "negative size"},
      {"LiteralOfRank17",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           for (int i = 0; i < 16; ++i) p.mutable_shape()->add_dims(1);
         });
       },
       kInvalid, "rank 17, the largest is 16"},
      {"LiteralOfRank100000",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           for (int i = 0; i < 100000; ++i) p.mutable_shape()->add_dims(1);
         });
       },
       kInvalid, "the largest is 16"},
      {"LiteralOfNoDType",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           p.mutable_shape()->clear_dtype();
         });
       },
       kInvalid, "the dtype is missing"},
      {"LiteralOfUnknownDType",
       [](Attacker& a) {
         return WithLiteral(
             a, [](v1::LiteralProto& p) { p.mutable_shape()->set_dtype(999); });
       },
       kUnknown, "dtype number 999"},
      {"LiteralOfAnotherDType",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           p.mutable_shape()->set_dtype(static_cast<int>(DType::kS32));
         });
       },
       kInvalid, "argument 1 is s32[2], must be f32[2]"},
      {"LiteralOfAnotherShape",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           p.mutable_shape()->set_dims(0, 1);
           p.mutable_shape()->add_dims(2);
         });
       },
       kInvalid, "argument 1 is f32[1,2], must be f32[2]"},
      {"BoolThatIsTwo",
       [](Attacker& a) {
         return WithLiteral(a, [](v1::LiteralProto& p) {
           *p.mutable_shape() = ToProto(Shape::Of(DType::kBool, {8}));
           p.set_data(std::string(8, '\x02'));
         });
       },
       kInvalid, "element 0 of bool[8] is the byte 2, a bool is 0 or 1"},
  };
}

std::vector<HostileRow> Executes() {
  return {
      {"UnknownExecutable",
       [](Attacker& a) { return a.Ask(ExecuteMessage(77, 20, {10, 11})); },
       kNotFound, "executable 77 is not known in this session"},
      {"HandleForAnExecutable",
       [](Attacker& a) { return a.Ask(ExecuteMessage(10, 20, {10, 11})); },
       kNotFound, "executable 10 is not known"},
      {"TooFewArguments",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 20, {10})); }, kInvalid,
       "takes 2 arguments, got 1"},
      {"TooManyArguments",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 20, {10, 11, 10})); },
       kInvalid, "takes 2 arguments, got 3"},
      {"NoArguments", [](Attacker& a) { return a.Ask(ExecuteMessage(1, 20)); },
       kInvalid, "takes 2 arguments, got 0"},
      {"MillionArguments",
       [](Attacker& a) {
         v1::ClientMessage m = ExecuteMessage(1, 20);
         m.set_sequence(6);
         for (int i = 0; i < 1000000; ++i) {
           m.mutable_execute()->add_arguments();
         }
         return a.Ends(m);
       },
       kTooMuch, "would take more than 33554432 bytes"},
      {"HundredThousandArguments",
       [](Attacker& a) {
         v1::ClientMessage m = ExecuteMessage(1, 20);
         for (int i = 0; i < 100000; ++i) {
           m.mutable_execute()->add_arguments()->set_handle(10);
         }
         return a.Ask(m);
       },
       kInvalid, "takes 2 arguments, got 100000"},
      {"UnknownHandle",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 20, {10, 77})); },
       kNotFound, "argument 1: handle 77 is not known in this session"},
      {"HandleZero",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 20, {0, 10})); },
       kNotFound, "argument 0: handle 0 is not known"},
      {"ExecutableForAHandle",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 20, {1, 10})); },
       kNotFound, "argument 0: handle 1 is not known"},
      {"HandleOfAnotherSession",
       [](Attacker& a) {
         return a.Ask(ExecuteMessage(1, 20, {10, a.victim().handle}));
       },
       kNotFound, "argument 1: handle 4711 is not known in this session"},
      {"ArgumentOfNoKind",
       [](Attacker& a) {
         return WithExecute(a, [](v1::ExecuteRequest& e) {
           e.mutable_arguments(1)->Clear();
         });
       },
       kInvalid, "argument 1: no kind of argument is set"},
      {"ArgumentOfAPeer",
       [](Attacker& a) {
         return WithExecute(a, [](v1::ExecuteRequest& e) {
           e.mutable_arguments(1)->mutable_peer()->set_address("10.0.0.1:22");
         });
       },
       kUnknown, "argument 1: values of other servers"},
      {"DatasetOfNoToken",
       [](Attacker& a) {
         return WithExecute(a, [](v1::ExecuteRequest& e) {
           e.mutable_arguments(1)->mutable_dataset()->set_token("../../etc");
         });
       },
       kInvalid, "\"../../etc\" is not a dataset token"},
      {"DatasetOfNobody",
       [](Attacker& a) {
         return WithExecute(a, [](v1::ExecuteRequest& e) {
           e.mutable_arguments(1)->mutable_dataset()->set_token(
               TokenOf(Digest()));
         });
       },
       kNotFound, "is not known on this server"},
      {"DatasetOfAnotherShape",
       [](Attacker& a) {
         v1::ClientMessage m = ExecuteMessage(1, 20, {10});
         m.mutable_execute()->add_arguments()->mutable_dataset()->set_token(
             a.victim().token);
         return a.Ask(m);
       },
       kInvalid, "argument 1 is s32[2500,1000], must be f32[2]"},
      {"DonatesWhatIsNot",
       [](Attacker& a) {
         return WithExecute(a,
                            [](v1::ExecuteRequest& e) { e.add_donated(~0u); });
       },
       kInvalid, "donated argument 4294967295 of 2"},
      {"DonatesTwice",
       [](Attacker& a) {
         return WithExecute(a, [](v1::ExecuteRequest& e) {
           e.add_donated(1);
           e.add_donated(1);
         });
       },
       kInvalid, "argument 1 is donated twice"},
      {"DonatesALiteral",
       [](Attacker& a) {
         v1::ClientMessage m = ExecuteMessage(1, 20, {10});
         AddLiteral(m, Literal::Vector<float>({1, 2}));
         m.mutable_execute()->add_donated(1);
         return a.Ask(m);
       },
       kInvalid, "donated argument 1 is no handle"},
      {"ResultZero",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 0, {10, 11})); },
       kInvalid, "handle 0 is not a handle"},
      {"ResultInUse",
       [](Attacker& a) { return a.Ask(ExecuteMessage(1, 10, {10, 11})); },
       kInvalid, "handle 10 is in use; a handle is made once"},
      {"SecondResultInUse",
       [](Attacker& a) { return a.Ask(ExecuteMessage(2, 9, {10})); }, kInvalid,
       "handle 10 is in use"},
      {"ResultsPastTheEnd",
       [](Attacker& a) { return a.Ask(ExecuteMessage(2, kLast, {10})); },
       kInvalid, "handles 18446744073709551615 and up do not fit in 64 bits"},
      {"ResultsOfTerabytes",
       [](Attacker& a) { return a.Ask(ExecuteMessage(3, 20)); }, kTooMuch,
       "bytes does not leave 274877906944 more"},
  };
}

// Handle 10 as "x", to which `damage` is done.
absl::Status WithFreeze(Attacker& a, void (*damage)(v1::FreezeRequest& f)) {
  v1::ClientMessage m;
  m.mutable_freeze()->add_names("x");
  m.mutable_freeze()->add_values()->set_handle(10);
  damage(*m.mutable_freeze());
  return a.Ask(m);
}

std::vector<HostileRow> Freezes() {
  return {
      {"FreezeOfNothing",
       [](Attacker& a) {
         return WithFreeze(a, [](v1::FreezeRequest& f) { f.Clear(); });
       },
       kInvalid, "a dataset has no array"},
      {"FreezeWithoutNames",
       [](Attacker& a) {
         return WithFreeze(a, [](v1::FreezeRequest& f) { f.clear_names(); });
       },
       kInvalid, "0 names for 1 values"},
      {"FreezeOfALongName",
       [](Attacker& a) {
         return WithFreeze(a, [](v1::FreezeRequest& f) {
           f.set_names(0, std::string(1 << 20, 'n'));
         });
       },
       kInvalid, "an array's name has 1048576 bytes"},
      {"FreezeOfAnotherSessionsHandle",
       [](Attacker& a) {
         return WithFreeze(a, [](v1::FreezeRequest& f) {
           f.mutable_values(0)->set_handle(4711);
         });
       },
       kNotFound, "handle 4711 is not known in this session"},
      {"FreezeOfAPeersValue",
       [](Attacker& a) {
         return WithFreeze(a, [](v1::FreezeRequest& f) {
           f.mutable_values(0)->mutable_peer();
         });
       },
       kUnknown, "values of other servers"},
      {"FreezeOfRowsThatOverflow",
       [](Attacker& a) {
         v1::ClientMessage m;
         m.mutable_freeze()->add_names("x");
         v1::DatasetReference* dataset =
             m.mutable_freeze()->add_values()->mutable_dataset();
         dataset->set_token(a.victim().token);
         dataset->mutable_rows()->set_begin(2500);
         dataset->mutable_rows()->set_count(INT64_MAX);
         return a.Ask(m);
       },
       kInvalid, "rows 2500 and up, 9223372036854775807 of them"},
      {"FreezeOfMoreArraysThanThereAre",
       [](Attacker& a) {
         return WithFreeze(a, [](v1::FreezeRequest& f) {
           for (int i = 0; i < 100000; ++i) f.add_names("x");
         });
       },
       kInvalid, "100001 names for 1 values"},
  };
}

std::vector<HostileRow> Uploads() {
  return {
      {"UploadToZero",
       [](Attacker& a) {
         return WithUpload(a, [](v1::UploadRequest& u) { u.set_handle(0); });
       },
       kInvalid, "handle 0 is not a handle"},
      {"UploadToAHandleInUse",
       [](Attacker& a) {
         return WithUpload(a, [](v1::UploadRequest& u) { u.set_handle(10); });
       },
       kInvalid, "handle 10 is in use"},
      {"UploadThatClaimsMore",
       [](Attacker& a) {
         return WithUpload(a, [](v1::UploadRequest& u) { u.set_data("123"); });
       },
       kInvalid, "f32[2] takes 8 bytes, got 3"},
      {"UploadThatClaimsLess",
       [](Attacker& a) {
         return WithUpload(a, [](v1::UploadRequest& u) {
           u.set_data(std::string(1 << 20, 'x'));
         });
       },
       kInvalid, "f32[2] takes 8 bytes, got 1048576"},
      {"UploadOfNoShape",
       [](Attacker& a) {
         return WithUpload(a, [](v1::UploadRequest& u) { u.clear_shape(); });
       },
       kInvalid, "the dtype is missing"},
      {"UploadOfRank17",
       [](Attacker& a) {
         return WithUpload(a, [](v1::UploadRequest& u) {
           for (int i = 0; i < 16; ++i) u.mutable_shape()->add_dims(1);
         });
       },
       kInvalid, "rank 17"},
      {"UploadOfReservedDType",
       [](Attacker& a) {
         return WithUpload(
             a, [](v1::UploadRequest& u) { u.mutable_shape()->set_dtype(14); });
       },
       kUnknown, "dtype f8 is not in opset"},
      {"UploadStreamedAndNot",
       [](Attacker& a) {
         return WithUpload(a,
                           [](v1::UploadRequest& u) { u.set_streamed(true); });
       },
       kInvalid, "a streamed upload carries no data"},
      {"UploadOfTerabytes",
       [](Attacker& a) {
         return a.Ask(StreamedUploadMessage(
             20, Shape::Of(DType::kF32, {int64_t{1} << 40})));
       },
       kTooMuch, "does not leave 4398046511104 more"},
      {"FetchOfNothing", [](Attacker& a) { return a.Ask(FetchMessage(77)); },
       kNotFound, "handle 77 is not known in this session"},
      {"FetchOfAnotherSession",
       [](Attacker& a) { return a.Ask(FetchMessage(a.victim().handle)); },
       kNotFound, "handle 4711 is not known in this session"},
      {"FetchOfAnExecutable",
       [](Attacker& a) { return a.Ask(FetchMessage(1)); }, kNotFound,
       "handle 1 is not known"},
  };
}

}  // namespace

std::vector<HostileRow> HostileRequests() {
  std::vector<HostileRow> rows = Literals();
  for (const HostileRow& row : Freezes()) rows.push_back(row);
  for (const HostileRow& row : Executes()) rows.push_back(row);
  for (const HostileRow& row : Uploads()) rows.push_back(row);
  return rows;
}

}  // namespace hawser::testing
