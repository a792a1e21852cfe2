// SPDX-License-Identifier: Apache-2.0
// The workload behind a pod's name: what is equal on every node of a job.
#pragma once

#include <string>
#include <string_view>

namespace qpscope {

// Takes off what controllers append: ordinals (StatefulSet, indexed Job, JobSet, LeaderWorkerSet, CronJob's time), the random
// five characters of a generated name, a Deployment's template hash before them, and the replica's role in a training job
// ("-worker-3", "-master-0", "-launcher-x2x7k"). Something is always left.
std::string pod_workload(std::string_view pod);

}  // namespace qpscope
