// SPDX-License-Identifier: GPL-3.0-or-later
// splan's columns: one table for node classes, one for jobs. A new column is one entry in columns.cc (and a line in
// doc/splan.1): -o, the header, --json and --help know it from there.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/splan/view.h"

namespace squall::splan {

enum class Tone { plain, good, warn, bad, dim };  // colour on a terminal

struct Cell {
    std::string text;
    Tone tone = Tone::plain;
};

template <typename Row>
struct Column {
    const char* name;  // for -o, in lower case
    char letter;       // for -o "%10x", '\0' = none
    const char* header;
    int width;  // at least; 0 = as wide as its longest cell
    bool right;
    const char* help;
    std::function<Cell(const Row&, const View&)> cell;
};

const std::vector<Column<ClassRow>>& class_columns();
const std::vector<Column<JobLine>>& job_columns();

inline constexpr const char* kClassDefault = "class,type,nodes,on,gpus,used,shared,where,cost";
inline constexpr const char* kJobDefault = "jobid,name,user,state,due,slack,config,where,start,end,cost";

// A slack or a span: "+3:25", "-12:00", "2-04:00:00".
std::string short_span(Seconds s);

}  // namespace squall::splan
