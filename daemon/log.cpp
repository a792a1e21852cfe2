// SPDX-License-Identifier: Apache-2.0
#include "core/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "core/text.h"
#include "log_setup.h"

namespace qpscope::log {
namespace {

// sd-daemon's "<4>" prefixes give the journal its levels (sd-daemon(3)); a terminal gets words instead.
class LevelPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view prefix = "<7>";
    if (message.level == spdlog::level::info) prefix = "<6>";
    if (message.level == spdlog::level::warn) prefix = "<4>";
    if (message.level >= spdlog::level::err) prefix = "<3>";
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelPrefix>(); }
};

void write(spdlog::level::level_enum level, std::string_view message) {
  if (!spdlog::default_logger_raw()->should_log(level)) return;
  const std::string safe = safe_message(message);
  spdlog::default_logger_raw()->log(level, spdlog::string_view_t(safe));
}

}  // namespace

void setup(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("qpscoped", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelPrefix>('*').set_pattern(isatty(STDERR_FILENO) ? "%H:%M:%S %l: %v" : "%*%v");
  logger->set_formatter(std::move(formatter));
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

void debug(std::string_view message) { write(spdlog::level::debug, message); }
void info(std::string_view message) { write(spdlog::level::info, message); }
void warning(std::string_view message) { write(spdlog::level::warn, message); }
void error(std::string_view message) { write(spdlog::level::err, message); }

}  // namespace qpscope::log
