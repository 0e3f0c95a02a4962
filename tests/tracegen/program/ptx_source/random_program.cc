#include "tests/tracegen/program/ptx_source/random_program.h"

#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tests/tracegen/program/ptx_source/half_number.h"

namespace heddle::tracegen {

namespace {

// PTX lines as the text of an asm statement whose only argument is the address `out`.
std::string StatementSource(const std::string& lines) {
  std::string source = "__global__ void k(unsigned* out) {\n  asm volatile(\n    \"{\"\n";
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&source, "    \"", absl::StrReplaceAll(line, {{"%", "%%"}, {"\t", ""}, {"@out", "%0"}}), "\\n\"\n");
  }
  return source + "    \"}\" :: \"l\"(out) : \"memory\");\n}\n";
}

}  // namespace

RandomProgram::RandomProgram(uint64_t seed, Form form) : form_(form), random_(seed) {
  if (form != Form::kStatement) {
    ModuleHeader();
  } else {
    Line(".shared .align 8 .b8 exchange[512];");
  }
  Header();
  body_ = Body(12 + Pick(20), 0, true);
  Footer();
  if (form == Form::kStatement) text_ = StatementSource(text_);
}

void RandomProgram::Line(const std::string& line) { absl::StrAppend(&text_, "\t", line, "\n"); }

// A function that kernels call.
void RandomProgram::ModuleHeader() {
  text_ =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".shared .align 8 .b8 exchange[512];\n.shared .align 8 .b8 lanes[256];\n"
      ".func (.param .b32 result) mix(.param .b32 a, .param .align 8 .b8 pair[16])\n{\n"
      "\t.reg .b32 %x<4>;\n\t.reg .b64 %y<2>;\n\t.reg .pred %q;\n"
      "\tld.param.b32 %x0, [a];\n\tld.param.b32 %x1, [pair+4];\n\tld.param.b64 %y0, [pair+8];\n"
      "\tsetp.lt.u32 %q, %x0, %x1;\n\t@%q bra LESS;\n"
      "\tcvt.u32.u64 %x2, %y0;\n\txor.b32 %x3, %x0, %x2;\n\tst.param.b32 [result], %x3;\n\tret;\n"
      "LESS:\n\tmad.lo.u32 %x3, %x0, 5, %x1;\n\tst.param.b32 [result], %x3;\n\tret;\n}\n"
      ".visible .entry k(.param .u64 out)\n{\n";
}

// Registers begin with values that differ between threads.
void RandomProgram::Header() {
  Line(absl::StrCat(".reg .b32 %r<", kRandomRegisters + 4, ">;"));
  Line(absl::StrCat(".reg .b64 %rd<", kRandomRegisters + 4, ">;"));
  Line(absl::StrCat(".reg .f32 %f<", kRandomRegisters + 2, ">;"));
  Line(absl::StrCat(".reg .f64 %fd<", kRandomRegisters + 2, ">;"));
  Line(absl::StrCat(".reg .b16 %h<", kRandomRegisters + 2, ">;"));
  Line(absl::StrCat(".reg .pred %p<", kRandomRegisters + 2, ">;"));
  Line(".reg .b32 %t<16>;");
  Line(".reg .pred %go;");
  if (form_ == Form::kWarps) Line(".reg .b32 %m<5>, %n<5>;");  // by depth: who is here, and how often they go round
  Line("mov.u32 %t0, %tid.x;");
  if (form_ == Form::kWarps) Line("mov.u32 %m0, 0xffffffff;");
  for (unsigned i = 0; i < kRandomRegisters; ++i) {
    const uint32_t factor = 2654435761u * (i + 3), shift = Pick(28);
    Line(absl::StrCat("mad.lo.u32 %r", i, ", %t0, ", factor, ", ", i * 77, ";"));
    Line(absl::StrCat("shr.u32 %r", i, ", %r", i, ", ", shift, ";"));
    Line(absl::StrCat("mul.wide.u32 %rd", i, ", %r", i, ", ", factor, ";"));
    Line(absl::StrCat("setp.ne.u32 %p", i, ", %t0, ", i * 9, ";"));
    start_.push_back([i, factor, shift](RandomState& s) {
      s.r[i] = (s.tid * factor + i * 77) >> shift;
      s.rd[i] = uint64_t{s.r[i]} * factor;
      s.p[i] = s.tid != i * 9;
    });
    if (is_integer()) continue;
    Line(absl::StrCat("cvt.rn.f32.s32 %f", i, ", %r", i, ";"));
    Line(absl::StrCat("mul.rn.f32 %f", i, ", %f", i, ", 0f3c23d70a;"));
    Line(absl::StrCat("cvt.rn.f64.u64 %fd", i, ", %rd", i, ";"));
    Line(absl::StrCat("and.b32 %t1, %r", i, ", 0xbbff;"));
    Line(absl::StrCat("cvt.u16.u32 %h", i, ", %t1;"));
    start_.push_back([i](RandomState& s) {
      s.f[i] = static_cast<float>(static_cast<int32_t>(s.r[i])) * std::bit_cast<float>(0x3c23d70au);
      s.fd[i] = static_cast<double>(s.rd[i]);
      s.h[i] = static_cast<uint16_t>(s.r[i] & 0xbbff);
    });
  }
}

