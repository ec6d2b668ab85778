// As much of the CUDA driver as wake.py calls. cuInit does its work once, as the driver's does: who calls it meanwhile
// waits. FAKE_GPU has its faults, see fake_machine.py.
//
// Loaded before libc (LD_PRELOAD) it also takes time to clear up when a process ends that has called it.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
static int awake = 0;
static int used = 0;

static int ordered(const char* fault) {
  const char* name = getenv("FAKE_GPU");
  return name && strcmp(name, fault) == 0;
}

int cuInit(unsigned flags) {
  (void)flags;
  used = 1;
  pthread_mutex_lock(&once);
  const char* note = getenv("FAKE_GPU_NOTE");  // a file that says that somebody has called
  if (note) close(open(note, O_CREAT | O_WRONLY, 0600));
  if (!awake && ordered("driver:slow")) sleep((unsigned)atoi(getenv("FAKE_GPU_SECONDS")));
  awake = 1;
  pthread_mutex_unlock(&once);
  return ordered("driver:fail") ? 100 : 0;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)context, (void)device;
  return 0;
}

void _exit(int code) {
  if (used && ordered("exit:slow")) sleep((unsigned)atoi(getenv("FAKE_GPU_SECONDS")));
  syscall(SYS_exit_group, code);
  for (;;) pause();
}
