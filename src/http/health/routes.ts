import { type Endpoint, open } from "../exchange.ts";
import { contract, jsonAnswer } from "../openapi/contract.ts";
import { json } from "../reply.ts";
import { closed, text } from "../wire/schema.ts";

const state = (value: string) => closed({ status: text("", { const: value }) });

const READ_HEALTH = contract("readHealth", "Service", "Whether the process answers", {
  answers: { 200: jsonAnswer("It does.", state("ok")) },
});

const READ_READINESS = contract("readReadiness", "Service", "Whether new tasks are taken", {
  answers: {
    200: jsonAnswer("They are.", state("ready")),
    503: jsonAnswer("They are not: the service starts or stops.", state("not_ready")),
  },
});

/** `/healthz`: the process answers. `/readyz`: it takes new tasks (503 while it starts or drains). */
export function healthEndpoints(deps: { isReady: () => boolean }): Endpoint[] {
  return [
    open("/healthz", READ_HEALTH, () => json({ status: "ok" })),
    open("/readyz", READ_READINESS, () =>
      deps.isReady() ? json({ status: "ready" }) : { ...json({ status: "not_ready" }), status: 503 },
    ),
  ];
}
