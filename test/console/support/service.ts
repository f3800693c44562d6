import { expect } from "bun:test";
import type { Server } from "../../helpers/server.ts";

/** A service whose console is tested: the executable that `SVC_BIN` names, or these sources without one. */
export interface ConsoleService {
  readonly url: string;
  /** An API key, and a management token that may do everything. */
  readonly key: string;
  readonly token: string;
  /** Asks the API, as the credential's holder. @returns the data of a good answer */
  ask(method: string, path: string, body?: object, credential?: string): Promise<Record<string, unknown>>;
  /** Makes a task of the sandbox's image model and waits for its end, unless `outcome` keeps it going. @returns its id */
  make(more?: object): Promise<string>;
  stop(): Promise<void>;
}

type Env = Readonly<Record<string, string>>;
type Started = Pick<ConsoleService, "url" | "key" | "token" | "stop">;

/** @param env settings of the service, such as `SVC_EGRESS_ALLOW` */
export async function startConsole(env: Env = {}): Promise<ConsoleService> {
  const started = process.env.SVC_BIN === undefined ? await fromSources(env) : await fromExecutable(env);
  const ask: ConsoleService["ask"] = async (method, path, body, credential = started.token) => {
    const response = await fetch(started.url + path, {
      method,
      headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { data: Record<string, unknown> };
    expect([method, path, response.status, answer]).toEqual([method, path, 200, expect.anything()]);
    return answer.data;
  };
  return {
    ...started,
    ask,
    async make(more = {}) {
      const body = {
        model: "sandbox-image",
        prompt: "A fox",
        size: "64x64",
        sandbox: { delay_ms: 0 },
        ...more,
      };
      const { task_id } = await ask("POST", "/v1/images/generations", body, started.key);
      const isKept = JSON.stringify(body).includes('"hang"') || JSON.stringify(body).includes('"slow"');
      if (!isKept) await ask("GET", `/v1/images/status/${task_id}?wait=30`, undefined, started.key);
      return String(task_id);
    },
  };
}

async function fromSources(env: Env): Promise<Started> {
  const { startPublished } = await import("../../http/openapi-service.ts");
  return startPublished(env);
}

async function fromExecutable(env: Env): Promise<Started> {
  const { startServer } = await import("../../helpers/server.ts");
  const server = await startServer({ env });
  return {
    url: server.url,
    key: server.firstKey(),
    token: await tokenOf(server),
    stop: async () => void (await server.stop()),
  };
}

/** Makes a management token that may do everything. */
export async function tokenOf({ dataDir }: Pick<Server, "dataDir">): Promise<string> {
  const { SVC, cleanEnvironment } = await import("../../helpers/server.ts");
  const command = [SVC, "tokens", "create", "--name", "tests", "--data-dir", dataDir];
  const { stdout, exitCode } = Bun.spawnSync(command, { env: cleanEnvironment() });
  expect(exitCode).toBe(0);
  return stdout.toString().trim();
}
