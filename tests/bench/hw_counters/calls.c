// SPDX-License-Identifier: Apache-2.0
/*
 * The bare calls on this machine's own processor: as many preads of a sysfs file as a port has files, and one netlink question with an
 * answer as long as that of all of them. No RDMA: any machine has lo.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kFiles = 32, kRounds = 20000 };

static double cpu_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(void) {
  static char buffer[65536];
  struct {
    struct nlmsghdr header;
    struct ifinfomsg link;
  } question = {.header = {.nlmsg_len = sizeof question, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST}, .link = {.ifi_index = 1}};
  const int file = open("/sys/class/net/lo/statistics/rx_bytes", O_RDONLY), netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  ssize_t length = 0;

  const double began = cpu_microseconds();
  for (int i = 0; i < kRounds * kFiles; ++i) length = pread(file, buffer, 64, 0);
  const double between = cpu_microseconds();
  if (length <= 0) return perror("pread"), 1;
  for (int i = 0; i < kRounds && length > 0; ++i) {
    length = send(netlink, &question, sizeof question, 0);
    if (length > 0) length = recv(netlink, buffer, sizeof buffer, 0);
  }
  const double ended = cpu_microseconds();
  if (length <= 0) return perror("netlink"), 1;
  printf("%d preads %.1f us, a netlink question and its answer of %zd bytes %.1f us\n", kFiles, (between - began) / kRounds, length,
         (ended - between) / kRounds);
  return 0;
}
