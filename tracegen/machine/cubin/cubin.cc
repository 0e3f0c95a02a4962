#include "tracegen/machine/cubin/cubin.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "tracegen/machine/cubin/attributes.h"
#include "tracegen/machine/cubin/line_table.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::object::ELF64LE;
using llvm::object::ELFFile;
using Section = ELF64LE::Shdr;
using Symbol = ELF64LE::Sym;

// e_ident[EI_OSABI] of cubins: 0x33 until CUDA 12, 0x41 from 13 on. The number of the architecture moved with it.
constexpr uint8_t kOldAbi = llvm::ELF::ELFOSABI_CUDA;
constexpr uint8_t kNewAbi = 0x41;
// In the field st_other of kernels.
constexpr uint8_t kKernelMark = 0x10;
constexpr std::string_view kCodeName = ".text.";  // and the function
constexpr std::string_view kVariablesName = ".nv.constant3";
constexpr uint32_t kMostCodeBytes = 1u << 28;

std::string Shown(std::string_view text) { return CutText(Printable(text), 80); }

absl::Status Damaged(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("cubin: ", what, "; assemble it again"));
}

std::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }

std::string TextOf(llvm::Error error) { return Shown(llvm::toString(std::move(error))); }

class Reader {
 public:
  Reader(const ELFFile<ELF64LE>& file, Cubin* cubin) : file_(file), cubin_(*cubin) {}

  absl::Status Read() {
    HEDDLE_RETURN_IF_ERROR(ReadArchitecture());
    auto sections = file_.sections();
    if (!sections) return Damaged(TextOf(sections.takeError()));
    for (const Section& section : *sections) {
      auto name = file_.getSectionName(section);
      if (!name) return Damaged(TextOf(name.takeError()));
      sections_.push_back({View(*name), &section});
    }
    HEDDLE_RETURN_IF_ERROR(ReadSymbols());
    for (const Named& section : sections_) HEDDLE_RETURN_IF_ERROR(ReadCode(section));
    for (const Named& section : sections_) HEDDLE_RETURN_IF_ERROR(ReadOther(section));
    HEDDLE_RETURN_IF_ERROR(PlaceSymbols());
    for (const Named& section : sections_) HEDDLE_RETURN_IF_ERROR(ReadRelocations(section));
    return ReadLines();
  }

 private:
  struct Named {
    std::string_view name;  // a part of the file
    const Section* header = nullptr;
  };

