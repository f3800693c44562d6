import { AppError } from "../../../domain/errors.ts";
import { auditForm } from "../../../domain/money/audit-form.ts";
import type { AuditDepth, AuditReport } from "../../../domain/ports/audit.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import { type Endpoint, type LateAnswerDeps, type ManagedExchange, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { AUDIT_QUERY, READ_AUDIT } from "./wire.ts";

interface AuditEndpointDeps extends Pick<LateAnswerDeps, "keepOpen"> {
  /** Callers that ask for what is being read already get the same answer. */
  readonly audits: { run(depth?: AuditDepth): Promise<AuditReport> };
  readonly clock: Pick<Clock, "elapsed" | "after">;
}

/** GET /admin/v1/audit. */
export function auditEndpoints({ audits, keepOpen, clock }: AuditEndpointDeps): Endpoint[] {
  /** When the audits began that go on. */
  const begun = new Map<AuditDepth | undefined, number>();

  function run(depth: AuditDepth | undefined): Promise<AuditReport> {
    begun.getOrInsert(depth, clock.elapsed());
    return audits.run(depth).finally(() => begun.delete(depth));
  }

  /** Says a little before the request is cut that the audit goes on, and what to do. */
  async function inTime(
    audit: Promise<AuditReport>,
    depth: AuditDepth | undefined,
    { edgeDeadline }: Pick<ManagedExchange, "edgeDeadline">,
  ): Promise<AuditReport> {
    const deadline = edgeDeadline();
    if (deadline === undefined) return audit;
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(Math.max(0, deadline - clock.elapsed()), () => {
      const forSec = Math.round((clock.elapsed() - (begun.get(depth) ?? clock.elapsed())) / 1000);
      late.reject(new AppError("upstream_timeout", { kind: "audit_goes_on", forSec }));
    });
    try {
      return await Promise.race([audit, late.promise]);
    } finally {
      cancel();
    }
  }

  return [
    managed("GET", "/admin/v1/audit", READ_AUDIT, async (exchange) => {
      const { depth } = checkQuery(AUDIT_QUERY, exchange.query()) as { depth?: AuditDepth };
      keepOpen(exchange.request);
      const audit = run(depth);
      // The next one who asks hears of its error.
      audit.catch(() => {});
      return success(auditForm(await inTime(audit, depth, exchange)));
    }),
  ];
}
