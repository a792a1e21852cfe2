# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Tab for qpscope in bash: the command itself knows its words, and asks the daemon for names.
_qpscope() {
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _qpscope qpscope
