import type { Context, Sink } from "../context.ts";

/** Colours text, or leaves it unchanged. */
export type Style = Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>;

const same = (text: string): string => text;
const PLAIN: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Uses colour only on a terminal that supports it, and only unless a flag or variable forbids it. */
export async function styleFor(
  { env }: Context,
  sink: Sink,
  flags: { readonly color?: boolean },
): Promise<Style> {
  const isPlain = !sink.isTerminal || flags.color === false || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  if (isPlain) return PLAIN;
  const { Chalk } = await import("chalk");
  const { bold, dim, red, green, yellow, cyan } = new Chalk({ level: 1 });
  return { bold, dim, red, green, yellow, cyan };
}
