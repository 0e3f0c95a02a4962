// A machine while it is fitted to a card: what was measured, what was set, and from where.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_FITTING_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_FITTING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/hardware.pb.h"
#include "proto/machine.pb.h"
#include "tools/exchange/card/fit.h"
#include "tools/exchange/card/measured.h"
#include "tools/exchange/card/model_chain.h"
#include "tools/inputs/hardware_files.h"

namespace heddle::tools {

class Fitting {
 public:
  Fitting(const machine::v1::Machine& base, const std::string& name, const HardwareVisit& visit);

  machine::v1::Machine& machine() { return fitted_.machine; }
  const machine::v1::Machine& machine() const { return fitted_.machine; }
  const hardware::v1::Card& card() const { return visit_.card(); }
  FittedMachine& fitted() { return fitted_; }

  // As AllMeasured and FindMeasured.
  std::vector<Measured> All(const std::string& benchmark) const { return AllMeasured(visit_, benchmark); }
  std::optional<Measured> Find(const std::string& benchmark,
                               const std::map<std::string, std::string>& parameters = {}) const {
    return FindMeasured(visit_, benchmark, parameters);
  }

  void Note(std::string text) { fitted_.notes.push_back(std::move(text)); }
  // That the field at `path` was set from a benchmark; several add up.
  void Use(const std::string& path, const Measured& value);
  // That it was set by what the visit says of the card, `what`.
  void UseCard(const std::string& path, const std::string& what);

  // A field, which is `present` and at least `least`, that stands for what `model` takes: changes it by what the card
  // takes more, and asks the model again. What `chain` cannot be made for becomes a note.
  struct Field {
    std::string path;
    uint32_t present = 0;
    uint32_t least = 0;
    std::function<void(uint32_t)> set;
    uint32_t times = 1;  // that the chain has the field in each link
  };
  absl::Status Adjust(const Measured& value, const Field& field, const absl::StatusOr<Chain>& chain);

 private:
  std::string Card() const;

  const hardware::v1::Visit& visit_;
  FittedMachine fitted_;
};

// Rates and latencies of matrix products by kind: core.units.tensor_timing.
void FitProducts(Fitting& fitting);

// What a barrier takes by the number of its warps: core.block_barriers.
absl::Status FitBarriers(Fitting& fitting);

// Notes where the card's L1 ends (latency_by_footprint), and whether the machine's ends there in the same chains.
absl::Status CompareL1Size(Fitting& fitting);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_FITTING_H_
