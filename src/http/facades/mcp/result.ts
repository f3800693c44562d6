import { availableOf } from "../../../domain/access/account.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { type Asset, assetPath, MEDIA_TYPES } from "../../../domain/media/asset.ts";
import { CURRENCY, formatAmount, type Micros } from "../../../domain/money/money.ts";
import { isTerminal } from "../../../domain/task/task.ts";
import { readQuota } from "../../../service/read-account.ts";
import { openAsset } from "../../../service/read-asset.ts";
import { type TaskReading, withQueuePosition } from "../../../service/read-task.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { presentIssues } from "../../tasks/present.ts";
import type { McpDeps } from "./deps.ts";
import { type Content, structuredResult, type ToolResult } from "./tool.ts";

type Caller = Pick<KeyedExchange, "principal" | "origin">;

/** What a call knows about its task in addition to the task itself. */
interface Known {
  /** What the create held. */
  readonly held?: Micros | undefined;
  readonly replayed?: boolean | undefined;
}

/**
 * A task as tools tell it: what it is, what it costs and what is left, and its files. A failed task is an error, so that the agent does
 * not take it for a success.
 */
export async function taskResult(
  deps: McpDeps,
  caller: Caller,
  task: TaskReading,
  known: Known = {},
): Promise<ToolResult> {
  const assets =
    task.status === "completed" && task.filesRemovedAt === undefined ? await assetsOf(deps, task) : [];
  const told = await withQueuePosition(deps, task);
  const structured: JsonObject = {
    task_id: task.id,
    kind: task.kind,
    model: task.model,
    status: task.status,
    progress: task.progress,
    ...(told.queuePosition !== undefined && { queue_position: told.queuePosition }),
    ...(assets.length > 0 && { results: assets.map((asset) => resultForm(asset, caller.origin)) }),
    ...(task.resultIssues !== undefined && { result_issues: presentIssues(task.resultIssues) }),
    ...(task.filesRemovedAt !== undefined && { files_removed: true }),
    ...(task.error !== undefined && { error: { code: task.error.code, message: task.error.message } }),
    ...(known.replayed === true && { replayed: true }),
    ...(await moneyForm(deps, caller, { held: known.held, charged: task.charged })),
    ...(!isTerminal(task.status) && { next: next(task) }),
  };
  const result = structuredResult(structured, await contentOf(deps, caller, assets));
  return task.status === "failed" ? { ...result, isError: true } : result;
}

function next({ id, status }: TaskReading): string {
  return `The task is ${status} and goes on by itself. Call get_task with task_id ${id} and a wait; call cancel_task to stop it. Do not create it again.`;
}

/** What something costs, and what the caller has left now. */
export async function moneyForm(
  { accounts, clock }: Pick<McpDeps, "accounts" | "clock">,
  { principal }: Pick<Caller, "principal">,
  { held, charged }: { readonly held?: Micros | undefined; readonly charged?: Micros | undefined },
): Promise<JsonObject> {
  const [account, quota] = await Promise.all([
    accounts.account(principal.accountId),
    readQuota({ accounts }, principal, clock.now()),
  ]);
  const available = account && availableOf(account);
  return {
    ...(charged !== undefined
      ? { cost: formatAmount(charged) }
      : held !== undefined && { held: formatAmount(held) }),
    currency: CURRENCY,
    balance_left: available === undefined ? null : formatAmount(available),
    key_quota_left: quota === undefined ? null : formatAmount(quota.remaining),
  };
}

async function assetsOf({ tasks }: McpDeps, { results }: TaskReading): Promise<Asset[]> {
  const assets = await Promise.all(results.map(({ assetId }) => tasks.assetById(assetId)));
  return assets.filter((asset) => asset !== undefined);
}

function resultForm(asset: Asset, origin: string): JsonObject {
  const { type, sizeBytes, width, height, durationMs } = asset;
  return {
    url: origin + assetPath(asset),
    mime_type: type,
    size_bytes: sizeBytes,
    width,
    height,
    ...(durationMs !== undefined && { duration_seconds: durationMs / 1000 }),
  };
}

/** Types that models can look at. */
const SEEN = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Images as content as long as they stay below the size together; everything else as links. */
async function contentOf(deps: McpDeps, { origin }: Caller, assets: readonly Asset[]): Promise<Content[]> {
  const content: Content[] = [];
  let left = deps.mcp.inlineBytes;
  for (const asset of assets) {
    const isSeen = SEEN.includes(asset.type) && asset.sizeBytes <= left;
    const bytes = isSeen ? await bytesOf(deps, asset) : undefined;
    if (bytes === undefined) content.push(linkTo(asset, origin));
    else {
      left -= asset.sizeBytes;
      content.push({ type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: asset.type });
    }
  }
  return content;
}

/** Undefined for a file that cannot be read now: the task is done and paid, and an agent would call again after an error. */
async function bytesOf(deps: McpDeps, asset: Asset): Promise<Uint8Array | undefined> {
  try {
    return await (await openAsset(deps, asset)).bytes();
  } catch {
    return undefined;
  }
}

function linkTo(asset: Asset, origin: string): Content {
  return {
    type: "resource_link",
    uri: origin + assetPath(asset),
    name: `${asset.taskId}-${asset.index}.${MEDIA_TYPES[asset.type].extension}`,
    mimeType: asset.type,
    size: asset.sizeBytes,
  };
}
