#include "tools/exchange/accelsim/sass.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace heddle::tools::accelsim {
namespace {

using namespace trace::v1;  // OpClass and MemorySpace by their short names

// Opcodes by class, from NVIDIA's list of instruction sets (CUDA Binary Utilities, Kepler to Blackwell). What only asks
// the hardware for something (registers for a warp, the start of the next grid) or waits for another grid is a move: a
// launch runs when those before it are over.
struct Opcodes {
  SassClass what;
  absl::string_view names;  // separated by blanks
};
constexpr Opcodes kOpcodes[] = {
    {{.op = OP_MOVE},
     "MOV MOV32I MOVM PRMT SEL S2R CS2R B2R R2B P2R R2P R2UR S2UR UMOV UPRMT USEL UP2UR UR2UP BMOV BSSY BREAK YIELD "
     "NOP "
     "DEPBAR LDGDEPBAR NANOSLEEP LEPC GETLMEMBASE SETLMEMBASE PMTRIG CSMTEST SSY PBK PCNT PRET RPCMOV SETCTAID QSPC "
     "CS2UR ULEPC ACQBLK ACQBULK ACQSHMINIT PREEXIT SETMAXREG USETMAXREG ENDCOLLECTIVE BPT"},
    {{.op = OP_INT_ALU},
     "BMSK BREV BFE BFI FLO IABS IADD IADD3 IADD32I ICMP IMNMX ISCADD ISCADD32I ISET ISETP LEA LOP LOP3 LOP32I POPC "
     "SGXT "
     "SHF SHL SHR VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 PLOP3 PSETP PSET CSET CSETP UBMSK UBREV UCLEA UFLO "
     "UIADD3 UISETP ULEA ULOP ULOP3 ULOP32I UPLOP3 UPOPC UPSETP USGXT USHF USHL USHR UIABS UIMNMX UVIADD UVIMNMX "
     "UVIMNMX3"},
    {{.op = OP_INT_MUL}, "IMAD IMAD32I IMADSP IMUL IMUL32I XMAD IDP IDP4A UIMAD"},
    {{.op = OP_FP32},
     "FADD FADD32I FCHK FCMP FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD RRO HADD2 HADD2_32I HFMA2 "
     "HFMA2_32I "
     "HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 VHMNMX FADD2 FFMA2 FMUL2 FMNMX3 FHADD FHFMA UFADD UFFMA UFMNMX UFMUL UFSEL "
     "UFSET UFSETP"},
    {{.op = OP_FP64}, "DADD DFMA DMNMX DMUL DSET DSETP"},
    {{.op = OP_SFU}, "MUFU"},
    {{.op = OP_CONVERT}, "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP UF2F UF2FP UF2I UF2IP UFRND UI2F UI2FP UI2I UI2IP"},
    {{.op = OP_TENSOR}, "HMMA IMMA DMMA BMMA QMMA OMMA"},
    {{.op = OP_LOAD, .space = SPACE_GLOBAL}, "LDG LDGMC LDGSTS"},
    {{.op = OP_LOAD, .space = SPACE_SHARED}, "LDS LDSM"},
    {{.op = OP_LOAD, .space = SPACE_LOCAL}, "LDL"},
    {{.op = OP_LOAD, .space = SPACE_GENERIC}, "LD"},
    {{.op = OP_LOAD, .space = SPACE_CONSTANT}, "LDC LDCU ULDC"},
    {{.op = OP_STORE, .space = SPACE_GLOBAL}, "STG"},
    {{.op = OP_STORE, .space = SPACE_SHARED}, "STS STSM"},
    {{.op = OP_STORE, .space = SPACE_LOCAL}, "STL"},
    {{.op = OP_STORE, .space = SPACE_GENERIC}, "ST"},
    {{.op = OP_ATOMIC, .space = SPACE_GLOBAL}, "ATOMG RED REDG"},
    {{.op = OP_ATOMIC, .space = SPACE_SHARED}, "ATOMS"},
    {{.op = OP_ATOMIC, .space = SPACE_GENERIC}, "ATOM"},
    {{.op = OP_TEXTURE, .space = SPACE_TEXTURE},
     "TEX TEXS TLD TLD4 TLD4S TLDS TMML TXD TXQ SULD SUST SURED SUATOM SUQUERY"},
    {{.op = OP_BARRIER}, "BAR"},
    {{.op = OP_FENCE}, "MEMBAR ERRBAR FENCE CCTL CCTLL CCTLT CGAERRBAR"},
    {{.op = OP_WARP}, "SHFL VOTE VOTEU VOTE_VTG MATCH ELECT REDUX CREDUX WARPSYNC"},
    {{.op = OP_BRANCH, .jumps = true}, "BRA BRX BRXU JMP JMX JMXU BSYNC SYNC BRK CONT"},
    {{.op = OP_CALL, .jumps = true}, "CALL CAL JCAL"},
    {{.op = OP_RETURN, .jumps = true}, "RET RTT"},
    {{.op = OP_EXIT, .jumps = true, .ends = true}, "EXIT KILL"},
};

constexpr absl::string_view kNotPerThread[] = {
    "UBLKCP", "UBLKPF",       "UBLKRED", "UTMALDG",   "UTMAPF",       "UTMAREDG",    "UTMASTG",      "UTMACCTL",
    "SYNCS",  "UTMACMDFLUSH", "ARRIVES", "WARPGROUP", "WARPGROUPSET", "UCGABAR_ARV", "UCGABAR_WAIT", "HGMMA",
    "IGMMA",  "BGMMA",        "QGMMA",   "LDT",       "LDTM",         "STT",         "STTM"};
// Their addresses are of the shared memory of another block of the cluster.
constexpr absl::string_view kOfAnotherBlock[] = {"STAS", "REDAS"};
constexpr absl::string_view kTensorMemory = "UTC";  // all of the fifth generation's tensor core begin so

const std::map<absl::string_view, SassClass>& Table() {
  static const auto& table = *new std::map<absl::string_view, SassClass>([] {
    std::map<absl::string_view, SassClass> all;
    for (const Opcodes& group : kOpcodes) {
      for (const absl::string_view name : absl::StrSplit(group.names, ' ')) all.emplace(name, group.what);
    }
    return all;
  }());
  return table;
}

// Classes that no opcode stands for alone; as modifiers they override the opcode's class.
struct NamedClass {
  absl::string_view modifier;
  OpClass op;
};
constexpr NamedClass kNamedClasses[] = {{"INT_DIV", OP_INT_DIV}, {"FP_DIV", OP_FP_DIV}};
constexpr absl::string_view kMicroOps = "OPS";  // ".OPS4": four operations of the special function unit

std::string Width(uint32_t bytes) { return bytes < 4 ? absl::StrCat(".U", 8 * bytes) : absl::StrCat(".", 8 * bytes); }

}  // namespace

