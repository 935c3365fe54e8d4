/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <stdio.h>

#include "service/installer_win32.h"
#include "service/program_file_win32.h"

enum {
  LOOK_MS = 10000,
  RETRY_MS_MAX = 600000,
  UPGRADE_RETRY_MS = 600000, /* what went back is not stopped and started again all the time */
};

/* The control handler has no context argument. */
static HANDLE stop;

/* UNVERIFIED ON WINDOWS: that the end of a HostProcess container arrives here, as CTRL_SHUTDOWN_EVENT. */
static BOOL WINAPI handle_event(DWORD event) {
  if (event == CTRL_LOGOFF_EVENT) return TRUE;
  SetEvent(stop);
  /* The process ends when this returns from a close or a shutdown: the main thread does that. */
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
  return TRUE;
}

/* What one look leaves for the next. */
static struct {
  bool looked;          /* at the program's bytes, too */
  bool failed;          /* an upgrade to what is wanted, */
  uint64_t retry_at_ms; /* which is tried again then (GetTickCount64) */
} memory;

static bool start_present(struct csi_installer *installer, const struct csi_install_config *present) {
  size_t pipes;
  memory.looked = false; /* should it fail: perhaps it is not the program any more */
  csi_installer_say("service %s is stopped: starting it", installer->service.name);
  return csi_installer_start(installer, present, &pipes);
}

static bool upgrade(struct csi_installer *installer, const struct csi_install_config *present,
                    const struct csi_install_config *wanted, const char *source,
                    const struct csi_installer_difference *difference) {
  csi_installer_say("service %s is not as wanted: upgrading it", installer->service.name);
  memory.failed = !csi_installer_check(installer, wanted) ||
                  !csi_upgrade_to(installer, present, wanted, source, difference);
  memory.retry_at_ms = GetTickCount64() + UPGRADE_RETRY_MS;
  return !memory.failed;
}

/* The program's bytes are looked at first, and whenever the service has stopped. */
static bool put_right(struct csi_installer *installer, const struct csi_install_config *present) {
  struct csi_status *status = &installer->status;
  struct csi_install_config wanted;
  struct csi_installer_difference difference;
  SERVICE_STATUS_PROCESS now;
  char *own = csi_program_file_own(installer->arena, status);
  if (own == NULL || !csi_installer_want_given(installer, &wanted) ||
      !csi_scm_status(&installer->service, &now, status))
    return false;
  bool stopped = now.dwCurrentState == SERVICE_STOPPED;
  if (memory.failed && GetTickCount64() < memory.retry_at_ms)
    return !stopped || start_present(installer, present);
  const char *source = installer->options->exe[0] == '\0' ? own : wanted.executable;
  bool looks = !memory.looked || memory.failed || stopped;
  if (!csi_installer_compare(installer, present, &wanted, looks ? source : NULL, &difference)) return false;
  bool right = !difference.file && !difference.config;
  if (!right) return upgrade(installer, present, &wanted, source, &difference);
  memory.looked = true;
  memory.failed = false;
  return !difference.stopped || start_present(installer, present);
}

static bool ensure(struct csi_installer *installer) {
  struct csi_install_config present;
  bool exists;
  if (!csi_installer_find(installer, &exists, &present)) return false;
  return exists ? put_right(installer, &present) : csi_install_service(installer);
}

/* Failures are told, and do not end it: the container would only come back to the same. */
static void watch(const struct csi_install_options *options) {
  DWORD wait_ms = LOOK_MS;
  while (WaitForSingleObject(stop, wait_ms) == WAIT_TIMEOUT) {
    struct csi_status status = {0};
    if (csi_installer_run(options, ensure, &status)) {
      wait_ms = LOOK_MS;
      continue;
    }
    wait_ms = wait_ms < RETRY_MS_MAX / 2 ? 2 * wait_ms : RETRY_MS_MAX;
    fprintf(stderr, "csi-proxy: %s; trying again in %lu s\n", status.text, wait_ms / 1000);
  }
}

enum csi_exit csi_install_keep(const struct csi_install_options *options) {
  struct csi_status status = {0};
  stop = CreateEventW(NULL, TRUE, FALSE, NULL);
  if (stop == NULL || !SetConsoleCtrlHandler(handle_event, TRUE)) {
    DWORD error = GetLastError();
    fprintf(stderr, "csi-proxy: cannot watch for Ctrl-C: error %lu\n", error);
    return CSI_EXIT_START;
  }
  if (csi_installer_run(options, ensure, &status)) {
    csi_installer_say("keeping service %s as it is now; Ctrl-C ends this, not the service", options->name);
  } else {
    fprintf(stderr, "csi-proxy: %s\n", status.text);
    /* A container that ended would come back to do the same to a service that went back and serves. */
    if (!memory.failed || csi_installer_exit(&status) == CSI_EXIT_CONFIG) return csi_installer_exit(&status);
    csi_installer_say("keeping service %s as it is; the upgrade is tried again in %d s", options->name,
                      UPGRADE_RETRY_MS / 1000);
  }
  watch(options);
  csi_installer_say("service %s goes on without being kept", options->name);
  return CSI_EXIT_OK;
}
