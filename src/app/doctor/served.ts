import type { Config } from "../../config/config.ts";
import type { ReadBackupState } from "../../domain/backup-state.ts";
import type { Vitals } from "../../domain/overview.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { RouteStore } from "../../domain/ports/route-store.ts";
import type { SteadyClock } from "../../domain/ports/runtime.ts";
import { sentence } from "../../domain/words/say.ts";
import type { NotReady } from "../../http/health/routes.ts";
import { fileSystemOf } from "../../runtime/mounts.ts";
import { databaseOf } from "../data-folder.ts";
import type { WatchedDisk } from "../disk.ts";
import type { ProviderProblem } from "../provider-settings.ts";
import { backupRoom } from "./backups.ts";
import { logCheck } from "./database.ts";
import { routeChecks } from "./database-checks.ts";
import { descriptorCheck } from "./environment.ts";
import { error, type Finding, looking, ok, warn } from "./finding.ts";
import { type SpaceWish, spaceChecks } from "./folder.ts";

/** Anybody may ask, so findings are reused for this long. */
const KEPT_MS = 1_000;
/** How long requests wait if the process is busy. */
const LATE_MS = 1_000;
const BUCKET_KEPT_MS = 30_000;
const STEP_MS = 2_000;

export interface ServedDeps {
  readonly config: Config;
  readonly clock: SteadyClock;
  readonly vitals: { readonly read: () => Vitals };
  readonly notReady: () => NotReady | undefined;
  readonly adapters: () => readonly ProviderAdapter[];
  readonly ownProviders: () => { readonly problems: readonly ProviderProblem[] };
  readonly backups: ReadBackupState;
  readonly disk: Pick<WatchedDisk, "advice">;
  /** Asks the bucket of files whose it is; absent where there is none. */
  readonly askBucket?: (() => Promise<string | undefined>) | undefined;
  readonly store: { readonly routes: Pick<RouteStore, "troubles"> };
}

/** Examines a running server from inside, where it costs nothing. */
export function createServedChecks(deps: ServedDeps): () => Promise<readonly Finding[]> {
  let looked: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | undefined;
  const bucket = createBucketCheck();
  return () => {
    const at = deps.clock.elapsed();
    if (looked === undefined || at - looked.at >= KEPT_MS) looked = { at, findings: look(deps, bucket) };
    return looked.findings;
  };
}

async function look(
  deps: ServedDeps,
  bucket: ReturnType<typeof createBucketCheck>,
): Promise<readonly Finding[]> {
  const { dataDir } = deps.config;
  const checks = [
    looking("accepting", () => [acceptingCheck(deps)]),
    looking("disk_space", () => spaceChecks(dataDir, fileSystemOf(dataDir), wishOf(deps))),
    looking("wal", () => logCheck(databaseOf(deps.config), true)),
    looking("descriptors", () => descriptorCheck()),
    looking("event_loop", () => [loopCheck(deps)]),
    looking("clock", () => [stepCheck(deps)]),
    looking("backups", () => [backupCheck(deps)]),
    looking("backup_room", () => backupRoom(deps.config)),
    looking("bucket", () => bucket(deps)),
    looking("providers", () => providerChecks(deps)),
  ];
  return (await Promise.all(checks)).flat();
}

function wishOf({ config: { disk }, disk: { advice } }: ServedDeps): SpaceWish {
  return { marks: { warn: disk.warnMb, refuse: disk.refuseMb }, advice: advice() };
}

function acceptingCheck({ notReady }: ServedDeps): Finding {
  const reason = notReady();
  if (reason === undefined) return ok("accepting", "New tasks are taken.");
  return error("accepting", `No new tasks are taken: ${reason}.`, "Look at the server's log.");
}

function loopCheck({ vitals }: ServedDeps): Finding {
  const ms = Math.round(vitals.read().lagMaxMs);
  if (ms < LATE_MS) return ok("event_loop", `Requests wait for ${ms} ms at most.`);
  return warn(
    "event_loop",
    `Requests waited for up to ${ms} ms in the last ten seconds.`,
    "Give the server more processor time.",
  );
}

function stepCheck({ clock }: ServedDeps): Finding {
  const behindMs = clock.behindMs();
  if (Math.abs(behindMs) < STEP_MS) return ok("clock", "The server's clock is the system's.");
  return warn(
    "clock",
    `The server's clock is ${Math.round(behindMs)} ms behind the system's.`,
    "timedatectl set-ntp true",
  );
}

/** Checking a bucket costs a request, so it happens only now and then. */
function createBucketCheck() {
  let asked: { readonly at: number; readonly findings: Promise<Finding[]> } | undefined;
  return ({ askBucket, clock }: ServedDeps): Promise<Finding[]> => {
    if (askBucket === undefined) return Promise.resolve([]);
    const at = clock.elapsed();
    if (asked === undefined || at - asked.at >= BUCKET_KEPT_MS) asked = { at, findings: ask(askBucket) };
    return asked.findings;
  };
}

async function ask(askBucket: () => Promise<string | undefined>): Promise<Finding[]> {
  try {
    const other = await askBucket();
    if (other === undefined) return [ok("bucket", "The bucket of files answers, and is this server's.")];
    const text = `What lies below the prefix of the bucket belongs to ${other} now: nothing is stored there any more, and tasks wait with their files.`;
    return [error("bucket", text, "Stop this server for good, or take the bucket back: svc assets claim.")];
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return [error("bucket", why, "svc doctor, with the settings of this server, tells more.")];
  }
}

function backupCheck({ backups, config, clock }: ServedDeps): Finding {
  const state = backups();
  if (state === undefined)
    return ok("backups", "The server makes no backups by itself (backup.every is off).");
  const { lastAt, failing } = state;
  const newest =
    lastAt === undefined ? "There is none yet." : `The newest is of ${new Date(lastAt).toISOString()}.`;
  const { everyMs = Number.POSITIVE_INFINITY } = config.backup;
  const isLate = lastAt !== undefined && clock.now() - lastAt > 2 * everyMs;
  if (failing === undefined && isLate)
    return warn("backups", `A backup is due, or is being made. ${newest}`, "Look at the server's log.");
  if (failing === undefined) return ok("backups", `Backups are made. ${newest}`);
  const since = new Date(failing.since).toISOString();
  return error(
    "backups",
    `No backup could be made since ${since}: ${failing.reason} ${newest}`,
    "See that backup.to is there, writable and has room, and try it by hand: svc db backup.",
  );
}

async function providerChecks({ adapters, ownProviders, store }: ServedDeps): Promise<Finding[]> {
  const on = adapters();
  const troubles = await store.routes.troubles();
  const routesDown = troubles.filter(
    ({ kind, lane }) => kind !== "blocked" && on.some((each) => each.lane === lane),
  );
  return [
    on.length === 0
      ? error(
          "providers",
          "No provider is switched on: nothing can be made.",
          "svc providers add PROVIDER --key-stdin",
        )
      : ok("providers", `${on.length} accounts at providers are switched on.`),
    ...routeChecks({ routesDown }, { place: "" }),
    ...ownProviders().problems.map(({ text }) =>
      warn("own_providers", sentence(text), "svc providers check FILE"),
    ),
  ];
}