// All registers into memory; NaN is a number like any other, so that its bits do not matter.
void RandomProgram::Footer() {
  Line(form_ != Form::kStatement ? "ld.param.u64 %rd7, [out];" : "mov.u64 %rd7, @out;");
  Line("cvta.to.global.u64 %rd7, %rd7;");
  Line(absl::StrCat("mad.wide.u32 %rd7, %t0, ", kRandomWords * 4, ", %rd7;"));
  unsigned at = 0;
  for (unsigned i = 0; i < kRandomRegisters; ++i) {
    Line(absl::StrCat("st.global.b32 [%rd7+", at, "], %r", i, ";"));
    Line(absl::StrCat("mov.b64 {%t1, %t2}, %rd", i, ";"));
    Line(absl::StrCat("st.global.v2.b32 [%rd7+", at + 8, "], {%t1, %t2};"));
    Line(absl::StrCat("selp.u32 %t2, 1, 0, %p", i, ";"));
    Line(absl::StrCat("st.global.b32 [%rd7+", at + 28, "], %t2;"));
    if (is_integer()) {
      at += 32;
      continue;
    }
    Line(absl::StrCat("testp.notanumber.f32 %go, %f", i, ";"));
    Line(absl::StrCat("selp.f32 %f6, 0f7fffffff, %f", i, ", %go;"));
    Line(absl::StrCat("st.global.f32 [%rd7+", at + 4, "], %f6;"));
    Line(absl::StrCat("testp.notanumber.f64 %go, %fd", i, ";"));
    Line(absl::StrCat("selp.f64 %fd6, 0d7fffffffffffffff, %fd", i, ", %go;"));
    Line(absl::StrCat("st.global.f64 [%rd7+", at + 16, "], %fd6;"));
    Line(absl::StrCat("setp.nan.f16 %go, %h", i, ", %h", i, ";"));
    Line(absl::StrCat("cvt.u32.u16 %t1, %h", i, ";"));
    Line("selp.b32 %t1, 0x7fff, %t1, %go;");
    Line(absl::StrCat("st.global.u32 [%rd7+", at + 24, "], %t1;"));
    at += 32;
  }
  if (form_ != Form::kStatement) text_ += "\tret;\n}\n";
}

RandomProgram::Node RandomProgram::Emit(const std::string& opcode, const std::string& operands, Effect effect) {
  Node node;
  std::string guard;
  if (Pick(4) == 0) {
    const unsigned p = Register();
    const bool negated = Pick(2) == 0;
    guard = absl::StrCat("@", negated ? "!" : "", "%p", p, " ");
    effect = [p, negated, inner = std::move(effect)](RandomState& s) {
      if (s.p[p] != negated) inner(s);
    };
  }
  Line(absl::StrCat(guard, opcode, " ", operands, ";"));
  node.effect = std::move(effect);
  return node;
}

RandomProgram::Node RandomProgram::Call() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  Line("{");
  Line(".param .b32 arg0;");
  Line(".param .align 8 .b8 arg1[16];");
  Line(".param .b32 got;");
  Line(absl::StrCat("st.param.b32 [arg0], %r", a, ";"));
  Line(absl::StrCat("st.param.b32 [arg1+4], %r", b, ";"));
  Line(absl::StrCat("st.param.b64 [arg1+8], %rd", c, ";"));
  Line("call.uni (got), mix, (arg0, arg1);");
  Line(absl::StrCat("ld.param.b32 %r", d, ", [got];"));
  Line("}");
  Node node;
  node.effect = [=](RandomState& s) {
    s.r[d] = s.r[a] < s.r[b] ? s.r[a] * 5 + s.r[b] : s.r[a] ^ static_cast<uint32_t>(s.rd[c]);
  };
  return node;
}

