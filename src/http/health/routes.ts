import type { Route } from "../exchange.ts";
import { json } from "../reply.ts";
import { READ_HEALTH, READ_READINESS } from "./wire.ts";

/** `/healthz`: the process answers. `/readyz`: it takes new tasks (503 while it starts or drains). */
export function healthRoutes(deps: { isReady: () => boolean }): Route[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      operation: READ_HEALTH,
      access: "public",
      logLevel: "debug",
      handle: () => json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      operation: READ_READINESS,
      access: "public",
      logLevel: "debug",
      handle: () =>
        deps.isReady() ? json({ status: "ready" }) : { ...json({ status: "not_ready" }), status: 503 },
    },
  ];
}
