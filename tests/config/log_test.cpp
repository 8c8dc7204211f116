// SPDX-License-Identifier: Apache-2.0

// The lines of the log: both formats, their escaping, levels, files.

#include "server/log.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace nidus::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Log, TextQuotesWhatIsNotAPlainWord) {
  EXPECT_EQ(format_event(LogFormat::kText, "client is cut off",
                         {{"address", "127.0.0.1:5"}, {"bytes", 12}, {"why", "too slow"}}),
            R"(client is cut off address=127.0.0.1:5 bytes=12 why="too slow")");
}

TEST(Log, AClientCannotForgeALine) {
  EXPECT_EQ(format_event(LogFormat::kText, "m", {{"name", "x\nerror y"}}),
            R"(m name="x\nerror y")");
  EXPECT_EQ(format_event(LogFormat::kJson, "m", {{"name", "\",\"a\":1\n"}, {"n", 5}}),
            R"("message":"m","name":"\",\"a\":1\n","n":5)");
}

TEST(Log, WritesToTheFileWhatItsLevelLetsThrough) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("nidus-log-" + std::to_string(::getpid()) + ".log"))
                               .string();
  ASSERT_TRUE(open_log(LogLevel::kWarning, LogFormat::kJson, path));
  log_info("not seen");
  log_warning("seen {}", {{"n", 1}});
  set_log_level(LogLevel::kDebug);
  log_debug("seen too");
  ASSERT_TRUE(open_log(LogLevel::kInfo, LogFormat::kText, ""));

  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_THAT(text.str(),
              MatchesRegex("\\{\"time\":\"[0-9T:.+-]+\",\"level\":\"warning\",\"message\":\"seen "
                           "\\{\\}\",\"n\":1\\}\n.*\"level\":\"debug\",\"message\":\"seen "
                           "too\"\\}\n"));
}

TEST(Log, AFileThatCannotBeOpenedIsAnError) {
  const auto opened = open_log(LogLevel::kInfo, LogFormat::kText, "/dev/null/nidus.log");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("/dev/null/nidus.log"));
}

}  // namespace
}  // namespace nidus::server
