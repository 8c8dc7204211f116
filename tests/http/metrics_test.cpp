// SPDX-License-Identifier: Apache-2.0

// /metrics: the rules that promtool checks, held by every family; and the figures themselves.

#include "http/metrics.hpp"

#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nidus::http {
namespace {

using testing::HasSubstr;

Figures some_figures() {
  Figures figures;
  figures.version = "1.2.3";
  figures.databases = {{0, 12345678901ull, 7}, {3, 1, 0}};
  figures.hits = 11;
  figures.item_bytes = 1024;
  figures.cpu_user_s = 0.25;
  return figures;
}

std::map<std::string, std::string> lines_of(const std::string& text, const std::string& kind) {
  std::map<std::string, std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# " + kind + " ")) continue;
    const std::size_t name = kind.size() + 3, end = line.find(' ', name);
    const bool fresh = found.emplace(line.substr(name, end - name), line.substr(end + 1)).second;
    EXPECT_TRUE(fresh) << line << " stands there twice";
  }
  return found;
}

TEST(Metrics, EveryFamilyHasHelpAndType) {
  const std::string text = metrics_text(some_figures());
  const auto help = lines_of(text, "HELP");
  const auto type = lines_of(text, "TYPE");
  EXPECT_GT(help.size(), 20u);
  EXPECT_EQ(help.size(), type.size());
  for (const auto& [name, sentence] : help) {
    EXPECT_TRUE(type.contains(name)) << name;
    EXPECT_TRUE(sentence.ends_with(".")) << name << ": " << sentence;
  }
}

TEST(Metrics, NamesFollowTheRulesOfPromtool) {
  for (const auto& [name, type] : lines_of(metrics_text(some_figures()), "TYPE")) {
    EXPECT_TRUE(name.starts_with("nidus_")) << name;
    EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
    for (const char* wrong : {"_ms", "_milliseconds", "_kb", "_mb", "_count", "_sum", "_bucket",
                              "_counter", "_gauge"}) {
      EXPECT_EQ(name.find(wrong + std::string("_")), std::string::npos) << name;
      EXPECT_FALSE(name.ends_with(wrong)) << name;
    }
  }
}

TEST(Metrics, EverySampleIsUnique) {
  std::set<std::string> seen;
  std::istringstream lines(metrics_text(some_figures()));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
}

TEST(Metrics, FiguresAreWrittenInFull) {
  const std::string text = metrics_text(some_figures());
  EXPECT_THAT(text, HasSubstr("nidus_keys{database=\"0\"} 12345678901\n"));
  EXPECT_THAT(text, HasSubstr("nidus_expiring_keys{database=\"3\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("nidus_keyspace_hits_total 11\n"));
  EXPECT_THAT(text, HasSubstr("nidus_memory_used_bytes{part=\"items\"} 1024\n"));
  EXPECT_THAT(text, HasSubstr("nidus_cpu_seconds_total{mode=\"user\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("nidus_build_info{version=\"1.2.3\"} 1\n"));
}

}  // namespace
}  // namespace nidus::http
