// What card this is.
#ifndef HEDDLE_TOOLS_HARDWARE_PROGRAMS_CARD_H_
#define HEDDLE_TOOLS_HARDWARE_PROGRAMS_CARD_H_

namespace heddle::hardware {

// Prints one JSON object with what the driver says of the first device, in the fields of heddle.hardware.v1.Card.
void PrintCard();

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_PROGRAMS_CARD_H_
