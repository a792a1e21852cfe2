// SPDX-License-Identifier: Apache-2.0
// Container id → name, from the files that docker and podman keep for themselves below /var/lib. Root's files, but with texts of
// whoever may start containers in them (labels, environment): read as JSON, each name at its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qpscope {

// /var/lib/docker/containers/<id>/config.v2.json: "Name" at the top, without its "/" (moby daemon/container container.go).
std::optional<std::string> docker_name(std::string_view json);
// /var/lib/containers/storage/overlay-containers/containers.json: the first of "names" of the entry with that "id"
// (containers/storage containers.go).
std::optional<std::string> podman_name(std::string_view json, std::string_view id);

}  // namespace qpscope
