// Matrix products, and models that are mostly products.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/ops.h"
#include "kernels/cpu/libraries/blas.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

using cpu::Blas;

// ---- products alone -------------------------------------------------------

// So many products [m, k] . [k, n].
struct Product {
  int64_t m, k, n;
  int64_t count = 1;
};

// Products [begin, end) of a stack.
void Multiply(const Blas& blas, const Product& p, int64_t begin, int64_t end,
              const float* a, const float* b, float* c) {
  const int m = static_cast<int>(p.m), k = static_cast<int>(p.k);
  const int n = static_cast<int>(p.n);
  for (int64_t i = begin; i < end; ++i) {
    blas.sgemm(Blas::kRowMajor, Blas::kNoTrans, Blas::kNoTrans, m, n, k, 1,
               a + i * p.m * p.k, k, b + i * p.k * p.n, n, 0, c + i * p.m * p.n,
               n);
  }
}

// Each thread takes products of the stack, or rows of the only one.
void Multiply(const Blas& blas, int threads, const Product& p, const float* a,
              const float* b, float* c) {
  if (p.count > 1) {
    Split(threads, p.count, 1, [&](int64_t begin, int64_t end, int) {
      Multiply(blas, p, begin, end, a, b, c);
    });
    return;
  }
  Split(threads, p.m, 1, [&](int64_t begin, int64_t end, int) {
    Multiply(blas, {end - begin, p.k, p.n}, 0, 1, a + begin * p.k, b,
             c + begin * p.n);
  });
}

absl::StatusOr<const Blas*> BlasLibrary() {
  const Blas* blas = cpu::FindBlas();
  if (blas == nullptr) return FailedPrecondition("no BLAS on this machine");
  return blas;
}

absl::StatusOr<Race> RaceProduct(const Setting& s, const Product& p) {
  HAWSER_ASSIGN_OR_RETURN(const Blas* blas, BlasLibrary());
  Dims a_dims = {p.m, p.k}, b_dims = {p.k, p.n};
  if (p.count > 1) {
    a_dims.insert(a_dims.begin(), p.count);
    b_dims.insert(b_dims.begin(), p.count);
  }
  const Literal a = RandomFloats(a_dims, -1, 1);
  const Literal b = RandomFloats(b_dims, -1, 1, 1);
  const auto c = Room<float>(p.count * p.m * p.n);
  const auto floor = [=, threads = s.threads] {
    Multiply(*blas, threads, p, a.data<float>().data(), b.data<float>().data(),
             c.get());
  };
  return RaceOf(
      s, {.body = [](const Tensors& t) { return Tensors{MatMul(t[0], t[1])}; },
          .arguments = {a, b},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                return Near<float>(
                    got[0], {c.get(), static_cast<size_t>(p.count * p.m * p.n)},
                    {.absolute = 1e-4, .relative = 1e-5});
              }});
}

// Beside the product of the same values in f32; torch has oneDNN's of bf16.
absl::StatusOr<Race> RaceBf16(const Setting& s) {
  HAWSER_ASSIGN_OR_RETURN(const Blas* blas, BlasLibrary());
  const int64_t side = s.Size(1024, 64), n = side * side;
  const Literal a = RandomBf16({side, side}, -1, 1);
  const Literal b = RandomBf16({side, side}, -1, 1, 1);
  const auto wide_a = Room<float>(n), wide_b = Room<float>(n);
  absl::c_copy(a.data<BFloat16>(), wide_a.get());
  absl::c_copy(b.data<BFloat16>(), wide_b.get());
  const auto c = Room<float>(n);
  const auto floor = [=, threads = s.threads] {
    Multiply(*blas, threads, {side, side, side}, wide_a.get(), wide_b.get(),
             c.get());
  };
  return RaceOf(
      s, {.body = [](const Tensors& t) { return Tensors{MatMul(t[0], t[1])}; },
          .arguments = {a, b},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                std::vector<BFloat16> want;
                for (int64_t i = 0; i < n; ++i) want.emplace_back(c[i]);
                // Rounded once, of sums in some order.
                return Near<BFloat16>(got[0], want,
                                      {.absolute = 1e-4, .relative = 1 / 128.});
              }});
}

