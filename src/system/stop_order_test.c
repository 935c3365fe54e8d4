/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which services are stopped: chain, diamond, circle, and edges that make no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "system/stop_order.h"

/* edges: pairs "10" = service 1 needs service 0. expected: "210". */
static void assert_order(size_t count, const char *edges, const char *expected) {
  struct csi_stop_edge list[16] = {{0}};
  size_t edge_count = 0;
  for (const char *at = edges; at[0] != '\0'; at += 2)
    list[edge_count++] =
        (struct csi_stop_edge){.dependent = (uint16_t)(at[0] - '0'), .needed = (uint16_t)(at[1] - '0')};
  uint16_t order[16] = {0};
  char text[17] = "";
  csi_stop_order(count, list, edge_count, order);
  for (size_t i = 0; i < count; i++)
    text[i] = (char)('0' + order[i]);
  assert_string_equal(text, expected);
}

static void test_orders(void **state) {
  (void)state;
  assert_order(0, "", "");
  assert_order(1, "", "0");
  assert_order(3, "", "012");
  assert_order(3, "1021", "210");
  assert_order(3, "102120", "210");
  assert_order(4, "10203132", "3120");
  assert_order(4, "10203132301021", "3210");
}

static void test_nonsense(void **state) {
  (void)state;
  assert_order(2, "1010101010", "10");
  assert_order(2, "0011", "01");
  assert_order(2, "5010", "10");
  assert_order(2, "0510", "10");
}

static void test_circles(void **state) {
  (void)state;
  assert_order(2, "0110", "01");
  assert_order(3, "011220", "012");
  assert_order(4, "12213120", "3012");
}

static void test_long_chain(void **state) {
  (void)state;
  static struct csi_stop_edge edges[CSI_STOP_EDGES_MAX];
  size_t count = 0;
  for (uint16_t i = 0; i < CSI_STOP_SERVICES_MAX; i++)
    for (uint16_t j = 0; j < i; j++)
      edges[count++] = (struct csi_stop_edge){.dependent = i, .needed = j};
  uint16_t order[CSI_STOP_SERVICES_MAX];
  csi_stop_order(CSI_STOP_SERVICES_MAX, edges, count, order);
  for (size_t i = 0; i < CSI_STOP_SERVICES_MAX; i++)
    assert_int_equal(order[i], CSI_STOP_SERVICES_MAX - 1 - i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_nonsense),
      cmocka_unit_test(test_circles),
      cmocka_unit_test(test_long_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
