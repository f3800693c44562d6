import { expect, test } from "bun:test";
import { createTellImagesClients } from "../../src/http/generations/tell-images-clients.ts";

function teller() {
  const told: unknown[] = [];
  const tell = createTellImagesClients({ warn: (fields) => told.push(fields) });
  const from = (client: string) => {
    const request = new Request("http://localhost/", { method: "POST", headers: { "User-Agent": client } });
    tell({ request }, "web", "/v1/images/generations");
  };
  return { told, from };
}

test.each([
  "OpenAI/JS 6.1.0",
  "AsyncOpenAI/Python 2.8.0",
  "ai/6.0.1 ai-sdk/openai-compatible/2.0.1 runtime/node.js/24",
])("the client %s of the images API that creates a task is told once", (client) => {
  const { told, from } = teller();
  from(client);
  from(client);
  expect(told).toEqual([{ client, key: "web", path: "/v1/images/generations" }]);
});

test("other clients that create tasks are not told", () => {
  const { told, from } = teller();
  for (const client of ["", "curl/8.5.0", "svc/0.1.0", "python-requests/2.32", "Mozilla/5.0"]) from(client);
  expect(told).toEqual([]);
});
