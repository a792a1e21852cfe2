// SPDX-License-Identifier: Apache-2.0
// Descriptors of a thread of its own. A thread that is stuck in the kernel keeps the whole process's descriptors open, even after
// SIGKILL: the listening socket with them, and a new daemon could not have the port. So a thread that may get stuck takes a
// descriptor table of its own (unshare(2), CLONE_FILES), from which it drops what it does not need.
//
// From then on descriptors opened or closed by that thread mean nothing to the others: what it opens it must close itself.
#pragma once

#include <initializer_list>
#include <span>

namespace qpscope {

// For the calling thread: closes everything above standard error but `kept`. False if the kernel refuses; nothing has changed then.
bool keep_only(std::span<const int> kept);
inline bool keep_only(std::initializer_list<int> kept) { return keep_only(std::span(kept.begin(), kept.size())); }

}  // namespace qpscope
