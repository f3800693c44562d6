import { hostname } from "node:os";
import { actorOf } from "../domain/access/actor.ts";
import { INGRESS_LIMITS } from "../domain/limits.ts";
import { accountEndpoints } from "../http/account/routes.ts";
import { managedAccountEndpoints } from "../http/admin/accounts/routes.ts";
import { managedCallbackEndpoints } from "../http/admin/callbacks/routes.ts";
import { historyEndpoints } from "../http/admin/history/routes.ts";
import { keyEndpoints } from "../http/admin/keys/routes.ts";
import { manifestEndpoints } from "../http/admin/manifests/routes.ts";
import { moneyEndpoints } from "../http/admin/money/routes.ts";
import { nodeEndpoints } from "../http/admin/nodes/routes.ts";
import { overviewEndpoints } from "../http/admin/overview/routes.ts";
import { managedPriceEndpoints } from "../http/admin/pricing/routes.ts";
import { managedProviderEndpoints } from "../http/admin/providers/routes.ts";
import { managedRouteEndpoints } from "../http/admin/routes/routes.ts";
import { managedTaskEndpoints } from "../http/admin/tasks/routes.ts";
import { tokenEndpoints } from "../http/admin/tokens/routes.ts";
import { trailEndpoints } from "../http/admin/trail/routes.ts";
import { inputEndpoints } from "../http/assets/input-routes.ts";
import { assetEndpoints } from "../http/assets/routes.ts";
import { callbackEndpoints } from "../http/callbacks/routes.ts";
import { toEstimateBody } from "../http/compat/estimate-body.ts";
import { compatModelEndpoints } from "../http/compat/model-routes.ts";
import { compatImageEndpoints } from "../http/compat/routes.ts";
import { withCors } from "../http/cors.ts";
import { withDocs } from "../http/docs/routes.ts";
import { createEdge } from "../http/edge.ts";
import { eventEndpoints } from "../http/events/routes.ts";
import { facadeEndpoints } from "../http/facades/endpoints.ts";
import { fileEndpoints } from "../http/files/routes.ts";
import { generationEndpoints } from "../http/generations/routes.ts";
import { groupEndpoints } from "../http/groups/routes.ts";
import { healthEndpoints } from "../http/health/routes.ts";
import { hookEndpoints } from "../http/hooks/routes.ts";
import { createIngressBudget } from "../http/ingress/budget.ts";
import { createIngress } from "../http/ingress/ingress.ts";
import { createLane } from "../http/ingress/lane.ts";
import { createPace } from "../http/ingress/pace.ts";
import { metricsEndpoint } from "../http/metrics/routes.ts";
import { managedModelEndpoints, modelEndpoints } from "../http/models/routes.ts";
import { pricingEndpoints } from "../http/pricing/routes.ts";
import { createRouter, type RouterDeps } from "../http/router.ts";
import type { ServerOptions } from "../http/server.ts";
import { createStandings } from "../http/standing.ts";
import { createStays } from "../http/stays.ts";
import { lineageEndpoints } from "../http/tasks/lineage/routes.ts";
import { taskEndpoints } from "../http/tasks/routes.ts";
import { storyEndpoints } from "../http/tasks/story/routes.ts";
import { createCompany, createTurns } from "../http/turns.ts";
import { createWorkerRouter } from "../http/worker.ts";
import { monotonicMs } from "../runtime/clock.ts";
import { readProcess } from "../runtime/process-figures.ts";
import { systemRandom } from "../runtime/random.ts";
import { createRateLimiter } from "../runtime/rate-limiter.ts";
import { threadCpuMs } from "../runtime/thread-time.ts";
import { readDiskSpace } from "../runtime/vitals.ts";
import { laneCapacities } from "../scheduler/routing/lanes.ts";
import { createAuthenticate, createAuthenticateOperator } from "../service/authenticate.ts";
import { type CancelLater, createCancelLater } from "../service/cancel-later.ts";
import { createCreateTask } from "../service/create-task.ts";
import { createEstimate } from "../service/estimate.ts";
import { createExplainRoute } from "../service/explain-route.ts";
import { createGenerateSync } from "../service/generate-sync.ts";
import { createGroupRaces, type GroupRaces } from "../service/group-races.ts";
import { createTakeHook } from "../service/hooks.ts";
import { createLatestStock } from "../service/latest-stock.ts";
import { createTellLowBalance } from "../service/low-balance.ts";
import { createManageCallbacks } from "../service/manage-callbacks.ts";
import { findStoredKey } from "../service/manage-keys.ts";
import { createManageModels } from "../service/manage-models.ts";
import { createManagePrices } from "../service/manage-prices.ts";
import { createManageTasks } from "../service/manage-tasks.ts";
import { createModerate } from "../service/moderate.ts";
import { createNoteChange } from "../service/note-change.ts";
import { createNoteTokenUse } from "../service/note-token-use.ts";
import { createReadMetrics, type ReadMetrics } from "../service/read-metrics.ts";
import { createReadOverview, type ReadOverview } from "../service/read-overview.ts";
import { createReadTrail } from "../service/read-trail.ts";
import { createTellUnavailable } from "../service/unavailable-models.ts";
import { VERSION } from "../version.ts";
import { aloneNode } from "./alone-node.ts";
import { consoleRoutes } from "./console.ts";
import { databaseOf } from "./data-folder.ts";
import { mostConnections } from "./descriptors.ts";
import { createChecksAtUse } from "./doctor/at-use.ts";
import { operatorEndpoints } from "./operator-routes.ts";
import { createOwnManifests } from "./own-manifests.ts";
import type { RequestDeps } from "./request-deps.ts";
import { createServedProviders } from "./served-providers.ts";
import { createServedRoutes } from "./served-routes.ts";

