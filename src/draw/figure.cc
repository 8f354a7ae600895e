// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/figure.h"

#include <fmt/format.h>

#include "src/draw/text.h"

namespace squall::draw {
namespace {

std::string key_html(const Key& key) {
    const char* mark = key.line ? "<line x1=\"0\" y1=\"6\" x2=\"14\" y2=\"6\" class=\"{}\"/>"
                                : "<rect width=\"14\" height=\"12\" class=\"{}\"/>";
    return fmt::format("<li><svg width=\"14\" height=\"12\" aria-hidden=\"true\">{}</svg> {}</li>",
                       fmt::format(fmt::runtime(mark), key.classes()), escape(key.name));
}

std::string row_html(const std::vector<std::string>& cells) {
    std::string text = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
        text += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", escape(cells[i]))
                       : fmt::format("<td>{}</td>", escape(cells[i]));
    return text + "</tr>\n";
}

}  // namespace

std::string Key::classes() const {
    return fmt::format("t{}{}{}{}", tone, hatched ? " hatched" : "", line ? " curve" : "", dashed ? " dashed" : "");
}

std::string table_html(const Table& table, const std::string& caption) {
    std::string text = fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"{0}\"><table><caption>{0}</caption>\n<thead><tr>",
        escape(caption));
    for (const auto& cell : table.header) text += fmt::format("<th scope=\"col\">{}</th>", escape(cell));
    text += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) text += row_html(row);
    return text + "</tbody></table></div>\n";
}

std::string figure_html(const Figure& figure) {
    std::string text = fmt::format("<figure>\n<figcaption>{}</figcaption>\n", escape(figure.title));
    if (!figure.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", escape(figure.note));
    if (figure.keys.size() > 1) {
        text += "<ul class=\"key\">";
        for (const auto& key : figure.keys) text += key_html(key);
        text += "</ul>\n";
    }
    text += figure.svg + "<p class=\"readout\" aria-hidden=\"true\">&nbsp;</p>\n";
    if (!figure.table.rows.empty())
        text += "<details><summary>The same as a table</summary>\n" + table_html(figure.table, figure.title) +
                "</details>\n";
    return text + "</figure>\n";
}

}  // namespace squall::draw
