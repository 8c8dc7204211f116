// SPDX-License-Identifier: Apache-2.0

// CONFIG GET and CONFIG SET over the option table; see live_config.hpp. A change is prepared on a
// copy, so that a refused one leaves nothing behind.

#include "server/live_config.hpp"

#include <set>

#include "resp/glob.hpp"
#include "server/config_redis.hpp"
#include "server/config_table.hpp"

namespace nidus::server {
namespace {

tl::unexpected<Error> refused(std::string_view name, std::string_view why) {
  return fail("CONFIG SET failed (possibly related to argument '" + std::string(name) + "') - " +
              std::string(why));
}

bool any_matches(const std::vector<std::string_view>& patterns, std::string_view name) {
  for (const std::string_view pattern : patterns) {
    if (resp::glob_match(pattern, name, true)) return true;
  }
  return false;
}

std::string_view shown_name(const Option& option) {
  return option.redis_name.empty() ? option.name : option.redis_name;
}

Expected<void> set_option(const Option& option, std::string_view name, std::string_view value,
                          Config& config) {
  if (!option.changeable) return refused(name, "can't set immutable config");
  if (!option.parse(config, value)) return refused(name, option.redis_complaint());
  return {};
}

Expected<void> set_redis_setting(const RedisSetting& setting, std::string_view name,
                                 std::string_view value,
                                 std::map<std::string, std::string, std::less<>>& inert) {
  if (setting.fixed_because.empty()) {
    inert[std::string(setting.name)] = value;
    return {};
  }
  // Test-suites set what is already so.
  if (lower_case(value) != setting.value) return refused(name, setting.fixed_because);
  return {};
}

}  // namespace

LiveConfig::LiveConfig(Config config) : config_(std::make_shared<const Config>(std::move(config))) {
  for (const RedisSetting& setting : redis_settings()) {
    inert_.emplace(setting.name, setting.value);
  }
}

std::shared_ptr<const Config> LiveConfig::current() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

void LiveConfig::get(const std::vector<std::string_view>& patterns,
                     const std::function<void(std::string_view, std::string_view)>& visit) const {
  std::vector<std::pair<std::string, std::string>> found;
  {
    const std::lock_guard lock(mutex_);
    for (const Option& option : options()) {
      if (!any_matches(patterns, shown_name(option))) continue;
      found.emplace_back(shown_name(option), option.format(*config_, Form::kRedis));
    }
    for (const auto& [name, value] : inert_) {
      if (any_matches(patterns, name)) found.emplace_back(name, value);
    }
  }
  for (const auto& [name, value] : found) visit(name, value);
}

Expected<void> LiveConfig::set(
    const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<Config>(*config_);
  auto inert = inert_;
  std::set<std::string_view> seen;
  for (const auto& [name, value] : values) {
    const Option* option = find_option(name);
    const RedisSetting* setting = option == nullptr ? find_redis_setting(name) : nullptr;
    if (option == nullptr && setting == nullptr) {
      return fail("Unknown option or number of arguments for CONFIG SET - '" + std::string(name) +
                  "'");
    }
    if (!seen.insert(option != nullptr ? option->name : setting->name).second) {
      return refused(name, "duplicate parameter");
    }
    auto done = option != nullptr ? set_option(*option, name, value, *changed)
                                  : set_redis_setting(*setting, name, value, inert);
    if (!done) return done;
  }
  config_ = std::move(changed);
  inert_ = std::move(inert);
  for (const auto& apply : apply_) apply(*config_);
  // release: pairs with version()'s acquire; who sees it finds the new Config
  version_.fetch_add(1, std::memory_order_release);
  return {};
}

void LiveConfig::on_change(std::function<void(const Config&)> apply) {
  const std::lock_guard lock(mutex_);
  apply_.push_back(std::move(apply));
}

}  // namespace nidus::server
