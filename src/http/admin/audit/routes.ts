import { auditForm } from "../../../domain/money/audit-form.ts";
import type { Audit } from "../../../domain/ports/audit.ts";
import { type Endpoint, type LateAnswerDeps, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { READ_AUDIT } from "./wire.ts";

interface AuditEndpointDeps extends Pick<LateAnswerDeps, "keepOpen"> {
  readonly audits: Pick<Audit, "run">;
}

/** GET /admin/v1/audit. */
export function auditEndpoints({ audits, keepOpen }: AuditEndpointDeps): Endpoint[] {
  return [
    managed("GET", "/admin/v1/audit", READ_AUDIT, async ({ request }) => {
      keepOpen(request);
      return success(auditForm(await audits.run()));
    }),
  ];
}
