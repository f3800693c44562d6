import type { AuditReport } from "../../src/domain/ports/audit.ts";
import type { Invocation } from "../command.ts";
import { readLocalConfig } from "../local.ts";
import { connectAsOperator } from "./managed.ts";
import { choosePlace, type PlaceFlags } from "./place.ts";

/** What an audit found, and where. */
export interface AuditedBooks {
  readonly report: AuditReport;
  /** What names the place in JSON. */
  readonly place: { readonly data_dir: string } | { readonly server: string };
}

/** Has the books of a data folder or a server checked. The folder is opened for reading only. */
export async function auditBooks({
  options,
  context,
  output,
}: Invocation<PlaceFlags>): Promise<AuditedBooks> {
  if (choosePlace(options, context) === "server") {
    const calls = connectAsOperator(options, context, output);
    const { readRemoteAudit } = await import("./remote-audit.ts");
    return { report: await readRemoteAudit(calls), place: { server: calls.server } };
  }
  const config = readLocalConfig(options, context);
  const { auditLocal } = await import("../../src/app/audit-local.ts");
  return { report: await auditLocal(config), place: { data_dir: config.dataDir } };
}
