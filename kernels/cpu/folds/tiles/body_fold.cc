#include "kernels/cpu/folds/tiles/body_fold.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"

namespace hawser::cpu {
BodyFold::BodyFold(LaneProgram body, std::vector<DType> dtypes, bool rounds,
                   Isa isa)
    : body_(std::move(body)),
      dtypes_(std::move(dtypes)),
      rounds_(rounds),
      n_(static_cast<int>(dtypes_.size())) {
  for (int k = 0; k < n_; ++k) {
    widest_ = std::max<int64_t>(widest_, width(k));
    passes_on_ = passes_on_ || body_.result_value(k) < 2 * n_;
    moves_.emplace_back(width(k), isa);
  }
}

LaneColumns& BodyFold::Begin() const {
  thread_local LaneColumns columns;
  body_.Prepare(columns);
  return columns;
}

// ---- lanes ------------------------------------------------------------------

void BodyFold::Run(int64_t n, LaneColumns& columns) const {
  // Run gets no meter, so it cannot fail: the tile tells its own meter.
  HAWSER_CHECK(body_.Run(n, columns, nullptr).ok());
  if (!passes_on_) {
    for (int k = 0; k < n_; ++k) {
      std::memcpy(columns.own(k), columns.own(body_.result_value(k)),
                  n * width(k));
    }
    return;
  }
  // A running value may move to another's place.
  std::vector<std::vector<char>> results;
  for (int k = 0; k < n_; ++k) {
    const char* from = columns.at(body_.result_value(k));
    results.emplace_back(from, from + n * width(k));
  }
  for (int k = 0; k < n_; ++k) {
    std::memcpy(columns.own(k), results[k].data(), n * width(k));
  }
}

void BodyFold::Take(const Walks& in, int64_t n, LaneColumns& columns) const {
  for (int k = 0; k < n_; ++k) {
    moves_[k].Load(in[k].first, {0, in[k].lane}, 1, n, columns.own(k));
  }
}

void BodyFold::Fold(const Walks& in, int64_t begin, int64_t rows, int64_t n,
                    LaneColumns& columns) const {
  for (int64_t r = begin; r < rows; ++r) {
    for (int k = 0; k < n_; ++k) {
      const char* lanes = in[k].first + r * in[k].row * width(k);
      if (in[k].lane != 1) {
        moves_[k].Load(lanes, {0, in[k].lane}, 1, n, columns.own(n_ + k));
        lanes = columns.own(n_ + k);
      }
      columns.Read(n_ + k, lanes);
    }
    Run(n, columns);
  }
}

void BodyFold::Halve(int64_t n, LaneColumns& columns) const {
  while (n > 1) {
    const int64_t half = (n + 1) / 2;
    for (int k = 0; k < n_; ++k) {
      columns.Read(n_ + k, columns.own(k) + half * width(k));
    }
    Run(n - half, columns);
    n = half;
  }
}

void BodyFold::FoldRow(const Walks& in, int64_t n, LaneColumns& columns) const {
  const int64_t lanes = std::min(n, body_.lanes());
  Walks rows = in;
  for (Walk& walk : rows) walk.row = lanes * walk.lane;
  Take(rows, lanes, columns);
  const int64_t whole = n / lanes;
  Fold(rows, 1, whole, lanes, columns);
  if (n > whole * lanes) {
    Fold(rows, whole, whole + 1, n - whole * lanes, columns);
  }
  Halve(lanes, columns);
}

// ---- tiles ------------------------------------------------------------------

void BodyFold::Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                    char* parts, int64_t step) const {
  LaneColumns& columns = Begin();
  const int64_t at_once = nx <= kShortRow ? body_.lanes() : 1;
  for (int64_t j = 0; j < ny; j += at_once) {
    const int64_t n = std::min(at_once, ny - j);
    Walks rows;
    for (int k = 0; k < n_; ++k) {
      const char* first = in[k].first + j * in[k].stride * width(k);
      rows.push_back(nx <= kShortRow ? Walk{first, 1, in[k].stride}
                                     : Walk{first, 0, 1});
    }
    if (nx <= kShortRow) {
      Take(rows, n, columns);
      Fold(rows, 1, nx, n, columns);
    } else {
      FoldRow(rows, nx, columns);
    }
    for (int k = 0; k < n_; ++k) {
      moves_[k].Store(columns.own(k), {0, step * part_bytes() / width(k)}, 1, n,
                      parts + j * step * part_bytes() + k * widest_);
    }
  }
}