absl::StatusOr<Race> RaceMatrixVector(const Setting& s) {
  HAWSER_ASSIGN_OR_RETURN(const Blas* blas, BlasLibrary());
  const int64_t side = s.Size(8192, 64);
  const Literal a = RandomFloats({side, side}, -1, 1);
  const Literal x = RandomFloats({side}, -1, 1);
  const auto y = Room<float>(side);
  const auto floor = [=, threads = s.threads] {
    Split(threads, side, 16, [&](int64_t begin, int64_t end, int) {
      const int columns = static_cast<int>(side);
      blas->sgemv(Blas::kRowMajor, Blas::kNoTrans,
                  static_cast<int>(end - begin), columns, 1,
                  a.data<float>().data() + begin * side, columns,
                  x.data<float>().data(), 1, 0, y.get() + begin, 1);
    });
  };
  return RaceOf(
      s, {.body = [](const Tensors& t) { return Tensors{Dot(t[0], t[1])}; },
          .arguments = {a, x},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                return Near<float>(got[0], {y.get(), static_cast<size_t>(side)},
                                   {.absolute = 1e-3, .relative = 1e-5});
              }});
}

// The products of a model one behind the other, whatever is between them.
absl::StatusOr<std::function<void()>> Products(
    const Setting& s, const std::vector<Product>& products) {
  HAWSER_ASSIGN_OR_RETURN(const Blas* blas, BlasLibrary());
  std::vector<std::shared_ptr<float[]>> a, b, c;
  for (const Product& p : products) {
    a.push_back(Room<float>(p.count * p.m * p.k));
    b.push_back(Room<float>(p.count * p.k * p.n));
    c.push_back(Room<float>(p.count * p.m * p.n));
    std::fill_n(a.back().get(), p.count * p.m * p.k, 0.5f);
    std::fill_n(b.back().get(), p.count * p.k * p.n, 0.5f);
  }
  return [=, threads = s.threads] {
    for (size_t i = 0; i < products.size(); ++i) {
      Multiply(*blas, threads, products[i], a[i].get(), b[i].get(), c[i].get());
    }
  };
}

// Such a product, and the two that its gradients take.
void AddWithGradients(const Product& p, std::vector<Product>* to) {
  to->push_back(p);
  to->push_back({p.m, p.n, p.k, p.count});
  to->push_back({p.k, p.m, p.n, p.count});
}

// ---- plain loops in f64 ---------------------------------------------------

using Doubles = std::vector<double>;

Doubles DoublesOf(const Literal& value) {
  const auto elements = value.data<float>();
  return {elements.begin(), elements.end()};
}

// a [m, k] . b [k, n], and bias [n] unless it is empty.
Doubles Product64(const Doubles& a, const Doubles& b, int64_t m, int64_t n,
                  const Doubles& bias = {}) {
  const auto k = static_cast<int64_t>(b.size()) / n;
  Doubles c(m * n);
  for (int64_t i = 0; i < m; ++i) {
    if (!bias.empty()) std::copy(bias.begin(), bias.end(), &c[i * n]);
    for (int64_t r = 0; r < k; ++r) {
      const double v = a[i * k + r];
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += v * b[r * n + j];
    }
  }
  return c;
}

// Softmax of a row in place: the log of its sum.
double Softmax64(double* row, int64_t width) {
  const double most = *std::max_element(row, row + width);
  double sum = 0;
  for (int64_t c = 0; c < width; ++c) sum += row[c] = std::exp(row[c] - most);
  for (int64_t c = 0; c < width; ++c) row[c] /= sum;
  return std::log(sum) + most;
}

using Loss64 = std::function<double(const std::vector<Doubles>& parameters)>;

// Whether `gradients` are those of `loss`, by its difference along one random
// direction of all parameters, and `value` is the loss.
absl::Status CheckGradients(const std::vector<Doubles>& parameters,
                            const std::vector<Doubles>& gradients,
                            const Literal& value, const Loss64& loss) {
  constexpr double kStep = 1e-6;
  std::vector<Doubles> up = parameters, down = parameters;
  double slope = 0, squares = 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const auto n = static_cast<int64_t>(parameters[p].size());
    if (static_cast<int64_t>(gradients[p].size()) != n) {
      return DataLoss("gradient ", p, " has ", gradients[p].size(),
                      " elements instead of ", n);
    }
    const Literal direction = RandomFloats({n}, -1, 1, 1);
    for (int64_t i = 0; i < n; ++i) {
      const double along = direction.data<float>()[i];
      up[p][i] += kStep * along;
      down[p][i] -= kStep * along;
      slope += gradients[p][i] * along;
      squares += gradients[p][i] * along * gradients[p][i] * along;
    }
  }
  const double want = (loss(up) - loss(down)) / (2 * kStep);
  if (!(std::abs(slope - want) <= 0.01 * std::sqrt(squares))) {
    return DataLoss("the gradient's slope is ", slope, " instead of ", want);
  }
  const auto expected = static_cast<float>(loss(parameters));
  return Near<float>(value, {&expected, 1}, {.relative = 1e-4});
}

