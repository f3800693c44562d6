/** The kinds of alerts that an operator can receive. */
export const ALERT_KINDS = [
  "database_down",
  "low_balance",
  "route_down",
  "disk_low",
  "dead_callbacks",
  "backup_failed",
  "error_budget",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Something that is wrong, or a figure that may be too high. */
export interface Condition {
  readonly kind: AlertKind;
  /** What the condition concerns, such as an account or a route. Empty for the server as a whole. */
  readonly subject: string;
  /** A sentence for people, without secrets. */
  readonly summary: string;
  /** When it began, in epoch milliseconds. Absent: when it was first found. */
  readonly since?: number | undefined;
  /** The percentage that failed. Absent: the condition is wrong whatever the limit. */
  readonly level?: number | undefined;
}

/** The kinds of alerts that a target wants, and how often it wants reminders. */
export interface AlertWish {
  readonly kinds: readonly AlertKind[];
  readonly remindMs: number;
  /** The highest percentage of failures that is still acceptable. */
  readonly errorPercent: number;
}

/** An alert that a target has received and that is not resolved. Times are epoch milliseconds. */
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

/** A figure that was told is over at half the limit. Otherwise one about the limit would be told of at each look. */
function isWrong({ level }: Condition, { errorPercent }: AlertWish, isTold: boolean): boolean {
  return level === undefined || level > (isTold ? errorPercent / 2 : errorPercent);
}

/**
 * The notices to send to a target now, and the alerts it will have received afterwards. Each change of state is sent once; a
 * condition that lasts is repeated after `remindMs`. A target gets nothing of kinds that it no longer wants, not even an end.
 */
export function noticesFor(
  wish: AlertWish,
  told: readonly Told[],
  conditions: readonly Condition[],
  now: number,
): { readonly notices: readonly Notice[]; readonly told: readonly Told[] } {
  const known = new Map(told.map((each) => [keyOf(each), each]));
  const wrong = conditions.filter(
    (each) => wish.kinds.includes(each.kind) && isWrong(each, wish, known.has(keyOf(each))),
  );
  const present = new Set(wrong.map(keyOf));
  const notices: Notice[] = [];
  const next = wrong.map(({ kind, subject, summary, since: begun = now }): Told => {
    const before = known.get(keyOf({ kind, subject }));
    const since = before?.since ?? begun;
    // If the clock was set back, nobody waits longer than `remindMs`.
    const isDue = before === undefined || Math.abs(now - before.toldAt) >= wish.remindMs;
    if (isDue)
      notices.push({ state: before === undefined ? "firing" : "reminder", kind, subject, summary, since });
    return { kind, subject, summary, since, toldAt: isDue ? now : before.toldAt };
  });
  for (const each of told)
    if (wish.kinds.includes(each.kind) && !present.has(keyOf(each))) {
      const { kind, subject, summary, since } = each;
      notices.push({ state: "resolved", kind, subject, summary, since });
    }
  return { notices, told: next };
}
