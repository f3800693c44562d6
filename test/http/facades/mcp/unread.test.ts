import { expect, test } from "bun:test";
import { createCatalog } from "../../../../src/catalog/catalog.ts";
import { toMicros } from "../../../../src/domain/money/money.ts";
import { StorageError } from "../../../../src/domain/ports/task-store.ts";
import { CREATE_TOOLS } from "../../../../src/http/facades/mcp/create-tools.ts";
import type { McpDeps } from "../../../../src/http/facades/mcp/deps.ts";
import type { ToolCall } from "../../../../src/http/facades/mcp/tool.ts";
import { refusalResult } from "../../../../src/http/facades/mcp/tools.ts";
import { toAppError } from "../../../../src/http/problem.ts";
import { createTaskFeed } from "../../../../src/runtime/signals.ts";
import { fakeClock } from "../../../helpers/engine.ts";
import { PRINCIPAL } from "../../../helpers/principal.ts";
import { newTask } from "../../../helpers/store.ts";

test("an agent whose task is accepted, and cannot be read then, is told its id and not to send the call again", async () => {
  const task = newTask();
  const deps = {
    ...{ catalog: createCatalog(), aliases: {}, shedding: { refusal: () => undefined } },
    ...{ feed: createTaskFeed(), clock: fakeClock(), stopping: new AbortController().signal },
    mcp: { maxCostRequiredAbove: toMicros(1), inlineBytes: 0 },
    createTask: async () => ({ taskId: task.id, held: task.held, replayed: false, task }),
    tasks: { summary: () => Promise.reject(new StorageError("away", "The database is away.")) },
  } as unknown as McpDeps;
  const call = {
    exchange: {
      ...{ principal: PRINCIPAL, request: new Request("http://localhost/mcp"), origin: "http://localhost" },
      standing: { refusal: () => undefined, lateRefusal: () => undefined, onRefused: () => () => {} },
      ...{ count: async () => {}, stay: () => () => {} },
    },
    args: { model: "sandbox-image", prompt: "A fox", wait: 0 },
    cancelled: new AbortController().signal,
    ...{ progress: async () => {}, accepted: () => {} },
  } as unknown as ToolCall;
  const tool = CREATE_TOOLS.find(({ name }) => name === "generate_image");
  const error = await tool?.run(deps, call).catch((reason: unknown) => reason);
  const { content } = refusalResult(toAppError(error, false));
  const told = (JSON.parse((content[0] as { text: string }).text) as { error: object }).error;
  expect(told).toMatchObject({ code: "service_unavailable", task_id: task.id });
  expect(told).toHaveProperty("message", expect.stringContaining("was accepted and goes on"));
});