// ---- a step of a network of two layers ------------------------------------

constexpr float kRate = 0.1f;

Tensor MlpLoss(const Tensors& w, const Tensor& x, const Tensor& labels) {
  const Tensor hidden = Maximum(Dot(x, w[0]) + w[1], 0.0f);
  const Tensor scores = Dot(hidden, w[2]) + w[3];
  const Tensor is_class =
      Eq(ExpandDims(labels, 1), Iota(DType::kS32, {1, scores.dim(1)}));
  const Tensor right = Sum(Select(is_class, scores, 0), {.axes = {1}});
  return Mean(LogSumExp(scores, {.axes = {1}}) - right);
}

// (w1, b1, w2, b2, x, labels) -> the loss, and new weights.
Tensors MlpStep(const Tensors& p) {
  const Tensors weights(p.begin(), p.begin() + 4);
  const auto [loss, gradients] = ValueAndGrad(MlpLoss)(weights, p[4], p[5]);
  Tensors results = {loss};
  for (size_t i = 0; i < weights.size(); ++i) {
    results.push_back(weights[i] - kRate * gradients[i]);
  }
  return results;
}

double MlpLoss64(const std::vector<Doubles>& w, const Doubles& x,
                 absl::Span<const int32_t> labels) {
  const auto rows = static_cast<int64_t>(labels.size());
  const auto classes = static_cast<int64_t>(w[3].size());
  Doubles hidden =
      Product64(x, w[0], rows, static_cast<int64_t>(w[1].size()), w[1]);
  for (double& h : hidden) h = std::max(h, 0.0);
  Doubles scores = Product64(hidden, w[2], rows, classes, w[3]);
  double loss = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const double right = scores[r * classes + labels[r]];
    loss += Softmax64(&scores[r * classes], classes) - right;
  }
  return loss / static_cast<double>(rows);
}

absl::StatusOr<Race> RaceMlp(const Setting& s) {
  const int64_t rows = s.Size(256, 16), inputs = s.Size(784, 32);
  const int64_t width = s.Size(512, 16), classes = 10;
  std::vector<Literal> arguments = {
      RandomFloats({inputs, width}, -0.05, 0.05),
      RandomFloats({width}, -0.05, 0.05),
      RandomFloats({width, classes}, -0.05, 0.05),
      RandomFloats({classes}, -0.05, 0.05),
      RandomFloats({rows, inputs}, 0, 1),
      RandomInts({rows}, static_cast<int32_t>(classes))};
  std::vector<Product> products;
  AddWithGradients({rows, width, classes}, &products);
  products.push_back({rows, inputs, width});
  products.push_back({inputs, rows, width});  // of the weights, not of the data
  HAWSER_ASSIGN_OR_RETURN(auto floor, Products(s, products));
  const auto check = [=](absl::Span<const Literal> got) {
    std::vector<Doubles> weights, gradients;
    for (size_t i = 0; i < 4; ++i) {
      weights.push_back(DoublesOf(arguments[i]));
      gradients.push_back(DoublesOf(got[1 + i]));
      for (size_t k = 0; k < weights[i].size(); ++k) {
        gradients[i][k] = (weights[i][k] - gradients[i][k]) / kRate;
      }
    }
    const Doubles x = DoublesOf(arguments[4]);
    return CheckGradients(weights, gradients, got[0], [&](const auto& w) {
      return MlpLoss64(w, x, arguments[5].data<int32_t>());
    });
  };
  return RaceOf(s, {MlpStep, arguments, std::move(floor), check});
}

// ---- a block of a transformer, forward and backward -----------------------

struct BlockSizes {
  explicit BlockSizes(const Setting& s)
      : batch(s.Size(8, 2)), length(s.Size(128, 8)), width(s.Size(256, 32)) {}
  int64_t batch, length, width, heads = 4;
  int64_t tokens() const { return batch * length; }
  int64_t depth() const { return width / heads; }
  int64_t hidden() const { return 4 * width; }
};

// Where they are among the parameters of a block.
enum { kX, kScale1, kShift1, kQkv, kOut, kScale2, kShift2, kW1, kB1, kW2, kB2 };

