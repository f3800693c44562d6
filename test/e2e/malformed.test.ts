import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { malformedAddresses } from "./malformed/addresses.ts";
import { malformedCompatBodies } from "./malformed/compat.ts";
import { malformedCreates } from "./malformed/creates.ts";
import { malformedHeaders } from "./malformed/credentials.ts";
import { malformedReads } from "./malformed/estimates.ts";
import { expectDiscretion, expectRefusal } from "./malformed/expectations.ts";
import { malformedForeign } from "./malformed/facades.ts";
import { malformedFiles } from "./malformed/files.ts";
import { malformedForms } from "./malformed/forms.ts";
import { abandoned, malformedFraming, refusedByParser, trailer } from "./malformed/framing.ts";
import { leftBehind } from "./malformed/left-behind.ts";
import { malformedManagement } from "./malformed/management.ts";
import { malformedPaths } from "./malformed/paths.ts";
import { type Malformed, rawRequest, type Target } from "./malformed/request.ts";
import { exchange } from "./malformed/wire.ts";
import { arranged, prepaidKey } from "./support/command.ts";

setDefaultTimeout(120_000);

const server = await startServer();
const { dataDir, port } = server;
const target: Target = {
  port,
  key: await prepaidKey(dataDir, "payer", "5.00"),
  managementToken: await newManagementToken(),
};

afterAll(stopServers);

const TABLES: readonly [string, readonly Malformed[]][] = [
  ["create", malformedCreates()],
  ["address", await malformedAddresses()],
  ["file", await malformedFiles()],
  ["body of the synchronous API", await malformedCompatBodies()],
  ["form", await malformedForms()],
  ["estimate or read", malformedReads()],
  ["body for the management API", malformedManagement(target)],
  ["path", malformedPaths(target)],
  ["credential or header", malformedHeaders(target)],
  ["length or coding", malformedFraming()],
];

describe.each(TABLES)("a malformed %s is refused, says why, and leaves nothing:", (_, lines) => {
  test.each(lines.map((line): [string, Malformed] => [`${line.path?.slice(0, 60)}: ${line.name}`, line]))(
    "%s",
    async (_, line) => {
      const before = leftBehind(dataDir);
      const request = rawRequest(target, line);
      const answer = await exchange(port, request);
      if (answer === "closed") throw new Error("The connection was closed without an answer.");
      expectRefusal(answer, line);
      expectDiscretion(answer, request, target);
      expect(leftBehind(dataDir)).toEqual(before);
    },
  );
});

test.each(
  (await malformedForeign()).map((line): [string, typeof line] => [`${line.path}: ${line.name}`, line]),
)(
  "a malformed request of another API is refused in its words, says why, and leaves nothing: %s",
  async (_, line) => {
    const before = leftBehind(dataDir);
    const answer = await exchange(port, rawRequest(target, line));
    if (answer === "closed") throw new Error("The connection was closed without an answer.");
    expect([answer.status, answer.body]).toEqual([line.status, expect.stringContaining(line.says)]);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
    const told = JSON.stringify([answer.body, [...answer.headers]]);
    expect(told).not.toContain(target.key);
    expect(told).not.toMatch(/\/(?:work|home|root|tmp|src|bunfs)\/|\.ts:|\bat \w+ \(|SQLITE/);
    expect(leftBehind(dataDir)).toEqual(before);
  },
);

test.each(refusedByParser(target).map((each): [string, typeof each] => [each.name, each]))(
  "never reaches the service: %s",
  async (_, { request, status }) => {
    const before = leftBehind(dataDir);
    const answer = await exchange(port, request);
    expect(answer === "closed" ? answer : answer.status).toBe(status);
    if (answer !== "closed") expect([answer.body, answer.headers.get("x-request-id")]).toEqual(["", null]);
    expect(leftBehind(dataDir)).toEqual(before);
  },
);

test("a field behind the chunks is refused, by the service or before it, and leaves nothing", async () => {
  const before = leftBehind(dataDir);
  expect(await exchange(port, trailer(target))).toMatchObject({ status: 400 });
  expect(leftBehind(dataDir)).toEqual(before);
});

describe.each(["hang up", "finish"] as const)("a sender that will %s", (then) => {
  test.each(abandoned(target).map((each): [string, typeof each] => [each.name, each]))(
    "%s leaves nothing",
    async (name, { isSeen, request }) => {
      const before = leftBehind(dataDir);
      const requestId = `${then} ${name}`.replaceAll(" ", "-");
      await exchange(port, request(requestId), { then });
      // Nobody else is told when the service has noticed that its caller is gone.
      if (isSeen) await server.says(new RegExp(`"request_id":"${requestId}"`));
      expect(leftBehind(dataDir)).toEqual(before);
    },
  );
});

describe("after all that,", () => {
  test("the service answers, and a good request costs what it costs", async () => {
    const before = leftBehind(dataDir);
    const body = { model: "sandbox-image", prompt: "x", size: "16x16", n: 1, sandbox: { delay_ms: 0 } };
    const answer = await exchange(port, rawRequest(target, { path: "/v1/images/generations", body }));
    expect(answer).toMatchObject({ status: 200 });
    const { heldMicros, rows } = leftBehind(dataDir);
    expect({ heldMicros, tasks: rows.task }).toEqual({
      heldMicros: 10_000,
      tasks: (before.rows.task ?? 0) + 1,
    });
  });

  test("the log holds no error and no credential", () => {
    const log = server.stdout() + server.stderr();
    expect(log).toContain('"status":400');
    expect(log.split("\n").filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
    expect(log).not.toContain(target.key);
    expect(log).not.toContain(target.managementToken);
    expect(log).not.toContain("    at ");
  });
});

async function newManagementToken(): Promise<string> {
  const printed = await arranged(["tokens", "create", "--name", "operator", "--data-dir", dataDir]);
  const token = /mt-svc-[0-9A-Za-z]{38}/.exec(JSON.stringify(printed))?.[0];
  if (token === undefined) throw new Error("No token was printed.");
  return token;
}
