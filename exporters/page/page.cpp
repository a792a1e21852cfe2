// SPDX-License-Identifier: Apache-2.0
#include "exporters/page/page.h"

#include <memory>

#include "page_text.h"

namespace qpscope {
namespace {

// Strings of tenants are shown on it: were one ever taken for markup, it could still run nothing and tell nobody.
// img-src: the icon in the page itself. Trusted types: innerHTML and its like throw.
std::string security_policy() {
  return std::string("default-src 'none'; connect-src 'self'; img-src data:; style-src ") + kPageStyleHash + "; script-src " + kPageScriptHash +
         "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
}

}  // namespace

HttpResponse status_page() {
  static const auto body = std::make_shared<const std::string>(kPageHtml);
  static const std::string policy = security_policy();
  return {.content_type = "text/html; charset=utf-8",
          .body = body,
          .headers = {{"Content-Security-Policy", policy}, {"Referrer-Policy", "no-referrer"}, {"Cache-Control", "no-cache"}}};
}

}  // namespace qpscope
