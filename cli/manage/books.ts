import type { AuditDepth, AuditReport } from "../../src/domain/ports/audit.ts";
import type { Invocation } from "../command.ts";
import { readLocalConfig } from "../local.ts";
import { connectAsOperator } from "./managed.ts";
import { choosePlace, type PlaceFlags } from "./place.ts";

/** What an audit found, and where. */
export interface AuditedBooks {
  readonly report: AuditReport;
  /** Why what was verified could not be sealed. */
  readonly unsealed?: string | undefined;
  /** What names the place in JSON. */
  readonly place: { readonly data_dir: string } | { readonly server: string };
}

/** Has the books of a data folder or a server checked. Of the folder nothing is changed but seals. */
export async function auditBooks(
  { options, context, output }: Invocation<PlaceFlags>,
  depth: AuditDepth,
): Promise<AuditedBooks> {
  if (choosePlace(options, context) === "server") {
    const calls = connectAsOperator(options, context, output);
    const { readRemoteAudit } = await import("./remote-audit.ts");
    return { report: await readRemoteAudit(calls, depth), place: { server: calls.server } };
  }
  const config = readLocalConfig(options, context);
  context.giveWay();
  const { auditLocal } = await import("../../src/app/audit-local.ts");
  return { ...(await auditLocal(config, depth)), place: { data_dir: config.dataDir } };
}