absl::StatusOr<SassClass> ClassifySass(absl::string_view opcode) {
  const size_t point = std::min(opcode.find('.'), opcode.size());
  const absl::string_view name = opcode.substr(0, point);
  if (std::ranges::find(kOfAnotherBlock, name) != std::end(kOfAnotherBlock)) {
    return absl::UnimplementedError(
        absl::StrCat(name, " goes to the shared memory of another block, which a trace of single threads cannot hold"));
  }
  if (std::ranges::find(kNotPerThread, name) != std::end(kNotPerThread) || absl::StartsWith(name, kTensorMemory)) {
    return absl::UnimplementedError(
        absl::StrCat(name, " is work of a whole warp or more, which a trace of single threads cannot hold"));
  }
  const auto it = Table().find(name);
  if (it == Table().end()) return absl::UnimplementedError(absl::StrCat("the opcode ", opcode, " is not known"));
  SassClass what = it->second;
  const bool is_move_by_multiplier = absl::StartsWith(opcode, "IMAD.MOV");
  if (is_move_by_multiplier) what.op = OP_MOVE;
  for (const absl::string_view modifier : absl::StrSplit(opcode.substr(point), '.', absl::SkipEmpty())) {
    for (const NamedClass& named : kNamedClasses) {
      if (modifier == named.modifier) what.op = named.op;
    }
    if (what.op == OP_BARRIER && modifier == "ARV") {
      return absl::UnimplementedError(
          absl::StrCat(opcode, " arrives at a barrier without waiting, which is not known"));
    }
    if (what.op == OP_LOAD && modifier == "PARAM") what.space = SPACE_PARAM;
    if (what.op == OP_ATOMIC && modifier == "LOCAL") what.space = SPACE_LOCAL;
    if (what.op == OP_SFU && absl::StartsWith(modifier, kMicroOps)) {
      const absl::string_view count = modifier.substr(kMicroOps.size());
      std::from_chars(count.data(), count.data() + count.size(), what.micro_ops);
    }
  }
  return what;
}

