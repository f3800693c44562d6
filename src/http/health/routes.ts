import { SHED_KINDS, type ShedKind } from "../../domain/shedding.ts";
import type { AuthenticateOperator } from "../../service/authenticate.ts";
import { contract as managedContract } from "../admin/contract.ts";
import { credentialOf } from "../credential.ts";
import { type Endpoint, type Exchange, managed, open } from "../exchange.ts";
import { contract, jsonAnswer } from "../openapi/contract.ts";
import { json, success } from "../reply.ts";
import { closed, flag, list, nullable, openEnum, optional, text } from "../wire/schema.ts";

/** Why no new tasks are taken. */
const REASONS = [
  ...(["starting", "stopping", "disk_full", "disk_low", "disk_read_only"] as const),
  ...(["database_busy", "damaged"] as const),
] as const;
export type NotReady = (typeof REASONS)[number];

/** What a check of the server found. */
export interface ServerCheck {
  readonly id: string;
  readonly status: "ok" | "warn" | "error";
  readonly message: string;
  readonly fix?: string | undefined;
}

const CHECK = closed(
  {
    id: text("Stable name of the check."),
    status: openEnum(["ok", "warn", "error"], "How it went."),
    message: text("What was found; for a management token alone."),
    fix: text("What puts it right; for a management token alone, and only where something is wrong."),
  },
  { optional: ["message", "fix"] },
);
const CHECKS = list(CHECK, { description: "With `verbose` alone." });

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
    warnings: list(openEnum(["disk_low"], ""), {
      description:
        "What the operator should look after before no new tasks can be taken; absent when nothing.",
    }),
    checks: CHECKS,
  },
  { optional: ["shedding", "warnings", "checks"] },
);
const NOT_READY = closed(
  {
    status: text("", { const: "not_ready" }),
    reason: openEnum(
      REASONS,
      "Why. A full disk and a busy database are looked at again four times a second.",
    ),
    checks: CHECKS,
  },
  { optional: ["checks"] },
);

const READ_READINESS = contract("readReadiness", "Service", "Whether new tasks are taken", {
  query: optional({
    verbose: text(
      "With any value or none: adds how each check of the server went, in full for a management token.",
    ),
  }),
  answers: {
    200: jsonAnswer("They are.", READY),
    503: jsonAnswer("They are not.", NOT_READY),
  },
  errors: ["invalid_api_key"],
});

const READ_CHECKS = managedContract(
  "readServerReadiness",
  "Whether new tasks are taken, and what the server finds of itself",
  closed({
    ready: flag("Whether new tasks are taken."),
    reason: nullable(openEnum(REASONS, "Why they are not; null while they are.")),
    shedding: list(openEnum(SHED_KINDS, ""), {
      description: "What is refused in part, because there is too much to do.",
    }),
    warnings: list(openEnum(["disk_low"], ""), {
      description: "What to look after before no new tasks can be taken.",
    }),
    checks: list(
      closed({
        id: text("Stable name of the check. Several findings may have the same."),
        status: openEnum(["ok", "warn", "error"], "How it went."),
        message: text("What was found."),
        fix: nullable(text("What puts it right; null where nothing is wrong.")),
      }),
    ),
  }),
  { description: "What `/readyz?verbose` tells, as an answer that is 200 either way." },
);

export interface HealthDeps {
  /** Why no new tasks are taken. */
  readonly notReady: () => NotReady | undefined;
  readonly warnings: () => readonly "disk_low"[];
  /** What is refused in part. */
  readonly shedding: { readonly kinds: () => readonly ShedKind[] };
  /** Looks at what is cheap to look at. */
  readonly checks: () => Promise<readonly ServerCheck[]>;
  readonly authenticateOperator: AuthenticateOperator;
}

/** `/healthz`: the process answers. `/readyz`: it takes new tasks. `/admin/v1/readiness` has what was found, for operators. */
export function healthEndpoints(deps: HealthDeps): Endpoint[] {
  return [
    open("/healthz", READ_HEALTH, () => json({ status: "ok" })),
    open("/readyz", READ_READINESS, async (exchange) => {
      const reason = deps.notReady();
      const shedding = deps.shedding.kinds();
      const checks = exchange.query().has("verbose") ? { checks: await checksFor(exchange, deps) } : {};
      if (reason !== undefined) return { ...json({ status: "not_ready", reason, ...checks }), status: 503 };
      const warnings = deps.warnings();
      const told = { ...(shedding.length > 0 && { shedding }), ...(warnings.length > 0 && { warnings }) };
      return json({ status: "ready", ...told, ...checks });
    }),
    { ...managed("GET", "/admin/v1/readiness", READ_CHECKS, () => readiness(deps)), logLevel: "debug" },
  ];
}

async function readiness({ notReady, shedding, warnings, checks }: HealthDeps) {
  const reason = notReady();
  const found = await checks();
  return success({
    ...{ ready: reason === undefined, reason: reason ?? null },
    ...{ shedding: [...shedding.kinds()], warnings: [...warnings()] },
    checks: found.map(({ id, status, message, fix }) => ({ id, status, message, fix: fix ?? null })),
  });
}

/** Without a credential no more than how each check went. @throws AppError for one that is no management token */
async function checksFor({ request, query }: Exchange, { checks, authenticateOperator }: HealthDeps) {
  const credential = credentialOf(request, query, "/readyz");
  const operator = credential === undefined ? undefined : await authenticateOperator(credential);
  const isOperator = operator?.scopes.includes("read") === true;
  const found = await checks();
  return found.map(({ id, status, message, fix }) =>
    isOperator ? { id, status, message, ...(fix !== undefined && { fix }) } : { id, status },
  );
}
