import { signal } from "@preact/signals";
import { ROOT } from "./connection.ts";
import { once } from "./once.ts";
import type { ApiProblem } from "./problem.ts";
import type { Operations, Schemas } from "./published.d.ts";

export type Session = Schemas["ConsoleSession"];
export type Role = Session["role"];
type Who = Operations["GET /console/session"]["data"];

/** Who is signed in; null: nobody; undefined: not known yet. The secret is in a cookie that no script can read. */
export const session = signal<Session | null | undefined>(undefined);

/** The program's version. */
export const version = signal("");

/** Why the session is over while screens are open; the reader comes in again without leaving them. */
export const ended = signal<ApiProblem | undefined>(undefined);

/** Grows when the reader came in again, so that streams begin anew. */
export const comings = signal(0);

/** What waits for the reader. */
const waiting: PromiseWithResolvers<void>[] = [];

/** What a tab tells the others when its reader leaves. */
const LEFT = "left";

/**
 * All tabs of a browser have one session: where somebody else comes in at one, nothing in the others is theirs; where the same reader
 * does, the others go on, too. Where the reader leaves, nothing stays in the others.
 */
const tabs = new BroadcastChannel("svc.session");
tabs.onmessage = ({ data }) => {
  const who = session.peek();
  if (who === undefined) return;
  if (data === LEFT) giveUp();
  else if (who?.holder.id === data) goOn();
  else location.reload();
};

/** Lets what waited for the reader go on. */
function goOn(): void {
  if (ended.peek() === undefined) return;
  ended.value = undefined;
  comings.value += 1;
  for (const { resolve } of waiting.splice(0)) resolve();
}

/** Asks who is there. @throws ApiProblem */
export async function readSession(): Promise<void> {
  take(await exchange("GET"));
}

/** Asks whether the service answers, which is noted. */
export async function knock(): Promise<void> {
  await exchange("GET").catch(() => undefined);
}

/** Comes in with an API key or a management token, or with what a link holds. @throws ApiProblem */
export async function comeIn(
  given: { readonly credential: string } | { readonly link: string },
): Promise<void> {
  const before = session.peek();
  const who = await exchange("POST", given);
  if (ROOT.pathname !== "/" && (await exchange("GET")).session === null) throw notSentBelow(ROOT.pathname);
  const holder = who.session?.holder.id;
  tabs.postMessage(holder);
  // Somebody else came in: nothing that is open belongs to them, and nothing typed there may become theirs.
  if (ended.peek() !== undefined && before?.holder.id !== holder) return location.reload();
  take(who);
  goOn();
}

/** The session's cookies are for paths of the service, which are others in the eyes of a browser behind a proxy that adds to them. */
function notSentBelow(path: string): Error {
  return new Error(
    `You are known, but the browser does not send its session below ${path}. Have the proxy put ${path} in front of the paths of cookies, or give the service a host name of its own.`,
  );
}

/** Leaves. @throws ApiProblem */
export async function leave(): Promise<void> {
  await exchange("DELETE");
  tabs.postMessage(LEFT);
  session.value = null;
}

/** Gives the open screens up, with what waited in them, and shows how to come in. */
export function giveUp(): void {
  const problem = ended.peek();
  ended.value = undefined;
  session.value = null;
  for (const { reject } of waiting.splice(0)) reject(problem);
}

/** Resolves when the reader has come in again. @throws ApiProblem for a refusal that coming in again would not help */
export async function comeBack(problem: ApiProblem, signal: AbortSignal | null | undefined): Promise<void> {
  if (session.peek() === null || session.peek() === undefined) throw problem;
  // Another request may have waited already, or the cookie is new by now.
  ended.value ??= problem;
  const back = Promise.withResolvers<void>();
  waiting.push(back);
  signal?.addEventListener("abort", () => back.reject(signal.reason), { once: true });
  await back.promise;
}

function take({ session: who, version: of }: Who): void {
  version.value = of;
  session.value = who;
}

async function exchange(method: "GET" | "POST" | "DELETE", body?: unknown): Promise<Who> {
  const answer = await once(new URL("console/session", ROOT), {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!(answer instanceof Response)) throw answer;
  return ((await answer.json()) as { readonly data: Who }).data;
}
