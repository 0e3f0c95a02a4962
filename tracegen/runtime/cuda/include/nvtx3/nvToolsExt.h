// Name that programs include.
#include "../nvToolsExt.h"
