/* The old interface of cuBLAS, without handles: one context of the process, scalars by value, letters for transposes.
 * cublasGetError tells, once, what went wrong since it was last asked. */
#ifndef CUBLAS_H_
#define CUBLAS_H_

#ifdef CUBLAS_V2_H_
#error "cublas.h and cublas_v2.h name different functions alike: include one of them"
#endif

#include "heddle_cublas_types.h"

#define cublasStatus cublasStatus_t

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
cublasStatus_t cublasGetError(void);
cublasStatus_t cublasGetVersion(int* version);
cublasStatus_t cublasSetKernelStream(cudaStream_t stream);
cublasStatus_t cublasAlloc(int n, int element_bytes, void** device);
cublasStatus_t cublasFree(void* device);

cublasStatus_t cublasSetVector(int n, int element_bytes, const void* host, int host_stride, void* device,
                               int device_stride);
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* device, int device_stride, void* host,
                               int host_stride);
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* host, int ld_host, void* device,
                               int ld_device);
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* device, int ld_device, void* host,
                               int ld_host);

void cublasSaxpy(int n, float alpha, const float* x, int incx, float* y, int incy);
void cublasDaxpy(int n, double alpha, const double* x, int incx, double* y, int incy);
void cublasSscal(int n, float alpha, float* x, int incx);
void cublasDscal(int n, double alpha, double* x, int incx);
void cublasScopy(int n, const float* x, int incx, float* y, int incy);
void cublasDcopy(int n, const double* x, int incx, double* y, int incy);
void cublasSswap(int n, float* x, int incx, float* y, int incy);
void cublasDswap(int n, double* x, int incx, double* y, int incy);
float cublasSdot(int n, const float* x, int incx, const float* y, int incy);
double cublasDdot(int n, const double* x, int incx, const double* y, int incy);
float cublasSnrm2(int n, const float* x, int incx);
double cublasDnrm2(int n, const double* x, int incx);
float cublasSasum(int n, const float* x, int incx);
double cublasDasum(int n, const double* x, int incx);
int cublasIsamax(int n, const float* x, int incx);
int cublasIdamax(int n, const double* x, int incx);
void cublasSgemv(char trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx, float beta,
                 float* y, int incy);
void cublasDgemv(char trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy);
void cublasSgemm(char transa, char transb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc);
void cublasDgemm(char transa, char transb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                 int ldb, double beta, double* c, int ldc);

#ifdef __cplusplus
}
#endif

#endif /* CUBLAS_H_ */
