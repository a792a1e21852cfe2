// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/pod_workload.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

using namespace qpscope;

TEST_CASE("pods of one workload have one name", "[tenants.pod_workload]") {
  for (const auto& [pod, workload] : std::vector<std::pair<std::string, std::string>>{
           {"trainer-0", "trainer"},  // StatefulSet
           {"trainer-15", "trainer"},
           {"web-5d4f8c7b9-x2x7k", "web"},  // Deployment
           {"nginx-deployment-66b6c48dd5-7w27k", "nginx-deployment"},
           {"web-7f89cf47bf-abcde", "web"},
           {"train-x2x7k", "train"},  // Job, DaemonSet
           {"nccl-rdma-plugin-zz4bc", "nccl-rdma-plugin"},
           {"train-0-x2x7k", "train"},  // indexed Job
           {"train-12-abcde", "train"},
           {"backup-28391520-4k7tz", "backup"},  // CronJob
           {"job-worker-3", "job"},              // PyTorchJob
           {"job-master-0", "job"},
           {"bert-ps-1", "bert"},  // TFJob
           {"bert-chief-0", "bert"},
           {"x-launcher-abcde", "x"},  // MPIJob
           {"x-launcher-4k7tz", "x"},
           {"x-worker-0", "x"},
           {"job-task-3", "job-task"},  // Volcano
           {"x-0", "x"},                // LeaderWorkerSet: leader and worker
           {"x-0-1", "x"},
           {"train-workers-0-1-zb2nk", "train-workers"},  // JobSet
           {"kube-proxy-q8z5v", "kube-proxy"},
           {"etcd-node1", "etcd"},  // static pod: the node's name
           // people's words stay
           {"llama-train", "llama-train"},
           {"nccl-tests", "nccl-tests"},
           {"rdma-worker", "rdma-worker"},
           {"bert-large-train", "bert-large-train"},
           {"single", "single"},
           {"my-pod", "my-pod"},
           // something is left
           {"0", "0"},
           {"x2x7k", "x2x7k"},
           {"worker-0", "worker"},
           {"-0", "-0"},
           {"", ""},
           {"-", "-"},
           {"--", "--"},
       }) {
    CAPTURE(pod);
    CHECK(pod_workload(pod) == workload);
  }
}
