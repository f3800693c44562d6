import { writeSync } from "node:fs";
import { readPostgresAddress } from "../../toolkit/postgres-address.ts";
import { openBunClient } from "./bun-client.ts";
import type { Client, ClientOptions, Listening } from "./client.ts";
import { openPgClient } from "./pg-client.ts";
import { type OnMisrouted, type ProvenClient, proving } from "./proving.ts";

/** Connections to one database. Each answer is proven to belong to its statement. */
export interface Driver extends ProvenClient, Listening, Pick<Client, "renew" | "close"> {}

export interface DriverOptions extends ClientOptions {
  /** Ends the process unless given. */
  readonly onMisrouted?: OnMisrouted | undefined;
}

/** Connects to a database. Nothing is sent before the first statement. */
export function openDriver({ onMisrouted = endProcess, ...options }: DriverOptions): Driver {
  const open = readPostgresAddress(options.url).client === "pg" ? openPgClient : openBunClient;
  const client = open(options);
  return {
    ...proving(client, onMisrouted),
    listen: client.listen,
    listenAnew: client.listenAnew,
    renew: client.renew,
    close: client.close,
  };
}

/** After this, nothing that this process knows about the database can be trusted. */
export function endProcess(): never {
  writeSync(
    2,
    "svc: the database client gave a statement the rows of another one. This process ends before it uses them: nothing was answered by them, and what was not committed is undone. Start it again. If this happens again, set database_driver: pg, and report it.\n",
  );
  process.exit(1);
}