/** What answers requests. */
export interface Handlers {
  /** Every request of the service. */
  readonly handle: ServerOptions["handle"];
  /** Those at the address for metrics alone. */
  readonly handleMetrics: ServerOptions["handle"];
  /** Resumes what callers of an earlier process had planned. */
  readonly resume: () => Promise<void>;
}

export function createHandlers(deps: RequestDeps): Handlers {
  const { config, store, clock, log, keepOpen } = deps;
  const sessions = config.console ? store.sessions : undefined;
  const authentication = { ...deps, accounts: store.accounts, sessions };
  const alone = createRateLimiter({ clock });
  const rateLimiter = deps.cluster?.rateLimiter(alone, clock) ?? alone;
  const stays = createStays({ ...config.stays, total: mostConnections("stays") });
  const reading = { computedMs: threadCpuMs, elapsedMs: monotonicMs };
  const router = {
    ...deps,
    authenticate: createAuthenticate(authentication),
    authenticateOperator: createAuthenticateOperator(authentication),
    tokenUsed: createNoteTokenUse(authentication),
    rateLimiter,
    stays,
    standings: createStandings({ clock }),
    turns: createTurns({ ...reading, perTurn: 4, mayPass: createCompany({ clock }) }),
    // More, because many clients may share the address of a proxy.
    guestTurns: createTurns({ ...reading, perTurn: 16, mayPass: () => false }),
    elapsed: monotonicMs,
    get logsRequests() {
      return config.log.requests;
    },
    now: () => clock.now(),
    edge: createEdge({ clock, elapsed: monotonicMs, log, timeoutMs: config.edgeTimeoutMs, keepOpen }),
    ingress: createIngress({
      budget: createIngressBudget(INGRESS_LIMITS),
      pace: createPace({ clock }),
      lane: createLane({ clock, computedMs: threadCpuMs }),
    }),
    publicUrl: config.publicUrl,
    get trustedProxies() {
      return config.trustedProxies;
    },
  };
  const { authenticateOperator } = router;
  const cancelLater = createCancelLater({ ...deps, ...store });
  const races = createGroupRaces({ ...deps, ...store });
  const given = { ...deps, rateLimiter, stays, authenticateOperator, cancelLater, races };
  const readMetrics = createMetrics(given);
  const endpoints = [
    ...listEndpoints(given),
    metricsEndpoint(readMetrics, config.metrics.public),
    ...(config.console ? consoleRoutes(config, { ...router, ...given, sessions: store.sessions }) : []),
  ];
  const documented = { ...deps, version: VERSION, hasConsole: config.console, facades: config.facades };
  const answers =
    config.role === "worker"
      ? createWorkerRouter(router, endpoints)
      : createRouter(router, withDocs(endpoints, documented));
  return {
    handle: withCors(answers, { ...deps, cors: config.cors }),
    handleMetrics: createRouter(router, [metricsEndpoint(readMetrics, true)]),
    async resume() {
      await cancelLater.resume();
      await races.resume();
    },
  };
}

/** Reasons to refuse a create that do not depend on its request. */
function limitsOfCreates({ config, store, diskRefusal }: RequestDeps) {
  return {
    outputsKeptMs: () => config.retention.outputsMs,
    trouble: () => store.trouble() ?? diskRefusal(),
  };
}

/** The handling of uploaded files. */
function limitsOfUploads({ config, store, diskRefusal }: RequestDeps) {
  return {
    uploadKeptMs: () => config.uploads.keepMs,
    uploadedBytes: () => config.uploads.accountMb * MIB,
    trouble: () => store.trouble() ?? diskRefusal(),
  };
}

const MIB = 1024 * 1024;

type EndpointDeps = RequestDeps &
  Pick<RouterDeps, "rateLimiter" | "stays" | "authenticateOperator"> & {
    readonly cancelLater: CancelLater;
    readonly races: GroupRaces;
  };

