import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { requestPriceForm, shownPriceForm } from "../../src/domain/money/price-form.ts";
import { addCommands, collect, given } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { parseInput, readInputs } from "../flags/inputs.ts";
import { namingRule, readRule, withRuleFlags } from "../flags/price-rule.ts";
import { type FlagValues, readCount, readMultiplier } from "../flags/values.ts";
import { fieldsOf, requestInWords, requestText, ruleInWords, SOURCES } from "../format/price-view.ts";
import { column, renderFields } from "../format/table.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { addManagedCommand, onManagedRun } from "../manage/managed.ts";

const ORDER =
  "A price set here overrides `pricing` in svc.yaml, which overrides the built-in price. A running server applies it within a second. Accepted tasks keep their price.";
const COLUMNS = [
  column.id("MODEL"),
  column.word("SOURCE", 1),
  column.text("VERSION", 2),
  column.text("PRICE"),
];
/** How soon a changed price takes effect. */
const FOLLOWS = "A running server follows within a second; accepted tasks keep their price.";

const PRICING = { list: addList, show: addShow, set: addSet, reset: addReset };

export function definePricing(pricing: Command, context: Context, [word]: readonly string[]): void {
  withNotes(pricing, ORDER);
  addCommands(pricing, context, PRICING, word);
}

function addList(pricing: Command, context: Context): void {
  const command = addManagedCommand(pricing, "list", "list the price of every model");
  withExamples(command, "svc pricing list");
  onManagedRun(command, context, async ({ output, open }) => {
    const found = await (await (await open()).prices()).list();
    const rows = found.map(({ model, source, rule }) => [
      model.id,
      SOURCES[source],
      rule.version,
      ruleInWords(rule).join("; "),
    ]);
    await output.list({ prices: found.map(shownPriceForm) }, COLUMNS, rows);
  });
}

interface ShowFlags {
  readonly input?: readonly string[];
  readonly outputs?: string;
  readonly priceMultiplier?: string;
}

function addShow(pricing: Command, context: Context): void {
  const description = "show the price of a model or of one request";
  const command = addManagedCommand(pricing, "show <model>", description)
    .option("-i, --input <name=value>", "a field of the request; repeatable", collect)
    .option("-n, --outputs <count>", "how many outputs the request asks for")
    .option("--price-multiplier <factor>", "price multiplier of the account or key, such as 1.25");
  withExamples(command, "svc pricing show sandbox-video -i duration=5", [
    "svc pricing show veo3 --field price > veo3.json",
    "change it for --rule",
  ]);
  onManagedRun<ShowFlags>(command, context, async ({ args, options, output, open }) => {
    const { input, outputs, priceMultiplier } = options;
    const inputs = (input ?? []).map(parseInput);
    const multiplier =
      priceMultiplier === undefined ? undefined : readMultiplier("--price-multiplier", priceMultiplier);
    const prices = await (await open()).prices();
    const price = await prices.read(given(args, 0));
    const text = () => renderFields(fieldsOf(price), output);
    if ((input ?? outputs ?? priceMultiplier) === undefined) return output.show(shownPriceForm(price), text);

    const read = (path: string) => readFile(resolve(context.cwd, path));
    const fields = await readInputs(inputs, await prices.schema(price.model.id), read);
    const body = outputs === undefined ? fields : { ...fields, n: readCount("--outputs", outputs, 4) };
    const request = await prices.priceOf(price.model.id, body, multiplier);
    const lines = await requestText(request, output);
    const value = { ...shownPriceForm(price), request: requestPriceForm(request, multiplier) };
    output.show(value, () => text() + lines);
  });
}

function addSet(pricing: Command, context: Context): void {
  const description = "set the price of a model, from the next request on";
  const command = withRuleFlags(addManagedCommand(pricing, "set <model>", description)).option(
    "--reason <text>",
    "reason, for people",
  );
  withExamples(
    command,
    'svc pricing set sandbox-image --per-output 0.012 --reason "from December on"',
    "svc pricing set sandbox-video --per-second 0.030000 --minimum 0.100000",
    ["svc pricing set veo3 --rule veo3.json", "see `svc pricing show veo3 --json`"],
  );
  withNotes(command, ORDER);
  type Flags = FlagValues & { reason?: string };
  onManagedRun<Flags>(command, context, async ({ args, options, output, open }) => {
    const { reason, ...flags } = options;
    const id = given(args, 0);
    const written = await readRule(id, flags, context);
    const place = await open();
    const price = await namingRule((await place.prices()).set(id, { rule: written.rule, reason }), written);
    output.done(`The price of ${id} is set ${place.at}. ${FOLLOWS}`);
    if (price.unpriced !== undefined)
      output.warn(`Requests with ${requestInWords(price.unpriced)} have no price now, and are refused.`);
    output.show(shownPriceForm(price), () => renderFields(fieldsOf(price), output));
  });
}

function addReset(pricing: Command, context: Context): void {
  const command = asksFirst(addManagedCommand(pricing, "reset <model>", "remove a price that was set"));
  withExamples(command, "svc pricing reset sandbox-image");
  onManagedRun(command, context, async (invocation) => {
    const { args, output, open } = invocation;
    const place = await open();
    await confirm(invocation, `Remove the price that was set for ${given(args, 0)} ${place.at}?`);
    const price = await (await place.prices()).reset(given(args, 0));
    const { id } = price.model;
    if (price.wasSet)
      output.done(`The price of ${id} is ${SOURCES[price.source]} again ${place.at}. ${FOLLOWS}`);
    else output.say(`No price of ${id} was set ${place.at}; nothing is changed.`);
    output.show(shownPriceForm(price), () => renderFields(fieldsOf(price), output));
  });
}
