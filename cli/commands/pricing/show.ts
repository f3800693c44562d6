import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { addCommand, collect, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readMultiplier } from "../../flags/amounts.ts";
import { parseInput, readInputs } from "../../flags/inputs.ts";
import { fieldsOf, priceJson, type RequestPrice, requestJson, requestText } from "../../format/price-view.ts";
import { renderFields } from "../../format/table.ts";
import { type LocalFlags, withLocalFlags } from "../../local.ts";
import { withPrices } from "./prices.ts";

interface ShowFlags extends LocalFlags {
  readonly input?: readonly string[];
  readonly outputs?: string;
  readonly priceMultiplier?: string;
}

export function addShow(pricing: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(pricing, "show <model>", "show the price of a model, and what a request of it comes to"),
  )
    .option("-i, --input <name=value>", "a field of the request; may be repeated", collect)
    .option("-n, --outputs <count>", "how many outputs the request asks for")
    .option("--price-multiplier <factor>", "of the account or key that asks, such as 1.25");
  onRun<ShowFlags>(command, context, async ({ args, options, output }) => {
    const { input, outputs, priceMultiplier } = options;
    const inputs = (input ?? []).map(parseInput);
    const multiplier =
      priceMultiplier === undefined ? undefined : readMultiplier("--price-multiplier", priceMultiplier);
    await withPrices(options, context, async (prices) => {
      const price = await prices.read(given(args, 0));
      const isAsked = [input, outputs, priceMultiplier].some((flag) => flag !== undefined);
      let request: RequestPrice | undefined;
      if (isAsked) {
        const fields = await readInputs(inputs, price.model.schema, (path) =>
          readFile(resolve(context.cwd, path)),
        );
        const body = outputs === undefined ? fields : { ...fields, n: readOutputs(outputs) };
        request = await prices.priceOf(price.model.id, body, multiplier);
      }
      const text = request === undefined ? "" : await requestText(request, output);
      output.show(
        {
          ...priceJson(price),
          ...(request === undefined ? {} : { request: requestJson(request, multiplier) }),
        },
        () => `${renderFields(fieldsOf(price), output)}${text}`,
      );
    });
  });
}

function readOutputs(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usage(`--outputs must be a whole number from 1, got ${JSON.stringify(text.slice(0, 80))}.`);
}
