/** What an operator is told of. */
export const ALERT_KINDS = [
  "low_balance",
  "route_down",
  "disk_low",
  "dead_callbacks",
  "backup_failed",
  "error_budget",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Something that is wrong, or a figure that may be. */
export interface Condition {
  readonly kind: AlertKind;
  /** Of what: an account, a route; the server as a whole where it is empty. */
  readonly subject: string;
  /** A sentence for people, without secrets. */
  readonly summary: string;
  /** Percent that failed. Absent: it is wrong whatever the limit. */
  readonly level?: number | undefined;
}

/** What a target is told, and when again. */
export interface AlertWish {
  readonly kinds: readonly AlertKind[];
  readonly remindMs: number;
  /** A larger share that failed is too large. */
  readonly errorPercent: number;
}

/** What a target was told of and what is not over. Times are epoch milliseconds. */
export interface Told extends Pick<Condition, "kind" | "subject" | "summary"> {
  readonly since: number;
  readonly toldAt: number;
}

/** `firing` it has begun · `reminder` it goes on · `resolved` it is over · `test` nothing is wrong. */
export interface Notice extends Pick<Condition, "subject" | "summary"> {
  readonly state: "firing" | "reminder" | "resolved" | "test";
  readonly kind: AlertKind | "test";
  /** Epoch milliseconds. */
  readonly since: number;
}

const keyOf = ({ kind, subject }: Pick<Condition, "kind" | "subject">): string => `${kind} ${subject}`;

function isWrong({ level }: Condition, { errorPercent }: AlertWish): boolean {
  return level === undefined || level > errorPercent;
}

/**
 * What a target is to be told now, and what it will have been told then. Each change of a state is told once, and what goes on again
 * after a while.
 */
export function noticesFor(
  wish: AlertWish,
  told: readonly Told[],
  conditions: readonly Condition[],
  now: number,
): { readonly notices: readonly Notice[]; readonly told: readonly Told[] } {
  const wrong = conditions.filter((each) => wish.kinds.includes(each.kind) && isWrong(each, wish));
  const known = new Map(told.map((each) => [keyOf(each), each]));
  const present = new Set(wrong.map(keyOf));
  const notices: Notice[] = [];
  const next = wrong.map(({ kind, subject, summary }): Told => {
    const before = known.get(keyOf({ kind, subject }));
    const since = before?.since ?? now;
    // A clock that was set back makes nobody wait for longer.
    const isDue = before === undefined || Math.abs(now - before.toldAt) >= wish.remindMs;
    if (isDue)
      notices.push({ state: before === undefined ? "firing" : "reminder", kind, subject, summary, since });
    return { kind, subject, summary, since, toldAt: isDue ? now : before.toldAt };
  });
  for (const each of told)
    if (!present.has(keyOf(each))) {
      const { kind, subject, summary, since } = each;
      notices.push({ state: "resolved", kind, subject, summary, since });
    }
  return { notices, told: next };
}
