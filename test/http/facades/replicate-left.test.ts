import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { KeyedExchange } from "../../../src/http/exchange.ts";
import { type CreateDeps, createPrediction } from "../../../src/http/facades/replicate/create.ts";
import { createSecrets } from "../../../src/runtime/secrets.ts";
import { type CreateOrJoinDeps, createCreateOrJoin } from "../../../src/service/create-or-join.ts";
import { createOrphans } from "../../../src/service/orphans.ts";
import { PRINCIPAL } from "../../helpers/principal.ts";
import { newTask, taskId } from "../../helpers/store.ts";

/** Creates a prediction whose caller goes while it is stored, or stays. @returns the tasks that were left, and what was planned */
async function created({ leaves }: { readonly leaves: boolean }) {
  const gone = new AbortController();
  const text = JSON.stringify({ input: { prompt: "A fox" } });
  const headers = { "Content-Type": "application/json", "Cancel-After": "30s" };
  const target = "http://svc.example/replicate/v1/models/svc/sandbox-image/predictions";
  const request = new Request(target, { method: "POST", headers, body: text, signal: gone.signal });
  const planned: number[] = [];
  const task = newTask();
  const { held } = task;
  const accept = async () => {
    if (leaves) gone.abort();
    return { taskId: task.id, held, replayed: false, task };
  };
  const orphans = createOrphans();
  const clock = { now: () => 1_000, elapsed: () => 0 };
  const secrets = createSecrets();
  // What a create that waits for nothing needs.
  const createOrJoin = createCreateOrJoin({
    ...{ createTask: accept, orphans, secrets, clock, tasks: {} },
  } as unknown as CreateOrJoinDeps);
  const deps = {
    ...{ createOrJoin, catalog: createCatalog(), aliases: {}, secrets },
    ...{ streamPath: () => "/stream", clock, tasks: {}, assets: {} },
    cancelLater: { plan: (_: unknown, at: number) => void planned.push(at) },
  };
  const exchange = {
    ...{ request, principal: PRINCIPAL, requestId: "req_1", origin: "http://svc.example" },
    standing: { lateRefusal: () => undefined },
    intake: { small: async () => Buffer.from(text) },
  };
  const reply = await createPrediction(
    deps as unknown as CreateDeps,
    exchange as unknown as KeyedExchange,
    "sandbox-image",
  );
  return { status: reply.status, left: orphans.all().map(([, id]) => id), planned };
}

test("a caller who goes before its answer leaves its task, and one who stays does not", async () => {
  const told = { status: 201, planned: [31_000] };
  expect(await created({ leaves: true })).toEqual({ ...told, left: [taskId(1)] });
  expect(await created({ leaves: false })).toEqual({ ...told, left: [] });
});
