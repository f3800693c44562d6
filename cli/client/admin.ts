import type { JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { GIVE_TOKEN } from "./answer.ts";
import { type Call, type ClientOptions, exchange } from "./exchange.ts";
import { type Attempt, withRetries } from "./retry.ts";

/** The management API, with a management token. Every method throws a Failure if the request is refused or gets no answer. */
export type AdminCalls = ReturnType<typeof createAdminCalls>;

type Query = Readonly<Record<string, string | undefined>>;

/** How a change may be repeated when no answer comes. */
export type Repeat =
  /** Repeating the change has no further effect. */
  | { readonly kind: "harmless" }
  /** The server applies it once for each key. Another run of the same command has another key. */
  | { readonly kind: "once"; readonly idempotencyKey: string; readonly check: string }
  /** It must not be repeated. `check` is the command that shows whether it was done. */
  | { readonly kind: "never"; readonly check: string };

export const HARMLESS: Repeat = { kind: "harmless" };

export function createAdminCalls(settings: ClientSettings, options: ClientOptions) {
  const attempt = async (request: Call) => adviseOperator(await exchange(settings, options, request));
  async function call(request: Call, repeat: Repeat): Promise<JsonObject> {
    // Of all tries, because the last one may only have found no server, or have been interrupted.
    let mayBeDone = false;
    const tryOnce = async () => {
      const result = await attempt(request);
      if (result.ok || !isLost(result.failure, result.retry)) return result;
      mayBeDone = true;
      return repeat.kind === "never" ? ({ ...result, retry: "no" } as const) : result;
    };
    try {
      return (await withRetries(tryOnce, options)).data;
    } catch (error) {
      if (!(error instanceof Failure) || !mayBeDone || repeat.kind === "harmless") throw error;
      throw error.withHint(`The request may have arrived: \`${repeat.check}\` shows whether it was done.`);
    }
  }
  return {
    server: settings.server,
    /** Waits; Ctrl-C ends it. */
    wait: (ms: number) => options.timing.sleep(ms, options.signal),
    get: (path: string, query: Query = {}, waitMs?: number) =>
      call({ method: "GET", path: `/admin/v1${path}${searchOf(query)}`, waitMs }, HARMLESS),
    /** Sends the request once, for callers that repeat it themselves. */
    attempt: (path: string) => attempt({ method: "GET", path: `/admin/v1${path}` }),
    send: (method: "POST" | "PATCH", path: string, body: JsonObject | undefined, repeat: Repeat) => {
      const once = repeat.kind === "once" ? { idempotencyKey: repeat.idempotencyKey } : {};
      return call({ method, path: `/admin/v1${path}`, body, ...once }, repeat);
    },
  };
}

/** One segment of a path. */
export const segment = (text: string): string => encodeURIComponent(text);

/** Says what an operator can do about a refusal. */
function adviseOperator<T>(result: Attempt<T>): Attempt<T> {
  if (result.ok || result.failure.exitCode !== EXIT.auth) return result;
  return { ...result, failure: result.failure.withHint(GIVE_TOKEN) };
}

/** Whether the request may have been carried out although no answer of the service came. */
function isLost({ exitCode }: Failure, retry: "no" | "seldom" | "yes"): boolean {
  return retry === "yes" && (exitCode === EXIT.unreachable || exitCode === EXIT.stillRunning);
}

function searchOf(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
