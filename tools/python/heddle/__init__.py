"""Heddle's files in Python.

    heddle.results   results of `heddle replay --json` as a pandas table
    heddle.trace     traces: launches, blocks, threads, addresses as numpy arrays
    heddle.programs  what the instructions of a trace are: whose code, guards, widths of registers
    heddle.figures   figures of a report, for papers (`heddle report --figure`)

Each needs only its own packages. The modules that the Protocol Buffers compiler makes are in `proto`, beside this package in
BUILD/python and where `cmake --install` puts both: that folder belongs on the Python path.
"""
