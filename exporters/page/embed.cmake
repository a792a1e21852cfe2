# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=… -DOUTPUT=… -P embed.cmake: joins page.html, page.css and page.js to one document, and writes it as a C++ header, with the
# hashes by which its Content-Security-Policy lets just this style and this script run.

# 'sha256-<base64>' of a text. Three hexadecimal digits are two of base64; two zeros fill up the last group.
function(source_hash out text)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 digest "${text}")
  string(REGEX MATCHALL "..." groups "${digest}00")
  set(base64)
  foreach(group IN LISTS groups)
    math(EXPR high "0x${group} / 64")
    math(EXPR low "0x${group} % 64")
    string(SUBSTRING ${alphabet} ${high} 1 high)
    string(SUBSTRING ${alphabet} ${low} 1 low)
    string(APPEND base64 ${high}${low})
  endforeach()
  string(REGEX REPLACE ".$" "=" base64 ${base64})
  set(${out} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/page.html html)
file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/page.js script)
source_hash(style_hash "${style}")
source_hash(script_hash "${script}")
string(REPLACE "<style></style>" "<style>${style}</style>" html "${html}")
string(REPLACE "<script></script>" "<script>${script}</script>" html "${html}")
file(WRITE ${OUTPUT} "// Generated from exporters/page by embed.cmake.
#pragma once
namespace qpscope {
inline constexpr char kPageHtml[] = R\"qpscope(${html})qpscope\";
inline constexpr char kPageStyleHash[] = \"${style_hash}\";
inline constexpr char kPageScriptHash[] = \"${script_hash}\";
}  // namespace qpscope
")
