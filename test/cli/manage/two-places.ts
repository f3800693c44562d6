import { createApp } from "../../../src/app/app.ts";
import { openLocal } from "../../../src/app/local.ts";
import { readConfig } from "../../../src/app/settings.ts";
import type { Log } from "../../../src/domain/ports/runtime.ts";
import { type Ended, emptyFolder, svc } from "../support.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A whole service in this process, with one finished task. */
export interface Service {
  readonly folder: string;
  readonly url: string;
  /** The first API key. */
  readonly key: string;
  readonly token: string;
  readonly task: string;
  /** A task with a callback, which was delivered. */
  readonly called: string;
  stop(): Promise<void>;
}

export async function startService(): Promise<Service> {
  const folder = emptyFolder();
  const env = { SVC_EGRESS_ALLOW: "127.0.0.1/32" };
  const config = readConfig({ cwd: folder, env, flags: { port: "0" } });
  const app = createApp(config, { log: quiet });
  const { urls, firstKey = "" } = await app.start();
  const local = await openLocal(config);
  const { token } = await local.manage.createToken({ name: "tests" });
  await local.stop();
  const made = await fetch(`${urls.api}/compat/v1/images/generations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${firstKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: "sandbox-image", prompt: "x", size: "16x16" }),
  });
  if (made.status !== 200) throw new Error(`The task failed: ${await made.text()}`);
  const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("noted") });
  const called = await calledBack(urls.api, firstKey, `http://127.0.0.1:${receiver.port}/?token=secret`);
  return {
    folder,
    url: urls.api,
    key: firstKey,
    token,
    task: made.headers.get("x-task-id") ?? "",
    called,
    async stop() {
      await app.stop({ force: true });
      await receiver.stop(true);
    },
  };
}

/** Makes a task whose callback was delivered. @returns the task */
async function calledBack(server: string, key: string, callbackUrl: string): Promise<string> {
  const ask = async (path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const request = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(server + path, { headers, ...request });
    return ((await answer.json()) as { data: Record<string, unknown> }).data;
  };
  const body = { model: "sandbox-image", prompt: "x", size: "16x16", callback_url: callbackUrl };
  const id = String((await ask("/v1/images/generations", body)).task_id);
  await ask(`/v1/images/status/${id}?wait=30`);
  for (;;) {
    const { callbacks } = await ask(`/v1/callbacks?task_id=${id}&state=delivered`);
    if (Array.isArray(callbacks) && callbacks.length > 0) return id;
  }
}

/** Two services with the same history: the folder of one that was stopped, and one that runs, seen from an empty folder. */
export async function startPlaces() {
  const [stopped, running] = await Promise.all([startService(), startService()]);
  await stopped.stop();
  const elsewhere = emptyFolder();
  const filled = (args: readonly string[], { task, called }: Service) =>
    args.map((arg) => arg.replace("TASK", task).replace("CALLED", called));
  return {
    running,
    async inFolder(args: readonly string[]): Promise<Ended> {
      // These ask a server unless told otherwise.
      const flags = args[0] === "callbacks" || args[0] === "models" ? ["--local"] : [];
      return alike(await svc([...filled(args, stopped), ...flags], { cwd: stopped.folder }));
    },
    async onServer(args: readonly string[]): Promise<Ended> {
      const flags = ["--server", running.url, "--token", running.token];
      return alike(await svc([...filled(args, running), ...flags], { cwd: elsewhere }));
    },
    stop: () => running.stop(),
  };
}

/** What was printed, without what two runs of one command cannot have in common: ids, secrets, times, places, actors. */
function alike({ exitCode, stdout, stderr }: Ended): Ended {
  const told = (text: string) =>
    text
      .replaceAll(/\b(sk-svc|mt-svc)-\w{4}…\w{4}/g, "$1-SHOWN")
      .replaceAll(/\b(sk-svc|mt-svc)-\w{38}/g, "$1-SECRET")
      .replaceAll(/whsec_[\w+/=]+/g, "whsec_SECRET")
      .replaceAll(/"actor":\{"kind":"(token|local)",[^}]*\}/g, '"actor":ACTOR')
      .replaceAll(/\b(operator|tok_[0-9a-z]{26})(?="|\s)/g, "ACTOR")
      .replaceAll(/\b(acc|key|tok|task|cb)_[0-9a-z]{26}/g, "$1_ID")
      .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
      .replaceAll(/http:\/\/[^"]+\/assets\/\w+/g, "FILE")
      .replaceAll(/req_[0-9a-z]{26}/g, "req_ID")
      .replaceAll(/"duration_ms":\d+|\b\d+(\.\d+)? (ms|s)\b/g, "DURATION")
      .replaceAll(/"last_used_at":(\d+|null)/g, '"last_used_at":TIME')
      .replaceAll(/"(at|\w+_at)":\d+/g, '"$1":TIME')
      .replaceAll(/in \.\/svc-data|on http:\/\/[\d.]+:\d+/g, "THERE")
      // A command that is named works at the same place.
      .replaceAll(/ --server http:\/\/[\d.]+:\d+/g, "")
      .replaceAll(/127\.0\.0\.1:\d+/g, "RECEIVER")
      // What a server adds to its refusals.
      .replaceAll(/ \(request req_\w+\)/g, "")
      .replaceAll(/"request_id":"\w+",?|,?"status":4\d\d|,?"param":"\w+"/g, "");
  return { exitCode, stdout: told(stdout), stderr: told(stderr).replaceAll(/,(?=\})/g, "") };
}
