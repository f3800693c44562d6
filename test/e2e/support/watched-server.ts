import { refusal, success } from "../../cli/scripted-server.ts";

type View = { readonly task_id: string; readonly status: string } & Record<string, unknown>;

/** A server with as many tasks as a test wants, which change when the test says so. It can go away and come back. */
export interface WatchedServer extends Disposable {
  readonly url: string;
  /** Requests so far, as `GET /v1/tasks`. */
  readonly seen: readonly string[];
  /** Tells everybody who listens that a task has changed. */
  change(view: View): void;
  /** Resolves when somebody listens. */
  listened(): Promise<void>;
  /** Connections break, and new ones are refused. */
  leave(): Promise<void>;
  comeBack(): void;
}

export interface WatchedOptions {
  /** Newest first. */
  readonly tasks: readonly View[];
  /** What a story adds to a task. */
  readonly story?: object;
  /** Of results, at `/result`. */
  readonly file?: Uint8Array<ArrayBuffer>;
}

const PAGE = 100;

export function startWatchedServer({ tasks, story = {}, file }: WatchedOptions): WatchedServer {
  const known = new Map(tasks.map((view) => [view.task_id, view]));
  const order = tasks.map(({ task_id: id }) => id);
  const seen: string[] = [];
  const listeners = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const waiting: (() => void)[] = [];
  let changes = 0;

  const change = (view: View) => {
    if (!known.has(view.task_id)) order.unshift(view.task_id);
    known.set(view.task_id, view);
    changes++;
    const text = `event: ${view.status}\nid: ${changes}\ndata: ${JSON.stringify(view)}\n\n`;
    for (const listener of listeners) listener.enqueue(Buffer.from(text));
  };

  function events(): Response {
    let own: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        own = controller;
        listeners.add(controller);
        controller.enqueue(Buffer.from(`: from ${changes}\n\n`));
        for (const resolve of waiting.splice(0)) resolve();
      },
      cancel: () => void listeners.delete(own),
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  function page(after: string | null, status: string | null): Response {
    const from = after === null ? 0 : Number(after);
    const wanted = order.filter((id) => status === null || known.get(id)?.status === status);
    const ids = wanted.slice(from, from + PAGE);
    const next = from + PAGE < wanted.length ? String(from + PAGE) : null;
    return success({ tasks: ids.map((id) => known.get(id)), next });
  }

  function answer(request: Request): Response {
    const { pathname, searchParams } = new URL(request.url);
    seen.push(`${request.method} ${pathname}`);
    const [, id = "", verb] = /^\/(?:admin\/)?v1\/tasks\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const view = known.get(id);
    if (/\/v1\/events$/.test(pathname)) return events();
    if (/\/v1\/tasks$/.test(pathname)) return page(searchParams.get("after"), searchParams.get("status"));
    if (pathname === "/v1/account/status")
      return success({ usage: { today: { cost: "1.230000", currency: "USD" } } });
    if (pathname === "/result" && file !== undefined) return new Response(file);
    if (view === undefined) return refusal(404, "task_not_found", `There is no task ${id}.`);
    if (verb === undefined) return success({ ...view, ...story });
    if (verb === "retry") return success({ task_id: "task_of_the_retry", retry_of: id });
    change({ ...view, status: "cancelled", completed_at: Number(view.created_at) + 1 });
    return success(known.get(id) ?? {});
  }

  const listen = (port: number) => Bun.serve({ hostname: "127.0.0.1", port, idleTimeout: 0, fetch: answer });
  let server = listen(0);
  const { port = 0 } = server;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    change,
    listened: () =>
      listeners.size > 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
    async leave() {
      listeners.clear();
      await server.stop(true);
    },
    comeBack() {
      server = listen(port);
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
