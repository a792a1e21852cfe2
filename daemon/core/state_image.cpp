// SPDX-License-Identifier: Apache-2.0
#include "core/state_image.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace qpscope {
namespace {

constexpr std::string_view kHeader = "qpscope-state 1\n";
constexpr std::size_t kMostAccounts = 8192;  // of a device
constexpr std::string_view kHex = "0123456789abcdef";

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> out{};
  for (const char c : std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.:")) out[static_cast<unsigned char>(c)] = true;
  return out;
}();

bool plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

void put_word(std::string& out, std::string_view word) {
  out += ' ';
  if (word.empty()) out += '-';
  if (std::ranges::all_of(word, plain)) {  // as nearly every one is
    out += word;
    return;
  }
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain(c)) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

void put_number(std::string& out, unsigned __int128 value) {
  char digits[33];
  char* first = std::end(digits);
  do *--first = kHex[static_cast<unsigned>(value & 15)];
  while ((value >>= 4) != 0);
  *--first = ' ';
  out.append(first, std::end(digits));
}

void put_histogram(std::string& out, const Histogram& histogram) {
  put_number(out, std::bit_cast<std::uint64_t>(histogram.sum));
  put_number(out, histogram.bounds.size());
  for (const double bound : histogram.bounds) put_number(out, std::bit_cast<std::uint64_t>(bound));
  for (const std::uint64_t count : histogram.counts) put_number(out, count);
}

void put_own(std::string& out, const CarriedTotal& one) {
  const auto* histogram = std::get_if<Histogram>(&one.value);
  out += histogram ? "\nown_histogram" : "\nown";
  put_word(out, one.family);
  if (histogram) {
    put_histogram(out, *histogram);
  } else {
    put_number(out, std::bit_cast<std::uint64_t>(std::get<double>(one.value)));
  }
  for (const std::string_view label : one.labels) put_word(out, label);
}

void put_total(std::string& out, const PortCounter& counter, std::uint64_t total) {
  put_word(out, counter.source);
  put_word(out, counter.name);
  put_number(out, total);
}

void put_sets(std::string& out, const SetImage& image) {
  for (const PortNum port : image.managed) {
    out += "\nmanaged";
    put_number(out, port.value);
  }
  for (const SetKey& key : image.foreign) {
    out += "\nforeign";
    put_number(out, key.port.value);
    put_number(out, key.id.value);
  }
  for (const SetImage::Set& one : image.sets) {
    out += "\nset";
    put_number(out, one.key.port.value);
    put_number(out, one.key.id.value);
    put_number(out, one.kernel ? 1 : 0);
    put_word(out, one.who.tenant);
    put_word(out, one.who.workload);
    for (const auto& [name, value] : one.last) {
      out += "\nvalue";
      put_word(out, name);
      put_number(out, value);
    }
  }
}

void put_tenants(std::string& out, const TenantImage& image) {
  for (const TenantImage::Account& one : image.accounts) {
    out += "\ntenant";
    for (const std::string* word : {&one.port, &one.who.tenant, &one.who.workload}) put_word(out, *word);
    out += ' ';
    out += to_string(one.method);
    put_number(out, one.used.value);
    for (const auto& [counter, total] : one.totals) {
      out += "\ncredit";
      put_total(out, counter, total);
    }
  }
  for (const auto& [port, totals] : image.unattributed) {
    for (const auto& [counter, total] : totals) {
      out += "\nunattributed";
      put_word(out, port);
      put_total(out, counter, total);
    }
  }
}

std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

// Near enough that the text is seldom moved while it grows.
std::size_t expected_bytes(const StateImage& state) {
  constexpr std::size_t kLine = 96;
  std::size_t lines = state.own ? state.own->size() : 0;
  for (const DeviceLedger& device : state.devices) lines += device.image ? device.image->counters.size() + 2 * device.image->histograms.size() + 2 : 0;
  return lines * kLine;
}

// One line, word by word; a word that is not there or not as it should be makes the whole line bad.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  std::string_view raw() {
    const auto space = rest_.find(' ');
    const std::string_view word = rest_.substr(0, space);
    good_ &= !ended_ && !word.empty();
    ended_ = space == std::string_view::npos;
    rest_ = ended_ ? std::string_view() : rest_.substr(space + 1);
    return word;
  }
  std::string word() {
    std::string_view text = raw();
    std::string out;
    if (text == "-") return out;
    while (!text.empty()) {
      if (text[0] != '%') {
        good_ &= plain(text[0]);
        out += text[0];
        text.remove_prefix(1);
        continue;
      }
      const auto byte = text.size() < 3 ? std::nullopt : hexadecimal(text.substr(1, 2));
      if (!byte) {
        good_ = false;
        break;
      }
      out += static_cast<char>(static_cast<unsigned char>(*byte));
      text.remove_prefix(3);
    }
    return out;
  }
  unsigned __int128 wide() {
    const auto value = hexadecimal(raw());
    good_ &= value.has_value();
    return value.value_or(0);
  }
  std::uint64_t number() {
    const unsigned __int128 value = wide();
    good_ &= value >> 64 == 0;
    return static_cast<std::uint64_t>(value);
  }
  std::uint32_t number32() {
    const std::uint64_t value = number();
    good_ &= value >> 32 == 0;
    return static_cast<std::uint32_t>(value);
  }
  double real() {
    const double value = std::bit_cast<double>(number());
    good_ &= std::isfinite(value);
    return value;
  }
  Histogram histogram() {
    Histogram out;
    out.sum = real();
    const std::uint64_t bounds = number();
    good_ &= bounds <= Histogram::kMostBounds;
    for (std::uint64_t i = 0; good_ && i < bounds; ++i) {
      const double bound = real();
      good_ &= out.bounds.empty() || bound > out.bounds.back();
      out.bounds.push_back(bound);
    }
    for (std::uint64_t i = 0; good_ && i <= bounds; ++i) out.counts.push_back(number());
    return out;
  }
  std::vector<std::string> words() {
    std::vector<std::string> out;
    while (good_ && !ended_) {
      good_ &= out.size() < LabelNames::kMost;
      out.push_back(word());
    }
    return out;
  }
  bool good() const { return good_ && ended_; }

 private:
  static std::optional<unsigned __int128> hexadecimal(std::string_view digits) {
    if (digits.empty() || digits.size() > 32) return std::nullopt;
    unsigned __int128 value = 0;
    for (const char c : digits) {
      const auto digit = kHex.find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value << 4 | digit;
    }
    return value;
  }

  std::string_view rest_;
  bool good_ = true, ended_ = false;
};

