/* A barrier of all work-groups, one per compute unit of the device, of 512 items each: more threads than any other
 * program here has live at once.
 * resident blocks: 80
 */
#include "app.h"

static const char *source =
    "__kernel void meet(__global volatile int *count, __global int *out) {\n"
    "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "  if (get_local_id(0) == 0) {\n"
    "    atomic_inc(count);\n"
    "    while (atomic_or(count, 0) < (int)get_num_groups(0)) ;\n"
    "  }\n"
    "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "  if (get_local_id(0) == 511) out[get_group_id(0)] = *count;\n"
    "}\n";

int main(void) {
  OpenDevice(0);
  cl_uint units = 0;
  CALL(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL));
  EXPECT(units == 80);
  int zero = 0, out[80];
  cl_mem count = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero);
  cl_mem reached = MakeBuffer(CL_MEM_READ_WRITE, sizeof(out), NULL);
  cl_kernel kernel = MakeKernel(BuildSource(source, ""), "meet");
  SetBuffer(kernel, 0, count);
  SetBuffer(kernel, 1, reached);
  Run1(kernel, 512 * 80, 512);
  Read(reached, out, sizeof(out));
  for (int i = 0; i < 80; ++i) EXPECT(out[i] == 80);
  printf("grid barrier: passed\n");
  return 0;
}
