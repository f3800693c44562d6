import { readFileSync, writeFileSync } from "node:fs";
import { arch, platform, release, totalmem } from "node:os";
import type { Config, ConfigSources } from "../../config/config.ts";
import { VARIABLE_PREFIX } from "../../config/settings.ts";
import { MASK, settingForm } from "../../toolkit/settings/shown.ts";
import { VERSION } from "../../version.ts";
import type { Examined } from "./doctor.ts";

/** How many lines of a log a report has. */
const LOG_LINES = 200;
/** Shorter secrets also occur in other words. */
const SHORTEST_SECRET = 6;
const SECRET_VARIABLE = /(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/;
/** Keys, tokens and signing secrets of ours, those of well-known providers, what an Authorization header holds, and passwords in addresses. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\b[sm][kt]-svc-[A-Za-z0-9]+/g, MASK],
  [/\bwhsec_[A-Za-z0-9+/=]+/g, MASK],
  [/\b(Bearer|Basic|Key|Token) [A-Za-z0-9._~+/=:-]{8,}/g, `$1 ${MASK}`],
  [/\b(sk|pk|r8|key|AIza|AKIA)[-_][A-Za-z0-9_-]{12,}/g, MASK],
  [/:\/\/[^/\s"@]*@/g, "://…@"],
  // The query of an address may contain its signature.
  [/(https?:\/\/[^\s"?]+)\?[^\s"]+/g, "$1?…"],
  [/("(?:negative_)?prompt"\s*:\s*)"(?:[^"\\]|\\.)*"/g, `$1"${MASK}"`],
];

export interface ReportSources extends Pick<ConfigSources, "env"> {
  /** A file that the server's log goes to. */
  readonly logFile?: string | undefined;
}

/** Writes what was seen into a file that can be sent to somebody: without keys, tokens and prompts. @throws a system error */
export function writeReport(path: string, { findings, config }: Examined, sources: ReportSources): void {
  const { env = {}, logFile } = sources;
  const report = {
    report: "svc doctor",
    version: VERSION,
    bun: Bun.version,
    system: { platform: platform(), arch: arch(), release: release(), memory_bytes: totalmem() },
    checks: findings.map(findingForm),
    settings: config?.shown().map(settingForm) ?? null,
    variables: Object.keys(env)
      .filter((name) => name.startsWith(VARIABLE_PREFIX))
      .sort(),
    log:
      logFile === undefined
        ? null
        : lastLines(readFileSync(logFile, "utf8")).map((line) => redacted(line, [])),
  };
  const text = redacted(`${JSON.stringify(report, undefined, 2)}\n`, secretsOf(config, env));
  writeFileSync(path, text, { mode: 0o600 });
}

/** The JSON form of a finding. */
export function findingForm({ id, status, message, fix }: Examined["findings"][number]) {
  return { id, status, message, fix: fix ?? null };
}

function lastLines(text: string): string[] {
  return text.trimEnd().split("\n").slice(-LOG_LINES);
}

function redacted(text: string, secrets: readonly string[]): string {
  const without = secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
  return SECRET_TEXTS.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), without);
}

/** All known secrets, the longest first, as JSON writes them. */
function secretsOf(config: Config | undefined, env: Readonly<Record<string, string | undefined>>): string[] {
  const ofAccounts = Object.values(config?.accounts ?? {}).flatMap((accounts) =>
    accounts.flatMap(({ secrets, proxy }) => [...Object.values(secrets ?? {}), ...(proxy ? [proxy] : [])]),
  );
  const ofSettings = [config?.secretKey, config?.previousSecretKey, config?.proxy].filter(
    (each) => each !== undefined,
  );
  const ofVariables = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_VARIABLE.test(name) ? [value] : [],
  );
  return [...[...ofAccounts, ...ofSettings].map((secret) => secret.reveal()), ...ofVariables]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
}
