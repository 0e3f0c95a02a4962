#!/usr/bin/env python3
"""The order of a graph's launches in the trace: by the edges of the graph, before and behind what its stream does."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from heddle import trace

BIN = pathlib.Path(os.environ["HEDDLE_BIN"])

# A launch, twice a graph of four (one before two, and one behind them), and a launch.
PROGRAM = """
__global__ void Step(int* data, int place) { data[place] += place; }
int main() {
  int* data;
  cudaMalloc(&data, 64);
  cudaStream_t stream, side;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  Step<<<1, 1, 0, stream>>>(data, 0);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Step<<<1, 1, 0, stream>>>(data, 1);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  Step<<<1, 1, 0, stream>>>(data, 2);
  Step<<<1, 1, 0, side>>>(data, 3);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
  Step<<<1, 1, 0, stream>>>(data, 4);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(executable, stream);
  Step<<<1, 1, 0, stream>>>(data, 5);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""


class GraphOrder(unittest.TestCase):
    def test_edges_are_dependencies(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "x.cu").write_text(PROGRAM)
            for command in (
                [BIN / "heddle-nvcc", "-O1", "x.cu", "-o", "x"],
                [BIN / "heddle", "capture", "--quiet", "-o", "x.htrace", "--", "./x"],
            ):
                subprocess.run([str(word) for word in command], cwd=work, check=True, timeout=240)
            with trace.Trace(str(work / "x.htrace")) as opened:
                launches = list(opened.launches())
        depends_on = [sorted(launch.depends_on) for launch in launches]
        # The second launch of the graph uses the side's stream again, so it also comes behind what was there.
        self.assertEqual(depends_on, [[], [0], [1], [1], [2, 3], [4], [5], [3, 5], [6, 7], [8]])
        self.assertEqual([launch.graph for launch in launches], [0, 1, 1, 1, 1, 2, 2, 2, 2, 0])
        streams = [launch.stream for launch in launches]
        self.assertEqual(len(set(streams)), 2)
        self.assertEqual({streams[i] for i in (0, 1, 2, 4, 5, 6, 8, 9)}, {streams[0]})
        self.assertNotEqual(streams[3], streams[0])
        self.assertEqual(streams[7], streams[3])


if __name__ == "__main__":
    unittest.main()
