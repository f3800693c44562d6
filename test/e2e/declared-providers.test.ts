import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { startUpstream } from "../helpers/scripted-upstream.ts";
import { stopServers } from "../helpers/server.ts";
import { download } from "./support/api.ts";
import { BFL_MODERATED, BFL_PENDING, type BflScript, startBfl } from "./support/bfl.ts";
import { svc, svcJson } from "./support/command.ts";
import { moneyOf, serveDeclared } from "./support/declared.ts";
import { dataUri, decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const started: { stop(): void }[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

const BFL_KEY = "bfl-0123456789abcdef-secret";

async function serveBfl(script: BflScript = {}) {
  const bfl = await startBfl(script);
  started.push(bfl);
  const served = await serveDeclared(`providers:\n  bfl:\n    base_url: ${bfl.upstream.origin}\n`, {
    BFL_API_KEY: BFL_KEY,
  });
  return { ...served, bfl };
}

/** Every file below a folder, with its content. */
function filesIn(folder: string): { path: string; content: Buffer }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, content: readFileSync(path) }));
}

test("a picture of a declared provider is made, charged at its price, and costs what the provider says", async () => {
  const { api, server, bfl } = await serveBfl();
  const task = await api.make({ model: "flux-2-pro", prompt: "a fox", output_format: "png" });
  expect(task).toMatchObject({ status: "completed", usage: { cost: "0.030000", currency: "USD" } });
  expect(await decode(await download(task.result?.[0]))).toMatchObject({
    format: "png",
    width: 64,
    height: 48,
  });
  expect(bfl.submissions).toMatchObject([
    { path: "/v1/flux-2-pro", key: BFL_KEY, body: { prompt: "a fox" } },
  ]);
  expect(await moneyOf(server)).toEqual({
    balance: "0.970000",
    held: "0.000000",
    kinds: ["credit", "hold", "capture", "release"],
  });
  const usage = await svcJson(["usage", "--data-dir", server.dataDir]);
  expect(usage).toMatchObject({ total: { completed: 1, upstream_cost: "0.030000" } });
});

test("a moderated request fails and costs nothing", async () => {
  const { api, server, bfl } = await serveBfl({ poll: () => BFL_MODERATED });
  const task = await api.make({ model: "flux-2-pro", prompt: "no" });
  expect(task).toMatchObject({
    status: "failed",
    error_code: "CONTENT_MODERATED",
    usage: { cost: "0.000000" },
  });
  expect(bfl.submissions).toHaveLength(1);
  expect(await moneyOf(server)).toEqual({
    balance: "1.000000",
    held: "0.000000",
    kinds: ["credit", "hold", "release"],
  });
});

