/* cuRAND's device functions: the generators XORWOW, Philox4x32-10 and MRG32k3a, written from the papers that the files
 * in curand/ name. Sequences are those of the vendor's header. Others (MTGP32, Sobol) are not there. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "curand.h"
#include "curand/states.h"

#ifdef __CUDA__
#include "curand/distributions.h"
#endif

#endif /* CURAND_KERNEL_H_ */
