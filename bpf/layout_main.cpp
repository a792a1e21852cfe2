// SPDX-License-Identifier: Apache-2.0
// qpscope-layout: makes an entry of bpf/layouts from a module with BTF or debug information.
#include <bpf/btf.h>
#include <fcntl.h>
#include <gelf.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "bpf/kernel_facts.h"
#include "bpf/layout.h"
#include "bpf/vendor_layouts.h"

namespace qpscope {
namespace {

constexpr char kUsage[] =
    "usage: qpscope-layout [--kernel-btf FILE] [--into FOLDER] MODULE.ko\n"
    "Says how a module's structs lie in memory, for qpscoped on hosts whose drivers are a vendor's. MODULE.ko is the module that is loaded, or a\n"
    "copy of it (the same build id) that has more: BTF, or debug information (this needs pahole, Debian package pahole or dwarves).\n"
    "  --kernel-btf FILE  the kernel that the module's BTF stands on (default: /sys/kernel/btf/vmlinux)\n"
    "  --into FOLDER      writes FOLDER/BUILD-ID.layout and prints its name, instead of printing the layout; such as /etc/qpscope/layouts\n"
    "Exit status: 0 made; 1 it cannot be made; 2 bad usage.\n";

struct BtfFree {
  void operator()(btf* types) const { btf__free(types); }
};
using BtfPtr = std::unique_ptr<btf, BtfFree>;

struct Options {
  std::string kernel_btf = "/sys/kernel/btf/vmlinux", into, module;
};

// What we want of a module's ELF file.
struct ModuleFile {
  std::string name, build_id;
  bool has_btf = false, has_debug = false;
};

std::string bytes_of(Elf_Scn* section) {
  const Elf_Data* data = elf_getdata(section, nullptr);
  return data && data->d_buf ? std::string(static_cast<const char*>(data->d_buf), data->d_size) : std::string();
}

// "name=ib_core" among the strings of .modinfo.
std::string name_in(const std::string& modinfo) {
  for (std::size_t at = 0; at < modinfo.size(); at += std::strlen(modinfo.c_str() + at) + 1) {
    const std::string one = modinfo.c_str() + at;
    if (one.starts_with("name=")) return one.substr(5);
  }
  return {};
}

Result<ModuleFile> read_module(const std::string& path) {
  elf_version(EV_CURRENT);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(io_error("opening " + path, errno));
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ, nullptr), &elf_end);
  ModuleFile out;
  std::size_t names = 0;
  const bool good = elf && elf_kind(elf.get()) == ELF_K_ELF && elf_getshdrstrndx(elf.get(), &names) == 0;
  for (Elf_Scn* section = nullptr; good && (section = elf_nextscn(elf.get(), section));) {
    GElf_Shdr header;
    const char* name = gelf_getshdr(section, &header) ? elf_strptr(elf.get(), names, header.sh_name) : nullptr;
    const std::string section_name = name ? name : "";
    if (section_name == ".BTF") out.has_btf = true;
    if (section_name == ".debug_info") out.has_debug = true;
    if (section_name == ".modinfo") out.name = name_in(bytes_of(section));
    if (section_name == ".note.gnu.build-id") out.build_id = parse_build_id(bytes_of(section));
  }
  close(fd);
  if (!good) return fail(ErrorCode::parse, path + " is no ELF file; a compressed module is to be unpacked first (xz -dk, zstd -dk, gunzip -k)");
  if (out.name.empty()) return fail(ErrorCode::parse, path + " is no kernel module: it has no name in .modinfo");
  if (out.build_id.empty()) return fail(ErrorCode::parse, path + " has no build id, by which its entry would be found");
  return out;
}

