// SPDX-License-Identifier: GPL-3.0-or-later
// Random numbers that are the same on every machine, which the distributions of <random> do not promise. Used by the
// generator of problems, by runtime errors and by failures.
#pragma once
#include <cmath>
#include <cstdint>

namespace squall::sim {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    double between(double least, double most) { return least + (most - least) * unit(); }
    double log_between(double least, double most) { return least * std::exp(unit() * std::log(most / least)); }
    double exponential(double mean) { return -mean * std::log1p(-unit()); }
    int whole(int least, int most) {
        return least + static_cast<int>(next() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool chance(int percent) { return whole(1, 100) <= percent; }

  private:
    std::uint64_t next() {  // splitmix64
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

}  // namespace squall::sim