  absl::Status ReadArchitecture() {
    const auto& header = file_.getHeader();
    if (header.e_machine != llvm::ELF::EM_CUDA) {
      return absl::InvalidArgumentError(absl::StrCat("this is an ELF file for machine ", int{header.e_machine},
                                                     ", and no cubin: give what ptxas makes"));
    }
    const uint8_t abi = header.e_ident[llvm::ELF::EI_OSABI];
    if (abi != kOldAbi && abi != kNewAbi) {
      return absl::InvalidArgumentError(
          absl::StrFormat("cubin: ABI 0x%02x is not known; take an assembler of CUDA 11.4 to 13", abi));
    }
    const uint32_t flags = header.e_flags;
    HEDDLE_ASSIGN_OR_RETURN(cubin_.architecture,
                            ArchitectureOf(absl::StrCat("sm_", abi == kOldAbi ? flags & 0xff : (flags >> 8) & 0xff)));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<uint8_t>> Contents(const Named& section) {
    if (section.header->sh_type == llvm::ELF::SHT_NOBITS) return std::vector<uint8_t>();
    auto contents = file_.getSectionContents(*section.header);
    if (!contents) return Damaged(TextOf(contents.takeError()));
    HEDDLE_RETURN_IF_ERROR(Count(contents->size()));
    return std::vector<uint8_t>(contents->begin(), contents->end());
  }

  // Sections that share their bytes would be copied more often than a file is long.
  absl::Status Count(uint64_t bytes) {
    read_bytes_ += bytes;
    return read_bytes_ <= file_.getBufSize() ? absl::OkStatus() : Damaged("its sections overlap");
  }

  const Named* ByIndex(uint32_t index) const { return index < sections_.size() ? &sections_[index] : nullptr; }

  CodeSection* CodeOf(std::string_view function) {
    const auto found = section_of_.find(absl::string_view(function.data(), function.size()));
    return found == section_of_.end() ? nullptr : &cubin_.sections[found->second];
  }

  // The code that a section holds; none if there is no such section, or it is no code.
  CodeSection* CodeIn(const Named* section) {
    if (section == nullptr || !section->name.starts_with(kCodeName)) return nullptr;
    return CodeOf(section->name.substr(kCodeName.size()));
  }

  absl::Status ReadSymbols() {
    for (const Named& section : sections_) {
      if (section.header->sh_type != llvm::ELF::SHT_SYMTAB) continue;
      auto symbols = file_.symbols(section.header);
      if (!symbols) return Damaged(TextOf(symbols.takeError()));
      auto names = file_.getStringTableForSymtab(*section.header);
      if (!names) return Damaged(TextOf(names.takeError()));
      for (const Symbol& symbol : *symbols) {
        auto name = symbol.getName(*names);
        if (!name) return Damaged(TextOf(name.takeError()));
        symbols_.push_back({View(*name), symbol});
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadCode(const Named& section) {
    if (!section.name.starts_with(kCodeName)) return absl::OkStatus();
    CodeSection code;
    code.function = std::string(section.name.substr(kCodeName.size()));
    if (!section_of_.try_emplace(code.function, cubin_.sections.size()).second) {
      return Damaged(absl::StrCat("section ", Shown(section.name), " is there twice"));
    }
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Contents(section));
    if (bytes.empty() || bytes.size() % kInstructionBytes != 0 || bytes.size() > kMostCodeBytes) {
      return Damaged(absl::StrCat("section ", Shown(section.name), " has ", bytes.size(),
                                  " bytes, which is no whole number of instructions"));
    }
    for (size_t at = 0; at < bytes.size(); at += kInstructionBytes) {
      code.code.push_back(
          {llvm::support::endian::read64le(&bytes[at]), llvm::support::endian::read64le(&bytes[at + 8])});
    }
    cubin_.sections.push_back(std::move(code));
    return absl::OkStatus();
  }

  absl::Status ReadOther(const Named& section) {
    const std::string_view name = section.name;
    if (name == ".nv.info" || name.starts_with(".nv.info.")) return ReadInfo(section);
    if (name.starts_with(".nv.shared.")) {
      if (CodeSection* code = CodeOf(name.substr(11))) {
        code->static_shared_bytes = static_cast<uint32_t>(section.header->sh_size);
      }
    } else if (name.starts_with(".nv.constant")) {
      return ReadConstants(section);
    } else if (name == ".nv.global.init") {
      HEDDLE_ASSIGN_OR_RETURN(cubin_.initialized_globals, Contents(section));
    } else if (name == ".nv.global") {
      cubin_.uninitialized_global_bytes = section.header->sh_size;
    } else if (name == ".note.nv.tkinfo") {
      return ReadTool(section);
    }
    return absl::OkStatus();
  }

  // ".nv.constant0.kernel" belongs to one function, ".nv.constant3" to all.
  absl::Status ReadConstants(const Named& section) {
    const std::string rest(section.name.substr(12));
    const size_t point = rest.find('.');
    uint32_t bank = 0;
    if (!absl::SimpleAtoi(rest.substr(0, point), &bank) || bank > 31) {
      return Damaged(absl::StrCat("section ", Shown(section.name), " names no constant bank"));
    }
    HEDDLE_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, Contents(section));
    if (point == std::string::npos) {
      cubin_.constants[bank] = std::move(bytes);
      return absl::OkStatus();
    }
    CodeSection* code = CodeOf(std::string_view(rest).substr(point + 1));
    if (code == nullptr) return Damaged(absl::StrCat("section ", Shown(section.name), " is of no function"));
    if (bank == 0) {
      code->constants0 = std::move(bytes);
    } else if (bank == 2) {
      code->constants2 = std::move(bytes);
    } else {
      return absl::UnimplementedError(absl::StrCat("cubin: section ", Shown(section.name),
                                                   " is of a constant bank that functions of their own never had"));
    }
    return absl::OkStatus();
  }

  // The function of a symbol of code that stands at the beginning of its section.
  CodeSection* CodeOfSymbol(uint32_t index) {
    if (index >= symbols_.size()) return nullptr;
    CodeSection* code = CodeIn(ByIndex(symbols_[index].symbol.st_shndx));
    // Functions within a section have attributes of their own, which the kernel's numbers hold already.
    return code != nullptr && symbols_[index].symbol.st_value == 0 ? code : nullptr;
  }

  absl::Status ReadInfo(const Named& section) {
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Contents(section));
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<Attribute> attributes, ReadAttributes(section.name, bytes));
    CodeSection* own = section.name.size() > 9 ? CodeOf(section.name.substr(9)) : nullptr;
    for (const Attribute& attribute : attributes) {
      const std::vector<uint32_t> words = Words(attribute.value);
      if (own == nullptr) {
        CodeSection* code = words.size() == 2 ? CodeOfSymbol(words[0]) : nullptr;
        if (code == nullptr) continue;
        switch (static_cast<AttributeKind>(attribute.kind)) {
          case AttributeKind::kRegisterCount:
            code->registers = words[1];
            break;
          case AttributeKind::kFrameSize:
            code->frame_bytes = words[1];
            break;
          case AttributeKind::kMinimalStackSize:
            code->stack_bytes = words[1];
            break;
          default:
            break;
        }
        continue;
      }
      switch (static_cast<AttributeKind>(attribute.kind)) {
        case AttributeKind::kBarrierCount:
          if (attribute.value.size() == 1) own->barriers = attribute.value[0];
          break;
        case AttributeKind::kParameterBank:
          if (words.size() == 2) own->parameter_offset = words[1] & 0xffff;
          break;
        case AttributeKind::kParameterSize:
          if (attribute.value.size() == 2) {
            own->parameter_bytes = attribute.value[0] | uint32_t{attribute.value[1]} << 8;
          }
          break;
        case AttributeKind::kIndirectBranchTargets:
          HEDDLE_RETURN_IF_ERROR(ReadTargets(section.name, words, own));
          break;
        default:
          break;
      }
    }
    return absl::OkStatus();
  }

