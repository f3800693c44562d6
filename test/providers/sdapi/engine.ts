import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { openPublished } from "../../helpers/published.ts";

/** A task as the server has it. */
export interface WebTask {
  readonly id: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly isOurs: boolean;
}

export interface WebUi {
  readonly origin: string;
  /** Each request's method and path, in their order. */
  readonly asked: string[];
  /** Requests for pictures as they arrived. */
  readonly bodies: JsonObject[];
  /** The first one is made, the others wait. */
  readonly queue: WebTask[];
  /** Ids of tasks that ended, the oldest first; the last sixteen. */
  readonly finished: string[];
  /** Ids of tasks that were interrupted. */
  readonly interrupted: string[];
  /** Checkpoints by title. */
  checkpoints: string[];
  progress: number;
  /** Answers in place of the server where it returns something. */
  instead: (path: string, body: JsonObject) => Response | undefined | Promise<Response | undefined>;
  /** Adds a task of somebody else. */
  addOther(): WebTask;
  /** Ends the task that is made, with these pictures. */
  end(pictures?: Partial<Pictures>): void;
  /** Ends the task that is made with what its framework says of an exception. */
  fail(answer?: Response): void;
  /** The process is another one. What stands before it ends every open request. */
  restart(): void;
  /** What stands before the server ends every open request; the work goes on. */
  cut(): void;
  /** Resolves when this holds, looked at whenever a request came. */
  until(holds: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

export interface Pictures {
  readonly images: readonly string[];
  readonly info: JsonObject;
}

const contract = openPublished("a1111/openapi.json");
const MEMORY = { error: "OutOfMemoryError", detail: "", body: "", errors: "CUDA out of memory." };
const PNG = "iVBORw0KGgo=";
const IMAGES = [
  "paths",
  "/sdapi/v1/txt2img",
  "post",
  "responses",
  "200",
  "content",
  "application/json",
  "schema",
];

function check(place: readonly string[], value: Json): void {
  const problems = contract.problems(place, value);
  if (problems.length > 0) throw new Error(`Not as published: ${problems.join(", ")}`);
}

/** A web UI, written down from its published contract: one task is made at a time, and ends when the test says so. */
export async function startWebUi(): Promise<WebUi> {
  const changed = new Set<() => void>();
  const open = new Map<string, { resolve: (made: Response) => void }>();
  const state = { isInterrupted: false };
  const touch = () => {
    for (const look of changed) look();
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const path = `${request.method} ${pathname}`;
      const text = await request.text();
      const body: JsonObject = text === "" ? {} : JSON.parse(text);
      ui.asked.push(path);
      const answering = Promise.resolve(ui.instead(path, body)).then(
        (instead) => instead ?? respond(path, body),
      );
      await Promise.resolve();
      queueMicrotask(touch);
      return answering;
    },
  });

  function respond(path: string, body: JsonObject): Response | Promise<Response> {
    switch (path) {
      case "POST /sdapi/v1/txt2img":
      case "POST /sdapi/v1/img2img":
        return take(path, body);
      case "POST /internal/progress":
        return progressOf(String(body.id_task));
      case "POST /sdapi/v1/interrupt":
        interrupt();
        return Response.json({});
      case "GET /sdapi/v1/progress": {
        const job = ui.queue.length > 0 ? "scripts_txt2img" : "";
        const said = { interrupted: state.isInterrupted, job };
        return Response.json({ progress: 0, eta_relative: 0, state: said, current_image: null });
      }
      case "GET /sdapi/v1/sd-models": {
        const list = ui.checkpoints.map((title) => ({
          title,
          model_name: title.replace(/\..*/, ""),
          filename: `/models/${title.replace(/ .*/, "")}`,
        }));
        check([...IMAGES.with(1, "/sdapi/v1/sd-models").with(2, "get")], list);
        return Response.json(list);
      }
      default:
        return Response.json({ detail: "Not Found" }, { status: 404 });
    }
  }

  function take(path: string, body: JsonObject): Promise<Response> {
    check(["components", "schemas", path.endsWith("img2img") ? "Img2Img" : "Txt2Img"], body);
    ui.bodies.push(body);
    const id = String(body.force_task_id);
    ui.queue.push({ id, path, body, isOurs: true });
    if (ui.queue.length === 1) state.isInterrupted = false;
    return new Promise((resolve) => open.set(id, { resolve }));
  }

  function progressOf(id: string): Response {
    const at = ui.queue.findIndex((each) => each.id === id);
    const active = at === 0;
    const said = { active, queued: at > 0, completed: ui.finished.includes(id) };
    const more = {
      progress: active ? ui.progress : null,
      eta: null,
      live_preview: null,
      id_live_preview: -1,
    };
    const answer = { ...said, ...more, textinfo: null };
    check([...IMAGES.with(1, "/internal/progress")], answer);
    return Response.json(answer);
  }

  function interrupt(): void {
    const [current] = ui.queue;
    if (current === undefined) return;
    state.isInterrupted = true;
    ui.interrupted.push(current.id);
    ui.end();
  }

  const ui: WebUi = {
    origin: `http://127.0.0.1:${server.port}`,
    ...{ asked: [], bodies: [], queue: [], finished: [], interrupted: [] },
    checkpoints: ["v1-5.safetensors [abc]", "xl/base.safetensors [def]"],
    progress: 0.36,
    instead: () => undefined,
    addOther() {
      const other = { id: `task(${crypto.randomUUID()})`, path: "", body: {}, isOurs: false };
      ui.queue.push(other);
      if (ui.queue.length === 1) state.isInterrupted = false;
      return other;
    },
    end(pictures = {}) {
      const current = ui.queue.shift();
      if (current === undefined) throw new Error("Nothing is made.");
      ui.finished.push(current.id);
      if (ui.finished.length > 16) ui.finished.shift();
      if (ui.queue.length > 0) state.isInterrupted = false;
      const { body } = current;
      const n = Number(body.n_iter ?? 1);
      const { images = Array.from({ length: n }, () => PNG) } = pictures;
      const settings = (body.override_settings ?? {}) as JsonObject;
      const title = String(settings.sd_model_checkpoint ?? ui.checkpoints[0]);
      const used = ui.checkpoints.includes(title) ? title : String(ui.checkpoints[0]);
      const info = {
        ...{ all_seeds: Array.from({ length: n }, (_, i) => i), index_of_first_image: 0 },
        ...{
          sd_model_name: used.replace(/^.*\/|\..*/g, ""),
          sd_model_hash: /\[(.*)\]/.exec(used)?.[1] ?? "",
        },
        ...pictures.info,
      };
      const answer = { images: [...images], parameters: {}, info: JSON.stringify(info) };
      check(IMAGES, answer);
      open.get(current.id)?.resolve(Response.json(answer));
      open.delete(current.id);
    },
    fail(answer = Response.json(MEMORY, { status: 500 })) {
      const current = ui.queue.shift();
      if (current === undefined) throw new Error("Nothing is made.");
      ui.finished.push(current.id);
      open.get(current.id)?.resolve(answer);
      open.delete(current.id);
    },
    restart() {
      ui.queue.splice(0);
      ui.finished.splice(0);
      ui.cut();
    },
    cut() {
      for (const { resolve } of open.values()) resolve(new Response("Gateway Timeout", { status: 504 }));
      open.clear();
    },
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
  return ui;
}
