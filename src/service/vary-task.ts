import { AppError, invalid } from "../domain/errors.ts";
import type { TaskId } from "../domain/ids.ts";
import { type JsonObject, propertyOf } from "../domain/json.ts";
import { type Micros, sumMicros } from "../domain/money/money.ts";
import type { Random } from "../domain/ports/runtime.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { NOTHING, readOrRefused } from "./create-from.ts";
import type { CreatedTask } from "./created-task.ts";
import {
  bodyOf,
  findOwnStory,
  hasPaintedMask,
  mostHops,
  type RetryRequest,
  type RetryTaskDeps,
  sourceId,
} from "./retry-task.ts";

/** Most variations of one request. */
export const MAX_VARIATIONS = 10;
/** Used if a model names no highest seed: every upstream takes 31 bits. */
const MOST_SEED = 2 ** 31 - 1;

export interface VaryRequest extends RetryRequest {
  /** 1 … MAX_VARIATIONS. */
  readonly count: number;
}

export interface Variations {
  readonly of: TaskId;
  /** In order; at least one. */
  readonly created: readonly CreatedTask[];
  readonly held: Micros;
  /** Why there are fewer than requested: the reason why the next one was refused. */
  readonly refused?: AppError | undefined;
}

/**
 * Creates tasks like one of the caller's account, which may still be under way, with other seeds. Each goes through the create
 * by itself, with today's price and limits. They are created one after the other until one is refused. With an idempotency key,
 * a repeated request creates only those that are missing.
 * @throws AppError `task_not_found`; `permission_denied`; `invalid_request` for a model without seeds; what the create of the first throws
 */
export async function varyTask(
  deps: RetryTaskDeps & { readonly random: Random },
  { id, count, ...request }: VaryRequest,
): Promise<Variations> {
  const { found, refused } = await readOrRefused(() => variationsOf(deps, { ...request, id, count }));
  const seeds = found?.seeds ?? Array.from({ length: count }, () => 0);
  const created: CreatedTask[] = [];
  for (const [i, seed] of seeds.entries()) {
    const asked = {
      ...request,
      // A repeated request draws a new seed, so the place identifies the variation.
      identity: { variation_of: id, count, place: i },
      endpoint: `POST /v1/tasks/${id}/variations ${i}`,
    };
    try {
      const create = deps.createTask(
        found === undefined
          ? { ...asked, ...NOTHING, refused }
          : { ...asked, ...found.same, body: { ...found.same.body, seed } },
      );
      created.push(await create);
    } catch (error) {
      const refused = created.length === 0 ? undefined : refusalOf(error);
      if (refused === undefined) throw error;
      return { of: sourceId(id), created, held: heldFor(created), refused };
    }
  }
  return { of: sourceId(id), created, held: heldFor(created) };
}

/** What the variations of a task have in common, and their seeds. @throws AppError as `varyTask` does */
async function variationsOf(
  deps: RetryTaskDeps & { readonly random: Random },
  { id, count, ...request }: VaryRequest,
) {
  const story = await findOwnStory(deps, request.principal, id);
  const { task } = story;
  const model = deps.catalog.find(task.model);
  const seed = model && propertyOf(model.schema, "seed");
  const seeds = otherSeeds(deps.random, { seed, count, but: task.request.parameters.seed });
  // When the model is gone, the create says so.
  if (model !== undefined && (seed === undefined || seeds.length === 0))
    throw invalid({ kind: "variation_seedless", model: model.id });
  const same = {
    kind: task.kind,
    body: await bodyOf(deps, story, request.origin),
    hops: mostHops(request.hops, task.request.hops),
    hasPaintedMasks: hasPaintedMask(task),
    resultType: task.request.resultType,
    parent: { id: task.id, relation: "variation" },
  } as const;
  return { same, seeds };
}

/** Trouble with the store would say that nothing was kept, and the request would be sent again as a whole. */
function refusalOf(error: unknown): AppError | undefined {
  if (!(error instanceof StorageError)) return error instanceof AppError ? error : undefined;
  return new AppError("service_unavailable", { kind: "cannot_store_more" }, {}, error);
}

const heldFor = (created: readonly CreatedTask[]): Micros => sumMicros(created.map(({ held }) => held));

/** This many different seeds that a model takes, as far as it has enough. */
function otherSeeds(
  random: Random,
  { seed, count, but }: { seed: JsonObject | undefined; count: number; but: unknown },
): number[] {
  const { minimum = 0, maximum = MOST_SEED } = (seed ?? {}) as { minimum?: number; maximum?: number };
  const [least, most] = [Math.max(0, minimum), Math.min(maximum, Number.MAX_SAFE_INTEGER)];
  const range = most - least + 1;
  const first = Math.floor(random() * range);
  // One more than needed, because one of them may be the task's own.
  const drawn = Array.from({ length: count + 1 }, (_, i) => least + ((first + i * STRIDE) % range));
  return drawn.filter((each) => each !== but).slice(0, count);
}

/** With some upstreams, consecutive seeds give similar pictures. The step is prime, so that no seed comes twice. */
const STRIDE = 104_729;
