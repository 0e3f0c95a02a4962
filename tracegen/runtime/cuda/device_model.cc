#include "tracegen/runtime/cuda/device_model.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "tracegen/runtime/cuda/code_image.h"

namespace heddle::cuda {
namespace {

constexpr DeviceModel kModels[] = {
    {30, "Heddle (as GeForce GTX 680)", 8, 1058500, 3004000, 256, 512 << 10, 2048, 16, 48 << 10, 48 << 10, 24},
    {35, "Heddle (as Tesla K40)", 15, 745000, 3004000, 384, 1536 << 10, 2048, 16, 48 << 10, 48 << 10, 3},
    {37, "Heddle (as Tesla K80)", 13, 823500, 2505000, 384, 1536 << 10, 2048, 16, 112 << 10, 48 << 10, 3},
    {50, "Heddle (as GeForce GTX 750 Ti)", 5, 1084500, 2700000, 128, 2048 << 10, 2048, 32, 64 << 10, 48 << 10, 32},
    {52, "Heddle (as GeForce GTX 980)", 16, 1215500, 3505000, 256, 2048 << 10, 2048, 32, 96 << 10, 48 << 10, 32},
    {60, "Heddle (as Tesla P100)", 56, 1480500, 715000, 4096, 4096 << 10, 2048, 32, 64 << 10, 48 << 10, 2},
    {61, "Heddle (as GeForce GTX 1080)", 20, 1733500, 5005000, 256, 2048 << 10, 2048, 32, 96 << 10, 48 << 10, 32},
    {70, "Heddle (as Tesla V100)", 80, 1530000, 877000, 4096, 6144 << 10, 2048, 32, 96 << 10, 96 << 10, 2},
    {75, "Heddle (as Tesla T4)", 40, 1590000, 5001000, 256, 4096 << 10, 1024, 16, 64 << 10, 64 << 10, 32},
    {80, "Heddle (as A100)", 108, 1410000, 1215000, 5120, 40960 << 10, 2048, 32, 164 << 10, 163 << 10, 2},
    {86, "Heddle (as GeForce RTX 3090)", 82, 1695000, 9751000, 384, 6144 << 10, 1536, 16, 100 << 10, 99 << 10, 32},
    {89, "Heddle (as GeForce RTX 4090)", 128, 2520000, 10501000, 384, 73728 << 10, 1536, 24, 100 << 10, 99 << 10, 64},
    {90, "Heddle (as H100)", 132, 1980000, 2619000, 5120, 51200 << 10, 2048, 32, 228 << 10, 227 << 10, 2},
};

std::vector<DeviceModel> Models() {
  std::vector<DeviceModel> models(std::begin(kModels), std::end(kModels));
  const char* text = std::getenv(kMultiprocessorsVariable);
  if (text == nullptr) return models;
  constexpr long kMost = 1024;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || number < 1 || number > kMost) {
    std::fprintf(stderr, "heddle: the environment variable %s is '%s', no number from 1 to %ld\n",
                 kMultiprocessorsVariable, text, kMost);
    std::exit(1);
  }
  for (DeviceModel& model : models) model.multiprocessors = static_cast<int>(number);
  return models;
}

}  // namespace

const DeviceModel& ChosenDevice() {
  static const auto& models = *new std::vector<DeviceModel>(Models());
  const int target = CodeRegistry::Get().target();
  const DeviceModel* chosen = &models[0];
  for (const DeviceModel& model : models) {
    if (model.capability <= target) chosen = &model;
  }
  return *chosen;
}

}  // namespace heddle::cuda
