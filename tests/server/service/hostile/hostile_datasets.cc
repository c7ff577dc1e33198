// Attacks on v1.Datasets: chunks, manifests, tokens, row ranges.
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/wire/codec.h"
#include "tests/server/service/hostile/attacker.h"
#include "tests/server/service/service_fixture.h"
#include "tests/testing/status_words.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

constexpr StatusCode kLoss = StatusCode::kDataLoss;

std::string DigestOf(absl::string_view bytes) {
  return std::string(Sha256({bytes.data(), bytes.size()}).bytes());
}

absl::Status Puts(Attacker& a, const std::vector<v1::PutChunk>& frames) {
  return a.Call(kPut, frames);
}

// A manifest of u8[5] whose chunk was never put, to which `damage` is done.
absl::Status Commits(Attacker& a, void (*damage)(v1::DatasetManifestProto& m)) {
  v1::CommitRequest request;
  request.set_upload(kPutNumber);
  v1::ArrayManifestProto* array = request.mutable_manifest()->add_arrays();
  *array->mutable_shape() = ToProto(Shape::Of(DType::kU8, {5}));
  array->set_chunks(DigestOf("never put"));
  damage(*request.mutable_manifest());
  return a.Call(kCommit, std::vector{request});
}

absl::Status Gets(Attacker& a, const std::string& token, int64_t begin = 0,
                  int64_t count = 0, const std::string& array = "") {
  v1::GetRequest request;
  request.set_token(token);
  request.set_array(array);
  request.set_row_begin(begin);
  request.set_row_count(count);
  return a.Call(kGet, std::vector{request});
}

absl::Status GetsChunks(Attacker& a, int64_t first, int64_t count,
                        int64_t row = 0) {
  v1::GetRequest request;
  request.set_token(a.victim().token);
  request.set_row_begin(row);
  request.set_first_chunk(first);
  request.set_chunk_count(count);
  return a.Call(kGet, std::vector{request});
}

absl::Status Stats(Attacker& a, const std::string& token) {
  v1::StatRequest request;
  request.set_token(token);
  return a.Call(kStat, std::vector{request});
}

absl::Status Deletes(Attacker& a, const std::string& token) {
  v1::DeleteRequest request;
  request.set_token(token);
  return a.Call(kDelete, std::vector{request});
}

