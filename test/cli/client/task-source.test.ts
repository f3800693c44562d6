import { expect, test } from "bun:test";
import { ownTasks } from "../../../cli/client/task-source.ts";
import { refusal, startScriptedServer, success } from "../scripted-server.ts";
import { fakeTiming } from "../support.ts";

const RETRY = "/v1/tasks/task_1/retry";

test("a retry whose answer was lost makes one task, however often it is asked for", async () => {
  using server = startScriptedServer({
    [`POST ${RETRY}`]: (_seen, times) =>
      times === 1
        ? refusal(503, "service_unavailable", "Draining.", { "x-should-retry": "false" })
        : success({ task_id: `task_${times}` }),
  });
  const { signal } = new AbortController();
  const options = { timing: fakeTiming(), signal, userAgent: "svc" };
  const source = ownTasks({ server: server.url, key: "sk-svc-test" }, options);
  await expect(source.retry("task_1")).rejects.toThrow("Draining.");
  expect([await source.retry("task_1"), await source.retry("task_1")]).toEqual(["task_2", "task_3"]);
  const [first, second, third] = server.at(RETRY).map(({ headers }) => headers.get("idempotency-key"));
  expect([second === first, third === first]).toEqual([true, false]);
});
