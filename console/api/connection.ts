import { signal } from "@preact/signals";

/** Whether the service answers. `lost` from the first request without an answer until the next one with. */
export const connection = signal<"ok" | "lost">("ok");

/** Grows when the service answers again, so that what is shown is read anew. */
export const reconnections = signal(0);

export function noteAnswer(): void {
  if (connection.peek() === "ok") return;
  connection.value = "ok";
  reconnections.value += 1;
}

export function noteSilence(): void {
  connection.value = "lost";
}

/** The service's root, which may be below a path of a proxy: the scripts are at `console/assets/` from there. */
export const ROOT = new URL("../../", import.meta.url);
