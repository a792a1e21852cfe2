// SPDX-License-Identifier: Apache-2.0
// The status page for a browser: one document, made at build time of page.html, page.css and page.js. It holds no data: its script asks
// /api/v1, as the peer that it is. Pure; thread-safe.
#pragma once

#include "exporters/http.h"

namespace qpscope {

// Always the same body (the server compresses it once), and a Content-Security-Policy that lets nothing but it run and nothing but this origin be asked.
HttpResponse status_page();

}  // namespace qpscope
