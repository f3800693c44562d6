import { mustBe } from "../../../domain/errors.ts";
import { firstTaskIdAt, isId, type TaskId } from "../../../domain/ids.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { momentOf } from "../../../service/moment.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";
import { BASE } from "./manners.ts";
import { pageOf } from "./models.ts";
import type { TellPrediction } from "./present.ts";

export interface ListDeps {
  readonly tasks: Pick<TaskStore, "list">;
  readonly tell: TellPrediction;
}

const PAGE = 100;
const CURSOR = "cursor";
const AFTER = "created_after";
const BEFORE = "created_before";
const SOURCE = "source";

/** What a listing is limited to: predictions that were created at or after a moment, and before one, in epoch milliseconds. */
interface Span {
  readonly from: number;
  readonly before: number | undefined;
}

/**
 * The account's tasks, however they were created. The cursor is the id of the last one before the page.
 * @throws AppError `invalid_request` naming the parameter at fault
 */
export async function listPredictions(
  deps: ListDeps,
  { principal, query, origin }: KeyedExchange,
): Promise<Reply> {
  const { accountId } = principal;
  const given = query();
  const span = spanIn(given);
  const cursor = cursorIn(given);
  const after = startOf(cursor, span);
  // One more than are shown tells whether there is another page.
  const found = isOfPages(given) ? [] : await deps.tasks.list({ accountId, after, limit: PAGE + 1 });
  const page = found.slice(0, PAGE).filter(isWithin(span));
  const told = await Promise.all(page.map((task) => deps.tell(task, origin)));
  const last = found.length > PAGE ? found[PAGE - 1] : undefined;
  const next = last !== undefined && last.createdAt >= span.from ? addressOf(origin, given, last.id) : null;
  const [first] = page;
  const previous =
    cursor === undefined || first === undefined
      ? null
      : addressOf(origin, given, await cursorBefore(deps, accountId, first));
  const texts = told.flatMap((each) => each?.text ?? []);
  const { results: _, ...around } = pageOf([], next, previous);
  const body = `${JSON.stringify(around).slice(0, -1)},"results":[${texts.join(",")}]}`;
  return { status: 200, headers: { "Content-Type": "application/json" }, body };
}

function cursorIn(given: URLSearchParams): TaskId | undefined {
  const cursor = given.get(CURSOR) ?? undefined;
  if (cursor === undefined || isId("task", cursor)) return cursor;
  throw mustBe(CURSOR, { form: "cursor" }, cursor);
}

function spanIn(given: URLSearchParams): Span {
  const moment = (name: string) => momentOf(name, given.get(name) ?? undefined);
  return { from: moment(AFTER) ?? 0, before: moment(BEFORE) };
}

const isWithin =
  ({ from, before = Number.POSITIVE_INFINITY }: Span) =>
  ({ createdAt }: TaskSummary): boolean =>
    createdAt >= from && createdAt < before;

/** The older of the cursor and the first id that is too new: what comes after it in the list is older than both. */
function startOf(cursor: TaskId | undefined, { before }: Span): TaskId | undefined {
  const tooNew = before === undefined ? undefined : firstTaskIdAt(before);
  if (cursor === undefined || tooNew === undefined) return cursor ?? tooNew;
  return cursor < tooNew ? cursor : tooNew;
}

/** Whether it is limited to what people made on that API's pages, which nothing here was. */
function isOfPages(given: URLSearchParams): boolean {
  const source = given.get(SOURCE);
  if (source !== null && source !== "web") throw mustBe(SOURCE, { oneOf: ["web"] }, source);
  return source !== null;
}

/** A page of the same listing. */
function addressOf(origin: string, given: URLSearchParams, cursor: TaskId | undefined): string {
  const query = new URLSearchParams(cursor === undefined ? {} : { [CURSOR]: cursor });
  for (const name of [AFTER, BEFORE]) {
    const value = given.get(name);
    if (value !== null) query.set(name, value);
  }
  return `${origin}${BASE}/predictions${query.size === 0 ? "" : `?${query}`}`;
}

/** The cursor of the page before the one that begins with this task; undefined where that is the first. */
async function cursorBefore(
  { tasks }: ListDeps,
  accountId: KeyedExchange["principal"]["accountId"],
  { id: after }: TaskSummary,
): Promise<TaskId | undefined> {
  const newer = await tasks.list({ accountId, after, limit: PAGE + 1 }, "oldest");
  return newer[PAGE]?.id;
}