RandomProgram::Node RandomProgram::Choice(unsigned depth, bool common) {
  Node node;
  node.kind = Node::Kind::kIf;
  node.predicate = Register();
  node.negated = Pick(2) == 0;
  const std::string other = Label(), end = Label();
  const std::string mask = absl::StrCat("%m", depth + 1), all = absl::StrCat("%m", depth);
  if (form_ == Form::kWarps) {
    Line(absl::StrCat("vote.sync.ballot.b32 ", mask, ", ", node.negated ? "!" : "", "%p", node.predicate, ", ", all,
                      ";"));
  }
  Line(absl::StrCat("@", node.negated ? "" : "!", "%p", node.predicate, " bra ", other, ";"));
  (void)common;
  node.first = Body(1 + Pick(5), depth + 1, false);
  Line(absl::StrCat("bra.uni ", end, ";"));
  text_ += absl::StrCat(other, ":\n");
  if (form_ == Form::kWarps) {
    Line(absl::StrCat("not.b32 ", mask, ", ", mask, ";"));
    Line(absl::StrCat("and.b32 ", mask, ", ", mask, ", ", all, ";"));
  }
  node.second = Body(Pick(4), depth + 1, false);
  text_ += absl::StrCat(end, ":\n");
  return node;
}

RandomProgram::Node RandomProgram::Loop(unsigned depth, bool common) {
  Node node;
  node.kind = Node::Kind::kLoop;
  node.count = 1 + Pick(4);
  const std::string head = Label();
  const unsigned counter = 4 + depth;
  const std::string mask = absl::StrCat("%m", depth + 1), limit = absl::StrCat("%n", depth);
  Line(absl::StrCat("mov.u32 %t", counter, ", 0;"));
  if (form_ == Form::kWarps) {
    Line(absl::StrCat("mov.u32 ", mask, ", %m", depth, ";"));
    if (Pick(2) == 0) {
      node.shift = static_cast<int>(Pick(5));
      Line(absl::StrCat("shr.u32 ", limit, ", %t0, ", node.shift, ";"));
      Line(absl::StrCat("and.b32 ", limit, ", ", limit, ", 3;"));
      Line(absl::StrCat("add.u32 ", limit, ", ", limit, ", ", node.count, ";"));
    }
    if (Pick(2) == 0) Line(".pragma \"nounroll\";");
  }
  const bool parts = node.shift >= 0;
  text_ += absl::StrCat(head, ":\n");
  node.first = Body(1 + Pick(5), depth + 1, common && !parts);
  Line(absl::StrCat("add.u32 %t", counter, ", %t", counter, ", 1;"));
  Line(absl::StrCat("setp.lt.u32 %go, %t", counter, ", ", parts ? limit : absl::StrCat(node.count), ";"));
  if (parts) Line(absl::StrCat("vote.sync.ballot.b32 ", mask, ", %go, ", mask, ";"));
  Line(absl::StrCat("@%go bra ", head, ";"));
  return node;
}

// All threads of the block are here.
RandomProgram::Node RandomProgram::Exchange() {
  Node node;
  node.kind = Node::Kind::kExchange;
  node.source = Register();
  node.target = Register();
  node.shuffle = Pick(2) == 0;
  node.distance = 1 + Pick(node.shuffle ? 31 : kRandomThreads - 1);
  if (node.shuffle) {
    Line(absl::StrCat("xor.b32 %t1, %t0, ", node.distance, ";"));
    Line(absl::StrCat("shfl.sync.bfly.b32 %r", node.target, ", %r", node.source, ", ", node.distance,
                      ", 31, 0xffffffff;"));
    return node;
  }
  Line("shl.b32 %t1, %t0, 2;");
  Line("mov.u32 %t2, exchange;");
  Line("add.u32 %t1, %t1, %t2;");
  Line(absl::StrCat("st.shared.b32 [%t1], %r", node.source, ";"));
  Line("bar.sync 0;");
  Line(absl::StrCat("add.u32 %t1, %t0, ", node.distance, ";"));
  Line(absl::StrCat("and.b32 %t1, %t1, ", kRandomThreads - 1, ";"));
  Line("shl.b32 %t1, %t1, 2;");
  Line("add.u32 %t1, %t1, %t2;");
  Line(absl::StrCat("ld.shared.b32 %r", node.target, ", [%t1];"));
  Line("bar.sync 0;");
  return node;
}

