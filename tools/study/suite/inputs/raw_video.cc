// Input raw_video: a grey film of rings that move, as an uncompressed AVI file.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Little-endian numbers.
void Append(std::string& bytes, uint64_t number, int size) {
  for (int byte = 0; byte < size; ++byte) bytes += static_cast<char>(number >> (8 * byte) & 255);
}

std::string Chunk(const std::string& name, const std::string& bytes) {
  std::string chunk = name;
  Append(chunk, bytes.size(), 4);
  chunk += bytes;
  if (bytes.size() % 2 != 0) chunk += char{0};
  return chunk;
}

std::string List(const std::string& name, const std::string& bytes) { return Chunk("LIST", name + bytes); }

// How far a pixel is from the nearest edge of what moves: of a ring about the middle, or of small discs.
double FromEdge(const InputSettings& set, uint64_t frame, uint64_t x, uint64_t y) {
  const auto distance = [&](double to_x, double to_y) {
    const double dx = static_cast<double>(x) - to_x;
    const double dy = static_cast<double>(y) - to_y;
    return std::sqrt(dx * dx + dy * dy);
  };
  const uint64_t width = set.at("width");
  const uint64_t height = set.at("height");
  const auto radius = static_cast<double>(set.at("radius"));
  const uint64_t phase = std::min(frame % 20, 20 - frame % 20);  // there and back
  if (set.at("discs") == 0) {
    const double size = static_cast<double>(std::min(width, height)) * (0.25 + 0.003 * static_cast<double>(phase));
    const double wanted = radius > 0 ? radius + static_cast<double>(phase) / 8 : size;
    return std::abs(distance(static_cast<double>(width) / 2, static_cast<double>(height) / 2) - wanted);
  }
  double nearest = radius;
  for (uint64_t disc = 0; disc < set.at("discs"); ++disc) {
    const double to_x = static_cast<double>(SplitMixHash(2 * disc) % width + phase);
    const double to_y = static_cast<double>(SplitMixHash(2 * disc + 1) % height);
    nearest = std::min(nearest, std::abs(distance(to_x, to_y) - radius));
  }
  return nearest;
}

// A frame: edges are bright, with noise.
std::string Frame(Random& random, const InputSettings& set, uint64_t number) {
  const uint64_t width = set.at("width");
  const uint64_t height = set.at("height");
  const double thick = set.at("discs") > 0 ? static_cast<double>(set.at("radius")) / 4
                                           : static_cast<double>(std::min(width, height)) / 20;
  std::string pixels;
  pixels.reserve(width * height);
  for (uint64_t y = 0; y < height; ++y) {
    for (uint64_t x = 0; x < width; ++x) {
      const uint64_t grey = (FromEdge(set, number, x, y) < thick ? 170 : 60) + random.Below(24);
      pixels += static_cast<char>(grey);
    }
  }
  return pixels;
}

std::string Make(Random& random, const InputSettings& set) {
  const uint64_t width = set.at("width");
  const uint64_t height = set.at("height");
  const uint64_t frames = set.at("frames");
  std::string main;
  for (const uint64_t word :
       {uint64_t{40000}, width * height * 25, uint64_t{0}, uint64_t{16}, frames, uint64_t{0}, uint64_t{1},
        width * height, width, height, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}}) {
    Append(main, word, 4);
  }
  std::string stream = "vidsDIB ";
  for (const uint64_t word : {uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{1}, uint64_t{25}, uint64_t{0}, frames,
                              width * height, uint64_t{10000}, uint64_t{0}}) {
    Append(stream, word, 4);
  }
  for (const uint64_t word : {uint64_t{0}, uint64_t{0}, width, height}) Append(stream, word, 2);
  std::string format;
  Append(format, 40 + 1024, 4);
  Append(format, width, 4);
  Append(format, height, 4);
  Append(format, 1, 2);
  Append(format, 8, 2);
  for (const uint64_t word : {uint64_t{0}, width * height, uint64_t{0}, uint64_t{0}, uint64_t{256}, uint64_t{0}}) {
    Append(format, word, 4);
  }
  for (uint64_t grey = 0; grey < 256; ++grey) Append(format, grey * 0x010101, 4);
  const std::string headers =
      List("hdrl", Chunk("avih", main) + List("strl", Chunk("strh", stream) + Chunk("strf", format)));
  std::string movie;
  std::string index;
  for (uint64_t frame = 0; frame < frames; ++frame) {
    index += "00db";
    Append(index, 16, 4);
    Append(index, movie.size() + 4, 4);
    Append(index, width * height, 4);
    movie += Chunk("00db", Frame(random, set, frame));
  }
  return Chunk("RIFF", "AVI " + headers + List("movi", movie) + Chunk("idx1", index));
}

HEDDLE_INPUT_GENERATOR(.name = "raw_video",
                       .what = "uncompressed AVI, 8-bit grey: edges of a ring or of discs that move, with noise",
                       .parameters = {{"width", "pixels", 64, 4, 4096},
                                      {"height", "pixels", 64, 4, 4096},
                                      {"frames", "frames", 4, 1, 1024},
                                      {"discs", "small discs; 0 = one ring in the middle", 0, 0, 1000},
                                      {"radius", "of them, pixels; of the ring 0 = a quarter of the picture", 0, 0,
                                       1024}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
