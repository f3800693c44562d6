import { allowsFeature } from "../../../domain/access/permissions.ts";
import { AppError, invalid } from "../../../domain/errors.ts";
import { isJsonObject, type Json } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { TaskKind } from "../../../domain/task/request.ts";
import { createFrom } from "../../../service/create-from.ts";
import { imageField } from "../../../service/model-fields.ts";
import { readModel } from "../../../service/read-model.ts";
import { unread } from "../../../service/sync-errors.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { list, type Properties, text } from "../../wire/schema.ts";
import { sentBy } from "../create.ts";
import { isWaiting, maxCostOf, textOf, waitMsOf } from "./arguments.ts";
import { bodyOf, IMAGES, inAgentsWords, MASK } from "./body.ts";
import type { McpDeps } from "./deps.ts";
import { followTask } from "./follow.ts";
import { MEDIA_FORMS, withEarlierResults } from "./media.ts";
import { modelParameter, usableModels } from "./models.ts";
import { unionOfParameters } from "./parameters.ts";
import { taskResult } from "./result.ts";
import { createOptions, TASK_OUTPUT } from "./schemas.ts";
import type { Tool, ToolCall, ToolKind, ToolResult } from "./tool.ts";

/** What tells the tools apart that create a task. */
interface Creating {
  readonly name: string;
  readonly kind: TaskKind;
  readonly title: string;
  readonly description: string;
  /** The models that it is for. */
  readonly suits: (model: Model) => boolean;
  /** Whether its models' own fields for media are parameters. */
  readonly hasMediaFields: boolean;
  readonly more?: Properties;
  readonly required?: readonly string[];
}

const AFTERWARDS =
  "Waits for the result, or answers with a task_id after `wait` seconds; the task goes on then. Costs money: see max_cost and estimate.";

const CREATING: readonly Creating[] = [
  {
    name: "generate_image",
    kind: "image",
    title: "Generate an image",
    description: `Makes images from a prompt. ${AFTERWARDS}`,
    suits: ({ kind, modes }) => kind === "image" && modes.some(({ requires }) => requires.length === 0),
    hasMediaFields: false,
  },
  {
    name: "edit_image",
    kind: "image",
    title: "Edit an image",
    description: `Changes images, or combines them, as a prompt says. ${AFTERWARDS}`,
    suits: (model) => model.kind === "image" && imageField(model, 1) !== undefined,
    hasMediaFields: false,
    more: {
      [IMAGES]: list({ type: "string" }, { minItems: 1, description: `The images. Each: ${MEDIA_FORMS}` }),
      [MASK]: text(
        `An image whose transparent areas say where the first image is changed, for models that take one. ${MEDIA_FORMS}`,
      ),
    },
    required: [IMAGES],
  },
  {
    name: "generate_video",
    kind: "video",
    title: "Generate a video",
    description: `Makes a video from a prompt, from pictures or from both. Takes minutes. ${AFTERWARDS} Fields for media take: ${MEDIA_FORMS}`,
    suits: ({ kind }) => kind === "video",
    hasMediaFields: true,
  },
];

export const CREATE_TOOLS: readonly ToolKind<McpDeps>[] = CREATING.map((creating) => ({
  name: creating.name,
  mayWait: (args) => !isJsonObject(args) || isWaiting(args),
  offer: (deps, exchange) => offer(deps, exchange, creating),
  run: (deps, call) => create(deps, call, creating),
}));

function offer(deps: McpDeps, exchange: KeyedExchange, creating: Creating): Tool | undefined {
  const { name, title, description, more, required = [] } = creating;
  const models = usableModels(deps, exchange).filter(creating.suits);
  if (models.length === 0) return undefined;
  const union = unionOfParameters(models, creating.hasMediaFields);
  const properties = {
    model: modelParameter(deps, exchange, models),
    ...union.properties,
    ...more,
    ...createOptions(formatAmount(deps.mcp.maxCostRequiredAbove)),
  };
  return {
    ...{ name, title, description, outputSchema: TASK_OUTPUT },
    inputSchema: {
      type: "object",
      required: [...new Set(["model", ...union.required, ...required])],
      properties,
    },
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  };
}

async function create(
  deps: McpDeps,
  call: ToolCall,
  { name, kind, required = [] }: Creating,
): Promise<ToolResult> {
  const { exchange, args } = call;
  const waitMs = waitMsOf(args);
  for (const field of required) if (isAbsent(args[field])) throw invalid({ kind: "required", field });
  const model = modelOf(deps, exchange, args.model, kind);
  const { body, names } = bodyOf(model, args);
  const overload = deps.shedding.refusal("creates");
  if (overload !== undefined) throw overload;
  await exchange.count();
  const leave = waitMs > 0 ? exchange.stay("waits") : () => {};
  try {
    const sent = { ...sentBy(exchange), idempotencyKey: textOf(args, "idempotency_key") };
    const costLimit = { most: maxCostOf(args), neededAbove: deps.mcp.maxCostRequiredAbove };
    // Another wait or limit is no other request.
    const asked = { ...sent, costLimit, inlineFiles: call.inlineFiles, endpoint: `POST /mcp ${name}` };
    const created = await inAgentsWords(names, () =>
      createFrom(deps.createTask, { ...asked, identity: body }, async () => ({
        ...{ kind, body: await withEarlierResults(deps, exchange, model, body) },
      })),
    );
    const { taskId, held, replayed } = created;
    call.accepted({ task: taskId, model: model.id }, formatAmount(held));
    try {
      const task = await followTask(deps, call, { id: taskId, waitMs, isOwn: true });
      return await taskResult(deps, exchange, task, { held, replayed });
    } catch (error) {
      throw unread(taskId, error);
    }
  } finally {
    leave();
  }
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** @throws AppError for a model that the caller may not use, or that makes something else */
function modelOf(deps: McpDeps, { principal }: KeyedExchange, id: unknown, kind: TaskKind): Model {
  const feature = `${kind}s` as const;
  if (!allowsFeature(principal.policy, feature))
    throw new AppError("permission_denied", { kind: "feature_forbidden", feature });
  const model = readModel(deps, principal, id);
  if (model.kind === kind) return model;
  const tool = `generate_${model.kind}`;
  const facts = {
    kind: "model_of_other_tool",
    model: model.id,
    makes: model.kind,
    tool,
    field: "model",
  } as const;
  throw new AppError("model_not_available", facts);
}