RandomProgram::Node RandomProgram::WarpExchange(unsigned depth) {
  Node node;
  node.kind = Node::Kind::kWarp;
  node.source = Register();
  node.target = Register();
  node.operation = Pick(5);
  node.distance = 1 + Pick(31);
  const std::string mask = absl::StrCat("%m", depth);
  const std::string target = absl::StrCat("%r", node.target), source = absl::StrCat("%r", node.source);
  switch (node.operation) {
    case 0:  // from a lane that is here, else nothing
      Line(absl::StrCat("shfl.sync.bfly.b32 %t1, ", source, ", ", node.distance, ", 31, ", mask, ";"));
      Line(absl::StrCat("and.b32 %t2, %t0, 31;"));
      Line(absl::StrCat("xor.b32 %t2, %t2, ", node.distance, ";"));
      Line(absl::StrCat("shr.u32 %t2, ", mask, ", %t2;"));
      Line("and.b32 %t2, %t2, 1;");
      Line("setp.ne.u32 %go, %t2, 0;");
      Line(absl::StrCat("selp.b32 ", target, ", %t1, ", target, ", %go;"));
      break;
    case 1:
      Line(absl::StrCat("vote.sync.ballot.b32 ", target, ", %p", node.source, ", ", mask, ";"));
      break;
    case 2:
      Line(absl::StrCat("and.b32 %t1, ", source, ", 3;"));
      Line(absl::StrCat("match.any.sync.b32 ", target, ", %t1, ", mask, ";"));
      break;
    case 3:
      Line(absl::StrCat("redux.sync.add.u32 ", target, ", ", source, ", ", mask, ";"));
      break;
    default:  // through memory
      Line("shl.b32 %t1, %t0, 2;");
      Line("mov.u32 %t2, lanes;");
      Line("add.u32 %t1, %t1, %t2;");
      Line(absl::StrCat("bar.warp.sync ", mask, ";"));
      Line(absl::StrCat("st.shared.b32 [%t1], ", source, ";"));
      Line(absl::StrCat("bar.warp.sync ", mask, ";"));
      Line(absl::StrCat("xor.b32 %t2, %t0, ", node.distance, ";"));
      Line("and.b32 %t2, %t2, 31;");
      Line(absl::StrCat("shr.u32 %t2, ", mask, ", %t2;"));
      Line("and.b32 %t2, %t2, 1;");
      Line("setp.ne.u32 %go, %t2, 0;");
      Line(absl::StrCat("xor.b32 %t1, %t1, ", 4 * node.distance, ";"));
      Line(absl::StrCat("@%go ld.shared.b32 ", target, ", [%t1];"));
      Line(absl::StrCat("bar.warp.sync ", mask, ";"));  // those behind it may be fewer
  }
  return node;
}

RandomProgram::Node RandomProgram::Statement(unsigned depth, bool common) {
  const unsigned kind = Pick(24);
  if (kind < 2 && depth < 3) return Choice(depth, common);
  if (kind == 2 && depth < 3) return Loop(depth, common);
  if (kind == 3 && common) return Exchange();
  if (form_ == Form::kWarps && kind >= 14 && kind <= 17) return WarpExchange(depth);
  if (is_integer() && kind >= 11 && kind <= 17) return kind < 14 ? Integer() : Wide();
  switch (kind) {
    case 4:
      return form_ != Form::kStatement ? Call() : Integer();
    case 5:
      return Carry();
    case 6:
    case 7:
      return Wide();
    case 8:
    case 9:
    case 10:
      return Bits();
    case 11:
    case 12:
    case 13:
      return Single();
    case 14:
    case 15:
      return Double();
    case 16:
    case 17:
      return Half();
    case 18:
    case 19:
      return Compare();
    case 20:
    case 21:
      return Convert();
    default:
      return Integer();
  }
}

std::vector<RandomProgram::Node> RandomProgram::Body(unsigned length, unsigned depth, bool common) {
  std::vector<Node> nodes;
  for (unsigned i = 0; i < length; ++i) nodes.push_back(Statement(depth, common));
  return nodes;
}

