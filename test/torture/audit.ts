import { svc } from "../e2e/support/command.ts";
import type { Findings } from "./findings.ts";

/** `svc audit` on the data folder finds nothing. */
export async function auditIsClean(dataDir: string, where: string, findings: Findings): Promise<void> {
  const { exitCode, stdout, stderr } = await svc(["audit", "--json", "--data-dir", dataDir]);
  findings.check(exitCode === 0, () => `${where}: svc audit ended with ${exitCode}: ${stdout}${stderr}`);
}
