import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { checksFor } from "../domain/moderation/checks-for.ts";
import { textsOf, topField } from "../domain/moderation/texts.ts";
import type {
  Check,
  CheckVerdict,
  ModeratedRequest,
  ModeratedText,
  Moderation,
} from "../domain/ports/moderation.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";

export interface ModerateDeps {
  /** Undefined if there are no checks. */
  readonly moderation: () => Moderation | undefined;
  readonly clock: Pick<Clock, "elapsed">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly tally: Pick<Tally, "moderated">;
}

/** A request that is about to be accepted. */
export interface Moderated {
  readonly model: Model;
  /** As its schema accepts it. */
  readonly body: JsonObject;
  readonly principal: Principal;
  readonly requestId: string;
  /** Called before other programs are asked, which may cost something. Rejects for a request that cannot be paid. */
  readonly requireFunds?: (() => Promise<void>) | undefined;
  /** Aborts when the caller has disconnected. */
  readonly gone?: (() => AbortSignal) | undefined;
}

/** The operator's content checks. */
export interface Moderate {
  /** Whether any check applies to a request. */
  readonly isFor: (request: Pick<Moderated, "model" | "principal">) => boolean;
  /**
   * Runs the checks of a request: the quick ones one by one, then the others at the same time, until one refuses.
   * @throws AppError `content_policy_violation` if one refuses; `moderation_unavailable` if one cannot decide and its outage
   * refuses requests; whatever `requireFunds` throws
   */
  readonly check: (request: Moderated) => Promise<void>;
}

/** How often at most the log mentions that a check cannot decide. */
const TOLD_EVERY_MS = 10_000;
/** When to try again. Outages last longer than a moment, and people do not wait long. */
const RETRY_SEC = 5;

export function createModerate(deps: ModerateDeps): Moderate {
  const tell = createTelling(deps);
  const namesFor = ({ principal, model }: Pick<Moderated, "model" | "principal">) => {
    const moderation = deps.moderation();
    return moderation === undefined ? [] : checksFor(moderation, principal.policy, model.id);
  };

  return {
    isFor: (request) => namesFor(request).length > 0,
    async check(request) {
      const texts = textsOf(request.model, request.body);
      const known = deps.moderation()?.checks;
      const checks = namesFor(request).map((name) => known?.get(name) ?? missing(name));
      const ended = new AbortController();
      const signal = () =>
        request.gone === undefined ? ended.signal : AbortSignal.any([ended.signal, request.gone()]);
      const run = async (check: Check): Promise<AppError | undefined> => {
        const asked = askedOf(check, texts, request);
        if (asked === undefined) return undefined;
        const startedAt = deps.clock.elapsed();
        const verdict = await check.run(asked, signal);
        // What an aborted check says is no verdict.
        if (ended.signal.aborted || request.gone?.().aborted === true) return unavailable();
        deps.tally.moderated({
          check: check.name,
          verdict: verdict.kind,
          durationMs: deps.clock.elapsed() - startedAt,
        });
        tell(check, verdict, request);
        return errorOf(check, verdict);
      };
      try {
        // Checks that call other services take longer, and may cost something.
        for (const check of checks) if (check.isQuick) throwIf(await run(check));
        const slow = checks.filter(({ isQuick }) => !isQuick);
        if (slow.length > 0) await request.requireFunds?.();
        const errors = await Promise.all(slow.map((check) => run(check).then(throwRefusal)));
        for (const error of errors) throwIf(error);
      } finally {
        ended.abort();
      }
    },
  };
}

/** The part of a request that a check gets; undefined if there is nothing for it. */
function askedOf(
  { fields }: Check,
  all: readonly ModeratedText[],
  { model, principal }: Moderated,
): ModeratedRequest | undefined {
  const texts = fields === undefined ? all : all.filter(({ field }) => fields.includes(topField(field)));
  const { accountId, keyId } = principal;
  return texts.length === 0 ? undefined : { kind: model.kind, model: model.id, accountId, keyId, texts };
}

/** Replaces a check that a key names and that no longer exists. */
function missing(name: string): Check {
  const verdict = { kind: "outage", reason: "is none of those in the settings" } as const;
  return { name, isQuick: true, onOutage: "refuse", run: () => verdict };
}

function errorOf({ onOutage }: Check, verdict: CheckVerdict): AppError | undefined {
  if (verdict.kind === "outage") return onOutage === "allow" ? undefined : unavailable();
  if (verdict.kind === "allowed") return undefined;
  const { field } = verdict;
  return new AppError("content_policy_violation", { kind: "content_refused", field }, { shouldRetry: false });
}

function unavailable(): AppError {
  const details = { retryAfterSec: RETRY_SEC, shouldRetry: true };
  return new AppError("moderation_unavailable", { kind: "moderation_unavailable" }, details);
}

function throwIf(error: AppError | undefined): void {
  if (error !== undefined) throw error;
}

/** A refusal decides, whatever other checks say. An undecided check counts only if none refuses. */
function throwRefusal(error: AppError | undefined): AppError | undefined {
  if (error?.code === "content_policy_violation") throw error;
  return error;
}

/** Logs every refusal, and now and then that a check cannot decide. Never logs the text itself. */
function createTelling({ log, clock }: Pick<ModerateDeps, "log" | "clock">) {
  const toldUntil = new Map<string, number>();
  return (
    { name, onOutage }: Check,
    verdict: CheckVerdict,
    { principal, model, requestId }: Moderated,
  ): void => {
    const about = { check: name, model: model.id, key: principal.keyName, request_id: requestId };
    if (verdict.kind === "refused") {
      const { rule, field } = verdict;
      log.info({ ...about, rule, field }, "a request was refused for its content");
    }
    if (verdict.kind !== "outage" || clock.elapsed() < (toldUntil.get(name) ?? 0)) return;
    toldUntil.set(name, clock.elapsed() + TOLD_EVERY_MS);
    const effect = onOutage === "allow" ? "accepted without it" : "refused";
    log.warn({ ...about, reason: verdict.reason }, `a check of content cannot tell; requests are ${effect}`);
  };
}
