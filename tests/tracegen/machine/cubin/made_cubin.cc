#include "tests/tracegen/machine/cubin/made_cubin.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ObjectYAML/yaml2obj.h"
#include "llvm/Support/YAMLTraits.h"

namespace heddle::tracegen::machine {
namespace {

std::string Hex(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) absl::StrAppend(&text, absl::StrFormat("%02x", (value >> (8 * i)) & 0xff));
  return text;
}

}  // namespace

std::string MadeCubin::Bytes() const {
  constexpr uint32_t kPlainControl = 0x7f1;
  std::string code;
  for (uint32_t i = 0; i < instructions; ++i) {
    const uint64_t control = i < controls.size() ? controls[i] : kPlainControl;
    absl::StrAppend(&code, Hex(0, 8), Hex(control << 41, 8));
  }
  // Symbol 1 is the kernel. Registers 24, frame 16 and stack 48 bytes.
  const std::string info = absl::StrCat("042f0800", Hex(1, 4), Hex(24, 4), "04110800", Hex(1, 4), Hex(16, 4),
                                        "04120800", Hex(1, 4), Hex(48, 4));
  // No value; parameters at 0x160, 20 bytes; one barrier; an indirect branch at 0x10 to 0x0 and 0x10.
  const std::string own_info =
      absl::StrCat("01350000", "040a0800", Hex(7, 4), "60011400", "03191400", "024c0100", "04341400", Hex(0x10, 4),
                   Hex(0, 4), Hex(2, 4), Hex(0, 4), Hex(0x10, 4), extra_info);
  const std::string tool = "Cuda compilation tools, release 0.1, V0.1.2";
  std::string tool_bytes = Hex(2, 8);
  for (const char c : tool) absl::StrAppend(&tool_bytes, Hex(static_cast<uint8_t>(c), 1));
  const std::string yaml = absl::StrCat(
      "--- !ELF\nFileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, OSABI: ", abi, ", ABIVersion: 8, Type: ET_EXEC, ",
      "Machine: ", machine, "}\nSections:\n",
      "  - {Name: .text.walk, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], AddressAlign: 128, Content: \"",
      code, "\"}\n  - {Name: .nv.info, Type: 0x70000000, Content: \"", info,
      "\"}\n  - {Name: .nv.info.walk, Type: 0x70000000, Content: \"", own_info,
      "\"}\n  - {Name: .nv.shared.walk, Type: SHT_NOBITS, Size: 0x100}\n",
      "  - {Name: .nv.constant0.walk, Type: SHT_PROGBITS, Content: \"0102\"}\n",
      "  - {Name: .nv.constant2.walk, Type: SHT_PROGBITS, Content: \"0304\"}\n",
      "  - {Name: .nv.constant3, Type: SHT_PROGBITS, Content: \"05060708\"}\n",
      "  - {Name: .nv.global, Type: SHT_NOBITS, Size: 0x40}\n",
      "  - {Name: .note.nv.tkinfo, Type: SHT_PROGBITS, Content: \"", tool_bytes, "00\"}\n",
      "  - {Name: .rel.nv.constant3, Type: SHT_REL, Info: .nv.constant3, Relocations: ",
      "[{Offset: 0x0, Symbol: walk, Type: 2}]}\n", extra_sections, "Symbols:\n",
      "  - {Name: walk, Type: STT_FUNC, Section: .text.walk, Binding: STB_GLOBAL, Size: ", instructions * 16,
      ", Other: [0x10]}\n  - {Name: helper, Type: STT_FUNC, Section: .text.walk, Binding: STB_GLOBAL, Value: ",
      helper_offset, ", Size: 0x20}\n",
      "  - {Name: table, Type: STT_OBJECT, Section: .nv.constant3, Binding: STB_GLOBAL, Value: 0x2, Size: 0x2}\n");
  llvm::SmallVector<char, 0> storage;
  llvm::yaml::Input input(yaml);
  llvm::raw_svector_ostream out(storage);
  std::string failure;
  const bool made = llvm::yaml::convertYAML(input, out, [&](const llvm::Twine& message) { failure += message.str(); });
  if (!made) {
    std::fprintf(stderr, "no cubin could be made: %s\n%s\n", failure.c_str(), yaml.c_str());
    std::abort();
  }
  // LLVM's YAML has no names for these flags.
  std::string bytes(storage.data(), storage.size());
  constexpr size_t kFlagsAt = 48;
  for (size_t i = 0; i < 4; ++i) bytes[kFlagsAt + i] = static_cast<char>(flags >> (8 * i));
  return bytes;
}

}  // namespace heddle::tracegen::machine
