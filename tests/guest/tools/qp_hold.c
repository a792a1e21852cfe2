// SPDX-License-Identifier: Apache-2.0
/*
 * Test equipment: makes RC queue pairs up to RTS and holds them, by the raw write() commands of uverbs, so that it works on any
 * device of the kernel without a provider library (tests/guest/mlx5sim has none).
 *
 *   qpscope-qp-hold DEVICE COUNT [PORT]      prints "held QPN QPN ..." when all are in RTS; SIGTERM: destroys them and exits 0
 *   qpscope-qp-hold DEVICE COUNT PORT churn  then destroys and makes one after the other, as fast as it can, until SIGTERM
 *   qpscope-qp-hold DEVICE COUNT PORT init   takes them to INIT only
 *   qpscope-qp-hold DEVICE COUNT PORT srq    makes an SRQ, too
 *   qpscope-qp-hold DEVICE COUNT PORT fail   moves them to ERR on SIGUSR1, once
 *   qpscope-qp-hold DEVICE COUNT PORT timed  prints last what each queue pair's calls took, "took CREATE INIT RTR RTS DESTROY" in ns
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Bits of enum ib_qp_attr_mask, states and type of a QP: no installed kernel header has them. */
enum {
  kState = 1 << 0,
  kAccessFlags = 1 << 3,
  kPkeyIndex = 1 << 4,
  kPort = 1 << 5,
  kAv = 1 << 7,
  kPathMtu = 1 << 8,
  kTimeout = 1 << 9,
  kRetryCount = 1 << 10,
  kRnrRetry = 1 << 11,
  kRqPsn = 1 << 12,
  kMaxRdAtomic = 1 << 13,
  kMinRnrTimer = 1 << 15,
  kSqPsn = 1 << 16,
  kMaxDestRdAtomic = 1 << 17,
  kDestQpn = 1 << 20,
};
enum { kInit = 1, kRtr = 2, kRts = 3, kErr = 6 };
enum { kRc = 2 };
enum { kGidIndex = 1 }; /* RoCE v2 of the link-local address, which needs no neighbour to resolve */

static int uverbs = -1;
static uint64_t took; /* by the last command, ns */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void die(const char* what) {
  fprintf(stderr, "qp-hold: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int read_line(const char* path, char* line, int size) {
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  const int good = fgets(line, size, file) != NULL;
  fclose(file);
  line[strcspn(line, "\n")] = 0;
  return good;
}

static void open_device(const char* device) {
  static const char folder[] = "/sys/class/infiniband_verbs";
  DIR* all = opendir(folder);
  char path[600], line[80];
  if (!all) die(folder);
  for (const struct dirent* entry; uverbs < 0 && (entry = readdir(all));) {
    snprintf(path, sizeof path, "%s/%s/ibdev", folder, entry->d_name);
    if (entry->d_name[0] == '.' || !read_line(path, line, sizeof line) || strcmp(line, device) != 0) continue;
    snprintf(path, sizeof path, "/dev/infiniband/%s", entry->d_name);
    if ((uverbs = open(path, O_RDWR | O_CLOEXEC)) < 0) die(path);
  }
  closedir(all);
  if (uverbs < 0) {
    errno = ENODEV;
    die(device);
  }
}

/* A device that has just come has its GIDs a moment later: they are zero until then. */
static void read_gid(const char* device, int port, uint8_t gid[16]) {
  char path[200], line[80];
  unsigned part[8], sum = 0;
  snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/%d/gids/%d", device, port, kGidIndex);
  for (int tries = 0; sum == 0 && tries < 50; ++tries) {
    if (tries > 0) usleep(100000);
    if (!read_line(path, line, sizeof line)) die(path);
    const int parts =
        sscanf(line, "%x:%x:%x:%x:%x:%x:%x:%x", &part[0], &part[1], &part[2], &part[3], &part[4], &part[5], &part[6], &part[7]);
    if (parts != 8) die(line);
    for (int i = 0; i < 8; ++i) {
      sum += part[i];
      gid[2 * i] = (uint8_t)(part[i] >> 8);
      gid[2 * i + 1] = (uint8_t)part[i];
    }
  }
}

/* One command: the header, `in`, and where the answer goes; every `in` with an answer starts with the answer's address. */
static int command(unsigned number, void* in, size_t in_size, void* out, size_t out_size) {
  uint8_t buffer[sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_modify_qp)];
  const struct ib_uverbs_cmd_hdr header = {
      .command = number, .in_words = (uint16_t)((sizeof header + in_size) / 4), .out_words = (uint16_t)(out_size / 4)};
  if (out) *(uint64_t*)in = (uintptr_t)out;
  memcpy(buffer, &header, sizeof header);
  memcpy(buffer + sizeof header, in, in_size);
  const uint64_t began = now_ns();
  const int failed = write(uverbs, buffer, sizeof header + in_size) < 0;
  took = now_ns() - began;
  return failed ? -1 : 0;
}

