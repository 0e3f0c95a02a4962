// nvcc: -lcurand
// marked: stand-ins for curand
// cuRAND's generators of the host's interface: numbers of NVIDIA's library, calls in parts, host memory, refusals.
#include <curand.h>

#include <vector>

#include "check.h"

#define RAND(call) EXPECT((call) == CURAND_STATUS_SUCCESS)

struct Known {
  curandRngType_t type;
  unsigned bits[6], skipped[3];  // at kPlaces; the first behind kOffset numbers
  double uniform[2], uniform_double[2], normal[2], normal_double[2], log_normal[2];  // at 0 and 5
};
const int kPlaces[] = {0, 1, 5, 4096, 70001, 99999};
constexpr int kCount = 100000, kOffset = 12347;
const Known kKnown[] = {
    {CURAND_RNG_PSEUDO_XORWOW,
     {624778773, 3522650202, 3732235839, 1867875844, 3811973504, 1286219390},
     {2041381337, 2320098635, 2925135243},
     {0.1454676389694214, 0.8689788579940796},
     {0.43489880438841294, 0.5012456711076041},
     {2.5619471073150635, 1.8280786275863647},
     {1.71747959704891, 0.9394835647889389},
     {2.0041966438293457, 1.828525424003601}},
    {CURAND_RNG_PSEUDO_MRG32K3A,
     {3379073520, 653317650, 1307787078, 2648318237, 1742558505, 326359744},
     {348312381, 3328691384, 4186882948},
     {0.7867518663406372, 0.30449292063713074},
     {0.7867518627157294, 0.30449290728173634},
     {0.27869242429733276, 1.2675867080688477},
     {0.27869270777651056, 1.2675867964709542},
     {1.5065715312957764, 1.7048009634017944}},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10,
     {546353992, 3665621163, 1392278645, 2053518784, 3977317304, 3491112293},
     {637003339, 143294432, 3251787106},
     {0.127207949757576, 0.32416513562202454},
     {0.8534689954300143, 0.058917992888356474},
     {-2.232980966567993, 0.42820727825164795},
     {-0.07905339181463766, 3.798639961121262},
     {1.1006240844726562, 1.5349931716918945}},
};

