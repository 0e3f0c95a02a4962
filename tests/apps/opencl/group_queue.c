/* Work-groups that wait for one another: a queue of tasks that groups take from and add to, each under a lock, and a
 * barrier of all groups at the end. All four groups must be live at once.
 * resident blocks: 4
 */
#include "app.h"

static const char *source =
    "__kernel void run(volatile __global int *state, volatile __global int *tasks, __global int *done) {\n"
    "  /* state: [0] lock, [1] first task, [2] behind the last one, [3] tasks that are not finished, [4] arrivals */\n"
    "  __local int task;\n"
    "  for (;;) {\n"
    "    if (get_local_id(0) == 0) {\n"
    "      task = 0;\n"
    "      while (task == 0 && state[3] > 0) {\n"
    "        while (atomic_cmpxchg(&state[0], 0, 1) != 0) {\n"
    "        }\n"
    "        if (state[1] < state[2]) { task = tasks[state[1]]; state[1] = state[1] + 1; }\n"
    "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "        atomic_xchg(&state[0], 0);\n"
    "      }\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    const int mine = task;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (mine == 0) break;\n"
    "    atomic_add(&done[get_local_id(0)], mine);\n"
    "    if (get_local_id(0) == 0) {\n"
    "      if (mine > 1) { /* two more tasks, each half as large */\n"
    "        while (atomic_cmpxchg(&state[0], 0, 1) != 0) {\n"
    "        }\n"
    "        for (int k = 0; k < 2; ++k) { tasks[state[2]] = mine / 2; state[2] = state[2] + 1; }\n"
    "        atomic_add(&state[3], 2);\n"
    "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "        atomic_xchg(&state[0], 0);\n"
    "      }\n"
    "      atomic_sub(&state[3], 1);\n"
    "    }\n"
    "  }\n"
    "  if (get_local_id(0) == 0) {\n"
    "    atomic_inc(&state[4]);\n"
    "    while (state[4] < (int)get_num_groups(0)) {\n"
    "    }\n"
    "  }\n"
    "}\n";

enum { kThreads = 16, kGroups = 4, kFirst = 32, kRoom = 2 * kFirst };

int main(void) {
  cl_int state[5] = {0, 0, 1, 1, 0}, tasks[kRoom] = {kFirst}, done[kThreads] = {0};
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel run = MakeKernel(program, "run");
  cl_mem buffers[3];
  buffers[0] = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(state), state);
  buffers[1] = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(tasks), tasks);
  buffers[2] = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(done), done);
  for (cl_uint i = 0; i < 3; ++i) SetBuffer(run, i, buffers[i]);
  Run1(run, kThreads * kGroups, kThreads);
  Read(buffers[0], state, sizeof(state));
  Read(buffers[2], done, sizeof(done));
  /* Every halving gives the same sum: 32, 16 + 16, ... down to 32 ones. */
  for (int i = 0; i < kThreads; ++i) EXPECT_ELEMENT(i, done[i], 6 * kFirst);
  EXPECT(state[0] == 0 && state[1] == kRoom - 1 && state[2] == kRoom - 1 && state[3] == 0 && state[4] == kGroups);
  for (int i = 0; i < 3; ++i) CALL(clReleaseMemObject(buffers[i]));
  CALL(clReleaseKernel(run));
  CALL(clReleaseProgram(program));
  CloseDevice();
  printf("all right\n");
  return 0;
}
