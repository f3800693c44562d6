import type { Log } from "../../domain/ports/runtime.ts";
import { type ChangePage, createChangePages } from "../../service/task-changes.ts";
import { watchAccount } from "../../service/watch-account.ts";
import {
  type ListenedCallback,
  type WatchCallbacksDeps,
  watchCallbacks,
} from "../../service/watch-callbacks.ts";
import { type Endpoint, followed, type KeyedExchange } from "../exchange.ts";
import { lastEventOf } from "../last-event.ts";
import type { Reply } from "../reply.ts";
import { type EventWriter, eventReply, eventText } from "../sse.ts";
import { presentListedTask } from "../tasks/present.ts";
import { FOLLOW_CALLBACKS, FOLLOW_TASKS } from "./wire.ts";

export interface EventEndpointDeps extends Omit<WatchCallbacksDeps, "pages"> {
  readonly log: Log;
  /** Aborts when the service stops, which ends every wait. */
  readonly stopping: AbortSignal;
}

/** Endless streams: of the account's tasks, and of the callbacks of the key's tasks. */
export function eventEndpoints(given: EventEndpointDeps): Endpoint[] {
  const deps = { ...given, pages: createChangePages(given), textOf: createPageText() };
  return [
    followed("/v1/events", FOLLOW_TASKS, (exchange) =>
      stream(deps, exchange, (to, query) => writeTasks(deps, exchange, to, query)),
    ),
    followed("/v1/callbacks/events", FOLLOW_CALLBACKS, (exchange) =>
      stream(deps, exchange, (to, query) => writeCallbacks(deps, exchange, to, query)),
    ),
  ];
}

type Deps = EventEndpointDeps & WatchCallbacksDeps & { readonly textOf: PageText };

interface StreamQuery {
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Events from the client's last position, or from now on. The stream begins with this position. */
async function stream(
  deps: Deps,
  { request, requestId, principal, standing }: KeyedExchange,
  write: (to: EventWriter, query: StreamQuery) => Promise<void>,
): Promise<Reply> {
  const after = await deps.pages.start(principal.accountId, lastEventOf(request));
  return eventReply({
    clock: deps.clock,
    standing,
    signal: AbortSignal.any([request.signal, deps.stopping]),
    async write(to, signal) {
      await to.mark(String(after));
      await write(to, { after, signal });
    },
    onError: (error) =>
      deps.log.error({ request_id: requestId, err: error as Error }, "an event stream failed"),
  });
}

async function writeTasks(
  deps: Deps,
  { principal, origin }: KeyedExchange,
  to: EventWriter,
  query: StreamQuery,
): Promise<void> {
  for await (const page of watchAccount(deps, principal, query)) await to.events(deps.textOf(page, origin));
}

async function writeCallbacks(deps: Deps, { principal }: KeyedExchange, to: EventWriter, query: StreamQuery) {
  for await (const listened of watchCallbacks(deps, principal, query)) {
    const { number } = listened;
    const data = JSON.stringify(presentListened(listened));
    await to.event({ name: "callback", id: number === undefined ? undefined : String(number), data });
  }
}

/** A page as the text of events, with URLs at an origin. */
type PageText = (page: ChangePage, origin: string) => string;

/** Many streams get the same page, so its text is made once for all of them. */
function createPageText(): PageText {
  const texts = new WeakMap<ChangePage, { readonly origin: string; readonly text: string }>();
  return (page, origin) => {
    const known = texts.get(page);
    if (known?.origin === origin) return known.text;
    const text = page.changes
      .map(({ number, task }) => {
        const data = JSON.stringify(presentListedTask(task, origin));
        return eventText({ name: task.status, id: String(number), data });
      })
      .join("");
    texts.set(page, { origin, text });
    return text;
  };
}

function presentListened({ taskId, callback, headers, body }: ListenedCallback) {
  return { task_id: taskId, callback_id: callback?.id ?? null, url: callback?.url ?? null, headers, body };
}
