import { formatAmount, type Micros, parseAmount, ZERO } from "../domain/money/money.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import { setting } from "../toolkit/settings/setting.ts";

/** A million micro-units. */
const ONE_UNIT = 1_000_000 as Micros;
/** Several clients refuse an answer of more than a megabyte, and base64 makes a third more of a picture. */
const INLINE_BYTES = 700_000;

/** What agents are given that call this service by the Model Context Protocol. */
export function mcpSettings() {
  return {
    mcp: {
      maxCostRequiredAbove: setting<Micros>({
        key: "mcp.max_cost_required_above",
        live: true,
        flag: "--mcp-max-cost-required-above <amount>",
        help: "calls of agents that cost more must say what they may cost, in max_cost",
        parse: amount,
        fallback: ONE_UNIT,
        fallbackText: "1.00",
      }),
      inlineBytes: setting<number>({
        key: "mcp.inline_bytes",
        live: true,
        flag: "--mcp-inline-bytes <bytes>",
        help: "agents are given the pictures of a task themselves up to this size together, and links above it",
        parse: parse.integer(0, 50_000_000),
        fallback: INLINE_BYTES,
      }),
    },
  };
}

const amount: parse.Parser<Micros> = parse.withSchema<Micros>(
  { type: ["number", "string"], examples: [1, "0.25"] },
  (raw) => {
    const value = typeof raw === "number" || typeof raw === "string" ? parseAmount(String(raw)) : undefined;
    if (value !== undefined && value >= ZERO) return { ok: true, value };
    return { ok: false, expected: "an amount such as 1.00" };
  },
  formatAmount,
);
