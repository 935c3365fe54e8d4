/* SPDX-License-Identifier: Apache-2.0 */
#include <csi-proxy/system.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

static enum csi_code get_bios_serial_number(struct call *call) {
  CALL(system, get_bios_serial_number, 0);
  if (code == CSI_OK) printf("serial=<%s>\n", response->serial_number);
  csi_response_free(response);
  return code;
}

static enum csi_code start_service(struct call *call) {
  CALL(system, start_service, call->word[0]);
  csi_response_free(response);
  return code;
}

static enum csi_code stop_service(struct call *call) {
  CALL(system, stop_service, call->word[0], strcmp(call->word[1], "force") == 0);
  csi_response_free(response);
  return code;
}

static enum csi_code get_service(struct call *call) {
  CALL(system, get_service, call->word[0]);
  if (code == CSI_OK)
    printf("start=%d state=%d display=<%s>\n", (int)response->start_type, (int)response->status,
           response->display_name);
  csi_response_free(response);
  return code;
}

const struct call_rpc system_rpcs[] = {
    {"GetBIOSSerialNumber", get_bios_serial_number}, /* */
    {"StartService", start_service},                 /* NAME */
    {"StopService", stop_service},                   /* NAME [force] */
    {"GetService", get_service},                     /* NAME */
    {NULL, NULL},
};