  static absl::Status ReadTargets(std::string_view name, const std::vector<uint32_t>& words, CodeSection* code) {
    for (size_t at = 0; at < words.size();) {
      if (words.size() - at < 3 || words[at + 2] > words.size() - at - 3) {
        return Damaged(absl::StrCat("section ", Shown(name), " has a cut list of branch targets"));
      }
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(at + 3);
      code->indirect_targets[words[at]].assign(first, first + words[at + 2]);
      at += size_t{3} + words[at + 2];
    }
    return absl::OkStatus();
  }

  // Strings behind a note's head: of the tool, its version is one that begins with a known word.
  absl::Status ReadTool(const Named& section) {
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Contents(section));
    std::string text;
    for (const uint8_t byte : bytes) {
      if (byte != 0) {
        text += static_cast<char>(byte);
        continue;
      }
      if (absl::StartsWith(text, "Cuda compilation tools")) cubin_.assembler = absl::StrCat("ptxas, ", Shown(text));
      text.clear();
    }
    return absl::OkStatus();
  }

  absl::Status PlaceSymbols() {
    for (const NamedSymbol& named : symbols_) {
      if (named.symbol.getType() == llvm::ELF::STT_OBJECT) PlaceVariable(named.name, named.symbol);
      if (named.symbol.getType() != llvm::ELF::STT_FUNC) continue;
      CodeSection* code = CodeIn(ByIndex(named.symbol.st_shndx));
      if (code == nullptr) continue;
      const uint64_t offset = named.symbol.st_value;
      if (offset % kInstructionBytes != 0 || offset >= code->code.size() * kInstructionBytes) {
        return Damaged(
            absl::StrFormat("function %s begins at 0x%x, outside of its section", Shown(named.name), offset));
      }
      code->functions.push_back(
          {std::string(named.name), offset, named.symbol.st_size, (named.symbol.st_other & kKernelMark) != 0});
    }
    std::sort(cubin_.constant_variables.begin(), cubin_.constant_variables.end(),
              [](const VariableSymbol& a, const VariableSymbol& b) { return a.offset < b.offset; });
    for (CodeSection& code : cubin_.sections) {
      std::sort(code.functions.begin(), code.functions.end(),
                [](const FunctionSymbol& a, const FunctionSymbol& b) { return a.offset < b.offset; });
      if (code.functions.empty() || code.functions[0].offset != 0) {
        return Damaged(absl::StrCat("section .text.", Shown(code.function), " has no function at its beginning"));
      }
    }
    return absl::OkStatus();
  }

  void PlaceVariable(std::string_view name, const Symbol& symbol) {
    const Named* section = ByIndex(symbol.st_shndx);
    if (section == nullptr || section->name != kVariablesName) return;
    cubin_.constant_variables.push_back({std::string(name), symbol.st_value, symbol.st_size});
  }

  absl::StatusOr<std::vector<Relocation>> RelocationsIn(const Section& section) {
    HEDDLE_RETURN_IF_ERROR(Count(section.sh_size));
    std::vector<Relocation> relocations;
    const auto add = [&](uint64_t offset, uint32_t type, uint32_t symbol, int64_t addend) -> absl::Status {
      if (symbol >= symbols_.size()) return Damaged("a relocation names a symbol that there is not");
      relocations.push_back({offset, type, std::string(symbols_[symbol].name), addend});
      return absl::OkStatus();
    };
    if (section.sh_type == llvm::ELF::SHT_REL) {
      auto rels = file_.rels(section);
      if (!rels) return Damaged(TextOf(rels.takeError()));
      for (const auto& rel : *rels)
        HEDDLE_RETURN_IF_ERROR(add(rel.r_offset, rel.getType(false), rel.getSymbol(false), 0));
    } else {
      auto relas = file_.relas(section);
      if (!relas) return Damaged(TextOf(relas.takeError()));
      for (const auto& rela : *relas) {
        HEDDLE_RETURN_IF_ERROR(add(rela.r_offset, rela.getType(false), rela.getSymbol(false), rela.r_addend));
      }
    }
    return relocations;
  }

  absl::Status ReadRelocations(const Named& section) {
    if (section.header->sh_type != llvm::ELF::SHT_REL && section.header->sh_type != llvm::ELF::SHT_RELA) {
      return absl::OkStatus();
    }
    const Named* target = ByIndex(section.header->sh_info);
    if (target == nullptr) return Damaged(absl::StrCat("section ", Shown(section.name), " is of no section"));
    HEDDLE_ASSIGN_OR_RETURN(std::vector<Relocation> relocations, RelocationsIn(*section.header));
    if (CodeSection* code = CodeIn(target)) {
      code->relocations.insert(code->relocations.end(), relocations.begin(), relocations.end());
    } else if (target->name.starts_with(".nv.constant")) {
      uint32_t bank = 0;
      const std::string rest(target->name.substr(12));
      if (absl::SimpleAtoi(rest.substr(0, rest.find('.')), &bank)) {
        std::vector<Relocation>& all = cubin_.constant_relocations[bank];
        all.insert(all.end(), relocations.begin(), relocations.end());
      }
    } else if (target->name == ".debug_line") {
      line_relocations_ = std::move(relocations);
    }
    return absl::OkStatus();
  }

  absl::Status ReadLines() {
    for (const Named& section : sections_) {
      if (section.name != ".debug_line") continue;
      HEDDLE_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Contents(section));
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      for (auto& [function, rows] : ReadLineTable(text, line_relocations_)) {
        if (CodeSection* code = CodeOf(function)) code->lines = std::move(rows);
      }
    }
    return absl::OkStatus();
  }

  struct NamedSymbol {
    std::string_view name;  // a part of the file
    Symbol symbol;
  };

  const ELFFile<ELF64LE>& file_;
  Cubin& cubin_;
  std::vector<Named> sections_;
  std::vector<NamedSymbol> symbols_;
  std::vector<Relocation> line_relocations_;
  uint64_t read_bytes_ = 0;
  absl::flat_hash_map<std::string, size_t> section_of_;  // by function
};

}  // namespace

