// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers that Python's random.Random(seed) gives, so that published instances made with it can be made here: the
// Mersenne twister as Matsumoto and Nishimura describe it, seeded by an array. For make_csv3() alone.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace squall::sim {

class PythonRandom {
  public:
    explicit PythonRandom(std::uint64_t seed) {
        std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(seed)};
        if (seed >> 32 != 0) key.push_back(static_cast<std::uint32_t>(seed >> 32));
        seed_by_array(key);
    }
    double random() {
        std::uint32_t a = next() >> 5, b = next() >> 6;
        return (a * 67108864.0 + b) / 9007199254740992.0;
    }
    double uniform(double least, double most) { return least + (most - least) * random(); }
    double expovariate(double rate) { return -std::log(1.0 - random()) / rate; }
    int below(int n) {  // as choice() picks an index
        int bits = 0;
        while (n >> bits != 0) ++bits;
        std::uint32_t value = next() >> (32 - bits);
        while (value >= static_cast<std::uint32_t>(n)) value = next() >> (32 - bits);
        return static_cast<int>(value);
    }

  private:
    static constexpr std::size_t kSize = 624, kShift = 397;

    void seed_by_array(const std::vector<std::uint32_t>& key) {
        state_[0] = 19650218u;
        for (std::size_t i = 1; i < kSize; ++i)
            state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
        std::size_t i = 1, k = 0;
        auto step = [&](std::uint32_t factor) {
            state_[i] = state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor);
        };
        auto advance = [&] {
            if (++i < kSize) return;
            state_[0] = state_[kSize - 1];
            i = 1;
        };
        for (std::size_t n = std::max(kSize, key.size()); n > 0; --n) {
            step(1664525u);
            state_[i] += key[k] + static_cast<std::uint32_t>(k);
            advance();
            k = (k + 1) % key.size();
        }
        for (std::size_t n = kSize - 1; n > 0; --n) {
            step(1566083941u);
            state_[i] -= static_cast<std::uint32_t>(i);
            advance();
        }
        state_[0] = 0x80000000u;
        at_ = kSize;
    }

    std::uint32_t next() {
        if (at_ == kSize) {
            for (std::size_t i = 0; i < kSize; ++i) {
                std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
                state_[i] = state_[(i + kShift) % kSize] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0u);
            }
            at_ = 0;
        }
        std::uint32_t y = state_[at_++];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680u;
        y ^= (y << 15) & 0xefc60000u;
        return y ^ (y >> 18);
    }

    std::array<std::uint32_t, kSize> state_{};
    std::size_t at_ = kSize;
};

}  // namespace squall::sim
