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
  /** Undefined where there are no checks. */
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
  /** Aborts when the caller is no longer there. */
  readonly gone?: (() => AbortSignal) | undefined;
}

/** The operator's checks of what callers ask for. */
export interface Moderate {
  /** Whether a request goes through any check. */
  readonly isFor: (request: Pick<Moderated, "model" | "principal">) => boolean;
  /**
   * Puts a request through its checks: the quick ones one by one, then the others at the same time, until one refuses.
   * @throws AppError `content_policy_violation` when one refuses; `moderation_unavailable` when one cannot tell and must
   */
  readonly check: (request: Moderated) => Promise<void>;
}

/** A check that cannot tell is mentioned in the log once in this time. */
const TOLD_EVERY_MS = 10_000;
/** When to ask again; outages last longer than a moment and shorter than people wait. */
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
        // What a check says once it was called off is no verdict.
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
        // What is asked of others takes longer, and may cost something.
        for (const check of checks) if (check.isQuick) throwIf(await run(check));
        const slow = checks.filter(({ isQuick }) => !isQuick).map(run);
        const errors = await Promise.all(slow.map((each) => each.then(throwRefusal)));
        for (const error of errors) throwIf(error);
      } finally {
        ended.abort();
      }
    },
  };
}

/** What a check is asked; undefined where there is nothing for it. */
function askedOf(
  { fields }: Check,
  all: readonly ModeratedText[],
  { model, principal }: Moderated,
): ModeratedRequest | undefined {
  const texts = fields === undefined ? all : all.filter(({ field }) => fields.includes(topField(field)));
  const { accountId, keyId } = principal;
  return texts.length === 0 ? undefined : { kind: model.kind, model: model.id, accountId, keyId, texts };
}

/** Stands for a check that a key names and that there is no more. */
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

/** A refusal decides, whatever others say; that one cannot tell decides once none refuses. */
function throwRefusal(error: AppError | undefined): AppError | undefined {
  if (error?.code === "content_policy_violation") throw error;
  return error;
}

/** Tells the operator of every refusal, and now and then that a check cannot tell. Never says what a text was. */
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
