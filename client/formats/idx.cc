#include "client/formats/idx.h"

#include <algorithm>
#include <cstring>

#include "client/formats/files/array_format.h"
#include "client/formats/files/element_order.h"
#include "client/formats/zip/inflater.h"
#include "core/base/status.h"

namespace hawser {
namespace {

struct IdxType {
  uint8_t code;
  DType dtype;
};
constexpr IdxType kTypes[] = {
    {0x08, DType::kU8},  {0x09, DType::kS8},  {0x0B, DType::kS16},
    {0x0C, DType::kS32}, {0x0D, DType::kF32}, {0x0E, DType::kF64},
};

constexpr int kMagicBytes = 4;  // 0, 0, type, rank
constexpr int kSizeBytes = 4;   // per axis

// Reads the header and then the elements, of a plain or a gzipped file.
class IdxStream {
 public:
  explicit IdxStream(const FileBytes& file) : file_(file) {
    if (file.StartsWith(kGzipMagic)) {
      inflater_ = std::make_unique<Inflater>(file.span(), DeflateFrame::kGzip);
    }
  }

  absl::Status ReadHeader(absl::Span<char> to) {
    if (inflater_ != nullptr) return inflater_->Read(to);
    if (file_.size - offset_ < static_cast<int64_t>(to.size())) {
      return InvalidArgument("ends within its header, after ", file_.size,
                             " bytes");
    }
    std::memcpy(to.data(), file_.data.get() + offset_, to.size());
    offset_ += static_cast<int64_t>(to.size());
    return absl::OkStatus();
  }

  // Everything after the header, as the elements of `shape`.
  absl::StatusOr<Literal> ReadElements(const Shape& shape) {
    return inflater_ != nullptr ? Unpack(shape) : Take(shape);
  }

 private:
  absl::StatusOr<Literal> Unpack(const Shape& shape) {
    if (shape.byte_size() / kMaxDeflateRatio > file_.size) {
      return InvalidArgument("sizes ", shape.ToString(), " take ",
                             shape.byte_size(), " bytes, more than ",
                             file_.size, " bytes of gzip can hold");
    }
    HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape));
    const auto bytes = value.mutable_bytes();
    HAWSER_RETURN_IF_ERROR(inflater_->Read(bytes));
    HAWSER_RETURN_IF_ERROR(inflater_->Finish());
    SwapElementBytes(shape.dtype(), bytes);
    return value;
  }

  absl::StatusOr<Literal> Take(const Shape& shape) {
    const auto elements = file_.span().subspan(static_cast<size_t>(offset_));
    const absl::Status fits = CheckBytes(shape, elements);
    if (!fits.ok()) return Annotate(fits, "behind the header");
    // Single bytes have no order, so they stay where they are.
    if (ByteWidth(shape.dtype()) == 1) {
      return Literal::Adopt(shape, file_.At(offset_));
    }
    HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::FromBytes(shape, elements));
    SwapElementBytes(shape.dtype(), value.mutable_bytes());
    return value;
  }

  const FileBytes& file_;
  std::unique_ptr<Inflater> inflater_;
  int64_t offset_ = 0;
};

absl::StatusOr<DType> TypeOf(uint8_t code) {
  for (const IdxType& row : kTypes) {
    if (row.code == code) return row.dtype;
  }
  return InvalidArgument("type is ", static_cast<int>(code),
                         ", known are 8, 9, 11, 12, 13 and 14");
}

absl::StatusOr<Shape> ReadShape(IdxStream& source) {
  uint8_t magic[kMagicBytes];
  HAWSER_RETURN_IF_ERROR(source.ReadHeader(
      absl::MakeSpan(reinterpret_cast<char*>(magic), kMagicBytes)));
  if (magic[0] != 0 || magic[1] != 0) {
    return InvalidArgument("magic is not that of an IDX file");
  }
  HAWSER_ASSIGN_OR_RETURN(DType dtype, TypeOf(magic[2]));
  Dims dims;
  for (int axis = 0; axis < magic[3]; ++axis) {
    uint8_t size[kSizeBytes];
    HAWSER_RETURN_IF_ERROR(source.ReadHeader(
        absl::MakeSpan(reinterpret_cast<char*>(size), kSizeBytes)));
    dims.push_back(int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 |
                   size[3]);
  }
  return Shape::Make(dtype, dims);
}

bool IsIdx(const FileBytes& file) {
  return file.StartsWith(kGzipMagic) ||
         file.StartsWith(absl::string_view("\0\0", 2));
}

}  // namespace

absl::StatusOr<Literal> ParseIdx(const FileBytes& file) {
  IdxStream source(file);
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ReadShape(source));
  return source.ReadElements(shape);
}

absl::StatusOr<Literal> ReadIdx(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(FileBytes file, MapFile(path));
  absl::StatusOr<Literal> value = ParseIdx(file);
  HAWSER_RETURN_IF_ERROR(file.CheckUnchanged());
  if (!value.ok()) return Annotate(value.status(), path);
  return value;
}

extern constinit const ArrayFormat kIdxFormat = {
    .is_it = IsIdx,
    .parse = ParseOne<ParseIdx>,
};

}  // namespace hawser
