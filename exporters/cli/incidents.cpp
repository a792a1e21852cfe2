// SPDX-License-Identifier: Apache-2.0
#include "incidents.h"

#include "incident_files.h"
#include "incident_report.h"
#include "units.h"

namespace qpscope::cli {
namespace {

Outcome<Exit> list(Session& session, const IncidentsOptions& options) {
  auto found = incident_heads(options.folder);
  if (!found) return std::unexpected(found.error());
  if (options.json) return finish(json_text(Json(std::move(found->heads))));
  std::string out = found->heads.empty() ? "No incidents in " + options.folder + ".\n" : incident_table(found->heads).text(session.screen);
  if (found->unreadable) out += amount(static_cast<double>(found->unreadable)) + " files cannot be read: qpscope incidents show FILE says why.\n";
  return finish(out);
}

}  // namespace

Outcome<Exit> incidents(Session& session, const IncidentsOptions& options) {
  if (options.action == "list") {
    if (!options.incident.empty() || options.html) return std::unexpected(Failure{kUsage, "only show takes an incident, and --html"});
    return list(session, options);
  }
  if (options.json && options.html) return std::unexpected(Failure{kUsage, "either --json or --html"});
  const auto incident = read_incident(options.folder, options.incident);
  if (!incident) return std::unexpected(incident.error());
  return finish(options.json ? json_text(*incident) : options.html ? incident_page(*incident) : incident_report(*incident, session.screen));
}

Outcome<Exit> record(Session& session, const RecordOptions& options) {
  const auto answer = session.client.post("/api/v1/record", options.reason.empty() ? Json::object() : Json{{"reason", options.reason}});
  if (!answer) return std::unexpected(answer.error());
  if (options.json) return finish(json_text(*answer));
  const std::string id = text_or(answer->at("data"), "incident", "");
  return finish("Kept within a second as " + id + ":\n  qpscope incidents show " + id + "\n");
}

}  // namespace qpscope::cli
