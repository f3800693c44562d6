import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { TaskId } from "../../../src/domain/ids.ts";
import type { KeyedExchange } from "../../../src/http/exchange.ts";
import { type CreateDeps, createPrediction } from "../../../src/http/facades/replicate/create.ts";
import { createSecrets } from "../../../src/runtime/secrets.ts";
import type { JoinTask } from "../../../src/service/join-task.ts";
import { PRINCIPAL } from "../../helpers/principal.ts";
import { newTask, taskId } from "../../helpers/store.ts";

/** Creates a prediction whose caller goes while it is stored, or stays. @returns the tasks that were left, and what was planned */
async function created({ atOnce, leaves }: { readonly atOnce: boolean; readonly leaves: boolean }) {
  const gone = new AbortController();
  const text = JSON.stringify({ input: { prompt: "A fox" } });
  const headers = { "Content-Type": "application/json", "Cancel-After": "30s" };
  const target = "http://svc.example/replicate/v1/models/svc/sandbox-image/predictions";
  const request = new Request(target, { method: "POST", headers, body: text, signal: gone.signal });
  const [left, planned]: [TaskId[], number[]] = [[], []];
  const task = newTask();
  const { held } = task;
  const accept = async () => {
    if (leaves) gone.abort();
    return { taskId: task.id, held, replayed: false, task };
  };
  const join = async () => ({
    ...{ ...(await accept()), model: task.model, leave: () => void left.push(task.id) },
    wait: () => Promise.reject(new Error("Nobody waits.")),
    finish: () => Promise.reject(new Error("Nobody waits.")),
  });
  const joinTask: JoinTask = Object.assign(join, {
    atOnce: () => (atOnce ? accept() : undefined),
    left: (_: unknown, id: TaskId) => void left.push(id),
  });
  const deps = {
    ...{ joinTask, catalog: createCatalog(), aliases: {}, secrets: createSecrets() },
    ...{ streamPath: () => "/stream", clock: { now: () => 1_000 }, tasks: {}, assets: {} },
    cancelLater: { plan: (_: unknown, at: number) => void planned.push(at) },
  };
  const exchange = {
    ...{ request, principal: PRINCIPAL, requestId: "req_1", origin: "http://svc.example" },
    standing: { lateRefusal: () => undefined },
    intake: { small: async () => Buffer.from(text) },
  };
  // What a create that waits for nothing needs of both.
  const reply = await createPrediction(
    deps as unknown as CreateDeps,
    exchange as unknown as KeyedExchange,
    "sandbox-image",
  );
  return { status: reply.status, left, planned };
}

test("a caller who goes before its answer leaves its task, and one who stays does not", async () => {
  for (const atOnce of [true, false]) {
    const told = { status: 201, planned: [31_000] };
    expect(await created({ atOnce, leaves: true })).toEqual({ ...told, left: [taskId(1)] });
    expect(await created({ atOnce, leaves: false })).toEqual({ ...told, left: [] });
  }
});
