/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parts of gRPC's C core this program is made of. gRPC registers everything it has: a dozen load
 * balancers, name resolvers, proxies; and starts threads for them. On a pipe none of that can be of
 * use. Our BuildCoreConfiguration() takes the place of gRPC's own, so that the linker leaves the rest out:
 * a fifth of the executable.
 */
#include <grpc/support/port_platform.h>

#include <memory>

#include <grpc/grpc.h>

#include "src/core/lib/config/core_configuration.h"
#include "src/core/lib/event_engine/default_event_engine.h"
#include "src/core/lib/iomgr/exec_ctx.h"
#include "src/core/lib/iomgr/executor.h"
#include "src/core/lib/surface/builtins.h"

#include "transport/pipe_win32.h"
#include "transport/transport.h"

namespace grpc_event_engine {
namespace experimental {
void RegisterEventEngineChannelArgPreconditioning(grpc_core::CoreConfiguration::Builder *builder);
}
} // namespace grpc_event_engine

namespace grpc_core {

void RegisterClientAuthorityFilter(CoreConfiguration::Builder *builder);
void RegisterDeadlineFilter(CoreConfiguration::Builder *builder);
void RegisterHttpFilters(CoreConfiguration::Builder *builder);
void RegisterMessageSizeFilter(CoreConfiguration::Builder *builder);
void RegisterResourceQuota(CoreConfiguration::Builder *builder);
void BuildCoreConfiguration(CoreConfiguration::Builder *builder);

void BuildCoreConfiguration(CoreConfiguration::Builder *builder) {
  grpc_event_engine::experimental::RegisterEventEngineChannelArgPreconditioning(builder);
  RegisterClientAuthorityFilter(builder);
  RegisterHttpFilters(builder);
  RegisterDeadlineFilter(builder);
  RegisterMessageSizeFilter(builder);
  RegisterResourceQuota(builder);
  RegisterBuiltins(builder);
}

} // namespace grpc_core

/* The executors run closures for sockets on threads of their own; without them closures run where they were
 * scheduled. */
void csi_transport_start(void) {
  csi_event_engine_install();
  grpc_init();
  csi_timers_install();
  grpc_core::ExecCtx exec_ctx;
  grpc_core::Executor::SetThreadingAll(false);
  /* gRPC drops its event engine with the last connection, and makes a new one with the next. */
  static const auto *const engine = new std::shared_ptr<grpc_event_engine::experimental::EventEngine>(
      grpc_event_engine::experimental::GetDefaultEventEngine());
  (void)engine;
}

void csi_transport_shut_down(void) {
  grpc_shutdown();
}
