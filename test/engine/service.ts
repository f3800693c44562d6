import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Api, createApi, download, type WireData } from "../e2e/support/api.ts";
import { prepaidKey, svc, svcJson } from "../e2e/support/command.ts";
import { decode } from "../e2e/support/pictures.ts";
import { emptyFolder, type Server, startServer } from "../helpers/server.ts";
import { type Family, MODEL, manifestOf, type Restarts, settingsOf } from "./families.ts";

/** `svc serve` with one provider and one model, in a folder of its own. */
export interface Service {
  readonly api: Api;
  readonly dataDir: string;
  /** Ends it, unless it has ended, and starts it again on the same data and port. */
  restart(restarts: Restarts): Promise<void>;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** What the account was charged and what is held of it, in micros. */
  money(): Promise<{ readonly charged: number; readonly held: number }>;
  /** What `svc audit` prints when it finds something. */
  audit(): Promise<string | undefined>;
  /** Asks for a picture that must be accepted. @returns its task */
  ask(body: JsonObject): Promise<string>;
  /** Waits for the end of a task, and decodes what it made. */
  end(id: string): Promise<Ended>;
}

/** How a task ended. */
export interface Ended {
  readonly id: string;
  readonly status: string;
  /** Of a failed one. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly pictures: readonly Picture[];
  /** How many were asked for and are missing, as its answer says. */
  readonly missing: number;
  readonly costMicros: number;
}

export type Picture = Awaited<ReturnType<typeof decode>>;

const CREDIT = "1";

export async function openService(family: Family, address: string): Promise<Service> {
  const folder = emptyFolder(family.provider);
  const dataDir = join(folder, "svc-data");
  mkdirSync(join(dataDir, "models"), { recursive: true });
  writeFileSync(join(dataDir, `models/${MODEL}.yaml`), JSON.stringify(manifestOf(family)));
  const logs = emptyFolder(`${family.provider}-log`);
  const start = (restarts: Restarts, port?: number): Promise<Server> => {
    const settings = JSON.stringify(settingsOf(family, address, restarts));
    writeFileSync(join(dataDir, "svc.yaml"), settings, { mode: 0o600 });
    const given = { folder, logs, env: family.env, args: ["--no-sandbox"], via: ["nice", "-n", "15"] };
    return startServer(port === undefined ? given : { ...given, port });
  };
  let server = await start("charged");
  const api = createApi(server.url, await prepaidKey(dataDir, "studio", CREDIT));
  return {
    api,
    dataDir,
    async restart(restarts) {
      await server.stop();
      server = await start(restarts, server.port);
    },
    async kill() {
      server.signal("SIGKILL");
      await server.exited;
    },
    stop: async () => void (await server.stop()),
    async money() {
      // What the command is documented to print.
      const { account } = (await svcJson(["ledger", "studio", "--data-dir", dataDir])) as {
        account: { balance: string; held: string };
      };
      return { charged: micros(CREDIT) - micros(account.balance), held: micros(account.held) };
    },
    async audit() {
      const { exitCode, stdout, stderr } = await svc(["audit", "--data-dir", dataDir]);
      return exitCode === 0 ? undefined : `${stdout}${stderr}`;
    },
    ask: (body) => api.accept({ model: MODEL, ...body }),
    async end(id) {
      return ended(id, await api.wait(id));
    },
  };
}

async function ended(
  id: string,
  task: WireData & { readonly result_issues?: readonly unknown[] },
): Promise<Ended> {
  const pictures: Picture[] = [];
  for (const url of task.result ?? []) pictures.push(await decode(await download(url)));
  return {
    ...{ id, pictures, status: String(task.status), code: task.error_code, message: task.error_message },
    missing: task.result_issues?.length ?? 0,
    costMicros: micros(task.usage?.cost ?? "0"),
  };
}

const micros = (amount: string) => Math.round(Number(amount) * 1_000_000);
