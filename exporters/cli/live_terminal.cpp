// SPDX-License-Identifier: Apache-2.0
#include "live_terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace qpscope::cli {
namespace {

// xterm's private modes: the other screen (1049), the cursor (25), wrapping at the end of a line (7).
constexpr std::string_view kTake = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kGive = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};

// Of handlers: written before any of them is set.
termios g_found, g_taken;
volatile sig_atomic_t g_is_taken = 0;

// Calls that are safe in a handler only.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void take() {
  tcsetattr(STDIN_FILENO, TCSANOW, &g_taken);
  write_all(kTake);
  g_is_taken = 1;
}

void give() {
  if (!g_is_taken) return;
  g_is_taken = 0;
  write_all(kGive);
  tcsetattr(STDIN_FILENO, TCSANOW, &g_found);
}

// The process ends as if there were no handler, so that who started it sees by what.
void end_by(int number) {
  give();
  signal(number, SIG_DFL);
  raise(number);
}

void stop(int) {
  const int before = errno;
  give();
  raise(SIGSTOP);
  take();
  errno = before;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

sigset_t redraw_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGWINCH);
  sigaddset(&signals, SIGCONT);
  return signals;
}

}  // namespace

bool LiveTerminal::possible() { return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO); }

LiveTerminal::LiveTerminal() {
  tcgetattr(STDIN_FILENO, &g_found);
  g_taken = g_found;
  g_taken.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  g_taken.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // lines end as draw() ends them
  g_taken.c_cc[VMIN] = 1;
  g_taken.c_cc[VTIME] = 0;
  const sigset_t signals = redraw_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  resized_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  for (const int number : kEnding) handle(number, end_by);
  handle(SIGTSTP, stop);
  take();
}

LiveTerminal::~LiveTerminal() {
  give();
  for (const int number : kEnding) signal(number, SIG_DFL);
  signal(SIGTSTP, SIG_DFL);
  close(resized_);
}

void LiveTerminal::draw(const std::vector<std::string>& lines) {
  std::string out = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) (out += i ? "\r\n" : "") += lines[i] + "\x1b[K";
  write_all(out + "\x1b[J");
}

std::optional<std::string> LiveTerminal::wait(std::chrono::milliseconds at_most) {
  std::array<pollfd, 2> waiting{{{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = resized_, .events = POLLIN}}};
  if (poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count())) <= 0) return std::string();
  signalfd_siginfo ignored{};
  while (read(resized_, &ignored, sizeof ignored) > 0) continue;
  if (!waiting[0].revents) return std::string();
  std::array<char, 256> typed{};
  const ssize_t size = read(STDIN_FILENO, typed.data(), typed.size());
  if (size > 0) return std::string(typed.data(), static_cast<std::size_t>(size));
  return size < 0 && errno == EINTR ? std::optional(std::string()) : std::nullopt;
}

}  // namespace qpscope::cli
