/* Between the parts of the program. */
#ifndef PROGRAM_H_
#define PROGRAM_H_
#ifdef __cplusplus
extern "C" {
#endif
int RunOnDevice(int* data, int n);
double Now(void);
#ifdef __cplusplus
}
#endif
#endif
