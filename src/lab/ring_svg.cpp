// SPDX-License-Identifier: Apache-2.0

// Draws arcs: one <path> a node, with a subpath for each of its arcs, so that a ring of many tokens
// stays small. Position 0 is at the top, the circle goes clockwise. See ring_svg.hpp.

#include "lab/ring_svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "lab/ring_measure.hpp"

namespace nidus::lab {
namespace {

using ring::Arc;
using ring::NodeIndex;

constexpr double kCentre = 260, kRadius = 200, kMovedRadius = 238;
constexpr int kLegendRow = 22;

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string point(double turn, double radius) {
  const double angle = 2 * std::numbers::pi * turn;
  return number("%.2f", kCentre + radius * std::sin(angle)) + " " +
         number("%.2f", kCentre - radius * std::cos(angle));
}

// A subpath along the circle; a whole turn is two halves, since an arc that ends where it begins is
// none.
std::string arc_path(std::uint64_t from, std::uint64_t to, double radius) {
  const double length = from == to ? 1 : static_cast<double>(to - from) * 0x1p-64;
  const double start = static_cast<double>(from) * 0x1p-64;
  const std::string shape = "A" + number("%g", radius) + " " + number("%g", radius) + " 0 0 1 ";
  std::string path = "M" + point(start, radius);
  const int pieces = length > 0.5 ? 2 : 1;
  for (int i = 1; i <= pieces; ++i) path += shape + point(start + length * i / pieces, radius);
  return path;
}

// Hues a golden angle apart: neighbours by name are far apart in colour, however many there are.
std::string colour(NodeIndex node) {
  const double hue = std::fmod(node * 137.508, 360);
  return "hsl(" + number("%.0f", hue) + " 65% " + (node % 2 == 0 ? "48%" : "62%") + ")";
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// Neighbours of one node are one arc.
std::vector<Arc> merged(const std::vector<Arc>& arcs) {
  std::vector<Arc> result;
  for (const Arc& arc : arcs) {
    if (!result.empty() && result.back().node == arc.node && result.back().to == arc.from) {
      result.back().to = arc.to;
    } else {
      result.push_back(arc);
    }
  }
  return result;
}

NodeIndex owner_at(const std::vector<Arc>& arcs, std::uint64_t position) {
  const auto at = std::lower_bound(arcs.begin(), arcs.end(), position,
                                   [](const Arc& arc, std::uint64_t p) { return arc.to < p; });
  return at == arcs.end() ? arcs.front().node : at->node;
}

std::string moved_path(const Model& before, const Model& after) {
  const auto old = *before.arcs(), now = *after.arcs();
  if (old.empty()) return arc_path(0, 0, kMovedRadius);
  std::vector<std::uint64_t> ends;
  for (const Arc& arc : old) ends.push_back(arc.to);
  for (const Arc& arc : now) ends.push_back(arc.to);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::string path;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string& was = before.nodes()[owner_at(old, ends[i])].name;
    if (was == after.nodes()[owner_at(now, ends[i])].name) continue;
    path += arc_path(ends[(i + ends.size() - 1) % ends.size()], ends[i], kMovedRadius);
  }
  return path;
}

std::string stroke(const std::string& path, const std::string& paint, int width,
                   const std::string& title) {
  return "<path d=\"" + path + "\" stroke=\"" + paint + "\" stroke-width=\"" +
         std::to_string(width) + "\"><title>" + escaped(title) + "</title></path>\n";
}

}  // namespace

Expected<std::string> ring_svg(const RingAnswer& answer) {
  const Model& model = answer.last();
  const auto all = model.arcs();
  if (!all) return fail("placement '" + std::string(model.name()) + "' has no ring to draw");
  if (all->empty()) return fail("there are no nodes to draw");
  const std::size_t n = model.nodes().size();
  const auto shares = shares_of(*all, n);
  std::vector<std::string> paths(n);
  for (const Arc& arc : merged(*all)) paths[arc.node] += arc_path(arc.from, arc.to, kRadius);
  std::string arcs, legend;
  for (NodeIndex i = 0; i < n; ++i) {
    const std::string& name = model.nodes()[i].name;
    const std::string label = name + "  " + number("%.1f", 100 * shares[i]) + " %";
    arcs += stroke(paths[i], colour(i), 50, label);
    const int y = 40 + kLegendRow * i;
    legend += "<rect x=\"540\" y=\"" + std::to_string(y - 12) +
              "\" width=\"14\" height=\"14\" fill=\"" + colour(i) + "\"/><text x=\"562\" y=\"" +
              std::to_string(y) + "\">" + escaped(label) + "</text>\n";
  }
  if (answer.after) arcs += stroke(moved_path(*answer.before, model), "#333", 8, "moved");
  const int height = std::max(520, 60 + kLegendRow * static_cast<int>(n));
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 840 " + std::to_string(height) +
         "\" font-family=\"sans-serif\" font-size=\"14\">\n<title>" + std::string(model.name()) +
         " of " + std::to_string(n) + " nodes</title>\n<g fill=\"none\">\n" + arcs + "</g>\n" +
         legend + "</svg>\n";
}

}  // namespace nidus::lab
