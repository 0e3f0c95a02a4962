"""Which tests a policy file has: for tools/check-policy and tools/mutate-policies."""

# Tests in the order in which they are tried, the quick ones first.
SPLITS = ["replay_policies_splits_test", "split_equivalences_test"]
BLOCKS = [
    "replay_policies_block_stack_parts_test",
    "replay_policies_tbc_test",
    "replay_policies_capri_test",
    "second_reading_test",
    "block_wide_equivalence_test",
]
HARP = ["replay_policies_harp_parts_test", "replay_policies_harp_test", "harp_model_test"]
LWM = ["replay_policies_lwm_test", "lwm_equivalences_test"]
GENERAL = ["replay_schedule_general_schedulers_test"]
POOL = ["replay_schedule_pool_schedulers_test", *GENERAL, "replay_policies_dwf_test", "dwf_hardware_test"]
SELECTIVE = ["replay_schedule_selective_schedulers_test", *GENERAL]
BARRIERS = ["replay_schedule_barrier_aware_schedulers_test"]
FETCH = ["replay_schedule_fetch_policies_test"]
DISPATCH = ["replay_dispatch_dispatch_model_test", "replay_dispatch_cluster_dispatch_test"]
WARPS = ["replay_dispatch_warp_dispatchers_test", "replay_dispatch_warp_dispatch_engine_test", *DISPATCH]
OWN = {
    "pdom": ["replay_policies_pdom_test"],
    "nrec": ["replay_policies_nrec_mimd_test"],
    "mimd": ["replay_policies_nrec_mimd_test"],
    "dwf": ["replay_policies_dwf_test", "dwf_hardware_test"],
    "tbc": BLOCKS,
    "tbc_plus": BLOCKS,
    "capri": BLOCKS[::-1][1:3] + BLOCKS[1:2],
    "lwm": LWM,
    "harp": HARP,
    "its": SPLITS,
    "dws": SPLITS + ["replay_core_dws_memory_test"],
    "dpe": SPLITS,
    "sbi_swi": SPLITS,
    "subwarp_interleaving": ["replay_core_subwarp_interleaving_test", *SPLITS],
    "thread_frontiers": SPLITS,
    # What several policies are made of.
    "divergence_policy": ["replay_policies_nrec_mimd_test"],
    "split_stack": ["replay_policies_pdom_test", *SPLITS],
    "frontier_warps": SPLITS,
    "reconvergence_points": ["replay_policies_pdom_test", *SPLITS],
    "block_stack": BLOCKS,
    "block_stack_text": BLOCKS,
    "block_stacks": BLOCKS,
    "branch_judge": BLOCKS,
    "ideal_waiting": ["replay_policies_capri_test"],
    "large_warp_stack": LWM,
    "harp_options": HARP,
    "harp_scheduler": HARP,
    "issue_levels": HARP,
    "waiting_lookup": HARP,
    "reconvergence_barriers": HARP,
    # Schedulers.
    "lrr": GENERAL,
    "gto": GENERAL,
    "oldest": SELECTIVE,
    "fifo": GENERAL,
    "random": SELECTIVE,
    "sticky_rr": SELECTIVE,
    "two_level": SELECTIVE,
    "swl": SELECTIVE,
    "ccws": ["replay_schedule_ccws_test"],
    "gcaws": ["replay_schedule_gcaws_test"],
    "progress": ["replay_schedule_progress_test"],
    "mwf": BARRIERS,
    "saws_lite": BARRIERS,
    "dtime": POOL,
    "dpc": POOL,
    "dmaj": POOL,
    "dmin": POOL,
    "dpdpri": POOL,
    "majority_heap": POOL,
    # Fetch policies.
    "round_robin": FETCH,
    "cff": FETCH,
    "fef": FETCH,
    # Dispatchers.
    "thread_blocks": [*DISPATCH, "replay_dispatch_residency_test"],
    "virtual_blocks": WARPS,
    "warps": WARPS,
    "dyncta": ["replay_dispatch_dyncta_test"],
    # Memory policies.
    "pcal": ["replay_memory_policies_pcal_test"],
}
# Policies that a file without one of its name is part of, for the tests that run every policy.
PARTS = {
    "divergence_policy": "nrec,mimd,pdom",
    "split_stack": "pdom,dws,dpe",
    "frontier_warps": "its,thread_frontiers,sbi_swi",
    "reconvergence_points": "pdom,its,thread_frontiers",
    "block_stack": "tbc,tbc_plus,capri",
    "block_stack_text": "tbc,tbc_plus,capri",
    "block_stacks": "tbc,tbc_plus,capri",
    "branch_judge": "tbc,tbc_plus,capri",
    "ideal_waiting": "capri",
    "large_warp_stack": "lwm",
    "harp_options": "harp",
    "harp_scheduler": "harp",
    "issue_levels": "harp",
    "waiting_lookup": "harp",
    "reconvergence_barriers": "harp",
    "majority_heap": "dmaj",
}
COMMON = ["replay_policies_worked_examples_test", "policy_rules_test"]
