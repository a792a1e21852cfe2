// SPDX-License-Identifier: Apache-2.0
// Test equipment: plays the life of queue pairs on one device and says what it does, so that the probes' account can be
// compared with the truth.
#include <infiniband/verbs.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

ibv_context* open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    if (name == ibv_get_device_name(list[i])) return ibv_open_device(list[i]);
  }
  return nullptr;
}

struct Player {
  ibv_context* context;
  ibv_pd* pd;
  ibv_cq* cq;

  ibv_qp* create(std::uint32_t send_wr) const {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {.max_send_wr = send_wr, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    init.qp_type = IBV_QPT_RC;
    return ibv_create_qp(pd, &init);
  }

  static int to_init(ibv_qp* qp) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  }

  // Connected to itself, through GID index 1.
  int to_rtr(ibv_qp* qp) const {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = qp->qp_num;
    attr.min_rnr_timer = 12;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.sgid_index = 1;
    attr.ah_attr.grh.hop_limit = 1;
    attr.ah_attr.grh.traffic_class = 104;
    if (ibv_query_gid(context, 1, 1, &attr.ah_attr.grh.dgid) != 0) die("ibv_query_gid");
    return ibv_modify_qp(
        qp, &attr,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  }

  static int to_rts(ibv_qp* qp) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 6;
    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  }

  ibv_qp* create_to_rts() const {
    ibv_qp* qp = create(1);
    if (!qp) die("ibv_create_qp");
    if (to_init(qp) || to_rtr(qp) || to_rts(qp)) die("ibv_modify_qp");
    return qp;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: qpscope-qp-play DEVICE life | hold | reach QPN | late | fail | churn N\n");
    return 2;
  }
  const std::string what = argv[2];
  Player player{};
  player.context = open_device(argv[1]);
  if (!player.context) die("no such device");
  player.pd = ibv_alloc_pd(player.context);
  player.cq = ibv_create_cq(player.context, 16, nullptr, nullptr, 0);
  if (!player.pd || !player.cq) die("ibv_alloc_pd, ibv_create_cq");
  if (what == "life" || what == "hold") {
    ibv_qp* qp = player.create_to_rts();
    std::printf("pid=%d qpn=%u\n", getpid(), qp->qp_num);
    std::fflush(stdout);
    if (what == "hold") pause();
    ibv_destroy_qp(qp);
  } else if (what == "reach" && argc > 3) {
    // rxe numbers its QPs one after the other, on 5.10 from the lowest free one: makes QPs until one has that number,
    // lets the others go and holds it.
    const auto wanted = static_cast<std::uint32_t>(std::atoi(argv[3]));
    std::vector<ibv_qp*> passed;
    ibv_qp* qp = player.create(1);
    while (qp && qp->qp_num != wanted) {
      passed.push_back(qp);
      qp = player.create(1);
    }
    for (ibv_qp* other : passed) ibv_destroy_qp(other);
    if (!qp) die("ibv_create_qp");
    std::printf("pid=%d qpn=%u\n", getpid(), qp->qp_num);
    std::fflush(stdout);
    pause();
  } else if (what == "late") {
    // Made now, connected when a line comes: for a watcher that starts in between.
    ibv_qp* qp = player.create(1);
    if (!qp || Player::to_init(qp)) die("ibv_create_qp, ibv_modify_qp");
    std::printf("pid=%d qpn=%u\n", getpid(), qp->qp_num);
    std::fflush(stdout);
    std::getchar();
    if (player.to_rtr(qp) || Player::to_rts(qp)) die("ibv_modify_qp");
    ibv_destroy_qp(qp);
  } else if (what == "fail") {
    ibv_qp* qp = player.create(1);
    const int modify = Player::to_rts(qp);  // from RESET
    const bool create = player.create(1U << 30) != nullptr;
    std::printf("pid=%d qpn=%u modify=%d created=%d\n", getpid(), qp->qp_num, modify, create);
    ibv_destroy_qp(qp);
  } else if (what == "churn" && argc > 3) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = std::atoi(argv[3]); n > 0; --n) ibv_destroy_qp(player.create_to_rts());
    const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
    std::printf("pid=%d loop_ns=%lld\n", getpid(), static_cast<long long>(took.count()));
  } else {
    return 2;
  }
  return 0;
}
