import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Role } from "../../api/session.ts";

type Own = Schemas["Callback"];
type Managed = Schemas["ManagedCallback"];

/** A callback of the list. Its owner is told the whole address, an operator its host, and whose it is. */
export type ListedCallback = Omit<Own, "url"> &
  Partial<Pick<Own, "url">> &
  Partial<Pick<Managed, "host" | "account" | "key">>;

export const STATES = ["pending", "delivered", "failed"] as const;

/** Which callbacks are shown; the address has the same names. */
export interface Filters {
  readonly state: string;
  /** Id of their task. */
  readonly task: string;
  /** ISO 8601: made then or later, and before. */
  readonly from: string;
  readonly to: string;
  /** Id or name, for operators. */
  readonly account: string;
  readonly key: string;
}

export const NO_FILTERS: Filters = { state: "", task: "", from: "", to: "", account: "", key: "" };

export interface Page {
  readonly callbacks: readonly ListedCallback[];
  readonly next: string | null;
}

const PAGE = 50;

/** A page of the callbacks that the reader may see, newest first. @throws ApiProblem */
export function readCallbacks(
  role: Role,
  filters: Filters,
  more: { readonly after?: string; readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<Page> {
  const { after = "", limit = PAGE, signal } = more;
  const { task: task_id, account, key: key_id, from, to } = filters;
  // What is empty is left out of the address that is asked.
  const query = { limit, task_id, from, to, after, ...stateOf(filters) };
  return role === "operator"
    ? ask("GET /admin/v1/callbacks", { query: { ...query, account, key_id } }, { signal })
    : ask("GET /v1/callbacks", { query }, { signal });
}

/**
 * Sends up to a hundred callbacks once more: those that fit, newest first.
 *
 * @param filters `from` is needed; `task` does not count
 * @param after where the page before ended
 * @returns those that are sent, and where to go on
 * @throws ApiProblem
 */
export function sendPage(
  role: Role,
  filters: Filters,
  after: string | null,
  signal?: AbortSignal,
): Promise<Page> {
  const { from, account, key: key_id } = filters;
  const body = { from, ...given({ to: filters.to, after: after ?? "" }), ...stateOf(filters) };
  return role === "operator"
    ? ask(
        "POST /admin/v1/callbacks/redeliver",
        { body: { ...body, ...given({ account, key_id }) } },
        { signal },
      )
    : ask("POST /v1/callbacks/redeliver", { body }, { signal });
}

function stateOf({ state }: Filters): { readonly state?: (typeof STATES)[number] } {
  const known = STATES.find((each) => each === state);
  return known === undefined ? {} : { state: known };
}

/** Those that are not empty. */
function given<Name extends string>(fields: Readonly<Record<Name, string>>): { [Each in Name]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as {
    [Each in Name]?: string;
  };
}

/** Where it goes, without what may be a secret. */
export function placeOf({ url, host }: Pick<ListedCallback, "url" | "host">): string {
  if (url === undefined) return host ?? "";
  if (!URL.canParse(url)) return url;
  const { host: at, pathname } = new URL(url);
  return pathname === "/" ? at : at + pathname;
}

/** A moment of the address as a field for one shows it, on the reader's clock; empty for what is none. */
export function fieldOf(iso: string): string {
  const at = new Date(iso);
  if (iso === "" || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The other way round. */
export function momentOf(field: string): string {
  const at = new Date(field);
  return field === "" || Number.isNaN(at.getTime()) ? "" : at.toISOString().replace(".000Z", "Z");
}
