import { mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { modelForm, publishedSchema } from "../../../domain/model/model-form.ts";
import { priceTerms } from "../../../service/price-terms.ts";
import { listModels, readModel } from "../../../service/read-model.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { presentEstimate } from "../../pricing/present.ts";
import { text } from "../../wire/schema.ts";
import { textOf } from "./arguments.ts";
import { bodyOf, inAgentsWords } from "./body.ts";
import type { McpDeps } from "./deps.ts";
import { modelParameter, usableModels } from "./models.ts";
import { unionOfParameters } from "./parameters.ts";
import { moneyForm } from "./result.ts";
import { ESTIMATE_OUTPUT, MODELS_OUTPUT } from "./schemas.ts";
import { READS, structuredResult, type ToolKind } from "./tool.ts";

const KINDS = ["image", "video"];

export const LIST_MODELS: ToolKind<McpDeps> = {
  name: "list_models",
  mayWait: () => false,
  offer: (deps, exchange) => {
    const modes = listModels(deps, exchange.principal).flatMap(modesOf);
    return {
      name: "list_models",
      title: "List models",
      description: "Lists the models that can be used, with what they take and their prices. Costs nothing.",
      inputSchema: {
        type: "object",
        properties: {
          kind: text("What they make.", { enum: KINDS }),
          capability: text("What they can do.", { enum: [...new Set(modes)] }),
          model: text("Only this one, with the JSON Schema of its parameters."),
        },
      },
      outputSchema: MODELS_OUTPUT,
      hints: READS,
    };
  },
  async run(deps, { exchange, args }) {
    const kind = textOf(args, "kind");
    if (kind !== undefined && !KINDS.includes(kind)) throw mustBe("kind", { oneOf: KINDS }, kind);
    const capability = textOf(args, "capability");
    const id = textOf(args, "model");
    const all = listModels(deps, exchange.principal);
    const modes = [...new Set(all.flatMap(modesOf))];
    if (capability !== undefined && !modes.includes(capability))
      throw mustBe("capability", { oneOf: modes }, capability);
    const found = id === undefined ? all : [readModel(deps, exchange.principal, id)];
    const wanted = found.filter(
      (model) =>
        (kind === undefined || model.kind === kind) &&
        (capability === undefined || modesOf(model).includes(capability)),
    );
    const models = wanted.map((model) => entryOf(deps, exchange, model, id !== undefined));
    return structuredResult({ models });
  },
};

function modesOf({ modes }: Model): string[] {
  return modes.map(({ id }) => id);
}

function entryOf(deps: McpDeps, { principal }: KeyedExchange, model: Model, isWhole: boolean): JsonObject {
  const terms = priceTerms(deps, principal, model);
  const form = modelForm({ model, terms, isAvailable: true });
  const { id, kind, name, description, modes, inputs, price } = form;
  const parameters = Object.keys(unionOfParameters([model], true).properties);
  return {
    ...{ id, kind, name, description, capabilities: modes, inputs, parameters, price },
    ...(isWhole && { schema: publishedSchema(model) }),
  };
}

export const ESTIMATE: ToolKind<McpDeps> = {
  name: "estimate",
  mayWait: () => false,
  offer: (deps, exchange) => {
    const models = usableModels(deps, exchange);
    if (models.length === 0) return undefined;
    return {
      name: "estimate",
      title: "Estimate a price",
      description:
        "Says what a call would cost, and whether the money suffices, without making anything. Takes the same parameters as the call; prompt and media may be left out. Costs nothing.",
      inputSchema: {
        type: "object",
        required: ["model"],
        properties: { model: modelParameter(deps, exchange, models, true) },
      },
      outputSchema: ESTIMATE_OUTPUT,
      hints: READS,
    };
  },
  async run(deps, { exchange, args }) {
    const { principal } = exchange;
    const model = readModel(deps, principal, args.model);
    const { body, names } = bodyOf(model, args);
    const estimate = await inAgentsWords(names, () => deps.estimateCost({ principal, request: body }));
    const told = presentEstimate(estimate);
    const most = estimate.cost?.most;
    const { min_cost, max_cost, status, assumptions, missing, affordable, limited_by, estimated_seconds } =
      told;
    return structuredResult({
      ...{ model: model.id, status, min_cost, max_cost, assumptions, missing, affordable, limited_by },
      ...{ estimated_seconds, max_cost_required: most !== undefined && most > deps.mcp.maxCostRequiredAbove },
      ...(await moneyForm(deps, exchange, {})),
    });
  },
};
