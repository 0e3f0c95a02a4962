#!/usr/bin/env python3
"""The order of launches in the trace: of graphs, by their edges, and of kernels that kernels launch."""
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

# Two blocks, each of which launches two kernels in one stream; the first of block 1 launches another one.
NESTED = """
__global__ void Leaf(int* data) { data[2] += 1; }
__global__ void Child(int* data, int nested) {
  data[threadIdx.x] += 1;
  if (nested != 0 && threadIdx.x == 1) Leaf<<<1, 1>>>(data);
}
__global__ void Parent(int* data) {
  if (threadIdx.x != 3) return;
  Child<<<1, 2>>>(data, blockIdx.x == 1);
  Child<<<1, 2>>>(data, 0);
  if (blockIdx.x == 0) Leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(data);
}
int main() {
  int* data;
  cudaMalloc(&data, 64);
  Parent<<<2, 32>>>(data);
  Leaf<<<1, 1>>>(data);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""

# Two blocks, each of which launches a kernel and a tail.
TAILS = """
__global__ void Leaf(int* data) { data[0] += 1; }
__global__ void Parent(int* data) {
  Leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(data);
  Leaf<<<1, 1>>>(data);
}
int main() {
  int* data;
  cudaMalloc(&data, 64);
  Parent<<<2, 1>>>(data);
  Leaf<<<1, 1>>>(data);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""


def launches_of(program):
    """What is launched, in the order of the trace."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "x.cu").write_text(program)
        for command in (
            [BIN / "heddle-nvcc", "-O1", "-rdc=true", "x.cu", "-o", "x"],
            [BIN / "heddle", "capture", "--quiet", "-o", "x.htrace", "--", "./x"],
            [BIN / "heddle", "trace", "check", "x.htrace"],
        ):
            subprocess.run([str(word) for word in command], cwd=work, check=True, timeout=240, stdout=subprocess.PIPE)
        with trace.Trace(str(work / "x.htrace")) as opened:
            return list(opened.launches())


class LaunchOrder(unittest.TestCase):
    def test_kernels_of_kernels_name_the_thread_that_launched_them(self):
        launches = launches_of(NESTED)
        parents = [
            (launch.parent.launch, launch.parent.block, launch.parent.thread, launch.parent.ordinal)
            if launch.HasField("parent")
            else None
            for launch in launches
        ]
        # Parent; children of block 0; of block 1, with what the first asks for; the tail; the host's.
        expected = [None, (0, 0, 3, 0), (0, 0, 3, 1), (0, 1, 3, 0), (3, 0, 1, 0), (0, 1, 3, 1), (0, 0, 3, 2), None]
        self.assertEqual(parents, expected)
        depends_on = [sorted(launch.depends_on) for launch in launches]
        # The second child of block 1 waits for all of the first one; the tail and the host wait for all.
        self.assertEqual(depends_on, [[], [0], [0, 1], [0], [3], [0, 3, 4], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6]])

    def test_a_tail_waits_for_the_tail_before_it(self):
        depends_on = [sorted(launch.depends_on) for launch in launches_of(TAILS)]
        self.assertEqual(depends_on, [[], [0], [0], [0, 1, 2], [0, 3], [0, 1, 2, 3, 4]])

    def test_edges_of_graphs_are_dependencies(self):
        launches = launches_of(PROGRAM)
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
