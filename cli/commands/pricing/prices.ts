import type { Local } from "../../../src/app/local.ts";
import type { Context } from "../../context.ts";
import { type LocalFlags, readLocalConfig } from "../../local.ts";

type Prices = ReturnType<Local["prices"]>;

/** How soon a price that changed holds. */
export const FOLLOWS = "A running server follows within a second; accepted tasks keep their price.";

/** Opens the prices of a data folder for as long as `use` takes. */
export async function withPrices(
  flags: LocalFlags,
  context: Context,
  use: (prices: Prices) => Promise<void>,
): Promise<void> {
  const config = readLocalConfig(flags, context);
  // Loaded late: it imports the whole service.
  const { openLocal } = await import("../../../src/app/local.ts");
  const local = await openLocal(config);
  try {
    await use(local.prices());
  } finally {
    await local.stop();
  }
}
