import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Local } from "../../src/app/local.ts";
import { addCommand, addGroup, collect, given, LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { readMultiplier } from "../flags/amounts.ts";
import { parseInput, readInputs } from "../flags/inputs.ts";
import { namingRule, type RuleFlags, readRule, withRuleFlags } from "../flags/price-rule.ts";
import {
  fieldsOf,
  priceJson,
  type RequestPrice,
  requestInWords,
  requestJson,
  requestText,
  ruleInWords,
  SOURCES,
} from "../format/price-view.ts";
import { renderFields } from "../format/table.ts";
import { type LocalFlags, readLocalConfig, withLocalFlags } from "../local.ts";

type Prices = ReturnType<Local["prices"]>;

const EXAMPLES = `
Examples:
  svc pricing set sandbox-image --per-output 0.012000 --reason "from December on"
  svc pricing set sandbox-video --per-second 0.030000 --minimum 0.100000
  svc pricing show veo3 --json | jq .price > veo3.json     # change it, and then:
  svc pricing set veo3 --rule veo3.json

A price that is set goes before \`pricing\` in svc.yaml, which goes before the built-in one. A running server
follows within a second; tasks it has accepted keep the price they were accepted at.
`;

const COLUMNS = [{ title: "MODEL" }, { title: "SOURCE" }, { title: "VERSION" }, { title: "PRICE" }];
export function addPricing(program: Command, context: Context): void {
  const pricing = addGroup(program, "pricing", LOCAL_COMMANDS, "what each model costs").addHelpText(
    "after",
    EXAMPLES,
  );
  addList(pricing, context);
  addShow(pricing, context);
  addSet(pricing, context);
  addReset(pricing, context);
}

function addList(pricing: Command, context: Context): void {
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

interface ShowFlags extends LocalFlags {
  readonly input?: readonly string[];
  readonly outputs?: string;
  readonly priceMultiplier?: string;
}

function addShow(pricing: Command, context: Context): void {
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

function addSet(pricing: Command, context: Context): void {
  const command = withRuleFlags(
    withLocalFlags(addCommand(pricing, "set <model>", "set the price of a model, from the next request on")),
  )
    .option("--reason <text>", "why, for people")
    .addHelpText("after", EXAMPLES);
  onRun<LocalFlags & RuleFlags & { reason?: string }>(command, context, async ({ args, options, output }) => {
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
  });
}

const FOLLOWS = "A running server follows within a second; accepted tasks keep their price.";

function addReset(pricing: Command, context: Context): void {
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

async function withPrices(
  flags: LocalFlags,
  context: Context,
  use: (prices: Prices) => Promise<void>,
): Promise<void> {
  const config = readLocalConfig(flags, context);
  // Loaded late: it imports the whole service.
  const { openLocal } = await import("../../src/app/local.ts");
  const local = await openLocal(config);
  try {
    await use(local.prices());
  } finally {
    await local.stop();
  }
}

function readOutputs(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usage(`--outputs must be a whole number from 1, got ${JSON.stringify(text.slice(0, 80))}.`);
}
