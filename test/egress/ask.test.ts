import { expect, test } from "bun:test";
import { createEgress } from "../../src/egress/egress.ts";
import { localEgress, NEVER, pour, rawServer, reply } from "./servers.ts";

const POST = { body: '{"input":"é"}', headers: { Authorization: "Bearer secret" } };
const OPTIONS = { maxBytes: 1_024, signal: NEVER };
const refusalOf = (asked: Promise<unknown>) =>
  asked.then(
    () => "was answered",
    (error: { reason: string; message: string }) => `${error.reason}: ${error.message}`,
  );

test("a service is asked by one POST, and its answer read whole, whatever its status", async () => {
  await using server = await rawServer((socket) => socket.write(reply(418, {}, "short and stout")));
  const answer = await localEgress().ask(`http://receiver.test:${server.port}/v1?a=b`, POST, OPTIONS);
  expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([418, "short and stout"]);
  expect(server.requests).toHaveLength(1);
  const [head = "", body = ""] = (server.requests[0] ?? "").split("\r\n\r\n");
  const [line, ...headers] = head.split("\r\n");
  expect(line).toBe("POST /v1?a=b HTTP/1.1");
  expect(headers.sort()).toEqual([
    "Accept-Encoding: identity",
    "Accept: */*",
    "Authorization: Bearer secret",
    "Connection: close",
    "Content-Length: 14",
    "Content-Type: application/json",
    `Host: receiver.test:${server.port}`,
    "User-Agent: Service-Check/1.0",
  ]);
  expect(Buffer.from(body, "latin1").toString()).toBe(POST.body);
});

test("more than the most is not read", async () => {
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    pour(socket, Buffer.alloc(64 * 1024, "x"));
  });
  const asked = localEgress().ask(`http://receiver.test:${server.port}/`, POST, OPTIONS);
  expect(await refusalOf(asked)).toBe("too_large: answered with more than 1 KB");
});

test("an answer that breaks off is none", async () => {
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    socket.end();
  });
  const asked = localEgress().ask(`http://receiver.test:${server.port}/`, POST, OPTIONS);
  expect(await refusalOf(asked)).toStartWith("unreachable: ");
});

test("a service that does not answer is given up when its time is up", async () => {
  const controller = new AbortController();
  await using server = await rawServer(() => controller.abort(new Error("time is up")));
  const asked = localEgress().ask(`http://receiver.test:${server.port}/`, POST, {
    ...OPTIONS,
    signal: controller.signal,
  });
  expect(await refusalOf(asked)).toBe("timeout: did not answer in time");
});

test.each([
  ["http://127.0.0.1:8080/", "forbidden: names the address 127.0.0.1, which is not public"],
  ["https://10.0.0.1/", "forbidden: names the address 10.0.0.1, which is not public"],
  ["http://93.184.216.34/", "forbidden: must be an https URL"],
  ["ftp://service.test/", "forbidden: must be an https URL"],
])("%s is not asked", async (url, refusal) => {
  expect(await refusalOf(createEgress({ allow: [] }).ask(url, POST, OPTIONS))).toBe(refusal);
});

test("a service whose name leads to a private address is not asked", async () => {
  const egress = createEgress({ allow: [], resolve: async () => ["10.0.0.7"] });
  expect(await refusalOf(egress.ask("https://service.test/", POST, OPTIONS))).toStartWith(
    "forbidden: points to",
  );
});

test("a redirect is an answer, and is not followed", async () => {
  await using server = await rawServer((socket) =>
    socket.write(reply(302, { Location: "http://127.0.0.1:8080/" })),
  );
  const answer = await localEgress().ask(`http://receiver.test:${server.port}/`, POST, OPTIONS);
  expect([answer.status, server.requests.length]).toEqual([302, 1]);
});
