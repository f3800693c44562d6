import type { AdminCalls } from "../client/admin.ts";
import { objectsIn, optionalTextIn } from "./fields.ts";
import type { Place } from "./port.ts";
import { createRemoteManage } from "./remote-manage.ts";
import { createRemotePrices } from "./remote-prices.ts";

/** A server, through its management API. */
export function openServer(calls: AdminCalls): Place {
  const { server } = calls;
  return {
    manage: createRemoteManage(calls),
    at: `on ${server}`,
    prices: async () => createRemotePrices(calls),
    async trail(query) {
      const page = await calls.get("/audit-log", query);
      return { entries: objectsIn(page, "entries"), next: optionalTextIn(page, "next") ?? null };
    },
    stop: async () => {},
  };
}
