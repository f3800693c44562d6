import type { Endpoint } from "../exchange.ts";
import { json } from "../reply.ts";
import { READ_HEALTH, READ_READINESS } from "./wire.ts";

/** `/healthz`: the process answers. `/readyz`: it takes new tasks (503 while it starts or drains). */
export function healthEndpoints(deps: { isReady: () => boolean }): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      contract: READ_HEALTH,
      access: "public",
      logLevel: "debug",
      handle: () => json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      contract: READ_READINESS,
      access: "public",
      logLevel: "debug",
      handle: () =>
        deps.isReady() ? json({ status: "ready" }) : { ...json({ status: "not_ready" }), status: 503 },
    },
  ];
}
