// Graphs of the driver API: node by node and from a captured stream; launches with attributes.
// module: driver_api_module.cu
#include <cuda.h>

#include "check.h"

#define DRIVER(call)                                              \
  do {                                                            \
    const CUresult driver_result = (call);                        \
    if (driver_result != CUDA_SUCCESS) {                          \
      printf("%d: %s gave %d\n", __LINE__, #call, driver_result); \
      exit(1);                                                    \
    }                                                             \
  } while (0)

constexpr int kCount = 64;

void CUDA_CB Note(void* data) { ++*static_cast<int*>(data); }

int main(int argc, char** argv) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction scale;
  CUstream stream;
  CUdeviceptr data;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuCtxCreate(&context, 0, device));
  DRIVER(cuModuleLoad(&module, argc > 1 ? argv[1] : "driver_api_module.cubin"));
  DRIVER(cuModuleGetFunction(&scale, module, "Scale"));
  DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  DRIVER(cuMemAlloc(&data, kCount * sizeof(float)));
  float host[kCount], factor = 3;
  int n = kCount, calls = 0;
  void* arguments[] = {&data, &factor, &n};

  // data = 2, then times 3 and 1 more, to the host.
  CUgraph graph;
  CUgraphNode fill, kernel, copy, call, empty;
  DRIVER(cuGraphCreate(&graph, 0));
  const CUDA_MEMSET_NODE_PARAMS two = {data, 0, 0x40000000, 4, kCount, 1};
  DRIVER(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &two, context));
  CUDA_KERNEL_NODE_PARAMS launch = {};
  launch.func = scale;
  launch.gridDimX = 2;
  launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  launch.blockDimX = kCount / 2;
  launch.kernelParams = arguments;
  DRIVER(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  CUDA_MEMCPY3D out = {};
  out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  out.srcDevice = data;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = host;
  out.WidthInBytes = sizeof(host);
  out.Height = out.Depth = 1;
  DRIVER(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &out, context));
  const CUDA_HOST_NODE_PARAMS note = {Note, &calls};
  DRIVER(cuGraphAddHostNode(&call, graph, &copy, 1, &note));
  DRIVER(cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  DRIVER(cuGraphAddDependencies(graph, &call, &empty, 1));
  EXPECT(cuGraphAddDependencies(graph, &call, &empty, 1) == CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeType type;
  DRIVER(cuGraphNodeGetType(call, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_HOST);
  CUgraphExec executable;
  DRIVER(cuGraphInstantiate(&executable, graph, 0));
  DRIVER(cuGraphLaunch(executable, stream));
  DRIVER(cuStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 7);
  factor = 10;
  DRIVER(cuGraphExecKernelNodeSetParams(executable, kernel, &launch));
  DRIVER(cuGraphLaunch(executable, stream));
  DRIVER(cuStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 21);
  EXPECT(calls == 2);
  DRIVER(cuGraphExecDestroy(executable));
  DRIVER(cuGraphDestroy(graph));

  // The same from a stream, with attributes.
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = -2;
  const CUlaunchConfig config = {2, 1, 1, kCount / 2, 1, 1, 0, stream, &attribute, 1};
  DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  DRIVER(cuMemsetD32Async(data, 0x3f800000, kCount, stream));
  DRIVER(cuLaunchKernelEx(&config, scale, arguments, nullptr));
  size_t bytes = 0;
  CUdeviceptr more;
  EXPECT(cuMemAlloc(&more, 4) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT(cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  DRIVER(cuMemsetD32Async(data, 0x3f800000, kCount, stream));
  DRIVER(cuLaunchKernelEx(&config, scale, arguments, nullptr));
  DRIVER(cuStreamEndCapture(stream, &graph));
  DRIVER(cuGraphGetNodes(graph, nullptr, &bytes));
  EXPECT(bytes == 2);
  DRIVER(cuGraphInstantiateWithFlags(&executable, graph, 0));
  DRIVER(cuGraphLaunch(executable, stream));
  DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 11);
  // Code that a graph needs is unloaded.
  DRIVER(cuModuleUnload(module));
  EXPECT(cuGraphLaunch(executable, stream) == CUDA_ERROR_INVALID_HANDLE);
  CUgraphExec late;  // made only now
  DRIVER(cuGraphInstantiate(&late, graph, 0));
  EXPECT(cuGraphLaunch(late, stream) == CUDA_ERROR_INVALID_HANDLE);
  DRIVER(cuGraphExecDestroy(late));
  DRIVER(cuGraphDebugDotPrint(graph, "/dev/null", 0));
  DRIVER(cuGraphExecDestroy(executable));
  DRIVER(cuGraphDestroy(graph));
  return Finish();
}
