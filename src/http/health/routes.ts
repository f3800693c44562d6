import { SHED_KINDS, type ShedKind } from "../../domain/shedding.ts";
import { type Endpoint, open } from "../exchange.ts";
import { contract, jsonAnswer } from "../openapi/contract.ts";
import { json } from "../reply.ts";
import { closed, list, openEnum, text } from "../wire/schema.ts";

/** Why no new tasks are taken. */
const REASONS = ["starting", "stopping", "disk_full", "disk_read_only", "database_busy", "damaged"] as const;
export type NotReady = (typeof REASONS)[number];

const state = (value: string) => closed({ status: text("", { const: value }) });

const READ_HEALTH = contract("readHealth", "Service", "Whether the process answers", {
  answers: { 200: jsonAnswer("It does.", state("ok")) },
});

const READY = closed(
  {
    status: text("", { const: "ready" }),
    shedding: list(openEnum(SHED_KINDS, ""), {
      description: "What is refused in part, because there is too much to do; absent when nothing is.",
    }),
  },
  { optional: ["shedding"] },
);

const NOT_READY = closed({
  status: text("", { const: "not_ready" }),
  reason: openEnum(REASONS, "Why. A full disk and a busy database are looked at again four times a second."),
});

const READ_READINESS = contract("readReadiness", "Service", "Whether new tasks are taken", {
  answers: {
    200: jsonAnswer("They are.", READY),
    503: jsonAnswer("They are not.", NOT_READY),
  },
});

export interface HealthDeps {
  /** Why no new tasks are taken. */
  readonly notReady: () => NotReady | undefined;
  /** What is refused in part. */
  readonly shedding: { readonly kinds: () => readonly ShedKind[] };
}

/** `/healthz`: the process answers. `/readyz`: it takes new tasks. */
export function healthEndpoints(deps: HealthDeps): Endpoint[] {
  return [
    open("/healthz", READ_HEALTH, () => json({ status: "ok" })),
    open("/readyz", READ_READINESS, () => {
      const reason = deps.notReady();
      const shedding = deps.shedding.kinds();
      if (reason === undefined) return json({ status: "ready", ...(shedding.length > 0 && { shedding }) });
      return { ...json({ status: "not_ready", reason }), status: 503 };
    }),
  ];
}
