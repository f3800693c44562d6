import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { StoredCallback } from "./callbacks-database.ts";
import type { Plan } from "./callbacks-plans.ts";
import type { Receipt } from "./callbacks-receivers.ts";
import type { Findings } from "./findings.ts";

/** Sends of one callback, at most. */
const MOST = 5;

export interface CallbackTally {
  delivered: number;
  failed: number;
  posts: number;
  /** Sends that a kill cut off; of those, the ones whose POST had arrived. */
  interrupted: number;
  arrivedInterrupted: number;
  /** Callbacks whose receiver accepts at once, and of those the ones no kill fell into: they came exactly once. */
  accepting: number;
  undisturbed: number;
  /** Callbacks that came more than once because a kill fell between their arrival and its record. */
  repeated: number;
  /** Callbacks that never came: each of their five sends was killed before it had left. */
  never: number;
}

export interface Seen {
  readonly plans: ReadonlyMap<string, Plan>;
  readonly receipts: ReadonlyMap<string, readonly Receipt[]>;
  /** Sends found open after a kill. */
  readonly cutOff: ReadonlySet<string>;
  /** The shortest pause there may be between two sends of one callback. */
  readonly leastApartMs: number;
}

/** Compares what receivers got with what the service says that it sent. */
export function checkDeliveries(
  callbacks: readonly StoredCallback[],
  seen: Seen,
  findings: Findings,
): CallbackTally {
  const tally: CallbackTally = {
    delivered: 0,
    failed: 0,
    posts: 0,
    interrupted: 0,
    arrivedInterrupted: 0,
    accepting: 0,
    undisturbed: 0,
    repeated: 0,
    never: 0,
  };
  const known = new Set<string>();
  for (const callback of callbacks) {
    known.add(callback.marker);
    checkOne(callback, seen, { findings, tally });
  }
  for (const marker of seen.receipts.keys())
    findings.check(known.has(marker), () => `a callback came for ${marker}, and none is stored`);
  return tally;
}

function checkOne(
  callback: StoredCallback,
  seen: Seen,
  { findings, tally }: { findings: Findings; tally: CallbackTally },
): void {
  const { marker, state, outcomes } = callback;
  const receipts = seen.receipts.get(marker) ?? [];
  const plan = seen.plans.get(marker);
  const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  const name = () =>
    `${marker} (${callback.id}, ${plan?.manner} ${plan?.times}): ${state}, sends ${outcomes.join(", ")}, ${receipts.length} POSTs answered ${receipts.map(({ status }) => status ?? "-").join(", ")}`;
  const check = (claim: boolean, what: string) => findings.check(claim, () => `${what}: ${name()}`);

  const interrupted = count("interrupted");
  // Those answered in full must have come; those cut off may have, and so may those whose connection broke.
  const certain = count("delivered") + count("refused");
  check(
    receipts.length <= outcomes.length && outcomes.length <= MOST,
    "it came more often than it was counted",
  );
  check(receipts.length >= certain, "sends that count as answered never came");
  check(receipts.length > 0 || interrupted === MOST, "it never came");
  check(state === "delivered" || state === "failed", "it is not over");

  const accepted = receipts.filter(({ status = 0 }) => status >= 200 && status <= 299).length;
  const refused = receipts.filter(({ status = 0 }) => status >= 300).length;
  check(count("delivered") <= accepted, "it counts as delivered, and nobody accepted it");
  check(count("refused") <= refused, "it counts as refused, and nobody refused it");
  const unsure = interrupted + (plan?.manner === "halves" ? count("unreachable") : 0);
  check(accepted <= count("delivered") + unsure, "it was accepted, and that was not recorded");
  check(
    count("unreachable") === 0 || !["accepts", "dawdles", "recovers", "refuses"].includes(plan?.manner ?? ""),
    "a receiver that answers counts as unreachable",
  );
  check(count("forbidden") === 0, "it counts as forbidden");

  for (const [index, outcome] of outcomes.entries()) {
    const send = `${callback.id}#${index + 1}`;
    if (outcome === "interrupted") check(seen.cutOff.has(send), `send ${index + 1} was cut off by no kill`);
    else check(!seen.cutOff.has(send), `send ${index + 1} was cut off by a kill, and has another outcome`);
  }
  checkBodies(callback, receipts, check);
  checkPauses(callback, receipts, { check, leastMs: seen.leastApartMs });

  tally[state === "delivered" ? "delivered" : "failed"]++;
  tally.posts += receipts.length;
  tally.interrupted += interrupted;
  tally.arrivedInterrupted += Math.max(0, receipts.length - certain - count("unreachable"));
  if (receipts.length === 0) tally.never++;
  if (accepted > 1) tally.repeated++;
  if (plan?.manner !== "accepts") return;
  tally.accepting++;
  if (interrupted > 0) return;
  tally.undisturbed++;
  check(receipts.length === 1 && state === "delivered", "it was accepted at once, undisturbed, and not once");
}

/** Each comes its delay after the one before, and after one that was cut off its delay after the next start. */
function checkPauses(
  { outcomes }: StoredCallback,
  receipts: readonly Receipt[],
  { check, leastMs }: { check: (claim: boolean, what: string) => void; leastMs: number },
): void {
  for (const [index, receipt] of receipts.entries()) {
    const before = receipts[index - 1];
    if (before === undefined) continue;
    const pauseMs = receipt.atMs - before.atMs;
    check(pauseMs >= leastMs, `sends ${Math.round(pauseMs)} ms after one another`);
    // Where all of them arrived, it is known which was cut off.
    const wasCutOff = receipts.length === outcomes.length && outcomes[index - 1] === "interrupted";
    if (!wasCutOff || receipt.process !== before.process + 1) continue;
    const ageMs = receipt.processAgeMs;
    check(ageMs >= leastMs, `the next start took it up at once, ${Math.round(ageMs)} ms after it began`);
  }
}

/** Each is the same, and about the right task. */
function checkBodies(
  callback: StoredCallback,
  receipts: readonly Receipt[],
  check: (claim: boolean, what: string) => void,
): void {
  const [first] = receipts;
  if (first === undefined) return;
  check(
    receipts.every(({ body }) => body === first.body),
    "not every POST has the same body",
  );
  const body = bodyOf(first);
  check(
    body.task_id === callback.task && body.request_id === callback.requestId,
    "its body is about something else",
  );
  // The first one told of the task as it was before anything went wrong with its callback.
  check(
    body.status === callback.status && body.completed_at === new Date(callback.completedAt).toISOString(),
    `its task is not what its body says (${first.body})`,
  );
}

/** What a receiver was told; `{}` when that is no JSON object. */
function bodyOf({ body }: Receipt): JsonObject {
  try {
    const parsed: unknown = JSON.parse(body);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
