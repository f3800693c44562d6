import { type Endpoint, open } from "../exchange.ts";
import { json } from "../reply.ts";
import { READ_HEALTH, READ_READINESS } from "./wire.ts";

/** `/healthz`: the process answers. `/readyz`: it takes new tasks (503 while it starts or drains). */
export function healthEndpoints(deps: { isReady: () => boolean }): Endpoint[] {
  return [
    open("/healthz", READ_HEALTH, () => json({ status: "ok" })),
    open("/readyz", READ_READINESS, () =>
      deps.isReady() ? json({ status: "ready" }) : { ...json({ status: "not_ready" }), status: 503 },
    ),
  ];
}
