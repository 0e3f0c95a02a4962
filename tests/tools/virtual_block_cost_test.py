"""`heddle capture --virtual-blocks`: what it prints is what `heddle replay --dispatch` takes."""
import json
import re
import sys

from heddle_command import CAPTURE, SAMPLES, SOURCE, CommandTest, heddle, main, results

KERNEL = SOURCE / "traces" / "kernels" / "mandelbrot" / "mandelbrot.cl"
RECIPE = SOURCE / "traces" / "kernels" / "mandelbrot" / "mandelbrot.tiny.textproto"


class VirtualBlocks(CommandTest):
    def measured(self, file):
        done = heddle("capture", "--virtual-blocks", "--json", file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_replay_takes_what_is_measured(self):
        cost = self.measured(KERNEL)
        self.assertEqual(cost["kernel"], "mandelbrot")
        words = cost["dispatch"]
        text = heddle("capture", "--virtual-blocks", KERNEL).stdout
        self.assertEqual(re.search(r"--dispatch (\S+)", text).group(1), words)
        run = results(SAMPLES / "mandelbrot.htrace", "--machine", "fermi_fixed", "--set", "sms=1", "--dispatch", words)[0]
        launch = run["launch"][0]
        self.assertEqual(run["dispatch"]["parameter"]["once_instructions"], str(cost["once_instructions"]))
        # The wrapper's instructions of all warps: in their first iteration, and what hoisting leaves of it in later ones.
        counters = launch["dispatch_counter"]
        first = cost["once_instructions"] + cost["iteration_instructions"]
        later = max(cost["iteration_instructions"] - cost["hoisted_instructions"], 0)
        warps = (launch["inserted_instructions"] - counters["iterations"] * later) / first
        self.assertEqual(warps, int(warps))
        self.assertEqual(warps % counters["virtual_blocks"], 0)

    def test_recipes_compile_as_they_say(self):
        self.assertEqual(self.measured(RECIPE)["kernel"], "mandelbrot")

    def test_it_refuses(self):
        for status, words, says in ((2, [], "file"), (1, [self.folder / "none.cu"], "none.cu")):
            done = heddle("capture", "--virtual-blocks", *words)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertRegex(done.stderr, rf"\Aheddle-capture: .*{says}.*\n\Z")


if __name__ == "__main__":
    if not CAPTURE:
        print("a build without capture")
        sys.exit(0)
    main()