std::optional<CreditMethod> credit_method(std::string_view word) {
  for (const CreditMethod method : {CreditMethod::set, CreditMethod::sole_owner}) {
    if (word == to_string(method)) return method;
  }
  return std::nullopt;
}

// Source, name and total at the end of a line.
bool parse_total(Line& line, std::map<PortCounter, std::uint64_t>& totals) {
  PortCounter counter{.source = line.word(), .name = {}};
  counter.name = line.word();
  if (totals.size() >= TenantLedger::kMostCounters) return false;
  totals[std::move(counter)] = line.number();
  return line.good();
}

SetKey set_key(Line& line) {
  SetKey key{.port = {line.number32()}, .id = {}};
  key.id.value = line.number32();
  return key;
}

bool parse_set_line(std::string_view kind, Line& line, SetImage& sets) {
  if (kind == "managed") {
    sets.managed.insert({line.number32()});
  } else if (kind == "foreign") {
    sets.foreign.insert(set_key(line));
  } else if (kind == "set" && sets.sets.size() < SetBook::kMost) {
    SetImage::Set& one = sets.sets.emplace_back();
    one.key = set_key(line);
    const std::uint64_t kernel = line.number();
    if (kernel > 1) return false;
    one.kernel = kernel == 1;
    one.who.tenant = line.word();
    one.who.workload = line.word();
  } else if (kind == "value" && !sets.sets.empty() && sets.sets.back().last.size() < TenantLedger::kMostCounters) {
    auto& [name, value] = sets.sets.back().last.emplace_back();
    name = line.word();
    value = line.number();
  } else {
    return false;
  }
  return line.good();
}

// The lines between header and end.
bool parse_line(Line line, StateImage& state, std::vector<CarriedTotal>& own, std::shared_ptr<LedgerImage>& open) {
  const std::string_view kind = line.raw();
  if (kind == "boot") {
    state.boot_id = line.word();
  } else if ((kind == "own" || kind == "own_histogram") && own.size() < CarriedTotals::kMost) {
    CarriedTotal& one = own.emplace_back();
    one.family = line.word();
    if (kind == "own") {
      one.value = line.real();
    } else {
      one.value = line.histogram();
    }
    one.labels = line.words();
  } else if (kind == "device") {
    open = std::make_shared<LedgerImage>();
    DeviceLedger device{.name = line.word(), .guid = {}, .image = open};
    device.guid = line.word();
    state.devices.push_back(std::move(device));
  } else if (kind == "port" && open) {
    std::string port = line.word();
    CounterFaults faults{.resets = line.number(), .gaps = 0};
    faults.gaps = line.number();
    open->ports[std::move(port)] = faults;
  } else if (kind == "counter" && open && open->counters.size() < CounterLedger::kMost) {
    LedgerImage::Counter& one = open->counters.emplace_back();
    auto key = std::make_shared<CounterKey>();
    for (std::string* word : {&key->port, &key->source, &key->name}) *word = line.word();
    one.key = std::move(key);
    one.state.total = line.wide();
    one.state.last = line.number();
    one.at.value = line.number();
  } else if (kind == "observed" && open && open->observed.size() < CounterLedger::kMostObserved) {
    ObservedKey key{.port = line.word(), .name = {}};
    key.name = line.word();
    open->observed[std::move(key)] = line.number();
  } else if (kind == "histogram" && open && open->histograms.size() < CounterLedger::kMostObserved) {
    ObservedKey key{.port = line.word(), .name = {}};
    key.name = line.word();
    open->histograms[std::move(key)] = line.histogram();
  } else if (kind == "tenant" && open && open->tenants.accounts.size() < kMostAccounts) {
    TenantImage::Account& one = open->tenants.accounts.emplace_back();
    one.port = line.word();
    one.who.tenant = line.word();
    one.who.workload = line.word();
    const auto method = credit_method(line.raw());
    if (!method) return false;
    one.method = *method;
    one.used.value = line.number();
  } else if (kind == "credit" && open && !open->tenants.accounts.empty()) {
    return parse_total(line, open->tenants.accounts.back().totals);
  } else if (kind == "unattributed" && open) {
    std::string port = line.word();
    return parse_total(line, open->tenants.unattributed[std::move(port)]);
  } else {
    return open && parse_set_line(kind, line, open->sets);
  }
  return line.good();
}

}  // namespace

