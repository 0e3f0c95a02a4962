/* A graph search level by level: irregular branches, a flag read back after every launch, a context by device type. */
#include "app.h"

static const char *source =
    "typedef struct { int start, degree; } Node;\n"
    "__kernel void expand(__global const Node *nodes, __global const int *edges, __global char *frontier,\n"
    "                     __global char *updating, __global char *visited, __global int *cost, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n && frontier[i]) {\n"
    "    frontier[i] = 0;\n"
    "    for (int e = nodes[i].start; e < nodes[i].start + nodes[i].degree; ++e) {\n"
    "      int to = edges[e];\n"
    "      if (!visited[to]) { cost[to] = cost[i] + 1; updating[to] = 1; }\n"
    "    }\n"
    "  }\n"
    "}\n"
    "__kernel void advance(__global char *frontier, __global char *updating, __global char *visited,\n"
    "                      __global int *again, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n && updating[i]) { frontier[i] = 1; visited[i] = 1; *again = 1; updating[i] = 0; }\n"
    "}\n";

enum { kNodes = 2000, kDegree = 6 };
typedef struct {
  int start, degree;
} Node;

int main(void) {
  static Node nodes[kNodes];
  static int edges[kNodes * kDegree], cost[kNodes], wanted[kNodes], list[kNodes];
  static char zeros[kNodes], first[kNodes];
  int i, e, used = 0, head = 0, tail = 0, again, levels = 0;
  for (i = 0; i < kNodes; ++i) {
    nodes[i].start = used;
    nodes[i].degree = (int)(Random() % kDegree);
    for (e = 0; e < nodes[i].degree; ++e) edges[used++] = (int)(Random() % kNodes);
    cost[i] = wanted[i] = -1;
  }
  nodes[0].degree = 3 < used ? 3 : used;
  first[0] = 1;
  cost[0] = wanted[0] = 0;
  list[tail++] = 0;
  while (head < tail) {
    const Node node = nodes[list[head]];
    for (e = node.start; e < node.start + node.degree; ++e) {
      if (wanted[edges[e]] < 0) {
        wanted[edges[e]] = wanted[list[head]] + 1;
        list[tail++] = edges[e];
      }
    }
    ++head;
  }

  cl_int error;
  CALL(clGetPlatformIDs(1, &platform, NULL));
  cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  context = clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &error);
  CALL(error);
  size_t bytes = 0;
  CALL(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes));
  EXPECT(bytes == sizeof(device));
  CALL(clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, &device, NULL));
  queue = clCreateCommandQueue(context, device, 0, &error);
  CALL(error);
  cl_program program = BuildSource(source, NULL);
  cl_kernel expand = MakeKernel(program, "expand"), advance = MakeKernel(program, "advance");
  const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem buffers[] = {MakeBuffer(copy, sizeof(nodes), nodes), MakeBuffer(copy, sizeof(edges), edges),
                      MakeBuffer(copy, sizeof(first), first), MakeBuffer(copy, sizeof(zeros), zeros),
                      MakeBuffer(copy, sizeof(first), first), MakeBuffer(copy, sizeof(cost), cost)};
  cl_mem flag = MakeBuffer(CL_MEM_READ_WRITE, sizeof(int), NULL);
  for (i = 0; i < 6; ++i) SetBuffer(expand, (cl_uint)i, buffers[i]);
  SetInt(expand, 6, kNodes);
  SetBuffer(advance, 0, buffers[2]);
  SetBuffer(advance, 1, buffers[3]);
  SetBuffer(advance, 2, buffers[4]);
  SetBuffer(advance, 3, flag);
  SetInt(advance, 4, kNodes);
  do {
    again = 0;
    CALL(clEnqueueWriteBuffer(queue, flag, CL_TRUE, 0, sizeof(again), &again, 0, NULL, NULL));
    Run1(expand, 2048, 256);
    Run1(advance, 2048, 256);
    Read(flag, &again, sizeof(again));
    ++levels;
  } while (again);
  Read(buffers[5], cost, sizeof(cost));
  for (i = 0; i < kNodes; ++i) EXPECT_ELEMENT(i, cost[i], wanted[i]);
  printf("bfs: %d of %d nodes reached in %d levels\n", tail, kNodes, levels);
  CloseDevice();
  printf("bfs: passed\n");
  return 0;
}
