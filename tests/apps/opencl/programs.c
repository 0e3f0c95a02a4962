/* Programs: options and definitions, headers on an include path, build logs, binaries, separate compilation, kernels
 * with information about their arguments. */
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"

static const char *scaled =
    "#include \"factor.h\"\n"
    "__kernel void scale(__global const int *in, __global int *restrict out) {\n"
    "  out[get_global_id(0)] = in[get_global_id(0)] * FACTOR + EXTRA;\n"
    "}\n";
static const char *broken =
    "__kernel void ok(__global int *x) { x[0] = 1; }\n"
    "__kernel void bad(__global int *x) { x[0] = undeclared; }\n";
static const char *warns = "__kernel void w(__global int *x) { int unused; x[0] = 1 ? 2 : 3; return 7; }\n";
static const char *part1 =
    "#include \"shared/helper.h\"\n__kernel void use(__global int *x) { x[get_global_id(0)] = "
    "helper(x[get_global_id(0)]); }\n";
static const char *part2 = "int helper(int x) { return x * x + 1; }\n";
static const char *versions =
    "__kernel void version(__global int *x) { x[0] = __OPENCL_C_VERSION__; x[1] = __OPENCL_VERSION__; }\n";
static const char *helper_header = "int helper(int x);\n";

enum { kCount = 16 };

static void RunScale(cl_program program, int factor, int extra) {
  int in[kCount], out[kCount], i;
  for (i = 0; i < kCount; ++i) in[i] = i * 3;
  cl_kernel kernel = MakeKernel(program, "scale");
  cl_mem a = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(in), in);
  cl_mem b = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(out), NULL);
  SetBuffer(kernel, 0, a);
  SetBuffer(kernel, 1, b);
  Run1(kernel, kCount, 0);
  Read(b, out, sizeof(out));
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, out[i], i * 3 * factor + extra);
  CALL(clReleaseKernel(kernel));
  CALL(clReleaseMemObject(a));
  CALL(clReleaseMemObject(b));
}

/* Libraries ask for the version that they were written for. */
static void BuildForVersions(void) {
  static const char *const options[] = {"", "-cl-std=CL1.0 -Werror", "-cl-std=CL1.1 -Werror", "-cl-std=CL1.2"};
  static const int expected[] = {120, 100, 110, 120};
  static char log[4096];
  size_t i;
  cl_int error;
  for (i = 0; i < sizeof(expected) / sizeof(expected[0]); ++i) {
    int found[2] = {0, 0};
    cl_program program = BuildSource(versions, options[i]);
    cl_kernel kernel = MakeKernel(program, "version");
    cl_mem buffer = MakeBuffer(CL_MEM_READ_WRITE, sizeof(found), NULL);
    SetBuffer(kernel, 0, buffer);
    Run1(kernel, 1, 0);
    Read(buffer, found, sizeof(found));
    EXPECT_ELEMENT(i, found[0], expected[i]);
    EXPECT_ELEMENT(i, found[1], 120);
    CALL(clReleaseMemObject(buffer));
    CALL(clReleaseKernel(kernel));
    CALL(clReleaseProgram(program));
  }
  cl_program program = clCreateProgramWithSource(context, 1, &versions, NULL, &error);
  CALL(error);
  EXPECT(clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL) != CL_SUCCESS);
  CALL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
  EXPECT(strstr(log, "CL3.0") != NULL && strstr(log, "CL1.2") != NULL);
  CALL(clReleaseProgram(program));
}

