/* cuFFT's extended interface: plans whose types are named one by one. Transforms for several devices are not there. */
#ifndef _CUFFTXT_H_
#define _CUFFTXT_H_

#include "cufft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types of both ends have to be those of a cufftType, and the computation has the precision of the data. */
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType in_type, long long* onembed, long long ostride,
                                long long odist, cudaDataType out_type, long long batch, size_t* work_bytes,
                                cudaDataType execution_type);
cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction);

#ifdef __cplusplus
}
#endif

#endif /* _CUFFTXT_H_ */
