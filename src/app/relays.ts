import type { Relay } from "../catalog/catalog.ts";
import type { LaneId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

/** How often providers are asked which models they make. */
const ASKED_EVERY_MS = 60_000;
const ANSWER_MS = 30_000;

interface RelaysDeps {
  readonly adapters: () => readonly ProviderAdapter[];
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}

type Asked = ProviderAdapter & Required<Pick<ProviderAdapter, "models">>;

/** The models that accounts have reported. */
type Known = Map<LaneId, ReadonlySet<string>>;

/**
 * The providers that make models of the catalogue under the models' own ids, and which ones. Until a provider has reported, it
 * counts as making all of them, because tasks of an earlier process may wait for it.
 */
export function createRelays(deps: RelaysDeps) {
  const { adapters, clock, log } = deps;
  const known: Known = new Map();
  const stopping = new AbortController();
  let cancelTimer = () => {};
  let onChange = () => {};
  const asked = () => adapters().filter((each): each is Asked => each.models !== undefined);

  /** Asks all of them once. */
  async function tick(): Promise<void> {
    const changed = await Promise.all(asked().map((each) => ask(deps, known, each, stopping.signal)));
    if (changed.includes(true) && !stopping.signal.aborted) onChange();
  }

  function start(): void {
    tick()
      .catch((error: unknown) =>
        log.error({ err: error as Error }, "models of providers could not be taken up"),
      )
      .finally(() => {
        if (!stopping.signal.aborted) cancelTimer = clock.after(ASKED_EVERY_MS, start);
      });
  }

  return {
    relays: () => relaysOf(asked(), known),
    /** Calls `listener` whenever the providers make other models. */
    onChange(listener: () => void): void {
      onChange = listener;
    },
    ...{ start, tick },
    stop(): void {
      stopping.abort();
      cancelTimer();
    },
  };
}

function relaysOf(asked: readonly Asked[], known: Known): readonly Relay[] {
  return [...Map.groupBy(asked, ({ id }) => id)].map(([provider, accounts]) => ({
    provider,
    makes: (id) => accounts.some(({ lane }) => known.get(lane)?.has(id) ?? true),
  }));
}

/** @returns whether the models have changed; if there is no answer, the previous ones stay */
async function ask(
  { log }: RelaysDeps,
  known: Known,
  { lane, models }: Asked,
  stopping: AbortSignal,
): Promise<boolean> {
  try {
    const made = new Set(await models(AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_MS)])));
    if (known.get(lane)?.symmetricDifference(made).size === 0) return false;
    known.set(lane, made);
    log.info({ provider: lane, models: made.size }, "the models of this provider are known");
    return true;
  } catch (error) {
    if (stopping.aborted) return false;
    const what = "the models of this provider could not be listed; asking again in a minute";
    log.warn({ provider: lane, err: error as Error }, what);
    return false;
  }
}
