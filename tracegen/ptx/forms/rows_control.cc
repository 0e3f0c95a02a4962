#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kControl = "Control Flow Instructions";
constexpr std::string_view kSync = "Parallel Synchronization and Communication Instructions";
constexpr std::string_view kStack = "Stack Manipulation Instructions";
constexpr std::string_view kOther = "Miscellaneous Instructions";

constexpr Form kRows[] = {
    {"bra", "uni?", "l", OP_BRANCH, kKnown, kControl},
    {"brx", "idx uni?", "s:32 t", OP_BRANCH, kKnown, kControl},
    {"call", "uni?", "", OP_CALL, kKnown, kControl},  // the parser makes its four operands
    {"ret", "uni?", "", OP_RETURN, kKnown, kControl},
    {"exit", "", "", OP_EXIT, kKnown, kControl},

    {"bar", "cta? sync", "s:32 s:32?", OP_BARRIER, kKnown, kSync},
    {"bar", "cta? arrive", "s:32 s:32", OP_BARRIER, kKnown, kSync},
    {"bar", "cta? red popc u32", "d s:32 s:32? q", OP_BARRIER, kKnown, kSync},
    {"bar", "cta? red and|or pred", "p s:32 s:32? q", OP_BARRIER, kKnown, kSync},
    {"bar", "warp sync", "s:32", OP_WARP, kKnown, kSync},
    {"barrier", "cta? sync aligned?", "s:32 s:32?", OP_BARRIER, kKnown, kSync},
    {"barrier", "cta? arrive aligned?", "s:32 s:32", OP_BARRIER, kKnown, kSync},
    {"barrier", "cta? red popc aligned? u32", "d s:32 s:32? q", OP_BARRIER, kKnown, kSync},
    {"barrier", "cta? red and|or aligned? pred", "p s:32 s:32? q", OP_BARRIER, kKnown, kSync},
    {"barrier", "cluster arrive release|relaxed? aligned?", "", OP_BARRIER, kKnown, kSync},
    {"barrier", "cluster wait acquire? aligned?", "", OP_BARRIER, kKnown, kSync},
    {"membar", "cta|gl|sys", "", OP_FENCE, kKnown, kSync},
    {"membar", "proxy alias", "", OP_FENCE, kParsed, kSync},
    {"fence", "sc|acq_rel|acquire|release? $scope", "", OP_FENCE, kKnown, kSync},
    {"fence", "acquire|release sync_restrict::shared::cluster|sync_restrict::shared::cta cluster", "", OP_FENCE,
     kParsed, kSync},
    {"fence", "mbarrier_init release cluster", "", OP_FENCE, kKnown, kSync},
    {"fence", "proxy alias|async", "", OP_FENCE, kKnown, kSync},
    {"fence", "proxy async global|shared|shared::cta|shared::cluster", "", OP_FENCE, kKnown, kSync},
    {"fence",
     "proxy tensormap::generic|async::generic acquire|release sync_restrict::shared::cluster|"
     "sync_restrict::shared::cta? $scope",
     "m? i?", OP_FENCE, kParsed, kSync},
    {"vote", "all|any|uni pred", "p q", OP_WARP, kKnown, kSync},
    {"vote", "ballot b32", "d q", OP_WARP, kKnown, kSync},
    {"vote", "sync all|any|uni pred", "p q s:32", OP_WARP, kKnown, kSync},
    {"vote", "sync ballot b32", "d q s:32", OP_WARP, kKnown, kSync},
    {"match", "any sync b32|b64", "d:32 s s:32", OP_WARP, kKnown, kSync},
    {"match", "all sync b32|b64", "r:32 s s:32", OP_WARP, kKnown, kSync},
    {"match", "sync any b32|b64", "d:32 s s:32", OP_WARP, kKnown, kSync},
    {"match", "sync all b32|b64", "r:32 s s:32", OP_WARP, kKnown, kSync},
    {"activemask", "b32", "d", OP_WARP, kKnown, kSync},
    {"redux", "sync add|min|max u32|s32", "d s s:32", OP_WARP, kKnown, kSync},
    {"redux", "sync and|or|xor b32", "d s s:32", OP_WARP, kKnown, kSync},
    {"redux", "sync min|max abs? NaN? f32", "d s s:32", OP_WARP, kParsed, kSync},
    {"elect", "sync", "r:32 s:32", OP_WARP, kKnown, kSync},
    {"griddepcontrol", "launch_dependents|wait", "", OP_FENCE, kParsed, kSync},

    {"stacksave", "u32|u64", "d", OP_MOVE, kParsed, kStack},
    {"stackrestore", "u32|u64", "s", OP_MOVE, kParsed, kStack},
    {"alloca", "u32|u64", "d s s:-?", OP_MOVE, kParsed, kStack},

    {"brkpt", "", "", OP_MOVE, kKnown, kOther},
    {"nanosleep", "u32", "s", OP_MOVE, kKnown, kOther},
    {"pmevent", "mask?", "i", OP_MOVE, kKnown, kOther},
    {"trap", "", "", OP_EXIT, kKnown, kOther},
    {"setmaxnreg", "inc|dec sync aligned u32", "i", OP_MOVE, kParsed, kOther},
};

}  // namespace

std::span<const Form> ControlRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