std::vector<HostileRow> Deletions() {
  return {
      {"DeleteOfNoToken", [](Attacker& a) { return Deletes(a, ""); }, kInvalid,
       "\"\" is not a dataset token"},
      {"DeleteOfALongToken",
       [](Attacker& a) { return Deletes(a, std::string(1 << 20, 'x')); },
       kInvalid, "is not a dataset token"},
      {"DeleteOfNobody",
       [](Attacker& a) { return Deletes(a, TokenOf(Digest())); }, kNotFound,
       "is not known on this server"},
      {"DeleteOfNoise",
       [](Attacker& a) {
         return a.Call(kDelete, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.DeleteRequest"},
      {"ListOfNoise",
       [](Attacker& a) {
         return a.Call(kList, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.ListRequest"},
  };
}

std::vector<HostileRow> Chunks() {
  return {
      {"FindMissingOfHalfADigest",
       [](Attacker& a) {
         v1::FindMissingRequest request;
         request.set_upload(kPutNumber);
         request.set_digests(std::string(48, 'd'));
         return a.Call(kFindMissing, std::vector{request});
       },
       kInvalid, "48 bytes are no list of digests"},
      {"FindMissingOfNoise",
       [](Attacker& a) {
         return a.Call(kFindMissing, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.FindMissingRequest"},
      {"FindMissingOfHalfAMillion",
       [](Attacker& a) {
         v1::FindMissingRequest request;
         request.set_upload(kPutNumber);
         request.set_digests(std::string(16 << 20, 'd'));
         return a.Call(kFindMissing, std::vector{request});
       },
       kTooMuch, "524288 digests in one request, the most is 65536"},
      {"FindMissingOfTheMost",
       [](Attacker& a) {
         v1::FindMissingRequest request;
         request.set_upload(kPutNumber);
         request.set_digests(std::string(2 << 20, 'd'));
         return a.Call(kFindMissing, std::vector{request});
       },
       StatusCode::kOk, ""},
      {"FindMissingOfNoUpload",
       [](Attacker& a) {
         v1::FindMissingRequest request;
         request.set_digests(DigestOf("x"));
         return a.Call(kFindMissing, std::vector{request});
       },
       kInvalid, "upload 0: each put has a number, any but 0"},
      {"PutOfNoUpload",
       [](Attacker& a) {
         v1::PutChunk frame = PutFrame(DigestOf("x"), 1, "x");
         frame.clear_upload();
         return Puts(a, {frame});
       },
       kInvalid, "upload 0"},
      {"CommitOfNoUpload",
       [](Attacker& a) {
         return a.Call(kCommit, std::vector{v1::CommitRequest()});
       },
       kInvalid, "upload 0"},
      {"PutOfNoise",
       [](Attacker& a) {
         return a.Call(kPut, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a frame of this stream"},
      {"PutThatContinuesNothing",
       [](Attacker& a) { return Puts(a, {PutFrame("", 0, "data")}); }, kInvalid,
       "the first frame of a chunk names it"},
      {"PutOfAShortDigest",
       [](Attacker& a) {
         return Puts(a, {PutFrame(std::string(31, 'd'), 4, "data")});
       },
       kInvalid, "32"},
      {"PutOfAnEmptyChunk",
       [](Attacker& a) { return Puts(a, {PutFrame(DigestOf(""), 0, "")}); },
       kInvalid, "claims 0 bytes, a chunk has 1 to 4194304"},
      {"PutOfALargeChunk",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), kChunkBytes + 1, "x")});
       },
       kInvalid, "claims 4194305 bytes"},
      {"PutOfExabytes",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), ~uint64_t{0}, "x")});
       },
       kInvalid, "claims 18446744073709551615 bytes"},
      {"PutFrameBeyondItsChunk",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), 4, "12345")});
       },
       kInvalid, "a frame of 5 bytes for chunk"},
      {"PutSecondFrameBeyondItsChunk",
       [](Attacker& a) {
         return Puts(
             a, {PutFrame(DigestOf("x"), 4, "123"), PutFrame("", 0, "45")});
       },
       kInvalid, "which lacks 1"},
      {"PutThatBeginsAnother",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), 4, "123"),
                         PutFrame(DigestOf("y"), 4, "1234")});
       },
       kInvalid, "lacks 1 bytes"},
      {"PutUnderAFalseDigest",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), 4, "1234")});
       },
       kLoss, "does not match its bytes, whose digest is"},
      {"PutOfAWholeFalseChunk",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), kChunkBytes,
                                  std::string(kChunkBytes, '\0'))});
       },
       kLoss, "does not match its bytes"},
      {"PutThatEndsEarly",
       [](Attacker& a) {
         return Puts(a, {PutFrame(DigestOf("x"), kChunkBytes, "1234")});
       },
       kLoss, "the stream ended 4194300 bytes before the end of chunk"},
      {"PutOfNothingAtAll", [](Attacker& a) { return Puts(a, {}); },
       StatusCode::kOk, ""},
  };
}

std::vector<HostileRow> Manifests() {
  return {
      {"CommitOfNoise",
       [](Attacker& a) {
         return a.Call(kCommit, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.CommitRequest"},
      {"CommitOfWhatWasNeverPut",
       [](Attacker& a) { return Commits(a, [](v1::DatasetManifestProto&) {}); },
       StatusCode::kFailedPrecondition, "has not been uploaded"},
      {"CommitOfNoArray",
       [](Attacker& a) {
         return Commits(a,
                        [](v1::DatasetManifestProto& m) { m.clear_arrays(); });
       },
       kInvalid, "a dataset has no array"},
      {"CommitOfHalfADigest",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           m.mutable_arrays(0)->mutable_chunks()->pop_back();
         });
       },
       kInvalid, "31 bytes of digests, no multiple of 32"},
      {"CommitOfAChunkTooMany",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           m.mutable_arrays(0)->mutable_chunks()->append(32, 'd');
         });
       },
       kInvalid, "has 2 chunk digests, needs 1"},
      {"CommitOfTheUnknown",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           m.mutable_arrays(0)->mutable_shape()->set_dtype(999);
         });
       },
       StatusCode::kUnimplemented, "dtype number 999"},
      {"CommitThatOverflows",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           m.mutable_arrays(0)->mutable_shape()->set_dims(0, int64_t{3} << 60);
           m.mutable_arrays(0)->set_name("x");
           *m.add_arrays() = m.arrays(0);
         });
       },
       kInvalid, "a dataset is larger than 2^62 bytes"},
      {"CommitOfOneNameTwice",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           m.mutable_arrays(0)->set_name("x");
           *m.add_arrays() = m.arrays(0);
         });
       },
       kInvalid, "two arrays are called \"x\""},
      {"CommitOfAThousandAndMoreArrays",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           for (int i = 0; i < 1024; ++i) m.add_arrays();
         });
       },
       kTooMuch, "a dataset has 1025 arrays, the limit is 1024"},
      {"CommitOfAMillionArrays",
       [](Attacker& a) {
         return Commits(a, [](v1::DatasetManifestProto& m) {
           for (int i = 0; i < 1000000; ++i) m.add_arrays();
         });
       },
       kTooMuch, "would take more than 33554432 bytes"},
  };
}

