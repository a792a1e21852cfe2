// SPDX-License-Identifier: Apache-2.0
/*
 * Test equipment: registers memory and holds it.
 *
 *   qpscope-mr-hold DEVICE COUNT BYTES         prints "held" when all regions are there; SIGTERM: deregisters them and exits 0
 *   qpscope-mr-hold DEVICE COUNT BYTES churn   then deregisters and registers one after the other, as fast as it can; at the end "made N"
 *   qpscope-mr-hold DEVICE COUNT BYTES thread  by a thread that then ends
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ibv_pd* pd;
static struct ibv_mr** regions;
static char* memory;
static size_t count, bytes;
static volatile sig_atomic_t ending;

static void die(const char* what) {
  fprintf(stderr, "mr-hold: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void end(int number) {
  (void)number;
  ending = 1;
}

static void open_device(const char* name) {
  struct ibv_device** all = ibv_get_device_list(NULL);
  struct ibv_context* context = NULL;
  for (int i = 0; all && all[i] && !context; ++i) {
    if (strcmp(ibv_get_device_name(all[i]), name) == 0) context = ibv_open_device(all[i]);
  }
  if (!context || !(pd = ibv_alloc_pd(context))) die(name);
}

static void make(size_t at) {
  if (!(regions[at] = ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE))) die("ibv_reg_mr");
}

static void* make_all(void* unused) {
  for (size_t i = 0; i < count; ++i) make(i);
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* mode = argc > 4 ? argv[4] : "";
  count = strtoul(argv[2], NULL, 10);
  bytes = strtoul(argv[3], NULL, 10);
  signal(SIGTERM, end);
  regions = calloc(count, sizeof *regions);
  memory = calloc(1, bytes);
  if (!regions || !memory || count == 0) die(argv[2]);
  open_device(argv[1]);
  if (strcmp(mode, "thread") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_all, NULL) != 0 || pthread_join(thread, NULL) != 0) die("a thread");
  } else {
    make_all(NULL);
  }
  puts("held");
  fflush(stdout);
  unsigned long made = count;
  for (size_t at = 0; !ending; at = (at + 1) % count) {
    if (strcmp(mode, "churn") != 0) {
      usleep(50000);
      continue;
    }
    if (ibv_dereg_mr(regions[at]) != 0) die("ibv_dereg_mr");
    make(at);
    ++made;
  }
  for (size_t i = 0; i < count; ++i) {
    if (ibv_dereg_mr(regions[i]) != 0) die("ibv_dereg_mr");
  }
  printf("made %lu\n", made);
  return 0;
}
