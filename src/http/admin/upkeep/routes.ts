import type { BackupState } from "../../../domain/backup-state.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { type Asset, assetPath } from "../../../domain/media/asset.ts";
import type { DatabaseCheck } from "../../../domain/ports/database-check.ts";
import type { RetentionStore } from "../../../domain/ports/retention-store.ts";
import { databaseCheckForm, type JobState, jobForm } from "../../../domain/upkeep.ts";
import type { NoteChange } from "../../../service/note-change.ts";
import { purgeForm } from "../../../service/purge-account.ts";
import type { CollectedFiles, MadeByHand, Upkeep } from "../../../service/upkeep.ts";
import type { Verified } from "../../../service/verify-contents.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, type LateAnswerDeps, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { ASSET_QUERY, COLLECT_REQUEST, PURGE_REQUEST, UPKEEP } from "./wire.ts";

interface UpkeepEndpointDeps extends Pick<LateAnswerDeps, "keepOpen"> {
  readonly upkeep: Upkeep;
  readonly noteChange: NoteChange;
  readonly retention: Pick<RetentionStore, "assets">;
  readonly checkDatabase: () => Promise<DatabaseCheck>;
  readonly backups: {
    readonly to: string | undefined;
    state(): BackupState | undefined;
    list(): Promise<readonly string[]>;
  };
}

/** Most backups that an answer lists. */
const LISTED = 1_000;
const FILES = { kind: "server", id: "files" } as const;

/** /admin/v1/assets, /admin/v1/backups, /admin/v1/database, and the purge of an account. */
export function upkeepEndpoints(deps: UpkeepEndpointDeps): Endpoint[] {
  return [...fileEndpoints(deps), ...backupEndpoints(deps), ...databaseEndpoints(deps)];
}

function fileEndpoints({ upkeep, noteChange, retention }: UpkeepEndpointDeps): Endpoint[] {
  const { verify, collect } = upkeep;
  return [
    managed("GET", "/admin/v1/assets", UPKEEP.assets, async ({ query }) => {
      const { limit = 20, after } = checkQuery(ASSET_QUERY, query()) as { limit?: number; after?: string };
      const page = await retention.assets({ limit, after: after === undefined ? undefined : Number(after) });
      const next = page.next === undefined ? null : String(page.next);
      return success({ assets: page.assets.map(assetForm), next });
    }),
    managed("GET", "/admin/v1/assets/verify", UPKEEP.readVerify, async () =>
      success(jobForm(verify.state(), verifiedForm)),
    ),
    managed("POST", "/admin/v1/assets/verify", UPKEEP.verify, async ({ operator }) => {
      if (isIdle(verify.state()))
        await noteChange(operator, { action: "files.verify", object: FILES, after: ASKED });
      return success(jobForm(verify.start(undefined).state, verifiedForm));
    }),
    managed("GET", "/admin/v1/assets/gc", UPKEEP.readCollect, async () =>
      success(jobForm(collect.state(), collectedForm)),
    ),
    managed("POST", "/admin/v1/assets/gc", UPKEEP.collect, async (exchange) => {
      const { dry_run: isTrial = false } = await readBody<{ dry_run?: boolean }>(exchange, COLLECT_REQUEST);
      if (!isTrial && isIdle(collect.state()))
        await noteChange(exchange.operator, { action: "files.collect", object: FILES, after: ASKED });
      return success(jobForm(collect.start({ isTrial }).state, collectedForm));
    }),
  ];
}

function backupEndpoints({ upkeep, noteChange, backups }: UpkeepEndpointDeps): Endpoint[] {
  const { backup } = upkeep;
  return [
    managed("GET", "/admin/v1/backups", UPKEEP.backups, async () => {
      const state = backups.state();
      const { names, problem } = await tryList(backups);
      return success({
        ...{ to: backups.to ?? null, scheduled: state !== undefined },
        newest_at: state?.lastAt === undefined ? null : Math.floor(state.lastAt / 1000),
        failing: state?.failing
          ? { since: Math.floor(state.failing.since / 1000), reason: state.failing.reason }
          : null,
        ...{ backups: names.toReversed().slice(0, LISTED), problem },
        job: jobForm(backup.state(), madeForm),
      });
    }),
    managed("POST", "/admin/v1/backups", UPKEEP.backUp, async ({ operator }) => {
      const object = { kind: "server", id: "backups" } as const;
      if (isIdle(backup.state()))
        await noteChange(operator, { action: "backup.create", object, after: { to: backups.to ?? null } });
      return success(jobForm(backup.start(undefined).state, madeForm));
    }),
  ];
}

async function tryList(backups: UpkeepEndpointDeps["backups"]) {
  if (backups.to === undefined) return { names: [], problem: null };
  try {
    return { names: await backups.list(), problem: null };
  } catch (error) {
    return { names: [], problem: error instanceof Error ? error.message : String(error) };
  }
}

function databaseEndpoints({ upkeep, checkDatabase, keepOpen }: UpkeepEndpointDeps): Endpoint[] {
  return [
    managed("GET", "/admin/v1/database", UPKEEP.database, async ({ request }) => {
      keepOpen(request);
      return success(databaseCheckForm(await checkDatabase()));
    }),
    managed("POST", "/admin/v1/accounts/:id/purge", UPKEEP.purge, async (exchange) => {
      const { confirm } = await readBody<{ confirm: string }>(exchange, PURGE_REQUEST);
      const { id, purge } = await upkeep.purge(exchange.operator, exchange.param("id"), confirm);
      return success(purgeForm(id, purge));
    }),
  ];
}

const ASKED = { asked: true } as const;
const isIdle = ({ status }: JobState<unknown>) => status !== "running";

function assetForm({
  id,
  taskId,
  accountId,
  role,
  index,
  sha256,
  sizeBytes,
  type,
  createdAt,
  ...asset
}: Asset) {
  return {
    ...{ id, task_id: taskId, account_id: accountId, role, index, sha256, size_bytes: sizeBytes },
    ...{
      media_type: type,
      created_at: Math.floor(createdAt / 1000),
      path: assetPath({ id, type, ...asset } as Asset),
    },
  };
}

function verifiedForm({ files, bytes, damaged }: Verified): JsonObject {
  return {
    ...{ files, size_bytes: bytes },
    damaged: damaged.map(({ tasks, uploads, ...each }) => ({
      ...each,
      tasks: [...tasks],
      uploads: [...uploads],
    })),
  };
}

function collectedForm({ isTrial, files, bytes, young, contents }: CollectedFiles): JsonObject {
  return {
    ...{ dry_run: isTrial, files, size_bytes: bytes, young },
    contents: contents.map(({ sha256, sizeBytes }) => ({ sha256, size_bytes: sizeBytes })),
  };
}

function madeForm({ path, files, bytes, copiedBytes, missing }: MadeByHand): JsonObject {
  return { path, files, bytes, copied_bytes: copiedBytes, missing };
}
