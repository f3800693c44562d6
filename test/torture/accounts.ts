import { prepaidKey } from "../e2e/support/command.ts";
import type { Server } from "../helpers/server.ts";
import type { Caller } from "./load.ts";

/** Enough for some hundred tasks, then refusals. */
const CREDIT = "6.00";
const UNLIMITED_CLIENTS = 4;
const PREPAID_CLIENTS = 2;

/** Clients of two accounts: one that is never refused, one that runs dry on the way. */
export async function openCallers(server: Server): Promise<Caller[]> {
  const unlimited: Caller = { account: "default", key: server.firstKey() };
  const prepaid: Caller = { account: "prepaid", key: await prepaidKey(server.dataDir, "prepaid", CREDIT) };
  return [
    ...Array.from({ length: UNLIMITED_CLIENTS }, () => unlimited),
    ...Array.from({ length: PREPAID_CLIENTS }, () => prepaid),
  ];
}
