// SPDX-License-Identifier: Apache-2.0
#include "bpf/vendor_layouts.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "bpf/probe_choice.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr char kKernelTypes[] = "/sys/kernel/btf/vmlinux";
// A struct of the core kernel that a program comes to read is to be added here, or its probe is off where a layout is used.
constexpr const char* kCoreRecords[] = {"kernfs_node", "cgroup_root", "cgroup", "cgroup_subsys_state", "css_set", "task_struct",
                                        "pt_regs",     "user_pt_regs"};

struct BtfFree {
  void operator()(btf* types) const { btf__free(types); }
};

Result<std::string> read_all(const std::string& path, std::size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::unexpected(io_error("opening " + path, errno));
  struct stat info {};
  std::string out;
  char block[65536];
  ssize_t got = 0;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    while (out.size() <= most && (got = read(fd, block, sizeof(block))) > 0) out.append(block, static_cast<std::size_t>(got));
  } else {
    got = -1;
    errno = EINVAL;
  }
  const int error = errno;
  close(fd);
  if (got < 0) return std::unexpected(io_error("reading " + path, error));
  if (out.size() > most) return fail(ErrorCode::limit, path + " is longer than " + std::to_string(most) + " bytes");
  return out;
}

}  // namespace

std::set<std::string> rdma_records() {
  std::set<std::string> out;
  const ObjectPtr object = open_object();
  const btf* types = object ? bpf_object__btf(object.get()) : nullptr;
  for (std::uint32_t id = 1; types && id < btf__type_cnt(types); ++id) {
    const btf_type* type = btf__type_by_id(types, id);
    const std::string name = btf__name_by_offset(types, type->name_off);
    // Ours are events and flights; they are in no kernel.
    if ((btf_is_struct(type) || btf_is_union(type)) && !name.empty() && !name.starts_with("ev_")) out.insert(name);
  }
  for (const char* core : kCoreRecords) out.erase(core);
  return out;
}

VendorLayouts::VendorLayouts(const KernelFacts& facts, const std::vector<std::string>& modules, const std::vector<std::string>& folders) {
  bool any = false;
  for (const std::string& module : modules) {
    const auto build_id = facts.foreign_build_id(module);
    if (!build_id) continue;
    any = true;
    if (const auto taken = take(module, *build_id, folders); !taken) refused_.emplace(module, module + " is not this kernel's own: " + taken.error().what);
  }
  if (!any) return;
  Result<> made;
  if (!used_.empty()) made = make_btf();
  if (made) return;
  for (const std::string& module : used_) refused_.emplace(module, module + " is not this kernel's own: " + made.error().what);
  used_.clear();
}

VendorLayouts::~VendorLayouts() {
  if (fd_ >= 0) close(fd_);
}

std::optional<std::string> VendorLayouts::why_not(const std::string& module) const {
  const auto refused = refused_.find(module);
  return refused == refused_.end() ? std::nullopt : std::optional(refused->second);
}

Result<> VendorLayouts::take(const std::string& module, const std::string& build_id, const std::vector<std::string>& folders) {
  std::string path;
  Result<std::string> text = fail(ErrorCode::not_found, "");
  for (const std::string& folder : folders) {
    if (build_id.empty() || text || text.error().code != ErrorCode::not_found) break;
    path = folder + "/" + build_id + ".layout";
    text = read_all(path, Layout::kMostBytes);
  }
  if (!text && text.error().code != ErrorCode::not_found) return std::unexpected(text.error());
  if (!text) return fail(ErrorCode::not_found, "its build id " + (build_id.empty() ? "unknown" : build_id) + " has no entry in bpf/layouts (qpscope-layout makes one)");
  const auto refuse = [&](const std::string& why) { return fail(ErrorCode::parse, path + " is refused: " + why); };
  auto layout = parse_layout(*text);
  if (!layout) return refuse(layout.error().what);
  if (layout->module != module) return refuse("it is of the module " + layout->module);
  if (layout->build_id != build_id) return refuse("it is of the build id " + layout->build_id);
  const std::set<std::string> wanted = rdma_records();
  for (LayoutRecord& record : layout->records) {
    if (!wanted.contains(record.name)) return refuse(record.name + " is no struct of RDMA that is read here; make the entry again with this version's qpscope-layout");
    const auto [known, is_new] = records_.try_emplace(record.name, record);
    if (!is_new && known->second != record) return refuse("another module has another " + record.name);
  }
  used_.insert(module);
  return {};
}

Result<> VendorLayouts::make_btf() {
  constexpr std::size_t most = 64U << 20;
  const auto bytes = read_all(kKernelTypes, most);
  if (!bytes) return std::unexpected(bytes.error());
  const std::unique_ptr<btf, BtfFree> types(btf__new(bytes->data(), static_cast<__u32>(bytes->size())));
  if (!types) return std::unexpected(io_error(std::string("reading the types of ") + kKernelTypes, errno));
  std::vector<LayoutRecord> records;
  for (const auto& [name, record] : records_) records.push_back(record);
  if (auto replaced = replace_records(types.get(), rdma_records(), records); !replaced) return replaced;
  __u32 size = 0;
  const void* raw = btf__raw_data(types.get(), &size);
  fd_ = memfd_create("qpscope-types", MFD_CLOEXEC);
  for (__u32 done = 0; raw && fd_ >= 0 && done < size;) {
    const ssize_t wrote = write(fd_, static_cast<const char*>(raw) + done, size - done);
    if (wrote <= 0) return std::unexpected(io_error("keeping the types of a layout in memory", errno));
    done += static_cast<__u32>(wrote);
  }
  if (!raw || fd_ < 0) return std::unexpected(io_error("keeping the types of a layout in memory", errno));
  path_ = "/proc/self/fd/" + std::to_string(fd_);
  return {};
}

}  // namespace qpscope
