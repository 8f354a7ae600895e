// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of squall.conf's keys: name, what it sets, what is accepted. A new key is one line here and one
// paragraph in doc/squall.conf.5. Used by conf.cc.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/core/conf.h"

namespace squall {

// Returns "" or what is accepted ("a whole number from 1 to 64").
template <typename T>
struct ConfKey {
    const char* name;
    std::string (*set)(T&, const std::string& value);
};

const std::vector<ConfKey<Conf>>& global_keys();
const std::vector<ConfKey<NodeClassConf>>& node_class_keys();
const std::vector<ConfKey<PartitionConf>>& partition_keys();
const std::vector<ConfKey<ProfileConf>>& profile_keys();
const std::vector<ConfKey<GroupConf>>& group_keys();
const std::vector<ConfKey<OfferConf>>& offer_keys();
const std::vector<ConfKey<AccountConf>>& account_keys();

// The known name nearest to what was written, for "did you mean"; "" = none is near.
std::string nearest_word(std::string_view written, const std::vector<std::string>& known);

}  // namespace squall
