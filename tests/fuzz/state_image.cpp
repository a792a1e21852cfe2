// SPDX-License-Identifier: Apache-2.0
// The state file: damaged, forged with the checksum that belongs to it, and made of any names and numbers.
#include "core/state_image.h"

#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

namespace {

// Whatever is accepted is, byte for byte, what state_text() makes, and a ledger goes on from it.
void parse(const std::string& text) {
  const auto state = parse_state(text);
  if (!state) return check(state.error().code == ErrorCode::parse || state.error().code == ErrorCode::limit, "a bad state is a parse error, or too long");
  check(state_text(*state) == text, "what is accepted is what state_text makes");
  for (const DeviceLedger& device : state->devices) {
    check(device.image != nullptr, "a device comes with its image");
    const CounterLedger ledger(*device.image);
    check(ledger.image().counters.size() <= device.image->counters.size(), "a ledger makes up no counters");
  }
}

std::string sealed(std::string lines) {
  lines.insert(0, "qpscope-state 1\n");
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : lines) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char end[32];
  std::snprintf(end, sizeof end, "end %llx\n", static_cast<unsigned long long>(h));
  return lines + end;
}

unsigned __int128 wide(fuzz::Input& in) { return static_cast<unsigned __int128>(in.number<std::uint64_t>()) << 64 | in.number<std::uint64_t>(); }

StateImage make_state(fuzz::Input& in) {
  StateImage state{.boot_id = in.text(), .devices = {}};
  while (!in.empty() && state.devices.size() < 4) {
    DeviceLedger device{.name = in.text(), .guid = in.text(), .image = nullptr};
    LedgerImage image;
    for (std::size_t n = in.below(8); n > 0; --n) {
      image.counters.push_back({.key = std::make_shared<CounterKey>(CounterKey{in.text(), in.text(), in.text()}), .state = {.total = wide(in), .last = in.number<std::uint64_t>()}, .at = {in.number<std::uint64_t>()}});
    }
    for (std::size_t n = in.below(4); n > 0; --n) image.ports[in.text()] = {.resets = in.number<std::uint64_t>(), .gaps = in.number<std::uint64_t>()};
    device.image = std::make_shared<const LedgerImage>(std::move(image));
    state.devices.push_back(std::move(device));
  }
  return state;
}

void round_trip(const StateImage& state) {
  auto back = parse_state(state_text(state));
  check(back.has_value(), "what state_text makes is accepted");
  check(back->boot_id == state.boot_id && back->devices.size() == state.devices.size(), "boot and devices come back");
  for (std::size_t i = 0; i < state.devices.size(); ++i) {
    const DeviceLedger &was = state.devices[i], &is = back->devices[i];
    check(is.name == was.name && is.guid == was.guid && *is.image == *was.image, "every device comes back equal");
  }
  while (!back->devices.empty()) {
    const std::size_t left = back->devices.size();
    const DeviceLedger first = back->devices.front();
    const auto image = take_image(back->devices, first.name, first.guid, [](const std::string&) { return false; });
    check(image == first.image && back->devices.size() == left - 1, "a device's image is taken by its name and GUID, once");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  parse(text);
  parse(sealed(text));
  fuzz::Input in(data, size);
  round_trip(make_state(in));
  return 0;
}
