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
  stop(): Promise<void>;
}

export async function startService(): Promise<Service> {
  const folder = emptyFolder();
  const config = readConfig({ cwd: folder, env: {}, flags: { port: "0" } });
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
  return {
    folder,
    url: urls.api,
    key: firstKey,
    token,
    task: made.headers.get("x-task-id") ?? "",
    stop: () => app.stop({ force: true }),
  };
}

/** Two services with the same history: the folder of one that was stopped, and one that runs, seen from an empty folder. */
export async function startPlaces() {
  const stopped = await startService();
  await stopped.stop();
  const running = await startService();
  const elsewhere = emptyFolder();
  const filled = (args: readonly string[], { task }: Service) => args.map((arg) => arg.replace("TASK", task));
  return {
    running,
    async inFolder(args: readonly string[]): Promise<Ended> {
      return alike(await svc(filled(args, stopped), { cwd: stopped.folder }));
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
      .replaceAll(/\b(operator|tok_[0-9a-z]{26})(?="|\s)/g, "ACTOR")
      .replaceAll(/\b(acc|key|tok|task)_[0-9a-z]{26}/g, "$1_ID")
      .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
      .replaceAll(/"(at|\w+_at)":\d+/g, '"$1":TIME')
      .replaceAll(/in \.\/svc-data|on http:\/\/[\d.]+:\d+/g, "THERE")
      // What a server adds to its refusals.
      .replaceAll(/ \(request req_\w+\)/g, "")
      .replaceAll(/"request_id":"\w+",?|,?"status":4\d\d|,?"param":"\w+"/g, "");
  return { exitCode, stdout: told(stdout), stderr: told(stderr).replaceAll(/,(?=\})/g, "") };
}
