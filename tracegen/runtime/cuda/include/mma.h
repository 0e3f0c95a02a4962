// Tensor cores.
#error "Tensor-core operations (nvcuda::wmma) are not supported by Heddle: no instruction class of a trace stands for them."
