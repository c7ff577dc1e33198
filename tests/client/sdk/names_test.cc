// Users may call their own things by these words: `using namespace hawser`, as
// the README has it, makes none of them ambiguous. They come from programs of
// new users, with more of the same kind. Names of the SDK's functions and types
// are not among them: Checkpoint, Edge, Half, Index, Slice.
#include "client/sdk/hawser.h"
#include "gtest/gtest.h"

using namespace hawser;  // NOLINT: as users write it

#define HAWSER_NAMES(X)                                                     \
  X(Account) X(Activation) X(Adam) X(Attributes) X(Batch) X(Bias) X(Block)  \
  X(Body) X(Box) X(Cache) X(Cell) X(Cluster) X(Color) X(Computation)        \
  X(Config) X(Context) X(Counter) X(Cuts) X(Device) X(Embedding) X(Encoder) \
  X(Entry) X(Epoch) X(Error) X(Event) X(Example) X(Exchange) X(Expression)  \
  X(Field) X(Frame) X(Graph) X(Grid) X(Image) X(Instruction) X(Interval)    \
  X(Job) X(Kernel) X(Label) X(Layer) X(Loss) X(Matrix) X(Mesh) X(Message)   \
  X(Metrics) X(Model) X(Module) X(Monoids) X(Network) X(Node) X(Optimizer)  \
  X(Order) X(Params) X(Part) X(Partial) X(Particle) X(Path) X(Person)       \
  X(Piece) X(Pixel) X(Place) X(Plan) X(Point) X(Policy) X(Price) X(Query)   \
  X(Record) X(Region) X(Result) X(Row) X(Sample) X(Segment) X(Sequence)     \
  X(Settings) X(Signal) X(Signature) X(Spectrum) X(Stage)         \
  X(State) X(Station) X(Step) X(Table) X(Task) X(Token) X(Track) X(Trait)   \
  X(Transform) X(Tree) X(Turn) X(User) X(Vector) X(Vertex) X(View)          \
  X(Voxel) X(Weights) X(Where) X(Window) X(Word) X(World)

// In the global namespace, where a using-directive makes names compete.
#define HAWSER_DECLARE(name) \
  struct name {              \
    int of = 1;              \
  };
HAWSER_NAMES(HAWSER_DECLARE)

namespace {

TEST(Names, OfUsersAreNotAmbiguous) {
  int count = 0;
#define HAWSER_USE(name) count += name{}.of;
  HAWSER_NAMES(HAWSER_USE)
  EXPECT_GE(count, 60);
}

}  // namespace
