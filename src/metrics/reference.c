/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the reference page of the metrics. A program of the build machine: `metrics-reference METRICS.md`.
 */
#include <stdio.h>

#include "metrics/exposition.h"
#include "metrics/table.h"

static void print_labels(const struct csi_metric_info *info) {
  for (size_t i = 0; i < CSI_METRIC_LABELS && info->labels[i] != NULL; i++)
    printf("%s`%s`", i == 0 ? "" : ", ", info->labels[i]);
  if (info->buckets != NULL) printf("%s`le`", info->labels[0] == NULL ? "" : ", ");
}

static void print_metrics(enum csi_metric first, enum csi_metric end) {
  printf("| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n");
  for (enum csi_metric metric = first; metric < end; metric++) {
    const struct csi_metric_info *info = &csi_metric_table[metric];
    printf("| `%s` | %s | ", info->name, csi_metric_type_name(info->type));
    print_labels(info);
    printf(" | %s |\n", info->help);
  }
  printf("\n");
}

static void print_buckets(const char *what, const struct csi_buckets *buckets) {
  char text[CSI_SECONDS_BYTES];
  printf("| %s | ", what);
  for (size_t i = 0; i < buckets->count; i++)
    printf("%s ", csi_seconds_text(text, buckets->bounds_ns[i]));
  printf("+Inf |\n");
}

int main(int argc, char **argv) {
  if (argc != 2 || freopen(argv[1], "w", stdout) == NULL) {
    perror(argc == 2 ? argv[1] : "usage: metrics-reference FILE");
    return 1;
  }
  printf("<!-- Made from src/metrics/table.c; not to be edited. -->\n# Metrics\n\n"
         "Served as plain HTTP at `/metrics` of `-metrics-bind-address`, in Prometheus' text format 0.0.4. A "
         "series "
         "of calls appears with the first call.\n\n## As the original has them\n\n"
         "Names, labels and buckets are the original's. `grpc_code` is the code the client got; failures of "
         "handlers "
         "are `Unknown` there. Messages are counted for `grpc_type=\"unary\"` only.\n\n");
  print_metrics(0, CSI_METRIC_BUILD_INFO);
  printf("## Its own\n\n");
  print_metrics(CSI_METRIC_BUILD_INFO, CSI_METRIC_COUNT);
  printf("## Buckets\n\n| Histograms | Upper bounds `le`, seconds |\n|---|---|\n");
  print_buckets("`grpc_server_handling_seconds`", &csi_handling_buckets);
  print_buckets("all others", &csi_fine_buckets);
  return ferror(stdout) != 0 || fflush(stdout) != 0;
}
