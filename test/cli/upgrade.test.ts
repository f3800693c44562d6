import { afterAll, describe, expect, test } from "bun:test";
import { VERSION } from "../../src/version.ts";
import { svc } from "./support.ts";

let answer: () => Response = () => new Response();
const asked: { method: string; search: string; headers: Map<string, string> }[] = [];
const index = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { method, url, headers } = request;
    asked.push({ method, search: new URL(url).search, headers: new Map(headers) });
    return answer();
  },
});
afterAll(() => index.stop(true));

const release = (tag: string, more: object = {}) => ({
  tag_name: tag,
  html_url: `https://example.org/${tag}`,
  published_at: "2027-01-02T03:04:05Z",
  body: `What ${tag} brings.`,
  ...more,
});
const check = async (body: unknown, ...args: string[]) => {
  answer = () => Response.json(body);
  return await svc(["upgrade", "--check", "--index", index.url.href, ...args]);
};
const checkJson = async (body: unknown) => JSON.parse((await check(body, "--json")).stdout);

describe("svc upgrade --check", () => {
  test("lists what is newer, the newest first, and neither drafts nor versions before a release", async () => {
    const listed = [
      ...["v99.0.0", "v100.1.0", "0.0.1", `v${VERSION}`, "nightly"].map((tag) => release(tag)),
      ...[release("v200.0.0", { draft: true }), release("v101.0.0-rc.1")],
    ];
    const { releases, ...facts } = await checkJson(listed);
    expect(facts).toEqual({
      ...{ current: VERSION, latest: "100.1.0", newer: true, index: index.url.href, problem: null },
    });
    expect(releases.map((each: { version: string }) => each.version)).toEqual(["100.1.0", "99.0.0"]);
    const { stdout } = await check(listed);
    expect(stdout).toStartWith(
      `This is svc ${VERSION}. Newer:\n\nsvc 100.1.0 (2027-01-02)  https://example.org/v100.1.0\n`,
    );
    expect(stdout).toContain("What v100.1.0 brings.\n\nsvc 99.0.0");
  });

  test("says when there is nothing newer", async () => {
    expect((await check([release(`v${VERSION}`)])).stdout).toBe(`svc ${VERSION} is the newest version.\n`);
    expect(await checkJson([])).toMatchObject({ latest: VERSION, newer: false, problem: null });
  });

  test("tells the index nothing but that svc asks", async () => {
    await check([]);
    const [{ method, search, headers } = { method: "", search: "", headers: new Map() }] = asked.slice(-1);
    expect([method, search, headers.get("user-agent")]).toEqual(["GET", "", "svc"]);
    const others = [...headers.keys()].filter(
      (name) => !/^(accept|accept-encoding|connection|host|user-agent)$/.test(name),
    );
    expect(others).toEqual([]);
  });

  test.each([
    ["an error", () => new Response("no", { status: 403 }), "it answered 403"],
    ["no JSON", () => new Response("<html>"), "its answer is no JSON"],
    ["no list", () => Response.json({ message: "x" }), "its answer is no list of releases"],
    ["too much", () => new Response("x".repeat(1_000_001)), "its answer is larger than a megabyte"],
  ])("ends with 0 at an index that answers with %s", async (_, response, problem) => {
    answer = response;
    const { exitCode, stdout, stderr } = await svc(["upgrade", "--check", "--index", index.url.href]);
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toContain(`the index of releases could not be read: ${problem}`);
  });

  test.each([
    ["that nobody listens at", "http://127.0.0.1:1/", "the connection was refused"],
    ["of an unknown host", "http://no-such-host.invalid/", "its name is not known"],
  ])("says in words why an index %s cannot be read", async (_, url, problem) => {
    const { stderr } = await svc(["upgrade", "--check", "--index", url]);
    expect(stderr).toContain(`the index of releases could not be read: ${problem}.`);
  });

  test("ends with 0 without a network, and without an index", async () => {
    for (const env of [{ SVC_RELEASES_URL: "http://127.0.0.1:1/" }, { SVC_RELEASES_URL: "" }]) {
      const { exitCode, stdout } = await svc(["upgrade", "--check", "--json"], { env });
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ latest: null, newer: false, problem: expect.any(String) });
    }
  });

  test("prints no escape sequence that an index sends", async () => {
    const { stdout } = await check([
      release("v99.0.0", { body: "\u001b]0;owned\u0007", html_url: "\u001b[2J" }),
    ]);
    expect(stdout).not.toContain("\u001b");
  });

  test("refuses what is no address, and to do more than look", async () => {
    expect((await svc(["upgrade"])).exitCode).toBe(2);
    expect((await svc(["upgrade", "--check", "--index", "ftp://x"])).exitCode).toBe(2);
  });
});
