#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: the rooms and the homes of third parties (the map is in daemon/README.md).
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "$0")/lib.sh"

room_of() { # PATH relative to the repository
    case $1 in
        daemon/core/*) echo core ;;
        daemon/*) echo daemon ;;
        config/config.h) echo config_struct ;;
        config/*) echo config ;;
        collectors/host/*) echo host ;;
        collectors/*) echo collectors ;;
        exporters/*) echo exporters ;;
        bpf/*) echo bpf ;;
        *) echo none ;;
    esac
}

# Rooms that a file of the room may include, beside its own.
allowed_rooms() {
    case $1 in
        core | config_struct) ;;
        config) echo "config_struct core" ;;
        host | bpf) echo "core" ;;
        collectors) echo "host core config_struct" ;;
        exporters) echo "core config_struct" ;;
        daemon) echo "core config config_struct host collectors exporters bpf" ;;
    esac
}

# The repository's file behind a quoted include. "core/x.h" lies below daemon/, which is an include root like the top.
resolve() { # INCLUDING_FILE NAME
    local folder
    for folder in "${1%/*}/" "" daemon/; do
        [[ -e $folder$2 ]] || continue
        if [[ $2 == *..* ]]; then realpath -m --relative-to=. "$folder$2"; else echo "$folder$2"; fi
        return
    done
    case $2 in
        version.h) echo daemon/version.h ;;      # generated from daemon/version.h.in
        *.skel.h) echo "bpf/$2" ;;               # generated from bpf/*.bpf.c
        *) echo "${1%/*}/$2" ;;
    esac
}

# Home of a third party's header, as a regular expression over paths; "" for headers of C, C++ and Linux.
home_of() {
    case $1 in
        bpf/*) echo '^bpf/' ;;
        libmnl/*) echo '^collectors/host/' ;;
        microhttpd.h | zlib.h) echo '^exporters/http\.cpp$' ;;
        yaml-cpp/*) echo '^config/load\.cpp$' ;;
        spdlog/*) echo '^daemon/log\.cpp$' ;;
        nlohmann/*) echo '^(exporters/|collectors/tenants/container_names\.cpp$)' ;;
        re2/*) echo '^collectors/tenants/pattern\.cpp$' ;;
        systemd/*) echo '^daemon/notify\.cpp$' ;;
        CLI/*) echo '^(daemon/options|exporters/cli/(complete|words))\.cpp$' ;;
        curl/*) echo '^exporters/cli/client\.cpp$' ;;
        sys/capability.h) echo '^(daemon/check\.cpp$|bpf/)' ;;
        infiniband/*) echo '^$' ;;
        rdma/*) echo '^collectors/host/' ;;      # the kernel's own, but netlink has one home
    esac
}

check_own() { # FILE NAME
    local room target_room
    room=$(room_of "$1")
    target_room=$(room_of "$(resolve "$1" "$2")")
    [[ $target_room != "$room" ]] || return 0
    [[ " $(allowed_rooms "$room") " == *" $target_room "* ]] || fault "$1: room $room must not include \"$2\" (room $target_room)"
}

check_foreign() { # FILE NAME
    local home
    home=$(home_of "$2")
    if [[ -n $home && ! $1 =~ $home ]]; then fault "$1: <$2> has its home in $home"; fi
    # core and config.h know C++ alone: no third party, no Linux, no POSIX.
    if [[ $(room_of "$1") =~ ^(core|config_struct)$ && $2 == *[./]* ]]; then fault "$1: core includes the C++ library only, not <$2>"; fi
}

while IFS=: read -r file line; do
    name=${line#*[<\"]}
    name=${name%%[>\"]*}
    if [[ $line == *\"*\"* ]]; then check_own "$file" "$name"; else check_foreign "$file" "$name"; fi
done < <(source_files | grep -E '^(bpf|collectors|config|daemon|exporters)/.*\.(c|cpp|h)$' | tr '\n' '\0' | xargs -0 grep -HE '^ *# *include *[<"]')
finish
