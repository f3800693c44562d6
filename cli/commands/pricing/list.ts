import type { Command } from "commander";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { priceJson, ruleInWords, SOURCES } from "../../format/price-view.ts";
import { type LocalFlags, withLocalFlags } from "../../local.ts";
import { withPrices } from "./prices.ts";

const COLUMNS = [{ title: "MODEL" }, { title: "SOURCE" }, { title: "VERSION" }, { title: "PRICE" }];

export function addList(pricing: Command, context: Context): void {
  const command = withLocalFlags(addCommand(pricing, "list", "list the price of every model"));
  onRun<LocalFlags>(command, context, async ({ options, output }) => {
    await withPrices(options, context, async (prices) => {
      const found = await prices.list();
      const rows = found.map(({ model, source, rule }) => [
        model.id,
        SOURCES[source],
        rule.version,
        ruleInWords(rule).join("; "),
      ]);
      await output.list({ prices: found.map((price) => priceJson(price)) }, COLUMNS, rows);
    });
  });
}
