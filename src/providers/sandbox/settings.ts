import type { ProviderId } from "../../domain/ids.ts";
import { boolean, integer } from "../../toolkit/settings/parsers.ts";
import { type Machine, setting } from "../../toolkit/settings/setting.ts";

export const SANDBOX = { id: "sandbox" as ProviderId, title: "sandbox" } as const;

const DEFAULT_WORKERS = 2;

export function sandboxSettings({ cores }: Machine) {
  return {
    enabled: setting<boolean>({
      key: "sandbox.enabled",
      flag: "--no-sandbox",
      help: "the built-in sandbox models, which need no provider; --no-sandbox leaves them out",
      parse: boolean,
      fallback: true,
    }),
    concurrency: setting<number>({
      key: "sandbox.concurrency",
      flag: "--sandbox-concurrency <tasks>",
      help: "most sandbox tasks at one time",
      parse: integer(1, 10_000),
      fallback: 64,
    }),
    workers: setting<number>({
      key: "sandbox.workers",
      flag: "--sandbox-workers <threads>",
      help: "threads the sandbox draws with, at most one for each core",
      parse: integer(1, cores, ", the cores of this machine"),
      // One core stays free for requests.
      fallback: Math.max(1, Math.min(DEFAULT_WORKERS, cores - 1)),
    }),
  };
}
