import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/problem.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Check, Moderation } from "../domain/ports/moderation.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import type { OpenedCheck } from "../moderation/open.ts";
import { monotonicMs } from "../runtime/clock.ts";

interface ModerationDeps {
  readonly clock: Pick<Clock, "after">;
  readonly egress: Pick<Egress, "ask" | "refusal">;
  readonly log: Pick<Log, "warn">;
}

/**
 * Prepares the operator's checks. Loads nothing if there are none.
 *
 * @param names the checks to prepare; all unless given
 * @throws ConfigError that lists every reason why one cannot be used
 */
export async function openModeration(
  { moderation: settings }: Pick<Config, "moderation">,
  { clock, egress, log }: ModerationDeps,
  names?: readonly string[],
): Promise<Moderation | undefined> {
  if (settings === undefined) return undefined;
  const { openCheck } = await import("../moderation/open.ts");
  const wanted = settings.checks.filter(({ name }) => names?.includes(name) ?? true);
  const deps = { egress, after: clock.after, refusal: (url: string) => egress.refusal(url, "service") };
  const opened = await Promise.all(wanted.map((options) => openCheck(options, deps)));
  const problems = opened.flatMap((each) => each.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  for (const { where, message } of opened.flatMap(({ warnings }) => warnings))
    log.warn({}, `${where} ${message}`);
  for (const each of opened) await tellUnaided(each, log);
  const checks = opened.flatMap(({ check }) => check ?? []);
  const { apply, models } = settings;
  return { checks: new Map(checks.map((check): [string, Check] => [check.name, check])), apply, models };
}

/** The content checks of a running server, which other settings may replace. */
export interface LiveModeration {
  /** Undefined where there are none. */
  now(): Moderation | undefined;
  names(): readonly string[];
  /** Prepares the checks of other settings. @returns a function that puts them in force @throws ConfigError */
  open(config: Pick<Config, "moderation" | "egress">): Promise<() => void>;
}

/** @throws ConfigError */
export async function followModeration(
  config: Pick<Config, "moderation">,
  deps: ModerationDeps,
): Promise<LiveModeration> {
  let now = await openModeration(config, deps);
  return {
    now: () => now,
    names: () => [...(now?.checks.keys() ?? [])],
    async open(next) {
      // Which addresses may be asked is one of the settings that are to come into force.
      const { refusal } = createEgress(next.egress);
      const opened = await openModeration(next, { ...deps, egress: { ...deps.egress, refusal } });
      return () => {
        now = opened;
      };
    },
  };
}

/** Most names in a line of the log. */
const NAMED = 20;
const SAMPLES = 10;

/** Logs which patterns run on every text, and what that costs. */
async function tellUnaided({ check, unaided, sample }: OpenedCheck, log: Pick<Log, "warn">): Promise<void> {
  if (unaided.length === 0 || sample === undefined) return;
  let leastMs = Number.POSITIVE_INFINITY;
  // The first runs prepare caches that all others use.
  for (let i = 0; i < SAMPLES; i++) {
    const startedAt = monotonicMs();
    await sample();
    leastMs = Math.min(leastMs, monotonicMs() - startedAt);
  }
  const us = Math.round(leastMs * 1_000);
  const fields = { check: check?.name, patterns: unaided.slice(0, NAMED), count: unaided.length, us };
  log.warn(
    fields,
    "patterns in which no text must occur are run on every prompt; 4,000 characters take so many µs",
  );
}
