"""`heddle policies NAME --cost` gives the figures of the papers, and follows the parameters."""
import json

from heddle_command import CommandTest, heddle, main


def total(policies, machine):
    """Bits of all policies together; None if a structure has no bound."""
    done = heddle("policies", policies, "--cost", "--machine", machine, "--json")
    assert done.returncode == 0, done.stderr
    totals = [policy["total_bits"] for policy in json.loads(done.stdout)["policies"]]
    return sum(totals) if all(totals) else None


class PolicyCost(CommandTest):
    def test_dwf_with_majority_scheduling(self):  # Fung, Table 7.1
        self.assertEqual(total("dwf:resources=limited,dmaj:heap=hardware", "thesis_8800gtx"), 59_312)
        self.assertEqual(total("dwf:resources=limited", "thesis_8800gtx"), 752 + 4_032 + 44_928 + 896)
        self.assertEqual(total("dmaj:heap=hardware", "thesis_8800gtx"), 4_992 + 3_712)
        self.assertIsNone(total("dwf", "thesis_8800gtx"), "tables without limits have no size")
        self.assertEqual(
            total("dwf:resources=limited,lut_entries=128", "thesis_8800gtx"), 752 + 2 * 4_032 + 44_928 + 896
        )

    def test_capri(self):  # Rhu and Erez, section 5.5
        self.assertEqual(total("capri:capt_entries=8", "capri_fx5800"), 272)
        self.assertEqual(total("capri", "capri_fx5800"), 1_088)
        self.assertEqual(total("capri:capt_entries=8,history=2b", "capri_fx5800"), 8 * 35)

    def test_baws(self):  # Liu et al., section 4.1.2
        self.assertEqual(total("mwf", "baws_gtx480"), 48)

    def test_vtw(self):  # Anantpur and Govindarajan, section 4.5
        self.assertEqual(total("virtual_blocks,progress", "vtw_gtx480"), 8 * 500)
        self.assertEqual(total("virtual_blocks:index=slowest_lane,progress", "vtw_gtx480"), 8 * 548)
        self.assertEqual(total("virtual_blocks:index=lowest_to_highest_lane,progress", "vtw_gtx480"), 8 * 501)

    def test_harp(self):  # Lashgar, Khonsari and Baniasadi, the rows and tags of Table 7
        lanes, which = 32, 5  # a lane's 32 threads are told apart by five bits
        barriers = 128 * (lanes * (which + which + 1) + 1 + 32 + 32)
        second_level = 512 * (32 + lanes * which + 2)
        lookup = 8 * 2 * (32 + lanes * which)
        self.assertEqual(total("harp", "harp_fermi"), 2 * (barriers + second_level + 2 * lookup))  # two schedulers
        self.assertEqual(
            total("harp:barrier_entries=16,barrier_ways=16,waiting_lookup=0", "harp_fermi"),
            2 * (barriers // 8 + second_level + lookup),
        )
        self.assertIsNone(total("harp:barriers=per_warp", "harp_fermi"), "a barrier per warp has no bound")

    def test_scoreboards_beyond_one_per_warp(self):
        warps, registers = 1536 // 32, 256  # of baws_gtx480
        entry = 32 + 2 + 8  # threads, state, register
        name = "subwarp_interleaving:subwarps=4,scoreboard="
        table = warps * 4 * entry
        self.assertEqual(total(name + "warp", "baws_gtx480"), table)
        self.assertEqual(total(name + "sub_warp", "baws_gtx480"), table + warps * 3 * registers)
        self.assertEqual(total(name + "thread", "baws_gtx480"), table + warps * 31 * registers)
        self.assertEqual(total("subwarp_interleaving:subwarps=1", "baws_gtx480"), warps * entry)

    def areas(self, policies, machine):
        done = heddle("policies", policies, "--cost", "--machine", machine, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [policy.get("area") for policy in json.loads(done.stdout)["policies"]]

    def test_areas_are_those_that_were_published(self):  # Fung, Table 7.1
        policies = "dwf:resources=limited,dmaj:heap=hardware"
        dwf, dmaj = self.areas(policies, "thesis_8800gtx")
        self.assertAlmostEqual(dwf["square_millimetres"] + dmaj["square_millimetres"], 1.6353 + 0.722, places=3)
        self.assertEqual((dwf["nanometres"], dwf["model"]), (90, "CACTI 4.2"))
        counted = [one for one in dwf["structures"] if one["entries"]]
        self.assertTrue(all(one["as_here"] for one in counted))
        text = heddle("policies", policies, "--cost", "--machine", "thesis_8800gtx").stdout
        self.assertIn("8.02 % of the 470 mm2", text)
        alone = heddle("policies", "dwf:resources=limited", "--cost", "--machine", "thesis_8800gtx").stdout
        self.assertNotIn("Of a chip", alone, "the thesis has the scheduler in its share")

    def test_areas_are_not_scaled(self):
        (other,) = self.areas("dwf:resources=limited,lut_entries=128", "thesis_8800gtx")
        as_here = {one["structure"]: one["as_here"] for one in other["structures"]}
        self.assertFalse(as_here["PC-warp table"])
        self.assertTrue(as_here["warp allocator"])
        self.assertEqual(self.areas("mwf,capri", "baws_gtx480"), [None, None])

    def test_access_times_of_harp(self):  # section 7.3.2
        (harp,) = self.areas("harp", "harp_fermi")
        times = {one["structure"]: one.get("access_nanoseconds") for one in harp["structures"]}
        self.assertEqual((times["Ready-Lookup"], times["reconvergence barriers, lanes"]), (0.38, 0.63))
        self.assertIsNone(times["Second-Level"])
        self.assertAlmostEqual(16 * harp["square_millimetres"], 5.19, delta=0.04)

    def test_text(self):
        text = heddle(
            "policies", "dwf:resources=limited,dmaj:heap=hardware", "--cost", "--machine", "thesis_8800gtx"
        ).stdout
        self.assertIn("Together: 59,312 bits (7,414 bytes)", text)
        self.assertIn("Table 7.1", text)
        self.assertIn("no bound", heddle("policies", "dwf", "--cost").stdout)
        self.assertIn("tabulates none", heddle("policies", "pdom", "--cost").stdout)

    def test_refusals(self):
        self.assert_refused(2, "policies", "--cost", says=["name a policy"])
        self.assert_refused(2, "policies", "capriii", "--cost", says=["capri"])
        self.assert_refused(2, "policies", "capri:capt=1", "--cost", says=["capt_entries"])
        self.assert_refused(2, "policies", "capri", "--cost", "--machine", "nothing", says=["nothing"])


if __name__ == "__main__":
    main()
