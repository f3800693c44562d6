import type { Command } from "commander";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { fieldsOf, priceJson, SOURCES } from "../../format/price-view.ts";
import { renderFields } from "../../format/table.ts";
import { type LocalFlags, withLocalFlags } from "../../local.ts";
import { FOLLOWS, withPrices } from "./prices.ts";

export function addReset(pricing: Command, context: Context): void {
  const command = withLocalFlags(addCommand(pricing, "reset <model>", "take back a price that was set"));
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withPrices(options, context, async (prices) => {
      const price = await prices.reset(given(args, 0));
      const done = `The price of ${price.model.id} is ${SOURCES[price.source]} again. ${FOLLOWS}`;
      output.say(
        price.wasSet
          ? `${output.style.green("✓")} ${done}`
          : `No price of ${price.model.id} was set; nothing is changed.`,
      );
      output.show(priceJson(price), () => renderFields(fieldsOf(price), output));
    });
  });
}
