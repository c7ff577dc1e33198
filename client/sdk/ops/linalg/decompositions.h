// Factors of matrices that tell their structure, and what is made of them.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_DECOMPOSITIONS_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_DECOMPOSITIONS_H_

#include <cstdint>
#include <optional>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// The last two axes are a matrix and those before are batches, as solve.h says;
// integers and bool count as f32, halves are computed in f32 and rounded once; a
// matrix that is not finite gives NaN. All errors are sticky and
// kInvalidArgument.

struct QrOptions {
  bool full = false;  // q is square, also where a has more rows than columns
};
struct QrFactors {
  Tensor q;  // [..., m, k], of orthonormal columns; k: the smaller of m and n
  Tensor r;  // [..., k, n], an upper triangle
};
// a = q r. a: [..., m, n]. Result: see above; with options.full k is m. The
// diagonal of r is real, of either sign. Errors: rank below 2. Grad: where the
// first columns are independent; not of full factors of a tall matrix. Source:
// Nx LinAlg qr.
QrFactors Qr(const Operand& a, const QrOptions& options = {});

struct EighOptions {
  bool upper = false;  // the triangle that is read; else the lower one
};
struct EighFactors {
  Tensor values;   // [..., n], real, ascending
  Tensor vectors;  // [..., n, n], orthonormal columns
};
// a vectors = vectors values. a: [..., n, n], Hermitian, of which one triangle
// is read. Result: see above. Errors: matrices that are not square. Grad: by
// the triangle that is read, where values differ; of complex vectors, of what
// does not depend on their angles. Source: Nx LinAlg eigh; NumPy linalg.eigh.
EighFactors Eigh(const Operand& a, const EighOptions& options = {});

struct EigFactors {
  Tensor values;   // [..., n], complex, in any order
  Tensor vectors;  // [..., n, n], complex columns of length 1
};
// a vectors = vectors values. a: [..., n, n]. Result: see above; c64, or c128
// of f64 and c128. A matrix that lacks vectors has some that are alike. Errors:
// matrices that are not square. Grad: where values differ; of vectors, of what
// does not depend on their angles. Source: NumPy linalg.eig.
EigFactors Eig(const Operand& a);

// The values of Eig alone. a: [..., n, n]. Result: [..., n], complex. Errors:
// matrices that are not square. Grad: where values differ. Source: NumPy
// linalg.eigvals.
Tensor Eigvals(const Operand& a);

struct SvdOptions {
  bool full = false;  // u and vh are square
};
struct SvdFactors {
  Tensor u;   // [..., m, k], of orthonormal columns; k: the smaller of m and n
  Tensor s;   // [..., k], real, descending
  Tensor vh;  // [..., k, n], of orthonormal rows
};
// a = u s vh. a: [..., m, n]. Result: see above. Errors: rank below 2. Grad:
// where values differ and are not 0; of complex factors, of what does not
// depend on their angles; by full ones only of square matrices. Source: Nx
// LinAlg svd.
SvdFactors Svd(const Operand& a, const SvdOptions& options = {});

// The s of Svd alone. a: [..., m, n]. Result: [..., k], real. Errors: rank
// below 2. Grad: where values differ and are not 0. Source: NumPy
// linalg.svdvals.
Tensor SingularValues(const Operand& a);

// Singular values at most this times the largest count as 0; unset: the larger
// of m and n times the dtype's epsilon.
struct RankOptions {
  std::optional<double> tolerance = std::nullopt;
};
// How many singular values are not 0. a: [..., m, n]. options: see above.
// Result: s32, the axes before the matrices. Errors: rank below 2. Grad: zero.
// Source: Nx LinAlg matrix_rank.
Tensor MatrixRank(const Operand& a, const RankOptions& options = {});

// The pseudo-inverse of Moore and Penrose. a: [..., m, n]. options: see above.
// Result: [..., n, m]. Errors: rank below 2. Grad: as of Svd. Source: Nx LinAlg
// pinv.
Tensor Pinv(const Operand& a, const RankOptions& options = {});

// The shortest x for which a x is nearest to b, by Pinv. a: [..., m, n]. b:
// [..., m, k], or a vector for each matrix. options: see above. Result: [...,
// n, k], or vectors. Errors: rank below 2; sizes that do not fit. Grad: as of
// Svd. Source: Nx LinAlg least_squares.
Tensor LeastSquares(const Operand& a, const Operand& b,
                    const RankOptions& options = {});

// a times itself so often; a power below 0: of Inverse, and 0: the identity. a:
// [..., n, n]. Result: a's sizes. Errors: matrices that are not square. Grad:
// of the products. Source: Nx LinAlg matrix_power; NumPy linalg.matrix_power.
Tensor MatrixPower(const Operand& a, int64_t power);

// e to the power of a matrix. a: [..., n, n]. Result: a's sizes; NaN for a
// matrix that is not finite, or one whose columns' sizes add up to more than
// 352,000. Errors: matrices that are not square. Grad: of the products. Source:
// Higham 2005, the scaling and squaring method; SciPy linalg.expm.
Tensor MatrixExponential(const Operand& a);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_DECOMPOSITIONS_H_