void BodyFold::Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                       int64_t before, char* parts) const {
  LaneColumns& columns = Begin();
  for (int64_t i = 0; i < nx; i += body_.lanes()) {
    const int64_t n = std::min(body_.lanes(), nx - i);
    Walks rows;
    for (int k = 0; k < n_; ++k) {
      rows.push_back({in[k].first + i * width(k), in[k].stride, 1});
    }
    const auto part = [&](int k) {
      return parts + k * nx * widest_ + i * width(k);
    };
    if (before == 0) {
      Take(rows, n, columns);
    } else {
      for (int k = 0; k < n_; ++k) {
        std::memcpy(columns.own(k), part(k), n * width(k));
      }
    }
    Fold(rows, before == 0 ? 1 : 0, ny, n, columns);
    for (int k = 0; k < n_; ++k) {
      std::memcpy(part(k), columns.own(k), n * width(k));
    }
  }
}

// ---- parts ------------------------------------------------------------------

void BodyFold::TakeInitial(absl::Span<const char* const> initial, int64_t n,
                           LaneColumns& columns) const {
  for (int k = 0; k < n_; ++k) {
    std::memcpy(columns.own(n_ + k), columns.own(k), n * width(k));
    columns.Read(n_ + k, columns.own(n_ + k));
    moves_[k].Load(initial[k], {0, 0}, 1, n, columns.own(k));
  }
  Run(n, columns);
}

BodyFold::Walk BodyFold::PartWalk(const char* first, int k, int64_t row,
                                  int64_t lane) const {
  // In elements, of which every distance is a multiple.
  return {first, row / width(k), lane / width(k)};
}

void BodyFold::Finish(const LaneParts& p, absl::Span<const char* const> initial,
                      absl::Span<char* const> results) const {
  LaneColumns& columns = Begin();
  if (!p.columns && p.segments > 1) {
    // Row j's come to be in the place of part j, which is read by then.
    for (int64_t j = 0; j < p.n; ++j) {
      Walks row;
      for (int k = 0; k < n_; ++k) {
        row.push_back(
            PartWalk(p.parts + j * p.segments * part_bytes() + k * widest_, k,
                     0, part_bytes()));
      }
      FoldRow(row, p.segments, columns);
      for (int k = 0; k < n_; ++k) {
        std::memcpy(p.parts + j * part_bytes() + k * widest_, columns.own(k),
                    width(k));
      }
    }
  }
  for (int64_t i = 0; i < p.n; i += body_.lanes()) {
    const int64_t n = std::min(body_.lanes(), p.n - i);
    Walks rows;
    for (int k = 0; k < n_; ++k) {
      rows.push_back(p.columns
                         ? PartWalk(p.parts + k * p.n * widest_ + i * width(k),
                                    k, p.n * part_bytes(), width(k))
                         : PartWalk(p.parts + i * part_bytes() + k * widest_, k,
                                    0, part_bytes()));
    }
    Take(rows, n, columns);
    if (p.columns) Fold(rows, 1, p.segments, n, columns);
    TakeInitial(initial, n, columns);
    for (int k = 0; k < n_; ++k) {
      if (results[k] == nullptr) continue;
      std::memcpy(results[k] + i * width(k), columns.own(k), n * width(k));
    }
  }
}

}  // namespace hawser::cpu
