import type { Command } from "commander";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { FlagValues } from "../../flags/flag.ts";
import { namingRule, readRule, withRuleFlags } from "../../flags/price-rule.ts";
import { fieldsOf, priceJson, requestInWords } from "../../format/price-view.ts";
import { renderFields } from "../../format/table.ts";
import { type LocalFlags, withLocalFlags } from "../../local.ts";
import { EXAMPLES } from "./examples.ts";
import { FOLLOWS, withPrices } from "./prices.ts";

export function addSet(pricing: Command, context: Context): void {
  const command = withRuleFlags(
    withLocalFlags(addCommand(pricing, "set <model>", "set the price of a model, from the next request on")),
  )
    .option("--reason <text>", "why, for people")
    .addHelpText("after", EXAMPLES);
  onRun<LocalFlags & FlagValues & { reason?: string }>(
    command,
    context,
    async ({ args, options, output }) => {
      const { reason, ...flags } = options;
      const id = given(args, 0);
      const written = await readRule(id, flags, context.cwd);
      await withPrices(options, context, async (prices) => {
        const change = { rule: written.rule, reason };
        const price = await namingRule(prices.set(id, change), written);
        output.say(`${output.style.green("✓")} The price of ${id} is set. ${FOLLOWS}`);
        if (price.unpriced !== undefined)
          output.warn(`Requests with ${requestInWords(price.unpriced)} have no price now, and are refused.`);
        output.show(priceJson(price), () => renderFields(fieldsOf(price), output));
      });
    },
  );
}
