// CUDA graphs, the capture of streams and launches with attributes: this part of the driver API is included by cuda.h.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_DRIVER_GRAPH_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_DRIVER_GRAPH_H_

#include "heddle_cuda_driver_arrays.h"
#include "heddle_cuda_graph_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphNode_st* CUgraphNode;
typedef struct CUgraphExec_st* CUgraphExec;
typedef void(CUDA_CB* CUhostFn)(void* data);

// All have the numbers of the runtime's.
typedef enum CUstreamCaptureStatus_enum {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
  CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
} CUstreamCaptureStatus;
typedef enum CUstreamCaptureMode_enum {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2
} CUstreamCaptureMode;
typedef enum CUgraphNodeType_enum {
  CU_GRAPH_NODE_TYPE_KERNEL = 0,
  CU_GRAPH_NODE_TYPE_MEMCPY = 1,
  CU_GRAPH_NODE_TYPE_MEMSET = 2,
  CU_GRAPH_NODE_TYPE_HOST = 3,
  CU_GRAPH_NODE_TYPE_GRAPH = 4,
  CU_GRAPH_NODE_TYPE_EMPTY = 5,
  CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
  CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
  CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
  CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
  CU_GRAPH_NODE_TYPE_CONDITIONAL = 13
} CUgraphNodeType;
typedef enum CUgraphInstantiate_flags_enum {
  CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
  CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
  CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
  CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8
} CUgraphInstantiate_flags;
typedef enum CUgraphExecUpdateResult_enum {
  CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
  CU_GRAPH_EXEC_UPDATE_ERROR = 1,
  CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
  CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
  CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
  CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
  CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6
} CUgraphExecUpdateResult;
typedef struct CUgraphExecUpdateResultInfo_st {
  CUgraphExecUpdateResult result;
  CUgraphNode errorNode;
  CUgraphNode errorFromNode;
} CUgraphExecUpdateResultInfo;

typedef struct CUDA_KERNEL_NODE_PARAMS_st {
  CUfunction func;
  unsigned int gridDimX, gridDimY, gridDimZ;
  unsigned int blockDimX, blockDimY, blockDimZ;
  unsigned int sharedMemBytes;
  void** kernelParams;
  void** extra;
  struct CUkern_st* kern;  // instead of func
  CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct CUDA_MEMSET_NODE_PARAMS_st {
  CUdeviceptr dst;
  size_t pitch;
  unsigned int value;
  unsigned int elementSize;
  size_t width;
  size_t height;
} CUDA_MEMSET_NODE_PARAMS;
typedef struct CUDA_HOST_NODE_PARAMS_st {
  CUhostFn fn;
  void* userData;
} CUDA_HOST_NODE_PARAMS;

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, unsigned long long* id, CUgraph* graph,
                                const CUgraphNode** dependencies, size_t* count);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data);

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph* clone, CUgraph original);
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext context);
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters);
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child);
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count);
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event);
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int flags);
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream);
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream);
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphExecDestroy(CUgraphExec executable);

// Launches with attributes: those of the runtime.
typedef cudaLaunchAttributeID CUlaunchAttributeID;
typedef cudaLaunchAttributeValue CUlaunchAttributeValue;
typedef struct CUlaunchAttribute_st {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  CUlaunchAttributeValue value;
} CUlaunchAttribute;
#define CU_LAUNCH_ATTRIBUTE_IGNORE cudaLaunchAttributeIgnore
#define CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW cudaLaunchAttributeAccessPolicyWindow
#define CU_LAUNCH_ATTRIBUTE_COOPERATIVE cudaLaunchAttributeCooperative
#define CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY cudaLaunchAttributeSynchronizationPolicy
#define CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION cudaLaunchAttributeClusterDimension
#define CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE cudaLaunchAttributeClusterSchedulingPolicyPreference
#define CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION cudaLaunchAttributeProgrammaticStreamSerialization
#define CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT cudaLaunchAttributeProgrammaticEvent
#define CU_LAUNCH_ATTRIBUTE_PRIORITY cudaLaunchAttributePriority
typedef CUlaunchAttributeID CUkernelNodeAttrID;
typedef CUlaunchAttributeValue CUkernelNodeAttrValue;
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value);
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value);
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from);
typedef struct CUlaunchConfig_st {
  unsigned int gridDimX, gridDimY, gridDimZ;
  unsigned int blockDimX, blockDimY, blockDimZ;
  unsigned int sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned int numAttrs;
} CUlaunchConfig;
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config);
CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function, const CUlaunchConfig* config);
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared_bytes, CUstream stream, void** parameters);

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_DRIVER_GRAPH_H_
