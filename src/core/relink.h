// SPDX-License-Identifier: GPL-3.0-or-later
// Path relinking (Glover, Laguna and Martí, Control and Cybernetics 29, 2000): walk from one good plan towards another,
// one job's configuration and place at a time, and keep the best plan on the way.
#pragma once
#include <random>

#include "src/core/sequence.h"

namespace squall {

// Leaves `from` at the best plan met, itself included. True where that is better than it was.
bool relink(Sequence& from, const Sequence& to, const Shops& shops, std::mt19937_64& random);

}  // namespace squall
