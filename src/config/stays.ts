import * as parse from "../toolkit/settings/parsers.ts";
import { type Setting, setting } from "../toolkit/settings/setting.ts";

/** How many connections may stay open at one time. */
export function staySettings() {
  return {
    stays: {
      perKey: {
        streams: places("streams.key_concurrency", "most event streams of one key at one time", 100),
        waits: places("waits.key_concurrency", "most calls of one key that wait for their answer", 2_000),
      },
      perAccount: {
        streams: places("streams.account_concurrency", "most event streams of one account at one time", 200),
        waits: places("waits.account_concurrency", "most calls of one account that wait", 2_000),
      },
    },
  };
}

/** How many connections may stay at one time. */
function places(key: string, help: string, fallback: number): Setting<number> {
  const flag = `--${key.replaceAll(/[._]/g, "-")} <connections>`;
  return setting<number>({ key, live: true, flag, help, parse: parse.integer(1, 100_000), fallback });
}
