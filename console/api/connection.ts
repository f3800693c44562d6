import { signal } from "@preact/signals";

/** Whether the service answers. `lost` from the first request without an answer until the next one with. */
export const connection = signal<"ok" | "lost">("ok");

/** Grows when the service answers again, so that what is shown is read anew. */
export const reconnections = signal(0);

/** How far this machine's clock is behind the service's, in milliseconds: times are told by the service's. */
const clockBehindMs = signal(0);

/** The present time by the service's clock, in milliseconds: the reader's may be wrong by a day. */
export function nowMs(): number {
  return Date.now() + clockBehindMs.value;
}

/** Answers tell the time in whole seconds and take a while: less is no difference. */
const NOTICED_MS = 5_000;

export function noteAnswer({ headers }: Response): void {
  const behindMs = Date.parse(headers.get("date") ?? "") - Date.now();
  if (Number.isFinite(behindMs)) clockBehindMs.value = Math.abs(behindMs) < NOTICED_MS ? 0 : behindMs;
  if (connection.peek() === "ok") return;
  connection.value = "ok";
  reconnections.value += 1;
}

export function noteSilence(): void {
  connection.value = "lost";
}

/** The service's root, which may be below a path of a proxy: the scripts are at `console/assets/` from there. */
export const ROOT = new URL("../../", import.meta.url);
