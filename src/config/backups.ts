import * as parse from "../toolkit/settings/parsers.ts";
import { setting, type ValuesOf } from "../toolkit/settings/setting.ts";
import type { ConfigProblem } from "./problem.ts";

const DAY_S = 86_400;

/** Backups that the server makes by itself. */
export function backupSettings() {
  return {
    backup: {
      everyMs: setting<number | undefined>({
        key: "backup.every",
        flag: "--backup-every <time>",
        help: "how often the server backs its data folder up, such as 6h or 1d; needs backup.to",
        parse: parse.durationOrOff(10, 30 * DAY_S),
        fallback: undefined,
        fallbackText: "off",
      }),
      to: setting<string | undefined>({
        key: "backup.to",
        flag: "--backup-to <folder>",
        help: "folder for these backups, which has to be there; best on another disk",
        parse: parse.text,
        fallback: undefined,
        fallbackText: "none",
      }),
      keep: setting<number>({
        key: "backup.keep",
        flag: "--backup-keep <backups>",
        help: "how many backups stay there; the oldest are removed",
        parse: parse.integer(1, 10_000),
        fallback: 7,
      }),
      secretKey: setting<boolean>({
        key: "backup.secret_key",
        flag: "--no-backup-secret-key",
        help: "secret.key is in these backups; --no-backup-secret-key leaves it out, so that they open no sealed secret",
        parse: parse.boolean,
        fallback: true,
      }),
    },
  };
}

type Values = ValuesOf<ReturnType<typeof backupSettings>>;

/** A schedule needs a place. */
export function checkBackups({ backup }: Values, problems: ConfigProblem[]): void {
  if (backup.everyMs !== undefined && backup.to === undefined)
    problems.push({ where: "backup.every", message: "needs backup.to, the folder that backups go to" });
}

/** A place without a schedule is no mistake: a flag may switch off what the settings file has. */
export function backupWarnings({ backup }: Values): string[] {
  if (backup.everyMs !== undefined || backup.to === undefined) return [];
  return [`Nothing is backed up to ${backup.to}: backup.every is off. Set it, such as 1d.`];
}
