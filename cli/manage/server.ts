import type { AdminCalls } from "../client/admin.ts";
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
    stop: async () => {},
  };
}
