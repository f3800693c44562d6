import type { Server } from "../../helpers/server.ts";
import { type Api, createApi, type WireData } from "./api.ts";
import { arranged, keyIn } from "./command.ts";
import { readDatabase } from "./database.ts";

/** Other names for the sandbox, as a client's default model needs one. */
export const ALIASES = ["--alias", "gpt-image-1=sandbox-image", "--alias", "dall-e-3=sandbox-image"];

/** An account with a credit and one key, whose requests, tasks and money are nobody else's. */
export interface Customer {
  readonly name: string;
  readonly key: string;
  /** Where clients of OpenAI's APIs are told to go. */
  readonly baseUrl: string;
  readonly api: Api;
  /** Requests of the key to the APIs that clients of others speak, in the order they were answered, once there are `count`. */
  requests(count: number): Promise<readonly LoggedRequest[]>;
  /** The customer's tasks, newest first, once there are `count`. */
  tasks(count?: number): Promise<readonly WireData[]>;
  /** What the ledger says was paid, in micros. */
  charged(): number;
  /** Micros that are reserved for tasks. */
  held(): number;
}

/** A line of the server's log about a request. */
export interface LoggedRequest {
  readonly path: string;
  readonly status: number;
  readonly task?: string;
  readonly request_id: string;
}

const WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 10;
const OF_CLIENTS = /"\/(?:compat\/v1\/(?:images\/|videos)|gemini\/|fal\/|replicate\/)/;
let count = 0;

/** @param flags further ones of `svc keys create` */
export async function createCustomer(
  server: Server,
  options: { readonly credit?: string; readonly flags?: readonly string[] } = {},
): Promise<Customer> {
  count += 1;
  const name = `customer-${count}`;
  const folder = ["--data-dir", server.dataDir];
  await arranged([
    ...["accounts", "create", name, "--mode", "prepaid", "--credit", options.credit ?? "1.00"],
    ...folder,
  ]);
  const flags = options.flags ?? [];
  const key = keyIn(
    await arranged(["keys", "create", "--name", name, "--account", name, ...flags, ...folder]),
  );
  const api = createApi(server.url, key);
  const sumOf = (column: string, condition: string) => {
    const [row] = readDatabase<{ sum: number }>(
      server.dataDir,
      `SELECT total(${column}) AS sum FROM ledger_entry JOIN account ON account.id = account_id
       WHERE account.name = '${name}' AND ${condition}`,
    );
    return row?.sum ?? 0;
  };
  return {
    name,
    key,
    baseUrl: `${server.url}/compat/v1`,
    api,
    requests: (wanted) => loggedRequests(server, name, wanted),
    tasks: (wanted = 0) => listTasks(api, wanted),
    charged: () => 0 - sumOf("balance_delta_micros", "ledger_entry.kind = 'capture'"),
    held: () => sumOf("held_delta_micros", "1"),
  };
}

async function listTasks(api: Api, wanted: number): Promise<readonly WireData[]> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const { status, text, data } = await api.send("/v1/tasks?limit=100");
    if (status !== 200 || data.tasks === undefined) throw new Error(`No tasks: ${status} ${text}`);
    if (data.tasks.length >= wanted) return data.tasks;
    if (performance.now() > deadline) throw new Error(`There are not ${wanted} tasks: ${text}`);
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}

/** Log lines are gathered before they are written, so that the last of them are waited for. */
async function loggedRequests(server: Server, name: string, wanted: number): Promise<LoggedRequest[]> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const found = server
      .stderr()
      .split("\n")
      .filter((line) => line.includes(`"key":"${name}"`) && OF_CLIENTS.test(line))
      .map((line) => JSON.parse(line) as LoggedRequest);
    if (found.length >= wanted) return found;
    if (performance.now() > deadline) {
      throw new Error(`${name} sent ${found.length} requests, not ${wanted}.\n${server.stderr()}`);
    }
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}

/**
 * Takes the only slot of a server started with `--sandbox-concurrency 1`, so that no task ends until it is given back.
 *
 * @returns what gives it back; calling it again is harmless
 */
export async function holdSandbox(server: Server): Promise<() => Promise<void>> {
  const api = createApi(server.url, server.firstKey());
  const id = await api.accept({
    model: "sandbox-image",
    prompt: "x",
    size: "16x16",
    sandbox: { outcome: "hang" },
  });
  await api.underWay(id);
  let isHeld = true;
  return async () => {
    if (!isHeld) return;
    isHeld = false;
    const { status, text } = await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
    if (status !== 200) throw new Error(`The slot is not given back: ${status} ${text}`);
  };
}