function listEndpoints(given: EndpointDeps) {
  const { config, store, drained } = given;
  const { publicUrl, aliases, sync, facades } = config;
  const maxAttempts = () => config.callbacks.delaysMs.length + 1;
  const deps = {
    ...{ ...given, ...store, publicUrl, aliases, elapsed: monotonicMs, random: systemRandom },
    searchesPrompts: config.search.prompts,
    ...limitsOfUploads(given),
    tellUnavailable: createTellUnavailable(given),
  };
  const createTask = createCreateTask({
    ...deps,
    ...{ tellLowBalance: createTellLowBalance(deps), ...limitsOfCreates(given) },
    moderate: createModerate({ ...given, moderation: given.moderation.now }),
  });
  const estimateCost = createEstimate({ ...deps, toModelBody: toEstimateBody });
  const generateSync = createGenerateSync({ ...deps, createTask });
  const takeHook = createTakeHook({ ...deps, provider: (lane) => deps.providers.get(lane) });
  return [
    ...generationEndpoints({ createTask, assets: deps.assets, log: deps.log }),
    ...taskEndpoints(deps),
    ...storyEndpoints({ ...deps, createTask }),
    ...groupEndpoints({ ...deps, createTask }),
    ...lineageEndpoints({ ...deps, createTask, random: systemRandom }),
    // Registered before `/v1/callbacks/:id`, which would match these paths too.
    ...eventEndpoints(deps),
    ...callbackEndpoints({ ...deps, maxAttempts }),
    ...managedCallbackEndpoints({
      manageCallbacksAs: (operator) => createManageCallbacks({ ...deps, actor: actorOf(operator) }),
      maxAttempts,
    }),
    ...compatImageEndpoints({ ...deps, generateSync, sync, stopping: drained }),
    ...compatModelEndpoints(deps),
    ...facadeEndpoints({ ...deps, ...spokenWith(given), createTask, generateSync, estimateCost }, facades),
    ...modelEndpoints(deps),
    ...managedModelEndpoints(createManageModels(deps)),
    ...manifestEndpoints(createOwnManifests(config, { ...deps, noteChange: createNoteChange(deps) })),
    ...managedPriceEndpoints((operator) => createManagePrices({ ...deps, actor: actorOf(operator) })),
    ...managedProviderEndpoints((operator) => createServedProviders(deps, actorOf(operator))),
    ...managedRouteEndpoints(
      (operator) => createServedRoutes(given, actorOf(operator)),
      createExplainRoute({ ...deps, readKey: (idOrName) => findStoredKey(store, idOrName) }),
    ),
    ...accountEndpoints(deps),
    ...pricingEndpoints({ estimateCost }),
    ...assetEndpoints(deps),
    ...fileEndpoints(deps),
    ...inputEndpoints(deps),
    ...hookEndpoints({ takeHook }),
    ...keyEndpoints(deps),
    ...managedAccountEndpoints(deps),
    ...moneyEndpoints(deps),
    ...managedTaskEndpoints({ ...deps, manageTasks: createManageTasks(deps) }),
    ...operatorEndpoints(deps),
    ...tokenEndpoints(deps),
    ...trailEndpoints({ readTrail: createReadTrail(store) }),
    ...watchingEndpoints(given),
    ...healthEndpoints({ ...deps, checks: createChecksAtUse({ ...deps, backups: deps.backups.state }) }),
  ];
}

/** The settings and the stop signal that only facades need, because their callers wait until nothing can end any more. */
function spokenWith({ config: { cors, mcp, sync }, drained: stopping }: RequestDeps) {
  return { cors, mcp, sync, stopping, version: VERSION };
}

/** The routes that report the state of the service. */
function watchingEndpoints(given: EndpointDeps) {
  const readOverview = createOverview(given);
  return [
    ...overviewEndpoints({ ...given, readOverview, version: VERSION, node: hostname() }),
    ...nodeEndpoints({ listNodes: given.cluster?.nodes.all ?? aloneNode(given) }),
    ...historyEndpoints({ ...given, readHistory: given.history.read }),
  ];
}

/** Reads the overview of this process and its store. */
function createOverview(deps: EndpointDeps): ReadOverview {
  return createReadOverview({
    ...{ ...deps, ...deps.store, ...readingsOf(deps), counts: deps.tally },
    get capacity() {
      return deps.config.scheduler.concurrency;
    },
    get lanes() {
      return laneCapacities(deps.adapters());
    },
  });
}

/** Reads the metrics of this process and its store. */
function createMetrics(deps: EndpointDeps): ReadMetrics {
  return createReadMetrics({
    ...{ ...deps, ...deps.store, ...readingsOf(deps), process: readProcess, backups: deps.backups.state },
    replica: deps.cluster?.replica,
    latestStock: createLatestStock({ ...deps, stock: deps.audits.stock }),
    build: { version: VERSION, bun: Bun.version },
    get lanes() {
      return laneCapacities(deps.adapters());
    },
  });
}

/** What both overview and metrics report about the process. */
function readingsOf({ config, vitals, stays }: EndpointDeps) {
  return {
    vitals: vitals.read,
    disk: () => readDiskSpace(config.dataDir, databaseOf(config)),
    stays: () => stays.open,
  };
}