std::vector<HostileRow> Tokens() {
  return {
      {"StatOfNoToken", [](Attacker& a) { return Stats(a, "../../passwd"); },
       kInvalid, "\"../../passwd\" is not a dataset token (hw1-...)"},
      {"StatOfAnEmptyToken", [](Attacker& a) { return Stats(a, ""); }, kInvalid,
       "\"\" is not a dataset token"},
      {"StatOfAMegabyte",
       [](Attacker& a) { return Stats(a, std::string(1 << 20, 'a')); },
       kInvalid, "is not a dataset token"},
      {"StatOfNobody", [](Attacker& a) { return Stats(a, TokenOf(Digest())); },
       kNotFound, "is not known on this server"},
      {"StatOfWhatIsNoText",
       [](Attacker& a) {
         return a.Call(kStat, std::vector{std::string("\x0A\x02\xC0\x80")});
       },
       kInvalid, "not a hawser.v1.StatRequest"},
      {"GetOfNoToken", [](Attacker& a) { return Gets(a, "hw1-"); }, kInvalid,
       "\"hw1-\" is not a dataset token"},
      {"GetOfNobody", [](Attacker& a) { return Gets(a, TokenOf(Digest())); },
       kNotFound, "is not known on this server"},
      {"GetOfNoArray",
       [](Attacker& a) { return Gets(a, a.victim().token, 0, 0, "labels"); },
       kNotFound, "has no array \"labels\"; it has \"\""},
      {"GetRowsBefore",
       [](Attacker& a) { return Gets(a, a.victim().token, -1, 1); }, kInvalid,
       "rows -1 and up, 1 of them, of s32[2500,1000]"},
      {"GetFewerThanNoRows",
       [](Attacker& a) { return Gets(a, a.victim().token, 0, -1); }, kInvalid,
       "rows 0 and up, -1 of them"},
      {"GetRowsBehind",
       [](Attacker& a) { return Gets(a, a.victim().token, 2501, 0); }, kInvalid,
       "rows 2501 and up"},
      {"GetRowsAcrossTheEnd",
       [](Attacker& a) { return Gets(a, a.victim().token, 2499, 2); }, kInvalid,
       "rows 2499 and up, 2 of them"},
      {"GetRowsThatOverflow",
       [](Attacker& a) {
         return Gets(a, a.victim().token, 2500, INT64_MAX);
       },
       kInvalid, "9223372036854775807 of them"},
      {"GetChunksBefore", [](Attacker& a) { return GetsChunks(a, -1, 1); },
       kInvalid, "1 chunks from -1 on, of 3 chunks"},
      {"GetNoChunks", [](Attacker& a) { return GetsChunks(a, 1, 0); }, kInvalid,
       "0 chunks from 1 on"},
      {"GetChunksAcrossTheEnd",
       [](Attacker& a) { return GetsChunks(a, 2, 2); }, kInvalid,
       "2 chunks from 2 on"},
      {"GetChunksThatOverflow",
       [](Attacker& a) { return GetsChunks(a, 3, INT64_MAX); }, kInvalid,
       "9223372036854775807 chunks from 3 on"},
      {"GetChunksAndRows",
       [](Attacker& a) { return GetsChunks(a, 0, 1, 1); }, kInvalid,
       "1 chunks from 0 on"},
      {"GetRowsOfAScalar",
       [](Attacker& a) { return Gets(a, a.victim().scalar_token, 0, 1); },
       kInvalid, "a scalar has no rows"},
      {"GetOfNoise",
       [](Attacker& a) {
         return a.Call(kGet, std::vector{std::string(100, '\xA5')});
       },
       kInvalid, "not a hawser.v1.GetRequest"},
  };
}

}  // namespace

std::vector<HostileRow> HostileDatasets() {
  std::vector<HostileRow> rows = Chunks();
  for (const HostileRow& row : Manifests()) rows.push_back(row);
  for (const HostileRow& row : Tokens()) rows.push_back(row);
  for (const HostileRow& row : Deletions()) rows.push_back(row);
  return rows;
}

}  // namespace hawser::testing
