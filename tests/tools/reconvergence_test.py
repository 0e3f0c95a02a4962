"""Ways that no thread takes cost no lanes: `unreachable`, failed assertions and traps within a loop leave the replay of a
kernel, captured from its source, as it is without them."""
import unittest

from heddle_command import CAPTURE, CommandTest, heddle, main, results

# Queries that walk a tree, each as deep as its letters lead it: cleanups, `goto` and a full switch.
SOURCE = """
struct Cursor {
  int* place;
  int at;
  __device__ explicit Cursor(int* p) : place(p), at(0) {}
  __device__ ~Cursor() { *place = at; }
};
__device__ int child(const int* node, int letter) {
  switch (letter) {
    case 0: return node[0];
    case 1: return node[1] ^ 1;
    case 2: return (node[2] + 7) & 63;
    LAST
  }
}
__global__ void walk(const int* tree, const int* text, int* depth, int* found, int* sum, int queries) {
  for (int query = blockIdx.x * blockDim.x + threadIdx.x; query < queries; query += gridDim.x * blockDim.x) {
    Cursor cursor(depth + query);
    int node = 1;
  again:
    int letter = text[query * 20 + cursor.at];
    if (cursor.at == 19) goto done;
    node = child(tree + 4 * node, letter);
    CHECK
    if (node < 8) continue;
    ++cursor.at;
    if (tree[4 * node + 3] >= letter) goto again;
    found[query] = node;
  done:
    sum[query] += cursor.at * node;
  }
}
"""
RECIPE = """
source: "walk.cu"
%s
buffer { name: "tree" type: I32 count: 256 fill { uniform { seed: 1 low: 0 high: 63 } } }
buffer { name: "text" type: I32 count: 10240 fill { uniform { seed: 2 low: 0 high: 3 } } }
buffer { name: "depth" type: I32 count: 512 fill { zeros {} } }
buffer { name: "found" type: I32 count: 512 fill { zeros {} } }
buffer { name: "sum" type: I32 count: 512 fill { zeros {} } }
launch {
  kernel: "walk"
  grid { x: 2 }
  block { x: 64 }
  argument { buffer: "tree" } argument { buffer: "text" } argument { buffer: "depth" } argument { buffer: "found" }
  argument { buffer: "sum" } argument { i32: 512 }
}
"""
REACHABLE = "default: return node[3];"


@unittest.skipUnless(CAPTURE, "this build has no capture")
class Reconvergence(CommandTest):
    def lanes(self, last, check="", optimization="-O2"):
        """Active lanes per issue and issues, by policy."""
        (self.folder / "walk.cu").write_text(SOURCE.replace("LAST", last).replace("CHECK", check))
        (self.folder / "recipe.textproto").write_text(RECIPE % f'optimization: "{optimization}"')
        trace = self.folder / "walk.htrace"
        done = heddle("capture", "-o", trace, self.folder / "recipe.textproto")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(heddle("trace", "check", trace).returncode, 0)
        runs = results(trace, "--divergence", "pdom,tbc,dpe,dwf", "--machine", "baws_gtx480")
        return {
            run["divergence"]["name"]: run["total"]["thread_instructions"] / run["total"]["warp_instructions"]
            for run in runs
        }

    def test_unreachable_failed_assertions_and_traps(self):
        for optimization in ("-O1", "-O2"):
            plain = self.lanes(REACHABLE, optimization=optimization)
            for last, check in (
                ("case 3: return node[3]; default: __builtin_unreachable();", ""),
                (REACHABLE, "assert(node >= 0);"),
                (REACHABLE, "if (node < 0) __trap();"),
                (REACHABLE, 'if (node < 0) { sum[0] = 7; asm volatile("trap;"); }'),
                ("case 3: return node[3]; default: __trap();", ""),
            ):
                for policy, lanes in self.lanes(last, check, optimization).items():
                    self.assertAlmostEqual(
                        lanes / plain[policy], 1, delta=0.1, msg=f"{policy} {last} {check} {optimization}"
                    )

    def test_a_dump_tells_them_from_ends(self):
        self.lanes(REACHABLE, "assert(node >= 0);")
        text = heddle("trace", "dump", "--program", self.folder / "walk.htrace").stdout
        self.assertRegex(text, r"block \d+: traps, or is never reached")
        self.assertRegex(text, r"block \d+: exits")


if __name__ == "__main__":
    main()