test("a 429 with Retry-After slows the account, and no task fails for it", async () => {
  const pauseMs = 1_000;
  // The account is asked half as often after a pause: half of often is soon.
  const usual = Array.from({ length: 10 }, (_, i) => `usual ${i}`);
  let pausedUntil = 0;
  let early = 0;
  const { api, bfl } = await serveBfl({
    submission(prompt) {
      const now = performance.now();
      if (usual.includes(prompt)) return undefined;
      if (pausedUntil === 0) pausedUntil = now + pauseMs;
      else if (now >= pausedUntil) return undefined;
      else early += 1;
      return { status: 429, headers: { "retry-after": "1" }, json: { detail: "Too many tasks" } };
    },
  });
  const accept = (prompt: string) => api.accept({ model: "flux-2-pro", prompt });
  await Promise.all(usual.map(accept));
  await bfl.submitted(usual.length);
  const first = await accept("one");
  await bfl.submitted(usual.length + 1);
  const others = await Promise.all(["two", "three"].map(accept));
  const tasks = await Promise.all([first, ...others].map((id) => api.wait(id)));
  expect(tasks.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  expect([early, bfl.submissions.length - usual.length]).toEqual([0, 4]);
});

test("a job goes on after kill -9, and is not submitted again", async () => {
  let isUp = true;
  const { api, server, bfl, restart } = await serveBfl({ poll: () => (isUp ? BFL_PENDING : undefined) });
  const id = await api.accept({ model: "flux-2-pro", prompt: "a fox" });
  await bfl.upstream.until(2);
  server.signal("SIGKILL");
  await server.exited;
  isUp = false;
  const second = await restart();
  expect(await api.wait(id)).toMatchObject({ status: "completed", usage: { cost: "0.030000" } });
  expect(bfl.submissions).toHaveLength(1);
  expect(await moneyOf(second)).toMatchObject({ balance: "0.970000", held: "0.000000" });
});

test("an image that is given reaches the provider as it is", async () => {
  const { api, bfl } = await serveBfl();
  const picture = await plainImage(80, 60, { colour: "#aa3311" });
  const task = await api.make({ model: "flux-2-pro", prompt: "in winter", image_url: dataUri(picture) });
  expect(task.status).toBe("completed");
  const sent = String(bfl.submissions[0]?.body.input_image);
  expect(await decode(Buffer.from(sent, "base64"))).toMatchObject({ width: 80, height: 60 });
});

test("the key of a provider is in no log and no file of the data folder", async () => {
  const refusal = { status: 403, json: { detail: `Not authenticated: ${BFL_KEY}` } };
  const { api, server, folder, bfl } = await serveBfl({
    submission: (prompt) => (prompt === "refused" ? refusal : undefined),
  });
  await api.make({ model: "flux-2-pro", prompt: "made" });
  const refused = await api.make({ model: "flux-2-pro", prompt: "refused" });
  expect(refused.status).toBe("failed");
  expect(bfl.submissions.map(({ key }) => key)).toEqual([BFL_KEY, BFL_KEY]);
  const told = [server.stdout(), server.stderr(), JSON.stringify(refused)];
  expect(told.filter((text) => text.includes(BFL_KEY))).toEqual([]);
  expect(server.stderr()).toContain("flux-2-pro");
  const holding = (text: string) => filesIn(folder).filter(({ content }) => content.includes(text));
  expect(holding(bfl.upstream.origin).map(({ path }) => path)).toContain(join(folder, "svc-data/svc.yaml"));
  expect(holding("flux-2-pro")).not.toBeEmpty();
  expect(holding(BFL_KEY).map(({ path }) => path)).toEqual([]);
});

test("a submission to Kling whose answer was lost is found again, and made once", async () => {
  const picture = await plainImage(64, 64);
  const attempts: string[] = [];
  const tokens: string[] = [];
  const kling = await startUpstream(({ method, path, headers, body }) => {
    if (path === "/made.png") return { headers: { "content-type": "image/png" }, body: picture };
    tokens.push(headers.get("authorization") ?? "");
    if (method === "POST") {
      attempts.push(JSON.parse(body.toString()).external_task_id);
      return (socket) => void socket.resetAndDestroy();
    }
    const data = path.endsWith(attempts[0] ?? "none")
      ? { task_id: "870", task_status: "submitted" }
      : {
          task_id: "870",
          task_status: "succeed",
          task_result: { images: [{ index: 0, url: `${kling.origin}/made.png` }] },
        };
    return { json: { code: 0, message: "SUCCEED", data } };
  });
  started.push(kling);
  const { api, server } = await serveDeclared(`providers:\n  kling:\n    base_url: ${kling.origin}\n`, {
    KLING_ACCESS_KEY: "kling-access-0123456789",
    KLING_SECRET_KEY: "kling-secret-0123456789abcdef0123456789",
  });
  const task = await api.make({ model: "kling-v3-image", prompt: "a fox" });
  expect(task.status).toBe("completed");
  expect(attempts).toHaveLength(1);
  expect(kling.arrived.map(({ path }) => path)).toContain("/v1/images/generations/870");
  const secret = new TextEncoder().encode("kling-secret-0123456789abcdef0123456789");
  for (const token of tokens) {
    const { payload } = await jwtVerify(token.replace(/^Bearer /, ""), secret);
    expect(payload.iss).toBe("kling-access-0123456789");
  }
  expect((await moneyOf(server)).kinds).toEqual(["credit", "hold", "capture"]);
});

test("the list of models names the routes of each, and so does a model", async () => {
  const { folder, env, server } = await serveBfl();
  const args = ["--data-dir", server.dataDir];
  // What the command is documented to print.
  const { models } = (await svcJson(["models", "list", "--all", ...args], { folder, env })) as {
    models: {
      id: string;
      available: boolean;
      routes: { provider: string; available: boolean; needs: string[] }[];
    }[];
  };
  const found = models.find(({ id }) => id === "flux-dev");
  expect(found?.available).toBe(true);
  expect(found?.routes).toMatchObject([
    { provider: "fal", available: false, needs: ["FAL_KEY"] },
    { provider: "bfl", available: true, needs: [] },
    { provider: "replicate", available: false, needs: ["REPLICATE_API_TOKEN"] },
  ]);
  const { stdout } = await svc(["models", "show", "flux-dev", ...args], { folder, env });
  expect(stdout).toContain("fal fal-ai/flux/dev, needs FAL_KEY");
  expect(stdout).toMatch(/^route\s+bfl flux-dev$/m);
});