static void modify(struct ib_uverbs_modify_qp* attr, unsigned state, unsigned mask) {
  attr->qp_state = (uint8_t)state;
  attr->attr_mask = kState | mask;
  if (command(IB_USER_VERBS_CMD_MODIFY_QP, attr, sizeof *attr, NULL, 0)) die("modify");
}

struct times {
  uint64_t create, init, rtr, rts;
};

/* To RTS, with itself as peer; nothing is sent. Or to INIT only. */
static void connect_to_itself(unsigned handle, unsigned qpn, int port, const uint8_t gid[16], int init_only, struct times* times) {
  struct ib_uverbs_modify_qp attr = {.qp_handle = handle, .port_num = (uint8_t)port};
  modify(&attr, kInit, kPkeyIndex | kPort | kAccessFlags);
  times->init = took;
  if (init_only) return;
  attr.dest_qp_num = qpn;
  attr.path_mtu = 3; /* 1024 */
  attr.rq_psn = 100;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 12;
  attr.dest.is_global = 1;
  attr.dest.port_num = (uint8_t)port;
  attr.dest.sgid_index = kGidIndex;
  attr.dest.hop_limit = 64;
  attr.dest.traffic_class = 106;
  memcpy(attr.dest.dgid, gid, 16);
  modify(&attr, kRtr, kAv | kPathMtu | kDestQpn | kRqPsn | kMaxDestRdAtomic | kMinRnrTimer);
  times->rtr = took;
  attr.sq_psn = 200;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 1;
  modify(&attr, kRts, kSqPsn | kTimeout | kRetryCount | kRnrRetry | kMaxRdAtomic);
  times->rts = took;
}

struct bed {
  unsigned pd, cq;
  int port, init_only;
  uint8_t gid[16];
};

static void make(const struct bed* bed, unsigned* handle, unsigned* qpn, struct times* times) {
  struct ib_uverbs_create_qp qp = {.pd_handle = bed->pd,
                                   .send_cq_handle = bed->cq,
                                   .recv_cq_handle = bed->cq,
                                   .max_send_wr = 4,
                                   .max_recv_wr = 4,
                                   .max_send_sge = 1,
                                   .max_recv_sge = 1,
                                   .qp_type = kRc};
  struct ib_uverbs_create_qp_resp answer;
  if (command(IB_USER_VERBS_CMD_CREATE_QP, &qp, sizeof qp, &answer, sizeof answer)) die("create");
  times->create = took;
  *handle = answer.qp_handle;
  *qpn = answer.qpn;
  connect_to_itself(answer.qp_handle, answer.qpn, bed->port, bed->gid, bed->init_only, times);
}

static void destroy(unsigned handle) {
  struct ib_uverbs_destroy_qp destroy = {.qp_handle = handle};
  struct ib_uverbs_destroy_qp_resp answer;
  /* EIO: the device went, and took them with it. */
  if (command(IB_USER_VERBS_CMD_DESTROY_QP, &destroy, sizeof destroy, &answer, sizeof answer) && errno != EIO) die("destroy");
}

