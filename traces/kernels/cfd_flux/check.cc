// The same balance of every element in double precision. Some 30 operations on numbers below 10: 1e-5.
#include "../check_support.h"

namespace {

struct State {
  double density, vx, vy, energy, pressure;
};

State At(const heddle::kernels::Elements<float>& state, uint64_t elements, uint64_t i) {
  State s = {};
  s.density = state[i];
  s.vx = state[elements + i] / s.density;
  s.vy = state[2 * elements + i] / s.density;
  s.energy = state[3 * elements + i];
  s.pressure = 0.4 * (s.energy - 0.5 * s.density * (s.vx * s.vx + s.vy * s.vy));
  return s;
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto neighbours = check.Find<int32_t>("neighbours");
  const auto normals = check.Find<float>("normals");
  const auto state = check.Find<float>("state");
  const auto flux = check.Find<float>("flux");
  const uint64_t n = state.count / 4;
  if (neighbours.count != 4 * n || normals.count != 8 * n || flux.count != 4 * n) {
    return check.Fail("the sizes of the buffers do not fit together");
  }
  int kinds[3] = {};
  for (uint64_t i = 0; i < n; ++i) {
    const State own = At(state.before, n, i);
    double sum[4] = {};
    for (uint64_t face = 0; face < 4; ++face) {
      const int32_t other = neighbours.before[face * n + i];
      const double nx = normals.before[2 * face * n + i];
      const double ny = normals.before[(2 * face + 1) * n + i];
      ++kinds[other < 0 ? -other : 0];
      if (other == -1) {
        sum[1] += own.pressure * nx;
        sum[2] += own.pressure * ny;
        continue;
      }
      State far = {1, 0.3, 0, 0, 1};
      far.energy = far.pressure / 0.4 + 0.5 * far.density * far.vx * far.vx;
      // An open end takes the far state alone, an inner face the mean of both.
      const State a = other == -2 ? far : own;
      const State b = other == -2 ? far : At(state.before, n, static_cast<uint64_t>(other));
      const double through = (nx * (a.vx + b.vx) + ny * (a.vy + b.vy)) / 2;
      const double pressure = (a.pressure + b.pressure) / 2;
      sum[0] += through * (a.density + b.density) / 2;
      sum[1] += through * (a.density * a.vx + b.density * b.vx) / 2 + pressure * nx;
      sum[2] += through * (a.density * a.vy + b.density * b.vy) / 2 + pressure * ny;
      sum[3] += through * ((a.energy + b.energy) / 2 + pressure);
    }
    for (uint64_t v = 0; v < 4; ++v) {
      if (!check.Near("flux", v * n + i, flux.after[v * n + i], sum[v], 1e-5, 10)) return check.result();
    }
  }
  if (kinds[0] == 0 || kinds[1] == 0 || kinds[2] == 0) return check.Fail("a kind of neighbour does not occur");
  return check.result();
}
