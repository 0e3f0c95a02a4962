/* printf of kernels: numbers, strings, vectors; the text comes in the order of the program's own. */
#include "app.h"

static const char *source =
    "__kernel void say(__global const float *x, int n) {\n"
    "  if (get_global_id(0) == 1) {\n"
    "    float4 v = vload4(0, x);\n"
    "    uchar4 c = (uchar4)(1, 2, 3, 255);\n"
    "    printf(\"%d items, %s, %c, %5.2f, %x, %%\\n\", n, \"text\", 'z', x[1], 255);\n"
    "    printf(\"%v4hlf | %v4hhu | %v2hld\\n\", v, c, (int2)(-7, 8));\n"
    "    printf(\"%ld %lu\\n\", -5000000000L, 5000000000UL);\n"
    "  }\n"
    "}\n"
    "__kernel void each(void) { printf(\"item %d of group %d\\n\", (int)get_local_id(0), (int)get_group_id(0)); }\n";

int main(void) {
  float x[4] = {0.5f, 1.25f, -2, 1e6f};
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel say = MakeKernel(program, "say"), each = MakeKernel(program, "each");
  cl_mem buffer = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(x), x);
  SetBuffer(say, 0, buffer);
  SetInt(say, 1, 42);
  printf("before\n");
  Run1(say, 4, 2);
  CALL(clFinish(queue));
  printf("between\n");
  Run1(each, 4, 2);
  CALL(clFinish(queue));
  printf("after\n");
  CloseDevice();
  return 0;
}
