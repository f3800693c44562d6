import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, type Server, startServer } from "../../helpers/server.ts";
import { type Api, createApi } from "./api.ts";
import { prepaidKey, svcJson } from "./command.ts";

/** A server without the sandbox, with these settings and variables, and the account `studio` with one dollar there. */
export interface DeclaredService {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly server: Server;
  /** Of the account `studio`. */
  readonly api: Api;
  /** Starts the server again at its port; it must have ended. */
  restart(): Promise<Server>;
}

/** @param files of the data folder, by name */
export async function serveDeclared(
  settings: string,
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): Promise<DeclaredService> {
  const folder = emptyFolder("declared");
  const dataDir = join(folder, "svc-data");
  mkdirSync(dataDir);
  for (const [name, content] of Object.entries({ ...files, "svc.yaml": settings }))
    writeFileSync(join(dataDir, name), content, { mode: 0o600 });
  const logs = emptyFolder("log");
  const start = (port?: number) =>
    startServer({ folder, env, logs, args: ["--no-sandbox"], ...(port === undefined ? {} : { port }) });
  const server = await start();
  const api = createApi(server.url, await prepaidKey(server.dataDir, "studio", "1"));
  return { folder, env, server, api, restart: () => start(server.port) };
}

/** What the account `studio` has, and the kinds of the movements of its money, oldest first. */
export async function moneyOf({ dataDir }: Server) {
  // What the command is documented to print.
  const { account, entries } = (await svcJson(["ledger", "studio", "--data-dir", dataDir])) as {
    account: { balance: string; held: string };
    entries: readonly { kind: string }[];
  };
  const kinds = entries.toReversed().map(({ kind }) => kind);
  return { balance: account.balance, held: account.held, kinds };
}
