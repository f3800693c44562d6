import type { Route } from "../exchange.ts";
import { json } from "../reply.ts";

/** `/healthz`: the process answers. `/readyz`: it takes new tasks (503 while it starts or drains). */
export function healthRoutes(deps: { isReady: () => boolean }): Route[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      access: "public",
      logLevel: "debug",
      handle: () => json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      access: "public",
      logLevel: "debug",
      handle: () =>
        deps.isReady() ? json({ status: "ready" }) : { ...json({ status: "not_ready" }), status: 503 },
    },
  ];
}