template <typename T>
static std::vector<T> Back(const void* device, size_t count) {
  std::vector<T> back(count);
  CALL(cudaMemcpy(back.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return back;
}

template <typename T>
static void CompareTwo(const double* want, const std::vector<T>& got) {
  EXPECT_NEAR(got[0], want[0], 2e-6 * (1 + fabs(want[0])));
  EXPECT_NEAR(got[5], want[1], 2e-6 * (1 + fabs(want[1])));
}

static void Check(const Known& known, void* device) {
  curandGenerator_t g;
  RAND(curandCreateGenerator(&g, known.type));
  const auto again = [&] { RAND(curandSetPseudoRandomGeneratorSeed(g, 1234)); };
  auto* bits = (unsigned*)device;
  again();
  RAND(curandGenerate(g, bits, kCount));
  const std::vector<unsigned> whole = Back<unsigned>(device, kCount);
  for (int i = 0; i < 6; ++i) EXPECT(whole[kPlaces[i]] == known.bits[i]);
  again();  // in parts
  RAND(curandGenerate(g, bits, 5001));
  RAND(curandGenerate(g, bits + 5001, 3));
  RAND(curandGenerate(g, bits + 5004, kCount - 5004));
  EXPECT(Back<unsigned>(device, kCount) == whole);
  again();
  RAND(curandSetGeneratorOffset(g, kOffset));
  RAND(curandGenerate(g, bits, 3));
  const std::vector<unsigned> skipped = Back<unsigned>(device, 3);
  for (int i = 0; i < 3; ++i) EXPECT(skipped[i] == known.skipped[i] && skipped[i] == whole[kOffset + i]);

  again();
  RAND(curandGenerateUniform(g, (float*)device, 6));
  CompareTwo(known.uniform, Back<float>(device, 6));
  again();
  RAND(curandGenerateUniformDouble(g, (double*)device, 6));
  CompareTwo(known.uniform_double, Back<double>(device, 6));
  again();
  RAND(curandGenerateNormal(g, (float*)device, 6, 1, 2));
  CompareTwo(known.normal, Back<float>(device, 6));
  again();
  RAND(curandGenerateNormalDouble(g, (double*)device, 6, 1, 2));
  CompareTwo(known.normal_double, Back<double>(device, 6));
  again();
  RAND(curandGenerateLogNormal(g, (float*)device, 6, 0.5f, 0.25f));
  CompareTwo(known.log_normal, Back<float>(device, 6));
  again();
  RAND(curandGeneratePoisson(g, bits, 4096, 12.0));
  double sum = 0;
  for (unsigned x : Back<unsigned>(device, 4096)) sum += x;
  EXPECT_NEAR(sum / 4096, 12, 5 * sqrt(12.0 / 4096));

  const bool pairs = known.type != CURAND_RNG_PSEUDO_PHILOX4_32_10;
  EXPECT(curandGenerateNormal(g, (float*)device, 7, 0, 1) ==
         (pairs ? CURAND_STATUS_LENGTH_NOT_MULTIPLE : CURAND_STATUS_SUCCESS));
  EXPECT(curandGeneratePoisson(g, bits, 8, -1) == CURAND_STATUS_OUT_OF_RANGE);
  RAND(curandDestroyGenerator(g));

  curandGenerator_t host;
  unsigned numbers[6];
  RAND(curandCreateGeneratorHost(&host, known.type));
  RAND(curandSetPseudoRandomGeneratorSeed(host, 1234));
  RAND(curandGenerate(host, numbers, 6));
  for (int i = 0; i < 3; ++i) EXPECT(numbers[kPlaces[i]] == known.bits[i]);
  RAND(curandDestroyGenerator(host));
}

// Numbers in a graph, whose launches go on where the one before has ended: seeds are made before it is captured.
static void InGraph(curandRngType_t type) {
  constexpr int kNumbers = 1000;
  curandGenerator_t plain, captured;
  unsigned int *want, *got;
  cudaStream_t stream;
  CALL(cudaMallocManaged(&want, kNumbers * sizeof(unsigned int)));
  CALL(cudaMallocManaged(&got, kNumbers * sizeof(unsigned int)));
  CALL(cudaStreamCreate(&stream));
  for (curandGenerator_t* generator : {&plain, &captured}) {
    EXPECT(curandCreateGenerator(generator, type) == CURAND_STATUS_SUCCESS);
    EXPECT(curandSetPseudoRandomGeneratorSeed(*generator, 77) == CURAND_STATUS_SUCCESS);
  }
  EXPECT(curandGenerate(plain, want, kNumbers) == CURAND_STATUS_SUCCESS);
  EXPECT(curandSetStream(captured, stream) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGenerateSeeds(captured) == CURAND_STATUS_SUCCESS);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(curandGenerate(captured, got, kNumbers) == CURAND_STATUS_SUCCESS);
  CALL(cudaStreamEndCapture(stream, &graph));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < kNumbers; ++i) EXPECT(got[i] == want[i]);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
  for (curandGenerator_t generator : {plain, captured}) {
    EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  }
}

int main() {
  void* device;
  CALL(cudaMalloc(&device, kCount * sizeof(double)));
  for (const Known& known : kKnown) Check(known, device);
  InGraph(CURAND_RNG_PSEUDO_XORWOW);
  InGraph(CURAND_RNG_PSEUDO_MRG32K3A);
  curandGenerator_t g;
  EXPECT(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MTGP32) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandGenerate(nullptr, nullptr, 1) == CURAND_STATUS_NOT_INITIALIZED);
  return Finish();
}
