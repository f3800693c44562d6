import * as parse from "../toolkit/settings/parsers.ts";
import { setting } from "../toolkit/settings/setting.ts";

const DAY_SEC = 86_400;
/** Ten years. */
const MOST_SEC = 315_360_000;

/** What becomes of files that are uploaded before any task. */
export function uploadSettings() {
  return {
    keepMs: setting<number>({
      key: "uploads.keep_seconds",
      live: true,
      flag: "--uploads-keep-seconds <seconds>",
      help: "how long an uploaded file can be read and used; tasks keep copies of their own",
      parse: parse.secondsAsMs(60, MOST_SEC),
      fallback: DAY_SEC * 1000,
      fallbackText: String(DAY_SEC),
    }),
    accountMb: setting<number>({
      key: "uploads.account_mb",
      live: true,
      flag: "--uploads-account-mb <megabytes>",
      help: "how much an account may have uploaded at one time, in megabytes; 0: nothing",
      parse: parse.integer(0, 100_000_000),
      fallback: 1024,
    }),
  };
}
