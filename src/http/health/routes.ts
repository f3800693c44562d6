import { type Endpoint, open } from "../exchange.ts";
import { contract, jsonAnswer } from "../openapi/contract.ts";
import { json } from "../reply.ts";
import { closed, openEnum, text } from "../wire/schema.ts";

/** Why no new tasks are taken. */
const REASONS = ["starting", "stopping", "disk_full", "disk_read_only", "database_busy", "damaged"] as const;
export type NotReady = (typeof REASONS)[number];

const state = (value: string) => closed({ status: text("", { const: value }) });

const READ_HEALTH = contract("readHealth", "Service", "Whether the process answers", {
  answers: { 200: jsonAnswer("It does.", state("ok")) },
});

const NOT_READY = closed({
  status: text("", { const: "not_ready" }),
  reason: openEnum(REASONS, "Why. A full disk and a busy database are looked at again four times a second."),
});

const READ_READINESS = contract("readReadiness", "Service", "Whether new tasks are taken", {
  answers: {
    200: jsonAnswer("They are.", state("ready")),
    503: jsonAnswer("They are not.", NOT_READY),
  },
});

/** `/healthz`: the process answers. `/readyz`: it takes new tasks. `notReady` says why it does not. */
export function healthEndpoints(deps: { notReady: () => NotReady | undefined }): Endpoint[] {
  return [
    open("/healthz", READ_HEALTH, () => json({ status: "ok" })),
    open("/readyz", READ_READINESS, () => {
      const reason = deps.notReady();
      if (reason === undefined) return json({ status: "ready" });
      return { ...json({ status: "not_ready", reason }), status: 503 };
    }),
  ];
}
