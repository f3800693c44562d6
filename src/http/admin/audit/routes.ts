import { auditForm } from "../../../domain/money/audit-form.ts";
import type { AuditDepth, AuditReport } from "../../../domain/ports/audit.ts";
import { type Endpoint, type LateAnswerDeps, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { AUDIT_QUERY, READ_AUDIT } from "./wire.ts";

interface AuditEndpointDeps extends Pick<LateAnswerDeps, "keepOpen"> {
  readonly audits: { run(depth?: AuditDepth): Promise<AuditReport> };
}

/** GET /admin/v1/audit. */
export function auditEndpoints({ audits, keepOpen }: AuditEndpointDeps): Endpoint[] {
  return [
    managed("GET", "/admin/v1/audit", READ_AUDIT, async ({ request, query }) => {
      const { depth } = checkQuery(AUDIT_QUERY, query()) as { depth?: AuditDepth };
      keepOpen(request);
      return success(auditForm(await audits.run(depth)));
    }),
  ];
}
