// SPDX-License-Identifier: Apache-2.0
/*
 * Test equipment: makes and destroys queue pairs on a soft-RoCE device, with failing calls in between, then holds still with
 * whatever lives and says so, so that somebody can compare the daemon's table with netlink.
 *
 *   qpscope-qp-churn DEVICE SEED STEPS              holds; SIGUSR1: another STEPS steps; SIGUSR2: exits with its queue pairs alive
 *                                                   (the kernel destroys them); SIGTERM: destroys them all and exits 0
 *   qpscope-qp-churn DEVICE SEED STEPS CGROUP_PROCS a child in that cgroup keeps the queue pairs, the process that made them
 *                                                   ends at once
 *
 * Prints "held LIVE CREATED DESTROYED FAILED" on standard output when it holds, and as second line of the second form the
 * number of the child.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 200

enum { kGidIndex = 1 }; /* the IPv4 one of the fabric */

struct bed {
  struct ibv_context* context;
  struct ibv_pd* pd;
  struct ibv_cq* cq;
  union ibv_gid gid;
  struct ibv_qp* qp[MOST];
  enum ibv_qp_state state[MOST];
  unsigned live, created, destroyed, failed;
};

static unsigned long long random_state;

static unsigned pick(unsigned below) {
  random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(random_state >> 33) % below;
}

static void die(const char* what) {
  fprintf(stderr, "qp-churn: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void open_bed(struct bed* bed, const char* name) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  for (int i = 0; list && i < count; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) bed->context = ibv_open_device(list[i]);
  }
  if (!bed->context) die("no such device");
  ibv_free_device_list(list);
  if (!(bed->pd = ibv_alloc_pd(bed->context))) die("pd");
  if (!(bed->cq = ibv_create_cq(bed->context, 64, NULL, NULL, 0))) die("cq");
  if (ibv_query_gid(bed->context, 1, kGidIndex, &bed->gid)) die("gid");
}

static void create(struct bed* bed) {
  static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
  if (bed->live == MOST) return;
  struct ibv_qp_init_attr init = {.send_cq = bed->cq, .recv_cq = bed->cq, .qp_type = types[pick(5)], .cap = {4, 4, 1, 1, 0}};
  struct ibv_qp* qp = ibv_create_qp(bed->pd, &init);
  if (!qp) die("create");
  bed->qp[bed->live] = qp;
  bed->state[bed->live++] = IBV_QPS_RESET;
  ++bed->created;
}

/* One step on the way RESET, INIT, RTR, RTS; any peer number will do, nothing is sent. */
static void advance(struct bed* bed, unsigned i) {
  struct ibv_qp* qp = bed->qp[i];
  struct ibv_qp_attr attr = {.port_num = 1, .pkey_index = 0};
  int mask = IBV_QP_STATE;
  if (bed->state[i] == IBV_QPS_RESET) {
    attr.qp_state = IBV_QPS_INIT;
    mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
  } else if (bed->state[i] == IBV_QPS_INIT) {
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = 0x11 + pick(4096);
    attr.ah_attr = (struct ibv_ah_attr){
        .is_global = 1, .port_num = 1, .grh = {.dgid = bed->gid, .sgid_index = kGidIndex, .hop_limit = 64, .traffic_class = 106}};
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    if (qp->qp_type != IBV_QPT_UD) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (qp->qp_type == IBV_QPT_RC) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  } else {
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    mask |= IBV_QP_SQ_PSN;
    if (qp->qp_type == IBV_QPT_RC) mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  if (ibv_modify_qp(qp, &attr, mask)) die("modify");
  bed->state[i] = attr.qp_state;
}

static void to_state(struct bed* bed, unsigned i, enum ibv_qp_state state) {
  struct ibv_qp_attr attr = {.qp_state = state};
  if (ibv_modify_qp(bed->qp[i], &attr, IBV_QP_STATE)) die("modify to ERR or RESET");
  bed->state[i] = state;
}

/* Refused by the kernel: no path leads from RESET to RTS. */
static void refuse(struct bed* bed, unsigned i) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
  if (bed->state[i] == IBV_QPS_RTS || bed->state[i] == IBV_QPS_RTR) return;
  if (ibv_modify_qp(bed->qp[i], &attr, IBV_QP_STATE) == 0) die("a modify that must fail did not");
  ++bed->failed;
}

static void destroy(struct bed* bed, unsigned i) {
  if (ibv_destroy_qp(bed->qp[i])) die("destroy");
  bed->qp[i] = bed->qp[--bed->live];
  bed->state[i] = bed->state[bed->live];
  ++bed->destroyed;
}

static void step(struct bed* bed) {
  const unsigned dice = pick(100);
  if (bed->live == 0 || dice < 25) return create(bed);
  const unsigned i = pick(bed->live);
  if (dice < 70) {
    if (bed->state[i] < IBV_QPS_RTS) advance(bed, i);
  } else if (dice < 75) {
    if (bed->state[i] != IBV_QPS_RESET) to_state(bed, i, IBV_QPS_ERR); /* there is no way from RESET to ERR */
  } else if (dice < 78) {
    to_state(bed, i, IBV_QPS_RESET);
  } else if (dice < 82) {
    refuse(bed, i);
  } else {
    destroy(bed, i);
  }
}

/* The context's descriptor is inherited: the kernel keeps the queue pairs until the child lets go of it. */
static void leave_to_child(const char* cgroup_procs) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child > 0) {
    printf("%d\n", (int)child);
    fflush(stdout);
    _exit(0);
  }
  FILE* procs = fopen(cgroup_procs, "w");
  if (!procs || fprintf(procs, "%d\n", (int)getpid()) < 0 || fclose(procs)) die(cgroup_procs);
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: qpscope-qp-churn DEVICE SEED STEPS [CGROUP_PROCS]\n");
    return 2;
  }
  static struct bed bed;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  random_state = strtoull(argv[2], NULL, 10);
  const unsigned steps = (unsigned)strtoul(argv[3], NULL, 10);
  open_bed(&bed, argv[1]);
  for (;;) {
    for (unsigned i = 0; i < steps; ++i) step(&bed);
    printf("held %u %u %u %u\n", bed.live, bed.created, bed.destroyed, bed.failed);
    fflush(stdout);
    if (argc > 4) leave_to_child(argv[4]);
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal == SIGUSR2) return 0;
    if (signal == SIGTERM) break;
  }
  while (bed.live > 0) destroy(&bed, bed.live - 1);
  ibv_destroy_cq(bed.cq);
  ibv_dealloc_pd(bed.pd);
  ibv_close_device(bed.context);
  return 0;
}