void RandomProgram::RunWarpExchange(const Node& node, std::vector<RandomState>& threads,
                                    const std::vector<bool>& active) {
  const std::vector<RandomState> before = threads;
  for (unsigned t = 0; t < threads.size(); ++t) {
    if (!active[t]) continue;
    const unsigned warp = t & ~31u;
    uint32_t votes = 0, same = 0, sum = 0;
    for (unsigned other = warp; other < warp + 32; ++other) {
      if (!active[other]) continue;
      const uint32_t bit = 1u << (other - warp);
      if (before[other].p[node.source]) votes |= bit;
      if ((before[other].r[node.source] & 3) == (before[t].r[node.source] & 3)) same |= bit;
      sum += before[other].r[node.source];
    }
    const unsigned partner = warp | ((t ^ node.distance) & 31u);
    uint32_t& target = threads[t].r[node.target];
    if (node.operation == 1) target = votes;
    if (node.operation == 2) target = same;
    if (node.operation == 3) target = sum;
    if ((node.operation == 0 || node.operation == 4) && active[partner]) target = before[partner].r[node.source];
  }
}

void RandomProgram::RunAll(const std::vector<Node>& nodes, std::vector<RandomState>& threads,
                           const std::vector<bool>& active) {
  for (const Node& node : nodes) {
    if (node.kind == Node::Kind::kLoop) {
      const unsigned more = node.shift < 0 ? 0 : 3;
      for (unsigned i = 0; i < node.count + more; ++i) {
        std::vector<bool> here = active;
        for (unsigned t = 0; t < threads.size() && more != 0; ++t) {
          here[t] = active[t] && i < node.count + (t >> node.shift) % 4;
        }
        RunAll(node.first, threads, here);
      }
      continue;
    }
    if (node.kind == Node::Kind::kWarp) {
      RunWarpExchange(node, threads, active);
      continue;
    }
    if (node.kind == Node::Kind::kExchange) {
      const std::vector<RandomState> before = threads;
      for (unsigned t = 0; t < threads.size(); ++t) {
        const unsigned from = node.shuffle ? (t & ~31u) | ((t ^ node.distance) & 31u)
                                           : (t + node.distance) % static_cast<unsigned>(threads.size());
        threads[t].r[node.target] = before[from].r[node.source];
      }
      continue;
    }
    if (node.kind == Node::Kind::kIf) {
      std::vector<bool> yes(active.size()), no(active.size());
      for (size_t t = 0; t < threads.size(); ++t) {
        const bool taken = threads[t].p[node.predicate] != node.negated;
        yes[t] = active[t] && taken;
        no[t] = active[t] && !taken;
      }
      RunAll(node.first, threads, yes);
      RunAll(node.second, threads, no);
      continue;
    }
    for (size_t t = 0; t < threads.size(); ++t) {
      if (active[t]) node.effect(threads[t]);
    }
  }
}

std::vector<uint32_t> RandomProgram::Run() const {
  std::vector<RandomState> threads(kRandomThreads);
  for (unsigned t = 0; t < kRandomThreads; ++t) {
    threads[t].tid = t;
    for (const Effect& effect : start_) effect(threads[t]);
  }
  RunAll(body_, threads, std::vector<bool>(kRandomThreads, true));
  std::vector<uint32_t> words;
  for (const RandomState& s : threads) {
    for (unsigned i = 0; i < kRandomRegisters; ++i) {
      const uint64_t number = std::isnan(s.fd[i]) ? ~uint64_t{0} >> 1 : std::bit_cast<uint64_t>(s.fd[i]);
      words.push_back(s.r[i]);
      words.push_back(std::isnan(s.f[i]) ? 0x7fffffff : std::bit_cast<uint32_t>(s.f[i]));
      words.push_back(static_cast<uint32_t>(s.rd[i]));
      words.push_back(static_cast<uint32_t>(s.rd[i] >> 32));
      words.push_back(static_cast<uint32_t>(number));
      words.push_back(static_cast<uint32_t>(number >> 32));
      words.push_back(IsHalfNan(s.h[i]) ? 0x7fff : s.h[i]);
      words.push_back(s.p[i]);
    }
  }
  return words;
}

}  // namespace heddle::tracegen
