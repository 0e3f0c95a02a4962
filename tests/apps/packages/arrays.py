"""PyOpenCL: arrays, reductions, scans, sorting, random numbers, against NumPy."""
import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pyopencl.clmath as clmath
from pyopencl.algorithm import RadixSort
from pyopencl.bitonic_sort import BitonicSort
from pyopencl.clrandom import PhiloxGenerator
from pyopencl.scan import GenericScanKernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
rng = np.random.default_rng(1)


def device(values):
    return cla.to_device(queue, values)


def linear():
    a, b = rng.random((2, 5000), dtype=np.float32)
    return np.allclose((2 * device(a) + device(b)).get(), 2 * a + b)


def reductions():
    a, b = rng.random((2, 5000), dtype=np.float32)
    close = np.isclose(cla.dot(device(a), device(b)).get(), np.dot(a, b), rtol=1e-4)
    return close and np.isclose(cla.sum(device(a)).get(), a.sum(), rtol=1e-4)


def scan():
    values = np.arange(10000, dtype=np.int32)
    on_device = device(values)
    GenericScanKernel(
        context,
        np.int32,
        arguments="__global int *x",
        input_expr="x[i]",
        scan_expr="a + b",
        neutral="0",
        output_statement="x[i] = item;",
    )(on_device, queue=queue)
    return (on_device.get() == np.cumsum(values)).all()


def radix_sort():
    values = rng.integers(0, 2**16, 3000, dtype=np.int32)
    sort = RadixSort(context, "int *keys", key_expr="keys[i]", sort_arg_names=["keys"], scan_kernel=GenericScanKernel)
    (result,), _ = sort(device(values), key_bits=16)
    return (result.get() == np.sort(values)).all()


def bitonic_sort():
    values = rng.random(4096, dtype=np.float32)
    result, _ = BitonicSort(context)(device(values.copy()))
    return (result.get() == np.sort(values)).all()


def random_numbers():
    return abs(PhiloxGenerator(context).uniform(queue, (10000,), np.float32).get().mean() - 0.5) < 0.02


def functions():
    a = rng.random(5000, dtype=np.float32)
    return np.allclose(clmath.sin(device(a)).get(), np.sin(a), atol=1e-6)


def numbers():
    a = np.arange(10)
    return np.allclose((device(a.astype(np.complex64)) * (1 + 2j)).get(), a * (1 + 2j)) and np.allclose(
        (device(a.astype(np.float64)) * 3.5).get(), a * 3.5
    )


wrong = [
    test.__name__
    for test in (linear, reductions, scan, radix_sort, bitonic_sort, random_numbers, functions, numbers)
    if not test()
]
print("wrong: " + ", ".join(wrong) if wrong else "all right")