int main(void) {
  char folder[] = "/tmp/heddle-programs-XXXXXX", path[128], options[256];
  static char log[16384];
  cl_int error;
  OpenDevice(0);
  EXPECT(mkdtemp(folder) != NULL);
  snprintf(path, sizeof(path), "%s/factor.h", folder);
  FILE *file = fopen(path, "w");
  EXPECT(file != NULL);
  fputs("#define FACTOR 5\n", file);
  fclose(file);
  snprintf(options, sizeof(options), "-I %s -D EXTRA=4 -cl-fast-relaxed-math -Werror", folder);
  cl_program program = BuildSource(scaled, options);
  unlink(path);
  rmdir(folder);
  RunScale(program, 5, 4);
  BuildForVersions();
  CALL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof(log), log, NULL));
  EXPECT(strcmp(log, options) == 0);

  /* There and back through the binary. */
  size_t size = 0, kernels = 0;
  CALL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL));
  EXPECT(size > 100);
  unsigned char *binary = (unsigned char *)malloc(size);
  CALL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
  cl_int status = 1;
  cl_program loaded =
      clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, &status, &error);
  CALL(error);
  CALL(status);
  CALL(clBuildProgram(loaded, 0, NULL, "", NULL, NULL));
  RunScale(loaded, 5, 4);
  CALL(clGetProgramInfo(loaded, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL));
  CALL(clGetProgramInfo(loaded, CL_PROGRAM_KERNEL_NAMES, sizeof(log), log, NULL));
  EXPECT(kernels == 1 && strcmp(log, "scale") == 0);
  binary[0] ^= 1;
  EXPECT(clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, &status, &error) ==
         NULL);
  EXPECT(error == CL_INVALID_BINARY && status == CL_INVALID_BINARY);
  free(binary);

  /* The compiler's messages. */
  cl_program wrong = clCreateProgramWithSource(context, 1, &broken, NULL, &error);
  CALL(error);
  EXPECT(clBuildProgram(wrong, 1, &device, "", NULL, NULL) == CL_BUILD_PROGRAM_FAILURE);
  cl_build_status built;
  CALL(clGetProgramBuildInfo(wrong, device, CL_PROGRAM_BUILD_STATUS, sizeof(built), &built, NULL));
  CALL(clGetProgramBuildInfo(wrong, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
  EXPECT(built == CL_BUILD_ERROR && strstr(log, ":2:") != NULL && strstr(log, "undeclared") != NULL);
  EXPECT(clCreateKernel(wrong, "ok", &error) == NULL && error == CL_INVALID_PROGRAM_EXECUTABLE);
  cl_program warned = clCreateProgramWithSource(context, 1, &warns, NULL, &error);
  EXPECT(clBuildProgram(warned, 1, &device, "-no-such-option", NULL, NULL) != CL_SUCCESS);
  (void)clBuildProgram(warned, 1, &device, "", NULL, NULL);
  CALL(clGetProgramBuildInfo(warned, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
  EXPECT(strstr(log, "w") != NULL && strlen(log) > 20);

  /* Compiled apart, linked together. */
  cl_program parts[2], header, linked;
  const char *name = "shared/helper.h";
  parts[0] = clCreateProgramWithSource(context, 1, &part1, NULL, &error);
  parts[1] = clCreateProgramWithSource(context, 1, &part2, NULL, &error);
  header = clCreateProgramWithSource(context, 1, &helper_header, NULL, &error);
  CALL(clCompileProgram(parts[0], 1, &device, "", 1, &header, &name, NULL, NULL));
  CALL(clCompileProgram(parts[1], 1, &device, "", 0, NULL, NULL, NULL, NULL));
  linked = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &error);
  CALL(error);
  cl_program_binary_type type;
  CALL(clGetProgramBuildInfo(linked, device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, NULL));
  EXPECT(type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  cl_kernel use = MakeKernel(linked, "use");
  int data[kCount], i;
  for (i = 0; i < kCount; ++i) data[i] = i;
  cl_mem buffer = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(data), data);
  SetBuffer(use, 0, buffer);
  Run1(use, kCount, 0);
  Read(buffer, data, sizeof(data));
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, data[i], i * i + 1);

  cl_kernel scale;
  cl_uint count = 0;
  CALL(clCreateKernelsInProgram(program, 1, &scale, &count));
  EXPECT(count == 1);
  cl_kernel_arg_type_qualifier qualifier;
  CALL(clGetKernelArgInfo(scale, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier), &qualifier, NULL));
  EXPECT(qualifier == CL_KERNEL_ARG_TYPE_CONST);
  CALL(clGetKernelArgInfo(scale, 1, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier), &qualifier, NULL));
  EXPECT(qualifier == CL_KERNEL_ARG_TYPE_RESTRICT);
  EXPECT(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_INVALID_OPERATION);
  CloseDevice();
  printf("programs: passed\n");
  return 0;
}