static int asked_to_end(void) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGTERM);
}

int main(int argc, char** argv) {
  const int churn = argc > 4 && strcmp(argv[4], "churn") == 0, timed = argc > 4 && strcmp(argv[4], "timed") == 0;
  const int init_only = argc > 4 && strcmp(argv[4], "init") == 0, srq = argc > 4 && strcmp(argv[4], "srq") == 0, fail = argc > 4 && strcmp(argv[4], "fail") == 0;
  if (argc < 3 || (argc > 4 && !churn && !timed && !init_only && !srq && !fail)) {
    fprintf(stderr, "usage: qpscope-qp-hold DEVICE COUNT [PORT [churn | init | srq | fail | timed]]\n");
    return 2;
  }
  const int count = atoi(argv[2]);
  struct bed bed = {.port = argc > 3 ? atoi(argv[3]) : 1, .init_only = init_only};
  open_device(argv[1]);
  read_gid(argv[1], bed.port, bed.gid);

  /* Blocked from the start, so that a SIGTERM while QPs are being made is taken up afterwards. */
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  if (fail) sigaddset(&term, SIGUSR1);
  sigprocmask(SIG_BLOCK, &term, NULL);

  struct ib_uverbs_get_context context = {0};
  struct ib_uverbs_get_context_resp context_answer;
  if (command(IB_USER_VERBS_CMD_GET_CONTEXT, &context, sizeof context, &context_answer, sizeof context_answer)) die("context");
  struct ib_uverbs_alloc_pd pd = {0};
  struct ib_uverbs_alloc_pd_resp pd_answer;
  if (command(IB_USER_VERBS_CMD_ALLOC_PD, &pd, sizeof pd, &pd_answer, sizeof pd_answer)) die("pd");
  struct ib_uverbs_create_cq cq = {.cqe = 64, .comp_channel = -1};
  struct ib_uverbs_create_cq_resp cq_answer;
  if (command(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof cq, &cq_answer, sizeof cq_answer)) die("cq");

  struct ib_uverbs_create_srq with_srq = {.pd_handle = pd_answer.pd_handle, .max_wr = 4, .max_sge = 1};
  struct ib_uverbs_create_srq_resp srq_answer;
  if (srq && command(IB_USER_VERBS_CMD_CREATE_SRQ, &with_srq, sizeof with_srq, &srq_answer, sizeof srq_answer)) die("srq");

  unsigned* handles = calloc((size_t)count, sizeof *handles);
  unsigned* qpns = calloc((size_t)count, sizeof *qpns);
  struct times* times = calloc((size_t)count, sizeof *times);
  if (!handles || !qpns || !times) die("memory");
  bed.pd = pd_answer.pd_handle;
  bed.cq = cq_answer.cq_handle;
  for (int i = 0; i < count; ++i) make(&bed, &handles[i], &qpns[i], &times[i]);
  printf("held");
  for (int i = 0; i < count; ++i) printf(" %u", qpns[i]);
  printf("\n");
  fflush(stdout);

  for (int i = 0; churn && !asked_to_end(); i = (i + 1) % count) {
    destroy(handles[i]);
    make(&bed, &handles[i], &qpns[i], &times[i]);
  }
  int got = 0;
  while (sigwait(&term, &got) || got != SIGTERM) {
    for (int i = 0; got == SIGUSR1 && i < count; ++i) {
      struct ib_uverbs_modify_qp attr = {.qp_handle = handles[i]};
      modify(&attr, kErr, 0);
    }
  }
  for (int i = 0; i < count; ++i) {
    destroy(handles[i]);
    const struct times* of = &times[i];
    if (timed) printf("took %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", of->create, of->init, of->rtr, of->rts, took);
  }
  free(times);
  free(handles);
  free(qpns);
  return 0;
}
