// The network: the options of GPGPU-Sim, and the settings of the BookSim file that they name.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/exchange/gpgpusim/option_reader.h"

namespace heddle::tools {
namespace {

const std::string kPath = "memory.hierarchy.network.";
constexpr uint64_t kHeaderBytes = 8;  // our choice: GPGPU-Sim's read request

// The settings of a network file, used up one by one.
class Settings {
 public:
  Settings(OptionReader& reader, std::vector<ConfigOption> settings) : reader_(reader), rest_(std::move(settings)) {}

  // An empty place if there is no such key.
  OptionValue Take(const std::string& key) {
    OptionValue value{key, "", ""};
    std::erase_if(rest_, [&](const ConfigOption& setting) {
      if (setting.name != key) return false;
      value = {setting.name, setting.value, setting.place};
      return true;
    });
    return value;
  }

  void Number(const std::string& field, const std::string& key, uint64_t otherwise, const std::string& source) {
    const OptionValue value = Take(key);
    if (value.given()) {
      reader_.SetNumber(kPath + field, value);
    } else {
      reader_.Set(kPath + field, otherwise, source);
    }
  }

  std::string RestKeys() const {
    return absl::StrJoin(rest_, ", ", [](std::string* out, const ConfigOption& setting) { *out += setting.name; });
  }

 private:
  OptionReader& reader_;
  std::vector<ConfigOption> rest_;
};

// Flits of the largest message: a cache line and its header.
uint64_t LargestMessage(const OptionReader& reader, uint64_t flit_bytes) {
  const machine::v1::Hierarchy& memory = reader.machine().memory().hierarchy();
  uint64_t line = 128;  // without an L1: the largest segment of a warp
  for (const machine::v1::Cache* cache :
       {&memory.l1_data(), &memory.l1_texture(), &memory.l1_constant(), &memory.l1_instruction()}) {
    if (cache->sets() != 0) line = std::max<uint64_t>(line, cache->line_bytes());
  }
  flit_bytes = std::max<uint64_t>(flit_bytes, 1);
  return (line + kHeaderBytes + flit_bytes - 1) / flit_bytes;
}

// Accel-Sim's own crossbar, network_mode 2: it moves a packet per cycle and port and counts buffers in packets.
void ImportLocalCrossbar(OptionReader& reader) {
  const OptionValue flit = reader.Take({"-icnt_flit_size"}, "32");
  reader.SetNumber(kPath + "flit_bytes", flit);
  const uint64_t flits = LargestMessage(reader, reader.Number(flit));
  for (const auto& [field, name] : {std::pair{"input_buffer_flits", "-icnt_in_buffer_limit"},
                                    std::pair{"output_buffer_flits", "-icnt_out_buffer_limit"}}) {
    const OptionValue packets = reader.Take({name}, "64");
    reader.Set(kPath + field, std::min<uint64_t>(reader.Number(packets) * flits, 4096),
               absl::StrCat(packets.Source(), " (packets, here in flits)"));
  }
  reader.Set(kPath + "input_speedup", 1, "Accel-Sim's crossbar has none");
  const OptionValue arbiter = reader.Take({"-icnt_arbiter_algo"}, "1");
  reader.Set(kPath + "allocator", "ISLIP", arbiter.Source());
  if (arbiter.text != "1") {
    reader.Note(ImportOutcome::kDifferent, arbiter, "round-robin pointers as iSLIP moves them");
  }
  reader.Set(kPath + "iterations", 1, "Accel-Sim's crossbar makes one pass");
  const OptionValue subnets = reader.Take({"-icnt_subnets"}, "2");
  if (subnets.text != "2") {
    reader.Note(ImportOutcome::kNotRepresented, subnets, "requests and replies have networks of their own");
  }
}

void ImportBookSim(OptionReader& reader, const OptionValue& file, const std::vector<ConfigOption>& found) {
  Settings settings(reader, found);
  const std::string ours = found.empty() ? "our choice: the network's file was not read"
                                         : absl::StrCat("our choice: ", file.text, " does not say");
  if (found.empty()) {
    reader.Note(
        ImportOutcome::kNotRepresented, file,
        "the file is not beside the configuration: the network has the figures of GPGPU-Sim's sample crossbars");
  }
  const OptionValue flit = reader.Take({"-icnt_flit_size"}, "32");
  if (flit.given()) {  // 4.x: the option; before: the file
    settings.Take("flit_size");
    reader.SetNumber(kPath + "flit_bytes", flit);
  } else {
    settings.Number("flit_bytes", "flit_size", 32, ours);
  }
  const OptionValue buffer = settings.Take("vc_buf_size");
  const OptionValue channels = settings.Take("num_vcs");
  uint64_t flits = (buffer.given() ? reader.Number(buffer) : 8) * (channels.given() ? reader.Number(channels) : 1);
  const uint64_t least = LargestMessage(reader, reader.machine().memory().hierarchy().network().flit_bytes());
  if (flits < least) {
    if (buffer.given()) {
      reader.Note(ImportOutcome::kDifferent, buffer, absl::StrCat(least, " flits: a buffer holds the largest message"));
    }
    flits = least;
  }
  reader.Set(kPath + "input_buffer_flits", flits,
             buffer.given() ? absl::StrCat(buffer.Source(), channels.given() ? " x num_vcs" : "") : ours);
  if (channels.given() && channels.text != "1") {
    reader.Note(ImportOutcome::kDifferent, channels, "the virtual channels of a port are one buffer");
  }
  settings.Number("output_buffer_flits", "ejection_buffer_size", flits, "our choice: as the input buffers");
  settings.Number("input_speedup", "input_speedup", 2, ours);
  settings.Number("iterations", "alloc_iters", 1, ours);
  const OptionValue allocator = settings.Take("sw_allocator");
  const bool pim = allocator.text == "pim" || allocator.text == "i1_pim";
  reader.Set(kPath + "allocator", pim ? "PIM" : "ISLIP", allocator.given() ? allocator.Source() : ours);
  if (allocator.given() && !pim && allocator.text != "islip") {
    reader.Note(ImportOutcome::kDifferent, allocator, "the allocator is iSLIP");
  }
  const OptionValue topology = settings.Take("topology");
  const OptionValue dimensions = settings.Take("n");
  if ((topology.given() && topology.text != "fly") || (dimensions.given() && dimensions.text != "1")) {
    reader.Note(ImportOutcome::kNotRepresented, topology.given() ? topology : dimensions,
                "the network is one crossbar for requests and one for replies");
  }
  if (const std::string rest = settings.RestKeys(); !rest.empty()) {
    reader.Note(ImportOutcome::kNotRepresented, {file.name, file.text, file.place},
                absl::StrCat("in that file, delays of routers and other settings: ", rest));
  }
}

}  // namespace

void ImportNetwork(OptionReader& reader, const std::vector<ConfigOption>& settings) {
  const OptionValue mode = reader.Take({"-network_mode"}, "1");
  const OptionValue file = reader.Take({"-inter_config_file"}, "mesh");
  if (mode.text == "2") {
    ImportLocalCrossbar(reader);
  } else {
    if (mode.text != "1") reader.Error(mode, absl::StrCat("\"", mode.text, "\" is not 1 (BookSim) or 2 (crossbar)"));
    ImportBookSim(reader, file, settings);
  }
  reader.Set(kPath + "header_bytes", kHeaderBytes, "our choice: GPGPU-Sim's read request");
  reader.Set(kPath + "control_bytes", 8, "GPGPU-Sim");
}

}  // namespace heddle::tools
