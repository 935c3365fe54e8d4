/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/table.h"

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

const struct csi_buckets csi_handling_buckets = {14,
                                                 {MS, 10 * MS, 100 * MS, 300 * MS, 600 * MS, S, 3 * S, 6 * S,
                                                  9 * S, 20 * S, 30 * S, 60 * S, 90 * S, 120 * S}};

const struct csi_buckets csi_fine_buckets = {15,
                                             {MS / 10, MS / 4, MS / 2, MS, MS * 5 / 2, 5 * MS, 10 * MS,
                                              25 * MS, 50 * MS, 100 * MS, 250 * MS, 500 * MS, S, S * 5 / 2,
                                              10 * S}};

#define METHOD_LABELS                                                                                        \
  { "grpc_method", "grpc_service", "grpc_type" }

const struct csi_metric_info csi_metric_table[CSI_METRIC_COUNT] = {
    [CSI_METRIC_GRPC_HANDLED] =
        {"grpc_server_handled_total",
         CSI_METRIC_COUNTER,
         {"grpc_code", "grpc_method", "grpc_service", "grpc_type"},
         NULL,
         "Total number of RPCs completed on the server, regardless of success or failure."},
    [CSI_METRIC_GRPC_HANDLING] =
        {"grpc_server_handling_seconds", CSI_METRIC_HISTOGRAM, METHOD_LABELS, &csi_handling_buckets,
         "Histogram of response latency (seconds) of gRPC that had been application-level "
         "handled by the server."},
    [CSI_METRIC_GRPC_RECEIVED] = {"grpc_server_msg_received_total", CSI_METRIC_COUNTER, METHOD_LABELS, NULL,
                                  "Total number of RPC stream messages received on the server."},
    [CSI_METRIC_GRPC_SENT] = {"grpc_server_msg_sent_total", CSI_METRIC_COUNTER, METHOD_LABELS, NULL,
                              "Total number of gRPC stream messages sent by the server."},
    [CSI_METRIC_GRPC_STARTED] = {"grpc_server_started_total", CSI_METRIC_COUNTER, METHOD_LABELS, NULL,
                                 "Total number of RPCs started on the server."},
    [CSI_METRIC_PROCESS_CPU] = {"process_cpu_seconds_total",
                                CSI_METRIC_COUNTER,
                                {NULL},
                                NULL,
                                "Total user and system CPU time spent in seconds."},
    [CSI_METRIC_PROCESS_MAX_FDS] =
        {"process_max_fds", CSI_METRIC_GAUGE, {NULL}, NULL, "Maximum number of open file descriptors."},
    [CSI_METRIC_PROCESS_OPEN_FDS] = {"process_open_fds",
                                     CSI_METRIC_GAUGE,
                                     {NULL},
                                     NULL,
                                     "Number of open file descriptors (on Windows: handles)."},
    [CSI_METRIC_PROCESS_RESIDENT] = {"process_resident_memory_bytes",
                                     CSI_METRIC_GAUGE,
                                     {NULL},
                                     NULL,
                                     "Resident memory size in bytes (on Windows: working set)."},
    [CSI_METRIC_PROCESS_START] = {"process_start_time_seconds",
                                  CSI_METRIC_GAUGE,
                                  {NULL},
                                  NULL,
                                  "Start time of the process since unix epoch in seconds."},
    [CSI_METRIC_PROCESS_VIRTUAL] = {"process_virtual_memory_bytes",
                                    CSI_METRIC_GAUGE,
                                    {NULL},
                                    NULL,
                                    "Virtual memory size in bytes (on Windows: private bytes)."},

    [CSI_METRIC_BUILD_INFO] = {"csi_proxy_build_info",
                               CSI_METRIC_GAUGE,
                               {"grpc_version", "version"},
                               NULL,
                               "Always 1; the labels say what the program was built from."},
    [CSI_METRIC_CALL_DURATION] =
        {"csi_proxy_call_duration_seconds",
         CSI_METRIC_HISTOGRAM,
         {"grpc_method", "grpc_service"},
         &csi_fine_buckets,
         "From the arrival of a call to its answer, waiting for a thread included; calls "
         "that reached their handler."},
    [CSI_METRIC_CALL_QUEUE] =
        {"csi_proxy_call_queue_seconds",
         CSI_METRIC_HISTOGRAM,
         {"lane"},
         &csi_fine_buckets,
         "How long calls, without streams, waited for a thread of their lane, those included whose "
         "time was over before they got one."},
    [CSI_METRIC_CALLS_IN_FLIGHT] =
        {"csi_proxy_calls_in_flight",
         CSI_METRIC_GAUGE,
         {"grpc_service"},
         NULL,
         "Calls that have come to their handler and have no answer yet; open streams "
         "included. Those that wait for a thread are in csi_proxy_lane_queued."},
    [CSI_METRIC_CALLS_REJECTED] = {"csi_proxy_calls_rejected_total",
                                   CSI_METRIC_COUNTER,
                                   {"reason"},
                                   NULL,
                                   "Calls that never reached a handler, by what was wrong with them."},
    [CSI_METRIC_CONNECTIONS] =
        {"csi_proxy_connections", CSI_METRIC_GAUGE, {"group", "version"}, NULL, "Connections on a pipe now."},
    [CSI_METRIC_CONNECTIONS_OPENED] =
        {"csi_proxy_connections_opened_total",
         CSI_METRIC_COUNTER,
         {"group", "version"},
         NULL,
         "Connections there have been on a pipe, those of now included, rejected ones "
         "not."},
    [CSI_METRIC_CONNECTIONS_REJECTED] = {"csi_proxy_connections_rejected_total",
                                         CSI_METRIC_COUNTER,
                                         {"group", "version"},
                                         NULL,
                                         "Connections that were one too many for -max-connections."},
    [CSI_METRIC_EVENTS_LOST] = {"csi_proxy_events_lost_total",
                                CSI_METRIC_COUNTER,
                                {NULL},
                                NULL,
                                "Events that could not be written to the Event Log."},
    [CSI_METRIC_GROUP_READY] =
        {"csi_proxy_group_ready",
         CSI_METRIC_GAUGE,
         {"group"},
         NULL,
         "1 when all that an API group needs of Windows is there, 0 when something is missing."},
    [CSI_METRIC_LANE_QUEUED] = {"csi_proxy_lane_queued",
                                CSI_METRIC_GAUGE,
                                {"lane"},
                                NULL,
                                "Calls that wait for a thread of a lane."},
    [CSI_METRIC_LANE_THREADS] = {"csi_proxy_lane_threads",
                                 CSI_METRIC_GAUGE,
                                 {"lane"},
                                 NULL,
                                 "Threads of a lane, idle ones included."},
    [CSI_METRIC_LOG_BYTES_LOST] = {"csi_proxy_log_bytes_lost_total",
                                   CSI_METRIC_COUNTER,
                                   {NULL},
                                   NULL,
                                   "Bytes of log that could not be written to a file."},
    [CSI_METRIC_PROCESS_THREADS] =
        {"csi_proxy_process_threads", CSI_METRIC_GAUGE, {NULL}, NULL, "Threads of the process."},
    [CSI_METRIC_WINDOWS_CALL_DURATION] =
        {"csi_proxy_windows_call_duration_seconds",
         CSI_METRIC_HISTOGRAM,
         {"call"},
         &csi_fine_buckets,
         "How long a call into Windows took: a device call by its control code, or a "
         "function. One that was given up counts with the time it was waited for."},
    [CSI_METRIC_WINDOWS_CALL_FAILURES] =
        {"csi_proxy_windows_call_failures_total",
         CSI_METRIC_COUNTER,
         {"call"},
         NULL,
         "Calls into Windows that failed or were given up. A failure is no fault by "
         "itself: some calls fail where a device does not offer something."},
    [CSI_METRIC_WINDOWS_CALLS_HANGING] = {"csi_proxy_windows_calls_hanging",
                                          CSI_METRIC_GAUGE,
                                          {NULL},
                                          NULL,
                                          "Calls into Windows that were given up and have not returned."},
    [CSI_METRIC_WINDOWS_CALLS_UNLISTED] =
        {"csi_proxy_windows_calls_unlisted_total",
         CSI_METRIC_COUNTER,
         {NULL},
         NULL,
         "Timings of calls into Windows that no room was left for in the table of "
         "names; more than 0 is a fault of this program."},
};

const char *csi_metric_type_name(enum csi_metric_type type) {
  static const char *const names[] = {
      [CSI_METRIC_COUNTER] = "counter", [CSI_METRIC_GAUGE] = "gauge", [CSI_METRIC_HISTOGRAM] = "histogram"};
  return names[type];
}
