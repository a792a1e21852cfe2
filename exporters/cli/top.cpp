// SPDX-License-Identifier: Apache-2.0
#include "top.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "live_terminal.h"

namespace qpscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostRows = 20000;  // queue pairs; `qpscope qps` has them all
constexpr int kShare = 10;                // at most a tenth of the time is spent asking: ten thousand queue pairs cost the daemon something

struct Answers {
  Json status, list;
};

Outcome<Answers> ask(Client& client, TopView view) {
  const std::string list = kTopViews[static_cast<std::size_t>(view)], path = "/api/v1/" + list;
  auto status = client.get("/api/v1/status", {});
  if (!status) return std::unexpected(std::move(status.error()));
  auto rows = view == TopView::qps ? client.get_pages(path, list, {}, kMostRows) : client.get_list(path, list, {});
  if (!rows) return std::unexpected(std::move(rows.error()));
  return Answers{std::move(*status), std::move(*rows)};
}

Outcome<Exit> once(Session& session, TopModel& model, const TopOptions& options) {
  while (true) {
    const auto answers = ask(session.client, model.view());
    if (!answers) return std::unexpected(answers.error());
    if (options.json) return finish(json_text(answers->list));
    model.show(answers->status, answers->list);
    if (model.has_rates()) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
  std::string out;
  for (const std::string& line : model.lines(session.screen)) out += line + "\n";
  return finish(out);
}

// Until somebody quits.
void watch(Session& session, TopModel& model, const std::chrono::duration<double> interval) {
  LiveTerminal terminal;
  auto next = Clock::now();
  while (true) {
    if (const auto now = Clock::now(); now >= next && !model.paused()) {
      if (const auto answers = ask(session.client, model.view())) {
        model.show(answers->status, answers->list);
      } else {
        model.fail(answers.error().message);
      }
      const auto after = Clock::now();
      next = after + std::max(std::chrono::duration_cast<Clock::duration>(interval), kShare * (after - now));
    }
    terminal.draw(model.lines(screen_of(STDOUT_FILENO)));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    const auto typed = terminal.wait(model.paused() ? std::chrono::hours(1) : std::max(left, std::chrono::milliseconds(0)));
    if (!typed) return;
    for (const Key key : keys_of(*typed)) {
      if (key == Key::quit) return;
      if (model.press(key)) next = Clock::now();
    }
  }
}

}  // namespace

Outcome<Exit> top(Session& session, const TopOptions& options) {
  TopModel model(options.view);
  if (!options.sort.empty() && !model.sort_by(options.sort)) {
    std::string names;
    for (const std::string& name : TopModel::sort_names(options.view)) names += " " + name;
    return std::unexpected(Failure{kUsage, "--sort: no column \"" + options.sort + "\"; there are" + names});
  }
  if (options.json || !LiveTerminal::possible()) return once(session, model, options);
  if (const auto there = session.client.get("/api/v1/status", {}); !there) return std::unexpected(there.error());  // said where it stays to be read
  watch(session, model, std::chrono::duration<double>(options.interval));
  return kDone;
}

}  // namespace qpscope::cli