uint32_t AccessBytes(absl::string_view opcode) {
  const size_t point = std::min(opcode.find('.'), opcode.size());
  for (absl::string_view modifier : absl::StrSplit(opcode.substr(point), '.', absl::SkipEmpty())) {
    if (modifier.front() == 'U' || modifier.front() == 'S') modifier.remove_prefix(1);
    uint32_t bits = 0;
    const auto [end, error] = std::from_chars(modifier.data(), modifier.data() + modifier.size(), bits);
    if (error == std::errc() && end == modifier.data() + modifier.size()) return bits / 8;
  }
  return 0;
}

absl::StatusOr<std::string> SassOf(const Instruction& instruction) {
  const auto access = [&](absl::string_view global, absl::string_view shared, absl::string_view local,
                          absl::string_view generic) -> absl::StatusOr<std::string> {
    const std::string width = instruction.access_bytes() == 0 ? "" : Width(instruction.access_bytes());
    switch (instruction.space()) {
      case SPACE_GLOBAL:
        return absl::StrCat(global, width);
      case SPACE_SHARED:
        return absl::StrCat(shared, width);
      case SPACE_LOCAL:
        return absl::StrCat(local, width);
      case SPACE_GENERIC:
        return absl::StrCat(generic, width);
      case SPACE_CONSTANT:
        if (instruction.op() == OP_LOAD) return absl::StrCat("LDC", width);
        break;
      case SPACE_PARAM:
        if (instruction.op() == OP_LOAD) return absl::StrCat("LDC.PARAM", width);
        break;
      default:
        break;
    }
    return absl::UnimplementedError(absl::StrCat("no opcode stands for ", OpClass_Name(instruction.op()), " of ",
                                                 MemorySpace_Name(instruction.space())));
  };
  switch (instruction.op()) {
    case OP_MOVE:
      return "MOV";
    case OP_INT_ALU:
      return "IADD3";
    case OP_INT_MUL:
      return "IMAD";
    case OP_INT_DIV:
      return "IMAD.INT_DIV";
    case OP_FP32:
      return "FFMA";
    case OP_FP64:
      return "DFMA";
    case OP_FP_DIV:
      return "MUFU.FP_DIV";
    case OP_SFU:
      return instruction.micro_ops() == 0 ? "MUFU" : absl::StrCat("MUFU.", kMicroOps, instruction.micro_ops());
    case OP_CONVERT:
      return "F2F";
    case OP_LOAD:
      return access("LDG.E", "LDS", "LDL", "LD.E");
    case OP_STORE:
      return access("STG.E", "STS", "STL", "ST.E");
    case OP_ATOMIC:
      return access("ATOMG.E", "ATOMS", "ATOM.E.LOCAL", "ATOM.E");
    case OP_BARRIER:
      if (instruction.barrier_threads() == 0) return "BAR.SYNC";
      return absl::UnimplementedError(absl::StrCat("a barrier of ", instruction.barrier_threads(),
                                                   " threads: barriers of Accel-Sim are those of all threads"));
    case OP_FENCE:
      return "MEMBAR";
    case OP_BRANCH:
      return "BRA";
    case OP_CALL:
      return "CALL.REL";
    case OP_RETURN:
      return "RET.REL";
    case OP_EXIT:
      return "EXIT";
    case OP_WARP:
      return "SHFL";
    case OP_TEXTURE:
      return instruction.access_bytes() == 0 ? "TEX" : absl::StrCat("TEX", Width(instruction.access_bytes()));
    case OP_TENSOR:
      return "HMMA";
    case OP_CONVERGENCE:
      switch (instruction.convergence().role()) {
        case Convergence::SET:
          return "BSSY";
        case Convergence::SYNC:
          return "BSYNC";
        case Convergence::BREAK:
          return "BREAK";
        case Convergence::WARP_SYNC:
          return "WARPSYNC";
        default:
          return "YIELD";
      }
    default:
      return absl::UnimplementedError(absl::StrCat("no opcode stands for ", OpClass_Name(instruction.op())));
  }
}

}  // namespace heddle::tools::accelsim