std::string state_text(const StateImage& state) {
  std::string out;
  out.reserve(kHeader.size() + expected_bytes(state));
  out += kHeader;
  out += "boot";
  put_word(out, state.boot_id);
  if (state.own) {
    for (const CarriedTotal& one : *state.own) put_own(out, one);
  }
  for (const DeviceLedger& device : state.devices) {
    if (!device.image) continue;
    out += "\ndevice";
    put_word(out, device.name);
    put_word(out, device.guid);
    for (const auto& [port, faults] : device.image->ports) {
      out += "\nport";
      put_word(out, port);
      put_number(out, faults.resets);
      put_number(out, faults.gaps);
    }
    for (const LedgerImage::Counter& one : device.image->counters) {
      out += "\ncounter";
      for (const std::string* word : {&one.key->port, &one.key->source, &one.key->name}) put_word(out, *word);
      put_number(out, one.state.total);
      put_number(out, one.state.last);
      put_number(out, one.at.value);
    }
    for (const auto& [key, total] : device.image->observed) {
      out += "\nobserved";
      for (const std::string* word : {&key.port, &key.name}) put_word(out, *word);
      put_number(out, total);
    }
    for (const auto& [key, histogram] : device.image->histograms) {
      out += "\nhistogram";
      for (const std::string* word : {&key.port, &key.name}) put_word(out, *word);
      put_histogram(out, histogram);
    }
    put_tenants(out, device.image->tenants);
    put_sets(out, device.image->sets);
  }
  out += '\n';
  const std::uint64_t sum = hash(out);
  out += "end";
  put_number(out, sum);
  out += '\n';
  return out;
}

Result<StateImage> parse_state(std::string_view text) {
  if (text.size() > kMostStateBytes) return fail(ErrorCode::limit, "longer than " + std::to_string(kMostStateBytes) + " bytes");
  if (!text.starts_with(kHeader)) return fail(ErrorCode::parse, "of another version, or no state at all");
  const auto end = text.rfind("\nend ");
  std::string sum = "end";
  if (end != std::string_view::npos) put_number(sum, hash(text.substr(0, end + 1)));
  if (end == std::string_view::npos || text.substr(end + 1) != sum + "\n") return fail(ErrorCode::parse, "damaged: its checksum is not that of its text");
  StateImage state;
  std::shared_ptr<LedgerImage> open;
  std::vector<CarriedTotal> own;
  std::string_view body = text.substr(kHeader.size(), end + 1 - kHeader.size());
  for (std::size_t number = 2; !body.empty(); ++number) {
    const auto length = body.find('\n');
    if (!parse_line(Line(body.substr(0, length)), state, own, open)) return fail(ErrorCode::parse, "line " + std::to_string(number) + " is none");
    body.remove_prefix(length + 1);
  }
  if (!own.empty()) state.own = std::make_shared<const std::vector<CarriedTotal>>(std::move(own));
  // Lines that are each in order may still be too many, too few or spelled otherwise.
  if (state_text(state) != text) return fail(ErrorCode::parse, "not as this version writes it");
  return state;
}

std::shared_ptr<const LedgerImage> take_image(std::vector<DeviceLedger>& from, const std::string& name, const std::string& guid,
                                              const std::function<bool(const std::string& name)>& present) {
  auto found = std::ranges::find_if(from, [&](const DeviceLedger& one) { return one.name == name && one.guid == guid; });
  const bool zero = guid.find_first_not_of("0:") == std::string::npos;
  if (found == from.end() && !zero && std::ranges::count(from, guid, &DeviceLedger::guid) == 1) {
    found = std::ranges::find(from, guid, &DeviceLedger::guid);
    if (present(found->name)) return nullptr;
  }
  if (found == from.end()) return nullptr;
  auto image = std::move(found->image);
  from.erase(found);
  return image;
}

}  // namespace qpscope
