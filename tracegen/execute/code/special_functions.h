// Special functions of CUDA's mathematical library that neither SLEEF nor the C library has.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_SPECIAL_FUNCTIONS_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_SPECIAL_FUNCTIONS_H_

namespace heddle::tracegen {

double ErfInverse(double x);      // of erf, for -1 to 1
double ErfcInverse(double p);     // of erfc, for 0 to 2
double NormCdfInverse(double p);  // of the normal distribution, for 0 to 1
double ErfcScaled(double x);      // exp(x * x) * erfc(x)
double BesselI0(double x);        // modified, first kind
double BesselI1(double x);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_SPECIAL_FUNCTIONS_H_