class TemporaryFile {
 public:
  TemporaryFile() {
    const int fd = mkstemp(path_);
    if (fd >= 0) close(fd);
  }
  ~TemporaryFile() { unlink(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/qpscope-layout.XXXXXX";
};

Result<BtfPtr> types_from_debug_information(const std::string& path) {
  const TemporaryFile file;
  std::string into = std::string("--btf_encode_detached=") + file.path(), module = path.starts_with('-') ? "./" + path : path, program = "pahole";
  char* const arguments[] = {program.data(), into.data(), module.data(), nullptr};
  pid_t child = 0;
  int status = 0;
  if (const int error = posix_spawnp(&child, "pahole", nullptr, nullptr, arguments, environ); error != 0) {
    return std::unexpected(io_error("running pahole (it reads debug information; Debian package pahole or dwarves)", error));
  }
  if (waitpid(child, &status, 0) != child || status != 0) return fail(ErrorCode::parse, "pahole could not read the debug information of " + path);
  BtfPtr types(btf__parse(file.path(), nullptr));
  if (!types) return std::unexpected(io_error("reading what pahole made of " + path, errno));
  return types;
}

Result<Layout> make_layout(const Options& options) {
  const auto module = read_module(options.module);
  if (!module) return std::unexpected(module.error());
  BtfPtr base, types;
  if (module->has_btf) {
    base.reset(btf__parse(options.kernel_btf.c_str(), nullptr));
    if (!base) return std::unexpected(io_error("reading the kernel's BTF " + options.kernel_btf, errno));
    types.reset(btf__parse_split(options.module.c_str(), base.get()));
    if (!types) return std::unexpected(io_error("reading the BTF of " + options.module + " on top of " + options.kernel_btf + ", which may be of another kernel", errno));
  } else if (module->has_debug) {
    auto made = types_from_debug_information(options.module);
    if (!made) return std::unexpected(made.error());
    types = std::move(*made);
  } else {
    return fail(ErrorCode::not_found, options.module + " has neither BTF nor debug information; give the unstripped module of the same build id " + module->build_id);
  }
  auto records = records_of(types.get(), base ? btf__type_cnt(base.get()) : 1, rdma_records());
  if (!records) return fail(ErrorCode::parse, options.module + ": " + records.error().what);
  if (records->empty()) return fail(ErrorCode::not_found, options.module + " knows none of the structs that qpscoped reads");
  Layout out{.module = module->name, .build_id = module->build_id, .records = std::move(*records)};
  // What we would refuse ourselves is not given out.
  if (const auto again = parse_layout(layout_text(out)); !again || *again != out) {
    return fail(ErrorCode::unsupported, options.module + " has a struct that a layout cannot say: " + (again ? std::string("it reads back otherwise") : again.error().what));
  }
  return out;
}

Result<> give(const Layout& layout, const std::string& folder) {
  const std::string text = layout_text(layout);
  if (folder.empty()) {
    std::cout << text << std::flush;
    return {};
  }
  const std::string path = folder + "/" + layout.build_id + ".layout", fresh = path + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || rename(fresh.c_str(), path.c_str()) != 0) return std::unexpected(io_error("writing " + path, errno));
  std::cout << path << std::endl;
  return {};
}

std::optional<Options> parse_options(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--kernel-btf" || word == "--into") && i + 1 < argc) {
      (word == "--into" ? out.into : out.kernel_btf) = argv[++i];
    } else if (!word.starts_with('-') && out.module.empty()) {
      out.module = word;
    } else {
      return std::nullopt;
    }
  }
  return out.module.empty() ? std::nullopt : std::optional(out);
}

}  // namespace
}  // namespace qpscope

int main(int argc, char** argv) {
  using namespace qpscope;
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) return std::fputs(kUsage, stdout), 0;
  const auto options = parse_options(argc, argv);
  if (!options) return std::fputs(kUsage, stderr), 2;
  const auto layout = make_layout(*options);
  const Result<> given = layout ? give(*layout, options->into) : std::unexpected(layout.error());
  if (!given) std::fprintf(stderr, "qpscope-layout: %s\n", given.error().what.c_str());
  return given ? 0 : 1;
}