const CodeSection* Cubin::Find(std::string_view function) const {
  for (const CodeSection& section : sections) {
    if (section.function == function) return &section;
  }
  return nullptr;
}

absl::StatusOr<Cubin> ReadCubin(std::string_view bytes) {
  if (bytes.size() < sizeof(ELF64LE::Ehdr) || !bytes.starts_with("\x7f"
                                                                 "ELF")) {
    return absl::InvalidArgumentError("this is no cubin (no ELF file): give what ptxas makes, or PTX");
  }
  // Headers are read in place, as words.
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const llvm::StringRef buffer(reinterpret_cast<const char*>(aligned.data()), bytes.size());
  if (static_cast<uint8_t>(bytes[llvm::ELF::EI_CLASS]) != llvm::ELF::ELFCLASS64 ||
      static_cast<uint8_t>(bytes[llvm::ELF::EI_DATA]) != llvm::ELF::ELFDATA2LSB) {
    return Damaged("it has no words of 64 bits, low byte first");
  }
  auto file = ELFFile<ELF64LE>::create(buffer);
  if (!file) return Damaged(TextOf(file.takeError()));
  Cubin cubin;
  HEDDLE_RETURN_IF_ERROR(Reader(*file, &cubin).Read());
  return cubin;
}

}  // namespace heddle::tracegen::machine
