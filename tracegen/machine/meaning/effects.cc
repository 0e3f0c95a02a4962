// Instructions that do more than compute. What they do is up to who lowers memory, control flow and meetings of threads
// (program/machine_source); the table says which are known.
#include "tracegen/machine/meaning/meaning.h"

namespace heddle::tracegen::machine {
namespace {

constexpr std::string_view kLoad =
    "E EF EL LU EU NA LTC64B LTC128B LTC256B U8 S8 U16 S16 64 128 CONSTANT STRONG CTA SM GPU SYS VC U";
constexpr std::string_view kAtomic =
    "E CAST SPIN ADD MIN MAX INC DEC AND OR XOR EXCH CAS U32 S32 64 U64 S64 F16x2 BF16x2 F32 F64 FTZ RN STRONG CTA SM "
    "GPU SYS VC";

constexpr OpcodeMeaning kRows[] = {
    {"LD", kLoad, Effect::kAccesses, nullptr, "loads from a generic address", "ld"},
    {"LDG", kLoad, Effect::kAccesses, nullptr, "loads from global memory", "ld.global"},
    {"LDS", kLoad, Effect::kAccesses, nullptr, "loads from shared memory", "ld.shared"},
    {"LDL", kLoad, Effect::kAccesses, nullptr, "loads from local memory", "ld.local"},
    {"LDC", kLoad, Effect::kAccesses, nullptr, "loads from a constant bank", "ld.const, ld.param, brx.idx"},
    {"ULDC", "U8 S8 U16 S16 64 128", Effect::kAccesses, nullptr, "loads a fixed place of a constant bank",
     "ld.const, ld.param"},
    {"ST", kLoad, Effect::kAccesses, nullptr, "stores to a generic address", "st"},
    {"STG", kLoad, Effect::kAccesses, nullptr, "stores to global memory", "st.global"},
    {"STS", kLoad, Effect::kAccesses, nullptr, "stores to shared memory", "st.shared"},
    {"STL", kLoad, Effect::kAccesses, nullptr, "stores to local memory", "st.local"},
    {"ATOM", kAtomic, Effect::kAccesses, nullptr, "an atomic operation on a generic address", "atom"},
    {"ATOMG", kAtomic, Effect::kAccesses, nullptr, "an atomic operation on global memory", "atom.global"},
    {"ATOMS", "CAST SPIN POPC 32 ADD MIN MAX INC DEC AND OR XOR EXCH CAS U32 S32 64 U64 S64", Effect::kAccesses,
     nullptr, "an atomic operation on shared memory", "atom.shared, red.shared"},
    {"RED", kAtomic, Effect::kAccesses, nullptr, "an atomic operation without a result", "red"},
    {"REDG", kAtomic, Effect::kAccesses, nullptr, "an atomic operation without a result", "red.global"},

    {"QSPC", "E S D L G", Effect::kAccesses, nullptr, "whether an address is one of a kind of memory", "isspacep"},

    {"BAR", "SYNC ARV RED POPC AND OR DEFER_BLOCKING", Effect::kMeets, nullptr, "a barrier of the block",
     "barrier, bar"},
    {"B2R", "RESULT", Effect::kMeets, nullptr, "what a reduction at a barrier gave", "barrier.red"},
    {"WARPSYNC", "ALL COLLECTIVE EXCLUSIVE", Effect::kMeets, nullptr, "waits for the threads of a mask",
     "bar.warp.sync, shfl.sync"},
    {"SHFL", "IDX UP DOWN BFLY", Effect::kMeets, nullptr, "a word of another thread of the warp", "shfl.sync"},
    {"VOTE", "ANY ALL EQ", Effect::kMeets, nullptr, "which threads' predicates hold", "vote.sync, activemask"},
    {"VOTEU", "ANY ALL EQ", Effect::kMeets, nullptr, "VOTE into uniform registers", "vote.sync, activemask"},
    {"MATCH", "ANY ALL U64", Effect::kMeets, nullptr, "which threads have the same value", "match.sync"},
    {"ELECT", "", Effect::kMeets, nullptr, "the first of the threads that are together", "elect.sync"},
    {"UCGABAR_ARV", "", Effect::kMeets, nullptr, "arrives at the barrier of the cluster", "barrier.cluster.arrive"},
    {"UCGABAR_WAIT", "", Effect::kMeets, nullptr, "waits at the barrier of the cluster", "barrier.cluster.wait"},
    {"REDUX", "SUM MIN MAX AND OR XOR S32", Effect::kMeets, nullptr, "one value out of all threads'", "redux.sync"},

    {"HMMA", "1684 1688 16816 F32 F16 BF16 TF32", Effect::kMeets, nullptr, "a product of matrices", "mma.sync"},
    {"DMMA", "884 8x8x4 16x8x4 16x8x8 16x8x16", Effect::kMeets, nullptr, "a product in double precision", "mma.sync"},
    {"IMMA", "8816 8832 16816 16832 16864 S8 U8 S4 U4 SAT", Effect::kMeets, nullptr, "a product of integers",
     "mma.sync"},
    {"BMMA", "88128 168128 168256 AND XOR POPC", Effect::kMeets, nullptr, "a product of bits", "mma.sync"},
    {"MOVM", "16 MT88", Effect::kMeets, nullptr, "transposes a tile that registers hold", "movmatrix"},
    {"LDSM", "16 M88 MT88 2 4", Effect::kMeets, nullptr, "loads tiles from shared memory", "ldmatrix"},
    {"STSM", "16 M88 MT88 2 4", Effect::kMeets, nullptr, "stores tiles to shared memory", "stmatrix"},

    {"LDGSTS", "E BYPASS LTC64B LTC128B LTC256B 64 128 ZFILL", Effect::kAccesses, nullptr,
     "copies from global to shared memory, later", "cp.async"},
    {"LDGDEPBAR", "", Effect::kAccesses, nullptr, "closes a group of copies", "cp.async.commit_group"},
    {"DEPBAR", "LE", Effect::kAccesses, nullptr, "waits for groups of copies, or for the core's own scoreboards",
     "cp.async.wait_group"},

    {"SYNCS", "EXCH CCTL IV ARRIVE PHASECHK TRANS64 64 OPTOUT A1T0 ART0 TRYWAIT", Effect::kAccesses, nullptr,
     "makes, arrives at and waits for a transaction barrier", "mbarrier"},
    {"ARRIVES", "LDGSTSBAR 64 ARVCNT", Effect::kAccesses, nullptr, "arrives when the thread's copies are complete",
     "cp.async.mbarrier.arrive.noinc"},

    {"BRA", "U DIV CONV", Effect::kControls, nullptr, "goes on elsewhere", "bra"},
    {"BRX", "", Effect::kControls, nullptr, "goes on where a table says", "brx.idx"},
    {"CALL", "REL ABS NOINC", Effect::kControls, nullptr, "goes on in a function", "call"},
    {"RET", "REL ABS NODEC", Effect::kControls, nullptr, "goes back to the caller", "ret"},
    {"EXIT", "", Effect::kControls, nullptr, "ends the thread", "exit, ret"},
    {"BPT", "TRAP", Effect::kControls, nullptr, "ends the launch with an error", "trap"},
    {"BSYNC", "", Effect::kControls, nullptr, "goes on where the BSSY said", "(convergence)"},

    {"BSSY", "", Effect::kControls, nullptr, "says where threads meet", "(convergence)"},
    {"BMOV", "32 CLEAR PQUAD", Effect::kControls, nullptr, "moves what a BSSY has said", "(convergence)"},
    {"BREAK", "", Effect::kControls, nullptr, "the thread will not come to where threads meet", "(convergence)"},
    {"YIELD", "", Effect::kNothing, nullptr, "others of the warp may go first", "(convergence)"},
    {"NOP", "", Effect::kMeets, nullptr, "the threads of the warp are together here", "bar.warp.sync"},
    {"NANOSLEEP", "", Effect::kNothing, nullptr, "waits for a while", "nanosleep"},
    {"MEMBAR", "SC ALL CTA SM GPU SYS VC", Effect::kNothing, nullptr, "orders accesses", "membar, fence"},
    {"FENCE", "VIEW ASYNC S", Effect::kNothing, nullptr, "orders accesses with those of other proxies", "fence.proxy"},
    {"ERRBAR", "", Effect::kNothing, nullptr, "orders errors", "membar, fence"},
    {"CGAERRBAR", "", Effect::kNothing, nullptr, "orders errors of the cluster", "membar, fence"},
    {"ENDCOLLECTIVE", "", Effect::kNothing, nullptr, "ends what WARPSYNC.COLLECTIVE began", "shfl.sync, vote.sync"},
    {"CCTL", "IVALL E PF1 PF2 DML2 RML2", Effect::kNothing, nullptr, "what caches hold", "membar, prefetch"},
    {"PMTRIG", "", Effect::kNothing, nullptr, "an event for profilers", "pmevent"},
};

}  // namespace

std::span<const OpcodeMeaning> EffectMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
