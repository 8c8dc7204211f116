// SPDX-License-Identifier: Apache-2.0

// The sources of settings: which one wins, and what each says about a mistake.

#include "server/config_load.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "server/config_table.hpp"

namespace nidus::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class ConfigLoad : public testing::Test {
 protected:
  ConfigLoad() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nidus-config-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ConfigLoad() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::string path = (folder_ / "nidus.toml").string();
    std::ofstream(path) << text;
    return path;
  }
  std::string error_of_file(const std::string& text) { return error_of({file(text), {}, {}}); }
  static std::string error_of(const LoadRequest& request) {
    const auto loaded = load_config(request);
    return loaded ? "no error" : loaded.error().message;
  }

  std::filesystem::path folder_;
};

TEST_F(ConfigLoad, WithNoSourceGivesTheDefaults) {
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.port, 6379);
  EXPECT_EQ(loaded->config.http_port, 8379);
  EXPECT_TRUE(loaded->config.protected_mode);
  EXPECT_EQ(loaded->source("port"), Source::kDefault);
}

TEST_F(ConfigLoad, AFlagBeatsTheEnvironmentBeatsTheFile) {
  const std::string path =
      file("port = 1111\nthreads = 1\nmax-clients = 1\nmemory-limit = \"1mb\"\n");
  const auto loaded =
      load_config({path,
                   {{"NIDUS_PORT", "2222"}, {"NIDUS_THREADS", "2"}, {"NIDUS_MAXCLIENTS", "2"}},
                   {{"port", "3333"}, {"threads", "3"}}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.port, 3333);
  EXPECT_EQ(loaded->config.threads, 3);
  EXPECT_EQ(loaded->config.max_clients, 2u);
  EXPECT_EQ(loaded->config.memory_limit_bytes, 1u << 20);
  EXPECT_EQ(loaded->source("port"), Source::kFlag);
  EXPECT_EQ(loaded->source("max-clients"), Source::kEnvironment);
  EXPECT_EQ(loaded->source("memory-limit"), Source::kFile);
}

TEST_F(ConfigLoad, TheFileTakesTomlTypesAndRedisNames) {
  const auto loaded = load_config({file("bind = [\"127.0.0.1\", \"-::1\"]\n"
                                        "maxmemory = 1048576\n"
                                        "maxmemory-policy = \"allkeys-lru\"\n"
                                        "protected-mode = false\n"
                                        "idle-timeout = \"5m\"\n"
                                        "unix-socket-permissions = \"0770\"\n"),
                                   {},
                                   {}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.bind, (std::vector<std::string>{"127.0.0.1", "-::1"}));
  EXPECT_EQ(loaded->config.memory_limit_bytes, 1u << 20);
  EXPECT_EQ(loaded->config.policy, engine::Policy::kAllKeysLru);
  EXPECT_FALSE(loaded->config.protected_mode);
  EXPECT_EQ(loaded->config.idle_timeout, std::chrono::minutes(5));
  EXPECT_EQ(loaded->config.unix_socket_permissions, 0770u);
}

TEST_F(ConfigLoad, AnUnknownNameIsAnErrorWithFileAndLine) {
  EXPECT_THAT(
      error_of_file("port = 7000\n\nmemry-limit = \"1gb\"\n"),
      EndsWith("nidus.toml:3: unknown setting 'memry-limit'; did you mean 'memory-limit'?"));
  EXPECT_THAT(error_of_file("[server]\nport = 1\n"),
              HasSubstr("nidus.toml:1: unknown setting 'server'"));
}

TEST_F(ConfigLoad, ABadValueIsAnErrorWithFileAndLine) {
  EXPECT_THAT(error_of_file("threads = 2\nmemory-limit = \"64xb\"\n"),
              EndsWith("nidus.toml:2: memory-limit: '64xb' is not a size such as 512mb"));
  EXPECT_THAT(error_of_file("port = true\n"), HasSubstr("nidus.toml:1: port: 'yes' is not a port"));
  EXPECT_THAT(error_of_file("port = 1.5\n"), HasSubstr("nidus.toml:1: port must be a port"));
  EXPECT_THAT(error_of_file("port = 65536\n"), HasSubstr("nidus.toml:1: port"));
}

TEST_F(ConfigLoad, BrokenTomlIsAnErrorWithFileAndLine) {
  EXPECT_THAT(error_of_file("port = 7000\nthreads == 2\n"), HasSubstr("nidus.toml:2: "));
}

TEST_F(ConfigLoad, TheFirstErrorOfTheFileIsTheOneReported) {
  EXPECT_THAT(error_of_file("zebra = 1\napple = 2\n"), HasSubstr("nidus.toml:1: unknown"));
}

TEST_F(ConfigLoad, AnOptionUnderBothItsNamesIsAnError) {
  EXPECT_THAT(error_of_file("memory-limit = 1\nmaxmemory = 2\n"),
              HasSubstr("nidus.toml:2: memory-limit is set twice"));
}

TEST_F(ConfigLoad, AMissingFileIsAnErrorThatSaysWhy) {
  EXPECT_THAT(error_of({"/nonexistent/nidus.toml", {}, {}}),
              HasSubstr("/nonexistent/nidus.toml: cannot read the configuration file: No such"));
  EXPECT_THAT(error_of({folder_.string(), {}, {}}), HasSubstr("cannot read"));
}

TEST_F(ConfigLoad, TheEnvironmentMayNameTheFile) {
  const auto loaded = load_config({"", {{"NIDUS_CONFIG", file("port = 7001\n")}}, {}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.port, 7001);
}

TEST_F(ConfigLoad, MistakesInTheEnvironmentNameTheVariable) {
  EXPECT_THAT(error_of({"", {{"NIDUS_PROT", "1"}}, {}}),
              HasSubstr("NIDUS_PROT: unknown setting 'prot'; did you mean 'port'?"));
  EXPECT_THAT(error_of({"", {{"NIDUS_PORT", "tcp://10.0.0.1:6379"}}, {}}),
              HasSubstr("enableServiceLinks"));
  EXPECT_EQ(error_of({"", {{"NIDUS_TEST_SEED", "1"}}, {}}), "no error");
}

TEST_F(ConfigLoad, NothingToListenOnIsAnError) {
  EXPECT_THAT(error_of({"", {}, {{"port", "0"}}}), HasSubstr("nothing to listen on"));
  EXPECT_EQ(error_of({"", {}, {{"port", "0"}, {"unix-socket", "/tmp/s"}}}), "no error");
}

TEST_F(ConfigLoad, APasswordIsNeverPartOfAnErrorOrOfThePrintedFile) {
  const std::string secret("swor\0dfish", 10);
  EXPECT_THAT(error_of({"", {}, {{"requirepass", secret}}}), Not(HasSubstr("swor")));
  const auto loaded = load_config({"", {}, {{"requirepass", "swordfish"}}});
  ASSERT_TRUE(loaded);
  EXPECT_THAT(print_config(*loaded), Not(HasSubstr("swordfish")));
  EXPECT_THAT(print_config(*loaded), HasSubstr("# set, and not shown: requirepass"));
}

TEST_F(ConfigLoad, ThePrintedFileGivesTheSameSettingsAgain) {
  const NamedValues flags{
      {"port", "7002"},           {"memory-limit", "64mb"},       {"policy", "lfu"},
      {"log-file", "a \"b\"\\c"}, {"output-limit", "1mb 1kb 3s"}, {"bind", "0.0.0.0 -::"},
      {"http-port", "any"},       {"protected-mode", "no"}};
  const auto first = load_config({"", {}, flags});
  ASSERT_TRUE(first) << first.error().message;
  const auto second = load_config({file(print_config(*first)), {}, {}});
  ASSERT_TRUE(second) << second.error().message;
  for (const Option& option : options()) {
    EXPECT_EQ(option.format(first->config, Form::kToml), option.format(second->config, Form::kToml))
        << option.name;
  }
  EXPECT_EQ(print_config(*first), print_config(*second));
}

TEST_F(ConfigLoad, ReadsTheVariablesOfThisProcess) {
  ASSERT_EQ(::setenv("NIDUS_MAX_CLIENTS", "12", 1), 0);
  const NamedValues found = nidus_environment();
  ::unsetenv("NIDUS_MAX_CLIENTS");
  EXPECT_THAT(found,
              testing::Contains(std::pair<std::string, std::string>("NIDUS_MAX_CLIENTS", "12")));
}

}  // namespace
}  // namespace nidus::server
