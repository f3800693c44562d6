import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { openPublished } from "../../helpers/published.ts";

/** A prompt as the server has it. */
export interface QueuedPrompt {
  readonly id: string;
  readonly graph: JsonObject;
  readonly clientId: string | undefined;
}

/** How a prompt ends: what its nodes saved, or the exception that one threw. */
export type Ending = { readonly outputs: JsonObject } | { readonly exception: JsonObject };

export interface Comfy {
  readonly origin: string;
  /** Each request's method and path, in their order. */
  readonly asked: string[];
  /** Bodies of prompts as they arrived. */
  readonly prompts: JsonObject[];
  readonly uploads: { readonly path: string; readonly fields: Readonly<Record<string, string>> }[];
  readonly running: QueuedPrompt[];
  readonly pending: QueuedPrompt[];
  readonly history: Map<string, Json>;
  /** Ids of prompts that were interrupted, whoever asked for it. */
  readonly interrupted: string[];
  /** Client ids that are connected. */
  readonly clients: Map<string, { send(data: string | Uint8Array): void; close(): void }>;
  version: string;
  /** What it says of its nodes, by their kinds. */
  readonly nodes: Map<string, JsonObject>;
  /** Answers in place of the server where it returns something. */
  instead: (path: string, request: Request) => Response | undefined | Promise<Response | undefined>;
  /** What the server says of a graph that it does not run. */
  refuse: (graph: JsonObject) => JsonObject | undefined;
  /** Adds prompts of somebody else at the end of the queue. */
  addOthers(count: number, graph?: JsonObject): void;
  /** Begins the first prompt that waits, if none runs. */
  begin(): QueuedPrompt | undefined;
  /** Ends the prompt that runs. */
  end(ending: Ending): void;
  /** The process is another one: queue and history are gone. */
  restart(): void;
  /** Sends an event to whom the prompt is. */
  tell(to: QueuedPrompt, type: string, data: JsonObject): void;
  /** Resolves when this holds, looked at whenever a request or a connection came. */
  until(holds: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

const contract = openPublished("comfyui/openapi.json");
export const SAVED: JsonObject = {
  "9": { images: [{ filename: "ComfyUI_00001_.png", subfolder: "", type: "output" }] },
};

/** An answer, which must be as the contract has it. */
function answer(json: Json, place?: readonly string[], status = 200): Response {
  const problems =
    place && contract.isHere
      ? contract.problems(
          [...place, "responses", String(status), "content", "application/json", "schema"],
          json,
        )
      : [];
  if (problems.length > 0) throw new Error(`No such answer: ${problems.join(", ")}`);
  return Response.json(json, { status });
}

/** A ComfyUI server, written down from its published contract: one prompt runs at a time, when the test says so. */
export async function startComfy(): Promise<Comfy> {
  const changed = new Set<() => void>();
  const touch = () => {
    for (const look of changed) look();
  };
  let number = 0;

  const server = Bun.serve<{ id: string }>({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, bun) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/ws") {
        const refused = await comfy.instead("GET /ws", request);
        const isTaken =
          refused === undefined && bun.upgrade(request, { data: { id: searchParams.get("clientId") ?? "" } });
        return isTaken ? undefined : (refused ?? new Response("no", { status: 400 }));
      }
      const path = `${request.method} ${pathname}`;
      comfy.asked.push(path);
      const answered = (await comfy.instead(path, request)) ?? (await respond(path, request));
      queueMicrotask(touch);
      return answered;
    },
    websocket: {
      open(socket) {
        comfy.clients.set(socket.data.id, {
          send: (data) => void socket.send(data),
          close: () => socket.terminate(),
        });
        touch();
      },
      message() {},
      close(socket) {
        comfy.clients.delete(socket.data.id);
        touch();
      },
    },
  });

  async function respond(path: string, request: Request): Promise<Response> {
    const id = decodeURIComponent(/^GET \/history\/([^/]+)$/.exec(path)?.[1] ?? "");
    if (id !== "") {
      const entry = comfy.history.get(id);
      return answer(entry === undefined ? {} : { [id]: entry }, ["paths", "/history/{prompt_id}", "get"]);
    }
    const kind = decodeURIComponent(/^GET \/object_info\/([^/]+)$/.exec(path)?.[1] ?? "");
    if (kind !== "") {
      const known = comfy.nodes.get(kind);
      return answer(known === undefined ? {} : { [kind]: known }, [
        "paths",
        "/object_info/{node_class}",
        "get",
      ]);
    }
    switch (path) {
      case "GET /object_info":
        return answer(Object.fromEntries(comfy.nodes), ["paths", "/object_info", "get"]);
      case "POST /prompt":
        return take((await request.json()) as JsonObject);
      case "GET /queue": {
        const list = (items: readonly QueuedPrompt[]) =>
          items.map((each, i): Json => [i, each.id, each.graph, { client_id: each.clientId }, ["9"]]);
        const queue = { queue_running: list(comfy.running), queue_pending: list(comfy.pending) };
        return comfy.pending.length > 100 ? Response.json(queue) : answer(queue, ["paths", "/queue", "get"]);
      }
      case "POST /queue": {
        const { delete: ids = [], clear } = (await request.json()) as { delete?: string[]; clear?: boolean };
        if (clear === true) comfy.pending.splice(0);
        comfy.pending.splice(0, Infinity, ...comfy.pending.filter((each) => !ids.includes(each.id)));
        return new Response(null);
      }
      case "POST /interrupt": {
        const text = await request.text();
        const { prompt_id: wanted } = text === "" ? {} : JSON.parse(text);
        const [current] = comfy.running;
        const knowsIds = isSince("0.3.57");
        if (current !== undefined && (!knowsIds || wanted === undefined || wanted === current.id))
          interrupt(current);
        return new Response(null);
      }
      case "GET /system_stats":
        return answer({ system: { comfyui_version: comfy.version }, devices: [] }, [
          "paths",
          "/system_stats",
          "get",
        ]);
      case "POST /upload/image":
      case "POST /upload/mask":
        return upload(path.slice(5), (await request.formData()) as unknown as Form);
      case "GET /view": {
        const { searchParams } = new URL(request.url);
        return new Response(`bytes of ${searchParams.get("subfolder")}/${searchParams.get("filename")}`);
      }
      default:
        return new Response("404: Not Found", { status: 404 });
    }
  }

  const isSince = (release: string) =>
    /^\d/.test(comfy.version) && Bun.semver.order(comfy.version, release) >= 0;

  function take(body: JsonObject): Response {
    expectContract(body);
    const { prompt, prompt_id, client_id } = body;
    const graph = isJsonObject(prompt) ? prompt : {};
    const refused = comfy.refuse(graph);
    if (refused !== undefined) return answer(refused, ["paths", "/prompt", "post"], 400);
    comfy.prompts.push(body);
    const knowsIds = isSince("0.3.45");
    const id = knowsIds && typeof prompt_id === "string" ? prompt_id : crypto.randomUUID();
    comfy.pending.push({ id, graph, clientId: typeof client_id === "string" ? client_id : undefined });
    return answer({ prompt_id: id, number: number++, node_errors: {} }, ["paths", "/prompt", "post"]);
  }

  function upload(path: string, form: Form): Response {
    const fields: Record<string, string> = {};
    for (const [name, value] of form) fields[name] = typeof value === "string" ? value : value.name;
    comfy.uploads.push({ path, fields });
    const { image: name = "", subfolder = "", type = "input" } = fields;
    return answer({ name, subfolder, type }, ["paths", path, "post"]);
  }

  function finish(of: QueuedPrompt, status: JsonObject, outputs: JsonObject): void {
    comfy.running.splice(comfy.running.indexOf(of), 1);
    const prompt = [0, of.id, of.graph, { client_id: of.clientId }, ["9"]];
    comfy.history.set(of.id, { prompt, outputs, status, meta: {} });
  }

  function failed(of: QueuedPrompt, event: string, told: JsonObject): JsonObject {
    const start = ["execution_start", { prompt_id: of.id, timestamp: 1 }];
    const messages = [
      start,
      [event, { prompt_id: of.id, node_id: "3", node_type: "KSampler", executed: [], timestamp: 2, ...told }],
    ];
    return { status_str: "error", completed: false, messages };
  }

  function interrupt(current: QueuedPrompt): void {
    comfy.interrupted.push(current.id);
    finish(current, failed(current, "execution_interrupted", {}), {});
  }

  const comfy: Comfy = {
    origin: `http://127.0.0.1:${server.port}`,
    ...{ asked: [], prompts: [], uploads: [], running: [], pending: [], history: new Map(), interrupted: [] },
    clients: new Map(),
    nodes: new Map(),
    version: "0.3.64",
    instead: () => undefined,
    refuse: () => undefined,
    addOthers(count, graph = { "1": { class_type: "Other", inputs: {} } }) {
      for (let i = 0; i < count; i += 1)
        comfy.pending.push({ id: crypto.randomUUID(), graph, clientId: "others" });
    },
    begin() {
      if (comfy.running.length === 0) comfy.running.push(...comfy.pending.splice(0, 1));
      return comfy.running[0];
    },
    end(ending) {
      const [current] = comfy.running;
      if (current === undefined) throw new Error("Nothing runs.");
      if ("exception" in ending) finish(current, failed(current, "execution_error", ending.exception), {});
      else finish(current, { status_str: "success", completed: true, messages: [] }, ending.outputs);
    },
    restart() {
      comfy.running.splice(0);
      comfy.pending.splice(0);
      comfy.history.clear();
    },
    tell: (to, type, data) => comfy.clients.get(to.clientId ?? "")?.send(JSON.stringify({ type, data })),
    until(holds) {
      if (holds()) return Promise.resolve();
      return new Promise((resolve) => {
        const look = () => {
          if (!holds()) return;
          changed.delete(look);
          resolve();
        };
        changed.add(look);
      });
    },
    stop: () => server.stop(true),
  };
  return comfy;
}

/** What is sent as a form. */
type Form = Iterable<[name: string, value: string | File]>;

/** What is sent to the server is as its contract has it. */
function expectContract(body: JsonObject): void {
  const problems = contract.problems(["components", "schemas", "PromptRequest"], body);
  if (problems.length > 0) throw new Error(`No such request: ${problems.join(", ")}`);
}
