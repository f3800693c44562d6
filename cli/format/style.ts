import type { Context, Sink } from "../context.ts";

/** Colours text, or leaves it unchanged. */
export type Style = Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>;

const same = (text: string): string => text;
const PLAIN: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Whether to use colour: only on a terminal that supports it, and unless a flag or variable forbids it. */
export function hasColour(
  { env }: Pick<Context, "env">,
  sink: Sink,
  flags: { readonly color?: boolean },
): boolean {
  return sink.isTerminal && flags.color !== false && !env.NO_COLOR && env.TERM !== "dumb";
}

export async function styleFor(
  context: Context,
  sink: Sink,
  flags: { readonly color?: boolean },
): Promise<Style> {
  if (!hasColour(context, sink, flags)) return PLAIN;
  const { Chalk } = await import("chalk");
  const { bold, dim, red, green, yellow, cyan } = new Chalk({ level: 1 });
  return { bold, dim, red, green, yellow, cyan };
}
