// SPDX-License-Identifier: Apache-2.0
//
// A generated public header stands alone, is C++, and means the same there.
#include "csi-proxy/dummy.h"

static_assert(sizeof(csi_dummy_sleep_response) == 1, "an empty message has one size in C and C++");
static_assert(CSI_DUMMY_MATERIAL_GLASS == 2, "numbers of the proto");

extern "C" int csi_dummy_header_test(csi_client *client);

extern "C" int csi_dummy_header_test(csi_client *client) {
  csi_dummy_compute_double_request request = {};
  csi_dummy_compute_double_response *response = nullptr;
  csi_error error = {};
  return csi_dummy_compute_double(client, &request, nullptr, &response, &error);
}