Tensor BlockLoss(const BlockSizes& z, const Tensors& p) {
  const Tensor qkv =
      Transpose(Reshape(Dot(LayerNorm(p[kX], p[kScale1], p[kShift1]), p[kQkv]),
                        {z.batch, z.length, 3, z.heads, z.depth()}),
                {2, 0, 3, 1, 4});
  const Tensor scores = MatMul(qkv[0], Transpose(qkv[1], {0, 1, 3, 2})) *
                        (1 / std::sqrt(static_cast<float>(z.depth())));
  const Tensor mixed =
      Reshape(Transpose(MatMul(Softmax(scores), qkv[2]), {0, 2, 1, 3}),
              {z.batch, z.length, z.width});
  const Tensor middle = p[kX] + Dot(mixed, p[kOut]);
  const Tensor hidden =
      Gelu(Dot(LayerNorm(middle, p[kScale2], p[kShift2]), p[kW1]) + p[kB1]);
  return Mean(Square(middle + Dot(hidden, p[kW2]) + p[kB2]));
}

Doubles LayerNorm64(const Doubles& x, const Doubles& scale,
                    const Doubles& shift) {
  const size_t width = scale.size();
  Doubles y(x.size());
  for (size_t at = 0; at < x.size(); at += width) {
    double mean = 0, square = 0;
    for (size_t c = 0; c < width; ++c) mean += x[at + c];
    mean /= static_cast<double>(width);
    for (size_t c = 0; c < width; ++c) {
      square += (x[at + c] - mean) * (x[at + c] - mean);
    }
    const double by = 1 / std::sqrt(square / static_cast<double>(width) + 1e-5);
    for (size_t c = 0; c < width; ++c) {
      y[at + c] = (x[at + c] - mean) * by * scale[c] + shift[c];
    }
  }
  return y;
}

// What the queries of one head, of one element of the batch, make of it.
void Attend64(const BlockSizes& z, const Doubles& qkv, int64_t first,
              int64_t head, Doubles* mixed) {
  const auto part = [&](int64_t token, int64_t which) {
    return &qkv[((first + token) * 3 + which) * z.width + head * z.depth()];
  };
  Doubles row(z.length);
  for (int64_t q = 0; q < z.length; ++q) {
    for (int64_t k = 0; k < z.length; ++k) {
      row[k] = 0;
      for (int64_t d = 0; d < z.depth(); ++d) {
        row[k] += part(q, 0)[d] * part(k, 1)[d];
      }
      row[k] /= std::sqrt(static_cast<double>(z.depth()));
    }
    Softmax64(row.data(), z.length);
    double* to = &(*mixed)[(first + q) * z.width + head * z.depth()];
    for (int64_t k = 0; k < z.length; ++k) {
      for (int64_t d = 0; d < z.depth(); ++d) to[d] += row[k] * part(k, 2)[d];
    }
  }
}

double BlockLoss64(const BlockSizes& z, const std::vector<Doubles>& p) {
  const Doubles qkv = Product64(LayerNorm64(p[kX], p[kScale1], p[kShift1]),
                                p[kQkv], z.tokens(), 3 * z.width);
  Doubles mixed(z.tokens() * z.width);
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t h = 0; h < z.heads; ++h) {
      Attend64(z, qkv, b * z.length, h, &mixed);
    }
  }
  Doubles middle = Product64(mixed, p[kOut], z.tokens(), z.width);
  for (size_t i = 0; i < middle.size(); ++i) middle[i] += p[kX][i];
  Doubles hidden = Product64(LayerNorm64(middle, p[kScale2], p[kShift2]),
                             p[kW1], z.tokens(), z.hidden(), p[kB1]);
  for (double& h : hidden) {
    h *= 0.5 * (1 + std::tanh(0.7978845608 * (h + 0.044715 * h * h * h)));
  }
  const Doubles out = Product64(hidden, p[kW2], z.tokens(), z.width, p[kB2]);
  double sum = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    sum += (middle[i] + out[i]) * (middle[i] + out[i]);
  }
  return sum / static_cast<double>(out.size());
}

std::vector<Product> BlockProducts(const BlockSizes& z) {
  const int64_t t = z.tokens(), w = z.width, heads = z.batch * z.heads;
  std::vector<Product> products;
  for (const Product& p : {Product{t, w, 3 * w}, Product{t, w, w},
                           Product{t, w, z.hidden()}, Product{t, z.hidden(), w},
                           Product{z.length, z.depth(), z.length, heads},
                           Product{z.length, z.length, z.depth(), heads}}) {
    AddWithGradients(p, &products);
  }
  return products;
}

