import type { Notice } from "../domain/alerts.ts";

/** Where notices come from. */
export interface Sender {
  readonly version: string;
  /** The machine's name. */
  readonly host: string;
}

const STATES = { firing: "✗", reminder: "✗ still", resolved: "✓ over", test: "test" } as const;

/** A line for each notice. */
export function linesOf(notices: readonly Notice[]): string[] {
  return notices.map(
    ({ state, kind, summary, since }) =>
      `${STATES[state]}: ${kind}: ${summary} (since ${new Date(since).toISOString()})`,
  );
}

/** One line for all of them. */
export function subjectOf(notices: readonly Notice[], { host }: Sender): string {
  const kinds = [
    ...new Set(notices.map(({ state, kind }) => (state === "test" ? "test" : `${kind} ${state}`))),
  ];
  return `svc on ${host}: ${kinds.join(", ")}`;
}

/** Chats refuse longer messages; the lowest limit among them is 2,000 characters. */
const MOST_TEXT = 1_900;

/** As many notices as a chat takes, those about the server as a whole first, and how many more there are. */
function textOf(notices: readonly Notice[], sender: Sender): string {
  const isOfOne = ({ subject }: Notice) => Number(subject !== "");
  const lines = linesOf(notices.toSorted((one, other) => isOfOne(one) - isOfOne(other)));
  let text = subjectOf(notices, sender);
  for (const [i, line] of lines.entries()) {
    const longer = `${text}\n${line}`;
    if (longer.length > MOST_TEXT)
      return i === 0 ? `${longer.slice(0, MOST_TEXT)}…` : `${text}\n… and ${lines.length - i} more`;
    text = longer;
  }
  return text;
}

/** What webhooks and programs get: `text` is what chats show, `alerts` has all notices. */
export function bodyOf(notices: readonly Notice[], sender: Sender): string {
  return JSON.stringify({
    text: textOf(notices, sender),
    alerts: notices.map(({ state, kind, subject, summary, since }) => ({
      ...{ state, on: kind, subject: subject === "" ? null : subject, summary },
      since: Math.floor(since / 1000),
    })),
    host: sender.host,
    version: sender.version,
  });
}
