import { afterEach, describe, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import type { HookCall } from "../../../src/domain/ports/provider.ts";
import type { Form } from "../../../src/providers/declared/form.ts";
import { rehearsedProvider, requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { problemsOf } from "./contracts.ts";
import { builtInForm } from "./harness.ts";
import { exampleOf } from "./play.ts";

const HOOK = "http://svc.example.com:8787/hooks/token";
const signal = new AbortController().signal;
const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

async function submit(provider: string, example: string, hookUrl?: string) {
  const { request, answers } = exampleOf(provider, example);
  const [{ status = 200, body = {} } = {}] = answers;
  const upstream = await startUpstream((): Scripted => ({ status, json: body }));
  started.push(upstream);
  const adapter = rehearsedProvider(builtInForm(`${provider}.yaml`), upstream.origin, fakeClock());
  const wanted = requestOf({ name: "", request, answers: [], ends: "pending" }, provider);
  const submitted = await adapter.submit({ ...wanted, ...(hookUrl && { hookUrl }) }, signal);
  const { method, path, body: sent } = upstream.arrived[0] ?? expect.unreachable("Nothing was sent.");
  const json = JSON.parse(sent.toString()) as JsonObject;
  return {
    submitted,
    json,
    sent: { method: method.toLowerCase(), path, type: "application/json", body: json },
  };
}

describe.each([
  ["replicate", "two pictures", ["webhook"]],
  ["ideogram", "4.5 from a prompt, as a job", ["webhook_url"]],
  ["kling", "text to video", ["callback_url"]],
  ["kling", "a video by the routes of version 3", ["options", "callback_url"]],
  ["kling", "two images", ["callback_url"]],
  ["luma", "text to video", ["callback_url"]],
  ["byteplus", "text to video", ["callback_url"]],
  ["vidu", "text to video", ["callback_url"]],
  ["minimax", "a video that is withheld", ["callback_url"]],
])("%s: %s", (provider, example, place) => {
  const files = { ideogram: "ideogram/v2.transcribed.openapi.json" }[provider] ?? `${provider}/openapi.json`;
  const contract = openPublished(files);

  test("is told where to call, as its contract has it, and says so", async () => {
    const { submitted, json, sent } = await submit(provider, example, HOOK);
    const told = place.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), json);
    expect(told).toBe(HOOK);
    expect(submitted).toMatchObject({ kind: "operation", isHooked: true });
    expect(JSON.stringify(submitted)).not.toContain(HOOK);
    expect(problemsOf([contract], sent)).toEqual([]);
  });

  test("is told nothing where there is no address", async () => {
    const { submitted, json } = await submit(provider, example);
    expect(JSON.stringify(json)).not.toMatch(/hook|callback_url/);
    expect(submitted).not.toHaveProperty("isHooked");
  });
});

test("a form that does not say where to call keeps its usual questions", async () => {
  const { submitted } = await submit("runway", exampleNameOf("runway"), HOOK);
  expect(submitted).not.toHaveProperty("isHooked");
});

function exampleNameOf(provider: string): string {
  const [first] = builtInForm(`${provider}.yaml`).examples ?? [];
  return first?.name ?? "";
}

/** Headers and body of a call. */
const call = (headers: Readonly<Record<string, string>>, body = "{}"): HookCall => ({
  header: (name) => headers[name],
  body: new TextEncoder().encode(body),
});

const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;

/** As the specification of Standard Webhooks has it. */
function standard(body: string, secret = SECRET) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = new Bun.CryptoHasher("sha256", key).update(`p1.1795269600.${body}`).digest("base64");
  return call(
    { "webhook-id": "p1", "webhook-timestamp": "1795269600", "webhook-signature": `v1,b2xk v1,${signature}` },
    body,
  );
}

describe("calls signed with a secret that the account opens", () => {
  async function open(answer: () => Scripted, form: Form = builtInForm("replicate.yaml")) {
    const upstream = await startUpstream(answer);
    started.push(upstream);
    const clock = fakeClock();
    const { verifyHook } = rehearsedProvider(form, upstream.origin, clock);
    if (verifyHook === undefined) throw new Error("It verifies nothing.");
    return { upstream, clock, verify: (each: HookCall) => verifyHook(each, signal) };
  }

  test("are told apart by one question for the secret", async () => {
    const { upstream, verify } = await open(() => ({ json: { key: SECRET } }));
    expect(await verify(standard("{}"))).toBe("genuine");
    expect(await verify(standard("{}"))).toBe("genuine");
    expect(upstream.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /v1/webhooks/default/secret",
    ]);
    expect(await verify({ ...standard("{}"), body: new TextEncoder().encode("[]") })).toBe("forged");
    expect(await verify(call({}))).toBe("forged");
  });

  test("are verified with a new secret, which is asked for once a minute at most", async () => {
    let secret = SECRET;
    const { upstream, clock, verify } = await open(() => ({ json: { key: secret } }));
    expect(await verify(standard("{}"))).toBe("genuine");
    secret = `whsec_${Buffer.from("another one of enough bytes").toString("base64")}`;
    expect(await verify(standard("{}", secret))).toBe("forged");
    clock.advance(60_000);
    expect(await verify(standard("{}", secret))).toBe("genuine");
    for (let i = 0; i < 20; i++) expect(await verify(standard("{}"))).toBe("forged");
    expect(upstream.arrived).toHaveLength(2);
  });

  test("count for their token alone while the secret cannot be had", async () => {
    const { upstream, clock, verify } = await open(() => ({ status: 500, json: {} }));
    for (let i = 0; i < 5; i++) expect(await verify(standard("{}"))).toBe("unknown");
    expect(upstream.arrived).toHaveLength(1);
    upstream.answer = () => ({ json: { key: SECRET } });
    clock.advance(60_000);
    expect(await verify(standard("{}"))).toBe("genuine");
  });
});