absl::StatusOr<Race> RaceTransformer(const Setting& s) {
  const BlockSizes z(s);
  const int64_t w = z.width, h = z.hidden();
  const auto by = static_cast<float>(std::sqrt(3.0 / static_cast<double>(w)));
  std::vector<Literal> arguments = {RandomFloats({z.batch, z.length, w}, -1, 1),
                                    RandomFloats({w}, 0.5, 1.5),
                                    RandomFloats({w}, -0.5, 0.5),
                                    RandomFloats({w, 3 * w}, -by, by),
                                    RandomFloats({w, w}, -by, by),
                                    RandomFloats({w}, 0.5, 1.5),
                                    RandomFloats({w}, -0.5, 0.5),
                                    RandomFloats({w, h}, -by, by),
                                    RandomFloats({h}, -0.5, 0.5),
                                    RandomFloats({h, w}, -by / 2, by / 2),
                                    RandomFloats({w}, -0.5, 0.5)};
  HAWSER_ASSIGN_OR_RETURN(auto floor, Products(s, BlockProducts(z)));
  const auto body = [z](const Tensors& p) {
    const auto [loss, gradients] =
        ValueAndGrad([&z](const Tensors& all) { return BlockLoss(z, all); })(p);
    Tensors results = {loss};
    results.insert(results.end(), gradients.begin(), gradients.end());
    return results;
  };
  const auto check = [=](absl::Span<const Literal> got) {
    std::vector<Doubles> parameters, gradients;
    for (const Literal& value : arguments) {
      parameters.push_back(DoublesOf(value));
    }
    for (const Literal& value : got.subspan(1)) {
      gradients.push_back(DoublesOf(value));
    }
    return CheckGradients(parameters, gradients, got[0],
                          [&](const auto& p) { return BlockLoss64(z, p); });
  };
  return RaceOf(s, {body, arguments, std::move(floor), check});
}

// ---- a turn of k-means ----------------------------------------------------

constexpr int64_t kClusters = 16, kFeatures = 16;

// (points, centers) -> the means of the points next to each center.
Tensors KMeansTurn(const Tensors& p) {
  const Tensor far =
      Sum(Square(p[1]), {.axes = {1}}) - 2.0f * MatMul(p[0], Transpose(p[1]));
  const Tensor nearest = ExpandDims(ArgMin(far, {.axis = 1}), 1);
  const Tensor member =
      Convert(Eq(nearest, Iota(DType::kS32, {1, kClusters})), DType::kF32);
  const Tensor size = ExpandDims(Sum(member, {.axes = {0}}), 1);
  return {Select(size > 0.0f,
                 MatMul(Transpose(member), p[0]) / Maximum(size, 1.0f), p[1])};
}

absl::Status CheckKMeans(const Literal& x, const Literal& centers,
                         const Literal& got) {
  std::vector<double> sums(kClusters * kFeatures), sizes(kClusters);
  for (int64_t r = 0; r < x.shape().dim(0); ++r) {
    const float* point = x.data<float>().data() + r * kFeatures;
    double least = INFINITY;
    int64_t nearest = 0;
    for (int64_t k = 0; k < kClusters; ++k) {
      double far = 0;
      for (int64_t f = 0; f < kFeatures; ++f) {
        const double off = point[f] - centers.data<float>()[k * kFeatures + f];
        far += off * off;
      }
      if (far < least) least = far, nearest = k;
    }
    sizes[nearest] += 1;
    for (int64_t f = 0; f < kFeatures; ++f) {
      sums[nearest * kFeatures + f] += point[f];
    }
  }
  std::vector<float> want(centers.data<float>().begin(),
                          centers.data<float>().end());
  for (int64_t i = 0; i < kClusters * kFeatures; ++i) {
    if (sizes[i / kFeatures] == 0) continue;
    want[i] = static_cast<float>(sums[i] / sizes[i / kFeatures]);
  }
  // A point as far from two centers may have gone to either.
  return Near<float>(got, want, {.absolute = 2e-3});
}

