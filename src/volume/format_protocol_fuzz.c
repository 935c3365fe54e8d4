/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as job and as reports: in one piece or byte by byte they mean the same, and only reports that
 * end in "done" are a success.
 */
#include <stdlib.h>
#include <string.h>

#include "volume/format_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check_job(const uint8_t bytes[CSI_FORMAT_JOB_BYTES]) {
  struct csi_format_job job;
  if (!csi_format_job_decode(bytes, &job)) return;
  require(memchr(job.file_system, '\0', sizeof job.file_system) != NULL);
  uint8_t again[CSI_FORMAT_JOB_BYTES];
  csi_format_job_encode(&job, again);
  require(memcmp(bytes, again, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= CSI_FORMAT_JOB_BYTES) check_job(data);
  struct csi_format_reports whole = {0}, pieces = {0};
  csi_format_reports_add(&whole, data, size);
  for (size_t i = 0; i < size; i++)
    csi_format_reports_add(&pieces, data + i, 1);
  struct csi_status status = {0}, same = {0};
  bool done = csi_format_verdict(&whole, 0, &status);
  require(csi_format_verdict(&pieces, 0, &same) == done);
  require(strcmp(status.text, same.text) == 0 && whole.percent == pieces.percent && whole.percent <= 100);
  if (done)
    require(size >= CSI_FORMAT_REPORT_BYTES && data[size - CSI_FORMAT_REPORT_BYTES] == CSI_FORMAT_DONE);
  else
    require(!csi_status_ok(&status));
  return 0;
}
