// SPDX-License-Identifier: Apache-2.0
// A device's folder in sysfs, made and changed by the lines of the input, and all collectors over it:
//
//   ports/1/rate=400 Gb/sec (4X NDR)   a file below the device's folder
//   ports/1/hw_counters/               a folder
//   device/driver->../../mlx5_core     a symbolic link
//   -ports/1                           not there any more
//   >1000                              so many milliseconds later every collector runs
//   !                                  the daemon starts again with its state file
//
// Totals must never fall, whatever the files say, and every page must read back.
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "collectors/counter_folder.h"
#include "collectors/registry.h"
#include "core/state_image.h"
#include "exporters/prometheus.h"
#include "fuzz/fuzz.h"
#include "fuzz/page_parser.h"
#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using fuzz::check;

namespace {

constexpr std::size_t kMostLines = 128, kMostPasses = 12, kMostPath = 200;

class Site {
 public:
  void line(std::string_view text) {
    if (text.starts_with('>')) return pass(text.substr(1));
    if (text == "!") return restart();
    std::error_code refused;  // a name that is too long, a file where a folder should be
    if (text.starts_with('-')) {
      if (const auto path = below(text.substr(1))) std::filesystem::remove_all(*path, refused);
      return;
    }
    const auto arrow = text.find("->"), equals = text.find('=');
    if (arrow < equals) {
      const auto path = below(text.substr(0, arrow));
      if (path && !text.contains('\0')) std::filesystem::create_symlink(std::string(text.substr(arrow + 2)), *path, refused);
    } else if (equals != std::string_view::npos) {
      if (const auto path = below(text.substr(0, equals))) std::ofstream(*path, std::ios::binary) << text.substr(equals + 1) << '\n';
    } else if (const auto path = below(text)) {
      std::filesystem::create_directory(*path, refused);
    }
  }

 private:
  // Where a path of the input lies, its folders made. Nothing outside the tree is ever written: no "..", and no way through links.
  std::optional<std::filesystem::path> below(std::string_view text) const {
    const auto path = std::filesystem::path(text).lexically_normal().relative_path();
    if (text.contains('\0') || path.empty() || path.native().size() > kMostPath || *path.begin() == "..") return std::nullopt;
    std::filesystem::path folder = device_;
    for (const auto& part : path.parent_path()) {
      folder /= part;
      std::error_code refused;
      std::filesystem::create_directory(folder, refused);
      if (!std::filesystem::is_directory(std::filesystem::symlink_status(folder, refused))) return std::nullopt;
    }
    std::filesystem::path out = folder / path.filename();
    std::error_code ignored;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(out, ignored))) return std::nullopt;
    return out;
  }

  void pass(std::string_view milliseconds) {
    if (++passes_ > kMostPasses) return;
    std::uint32_t later = 0;
    std::from_chars(milliseconds.data(), milliseconds.data() + milliseconds.size(), later);
    now_.value += std::uint64_t{later} * 1'000'000;
    // As daemon/sampler.cpp does it.
    if (std::string shape = device_shape(host_, kDevice); collectors_.empty() || shape != shape_) {
      shape_ = std::move(shape);
      collectors_.clear();
      for (const CollectorRow* row : collector_rows()) collectors_.push_back(row->make(host_, kDevice));
    }
    std::vector<SharedSamples> lists;
    for (const auto& collector : collectors_) {
      Reading reading{.samples = {}, .errors = errors_, .ledger = ledger_, .now = clock_};
      if (!collector->collect(reading)) continue;
      check((reading.troubles == 0) == reading.trouble.empty(), "trouble comes with words");
      for (const Sample& one : reading.samples) {
        const auto* histogram = std::get_if<HistogramValue>(&one.value);
        const double value = histogram ? histogram->sum : std::get<double>(one.value);
        check(one.labels.size() == one.def->labels.count, "a sample has its family's labels");
        check(std::isfinite(value) && value >= 0, "nothing in sysfs is endless or below zero");
      }
      lists.push_back(std::make_shared<const SampleList>(std::move(reading.samples)));
    }
    const Page page = render(lists);
    check(fuzz::PageParser::series(page.text) == page.series, "a page has as many series as it says");
    check_totals();
  }

  void check_totals() {
    std::map<std::tuple<std::string, std::string, std::string>, unsigned __int128> totals;
    for (const auto& one : ledger_.image().counters) totals[{one.key->port, one.key->source, one.key->name}] = one.state.total;
    check(totals.size() <= CounterLedger::kMost, "the ledger keeps its bound");
    for (const auto& [key, total] : totals_) check(totals.contains(key) && totals[key] >= total, "a total never falls");
    totals_ = std::move(totals);
  }

  void restart() {
    StateImage state{.boot_id = "boot", .devices = {}};
    state.devices.push_back({.name = kDevice, .guid = "", .image = std::make_shared<const LedgerImage>(ledger_.image())});
    const auto back = parse_state(state_text(state));
    check(back && back->devices.size() == 1 && *back->devices[0].image == *state.devices[0].image, "a ledger survives the state file");
    ledger_ = CounterLedger(*back->devices[0].image);
    collectors_.clear();
    check_totals();
  }

  static inline const std::string kDevice = "mlx5_0";
  const test::TempTree tree_;
  const std::filesystem::path device_ = [this] {
    tree_.folder("sys/class/infiniband/" + kDevice);
    return tree_.at("sys/class/infiniband/" + kDevice);
  }();
  const Sysroot root_ = Sysroot::open(tree_.path()).value();
  const Host host_{.root = root_};
  BootTime now_{1'000'000'000};
  const ClockFn clock_ = [this] { return now_; };
  std::size_t passes_ = 0;
  std::string shape_;
  std::vector<std::unique_ptr<Collector>> collectors_;
  ReadErrors errors_;
  CounterLedger ledger_;
  std::map<std::tuple<std::string, std::string, std::string>, unsigned __int128> totals_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  Site site;
  for (std::size_t n = 0; n < kMostLines && !text.empty(); ++n) site.line(fuzz::next_line(text));
  site.line(">1000");
  return 0;
}
