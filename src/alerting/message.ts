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

/** What webhooks and programs get: `text` is what chats show. */
export function bodyOf(notices: readonly Notice[], sender: Sender): string {
  return JSON.stringify({
    text: [subjectOf(notices, sender), ...linesOf(notices)].join("\n"),
    alerts: notices.map(({ state, kind, subject, summary, since }) => ({
      ...{ state, on: kind, subject: subject === "" ? null : subject, summary },
      since: Math.floor(since / 1000),
    })),
    host: sender.host,
    version: sender.version,
  });
}