absl::StatusOr<Race> RaceKMeans(const Setting& s) {
  const int64_t points = s.Size(100000, 256);
  const Literal x = RandomFloats({points, kFeatures}, -1, 1);
  const Literal centers = RandomFloats({kClusters, kFeatures}, -1, 1, 1);
  HAWSER_ASSIGN_OR_RETURN(auto floor,
                          Products(s, {{points, kFeatures, kClusters},
                                       {kClusters, points, kFeatures}}));
  return RaceOf(s, {KMeansTurn,
                    {x, centers},
                    std::move(floor),
                    [=](absl::Span<const Literal> got) {
                      return CheckKMeans(x, centers, got[0]);
                    }});
}

// ---- a batch of nearest neighbours, as client/examples/knn.cc has it --------

// (train, half the norms of its rows, labels, images) -> labels of the images.
Tensors NearestLabels(const Tensors& p) {
  const Tensor x = Convert(p[3], DType::kF32) - 128.0f;
  return {Take(p[2], ArgMin(p[1] - Dot(x, Transpose(p[0])), {.axis = 1}))};
}

absl::StatusOr<Race> RaceNearest(const Setting& s) {
  HAWSER_ASSIGN_OR_RETURN(const Blas* blas, BlasLibrary());
  const int64_t images = s.Size(100, 10), rows = s.Size(60000, 300);
  const int64_t pixels = s.Size(784, 20);
  const Literal bytes = RandomBytes({images, pixels});
  const Literal labels = RandomBytes({rows});
  Literal train =
      Literal::Uninitialized(Shape::Of(DType::kF32, {rows, pixels}));
  Literal norms = Literal::Zeros(Shape::Of(DType::kF32, {rows}));
  const Literal random = RandomInts({rows, pixels}, 256);
  for (int64_t i = 0; i < rows * pixels; ++i) {
    const auto v = static_cast<float>(random.data<int32_t>()[i] - 128);
    train.mutable_data<float>()[i] = v;
    norms.mutable_data<float>()[i / pixels] += v * v / 2;
  }
  const auto x = Room<float>(images * pixels);
  const auto dots = Room<float>(images * rows);
  for (int64_t i = 0; i < images * pixels; ++i) {
    x[i] = static_cast<float>(bytes.data<uint8_t>()[i]) - 128;
  }
  const auto floor = [=, threads = s.threads] {
    Split(threads, images, 1, [&](int64_t begin, int64_t end, int) {
      const int k = static_cast<int>(pixels), n = static_cast<int>(rows);
      blas->sgemm(Blas::kRowMajor, Blas::kNoTrans, Blas::kTrans,
                  static_cast<int>(end - begin), n, k, 1,
                  x.get() + begin * pixels, k, train.data<float>().data(), k, 0,
                  dots.get() + begin * rows, n);
    });
  };
  return RaceOf(s, {.body = NearestLabels,
                    .arguments = {train, norms, labels, bytes},
                    .floor = floor,
                    .check = [=](absl::Span<const Literal> got) {
                      std::vector<uint8_t> want;
                      for (int64_t i = 0; i < images; ++i) {
                        int64_t nearest = 0;
                        float least = INFINITY;
                        for (int64_t r = 0; r < rows; ++r) {
                          const float far =
                              norms.data<float>()[r] - dots[i * rows + r];
                          if (far < least) least = far, nearest = r;
                        }
                        want.push_back(labels.data<uint8_t>()[nearest]);
                      }
                      return Near<uint8_t>(got[0], want);
                    }});
}

}  // namespace

std::vector<Work> ProductWorks() {
  const char* blas = "the same by BLAS";
  const char* alone = "its products alone, by BLAS";
  return {
      {"matmul",
       blas,
       {.floor = 1 / 0.95},
       [](const Setting& s) {
         const int64_t side = s.Size(1024, 64);
         return RaceProduct(s, {side, side, side});
       }},
      {"matmul_batched",
       blas,
       {.floor = 1 / 0.9},
       [](const Setting& s) {
         const int64_t side = s.Size(64, 16);
         return RaceProduct(s, {side, side, side, s.Size(256, 8)});
       }},
      {"matmul_bf16", "the same in f32, by BLAS", {.torch = 1}, RaceBf16},
      {"matrix_vector", blas, {.floor = 1 / 0.9}, RaceMatrixVector},
      {"mlp_step", alone, {.torch = 1}, RaceMlp},
      {"transformer_block", alone, {.torch = 1}, RaceTransformer},
      {"kmeans_turn", alone, {.torch = 1}, RaceKMeans},
      {.name = "nearest_labels",
       .floor = "its product alone, by BLAS",
       .targets = {.floor = 1.2},
       .prepare = RaceNearest,
       .has_peers = false},
  };
}

}  // namespace hawser::bench
