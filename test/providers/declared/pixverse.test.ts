import { expect, test } from "bun:test";
import type { ExampleForm } from "../../../src/providers/declared/form.ts";
import { rehearsedProvider, requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { operationOf } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";
import { builtInForm } from "./harness.ts";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

const IMAGE = { json: { ErrCode: 0, ErrMsg: "success", Resp: { img_id: 123 } } };
const TAKEN = { json: { ErrCode: 0, ErrMsg: "success", Resp: { video_id: 317032321524544 } } };

describeModels({
  provider: "pixverse",
  contracts: ["pixverse/openapi.json"],
  // V6 has it (the nodes of ComfyUI, 2026-10), and the contract is older.
  isOutdated: (problem) => problem.startsWith("/generate_multi_clip_switch "),
  answer: ({ path }) => (path.endsWith("/image/upload") ? IMAGE : TAKEN),
});

const REQUEST = {
  model: "v6",
  kind: "video",
  mode: "text-to-video",
  prompt: "A fox",
  params: { duration: 5, resolution: "720p" },
} as const;
const record = (Resp: object) => ({ json: { ErrCode: 0, ErrMsg: "success", Resp } });

test.each([
  [
    { status: 7, url: "" },
    { kind: "failed", code: "CONTENT_MODERATED", isCharged: false },
  ],
  [
    { status: 8, url: "" },
    { kind: "failed", code: "UPSTREAM_ERROR", isCharged: false },
  ],
  [
    { status: 6, url: "" },
    { kind: "failed", code: "UPSTREAM_ERROR" },
  ],
  [
    { status: 1, url: "" },
    { kind: "succeeded", outputs: [{ kind: "missing", code: "UPSTREAM_ERROR" }] },
  ],
  [{ status: 9, url: "" }, { kind: "pending" }],
  [{ status: 77, url: "" }, { kind: "pending" }],
  [
    { status: 1, url: "data:video/mp4;base64,aGk=", credits: 60 },
    { kind: "succeeded", outputs: [{ kind: "bytes" }], costMicros: 600_000 },
  ],
])("a pixverse video of which is said %j is %j", async (said, end) => {
  expect(await play("pixverse", REQUEST, [TAKEN, record({ id: 1, ...said })])).toMatchObject(end);
});

test.each([
  [400017, "invalid param", "fail", "UPSTREAM_REJECTED"],
  [500030, "image too big", "fail", "UPSTREAM_REJECTED"],
  [500054, "?", "fail", "CONTENT_MODERATED"],
  [500999, "The image did not pass moderation", "fail", "CONTENT_MODERATED"],
  [500043, "?", "reroute", "NO_ROUTE_AVAILABLE"],
  [500999, "Your credits are not enough", "reroute", "NO_ROUTE_AVAILABLE"],
  [10005, "APIKEY is wrong", "reroute", "NO_ROUTE_AVAILABLE"],
  [400012, "Invalid account", "reroute", "NO_ROUTE_AVAILABLE"],
  [500044, "?", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [99999, "unknown error", "retry", "UPSTREAM_ERROR"],
])(
  "pixverse's %d %s means what it says, though the answer is 200",
  async (ErrCode, ErrMsg, disposition, code) => {
    const ending = await play("pixverse", REQUEST, [{ json: { ErrCode, ErrMsg, Resp: null } }]);
    expect(ending).toMatchObject({ kind: "refused", error: { disposition, code } });
  },
);

test("a submission that pixverse is sent again has the trace id it had, and a question never has one that was used", async () => {
  const upstream = await startUpstream(({ method, path }) => {
    if (method === "GET") return record({ id: 1, status: 5, url: "" });
    return path.endsWith("/image/upload") ? IMAGE : TAKEN;
  });
  const clock = fakeClock();
  const provider = rehearsedProvider(builtInForm("pixverse.yaml"), upstream.origin, clock);
  const { signal } = new AbortController();
  const inputs = ["first_frame"];
  const example: ExampleForm["request"] = { ...REQUEST, mode: "image-to-video", inputs };
  const request = requestOf({ name: "", request: example, answers: [], ends: "pending" }, "pixverse");
  expect(provider.submitIsIdempotent).toBe(true);
  const operation = operationOf(await provider.submit(request, signal));
  await provider.submit(request, signal);
  for (let i = 0; i < 3; i += 1) {
    await provider.poll?.(operation, signal);
    clock.advance(1_000);
  }
  const traces = (method: string, path: RegExp) =>
    upstream.arrived.flatMap((each) =>
      each.method === method && path.test(each.path) ? [each.headers.get("ai-trace-id") ?? ""] : [],
    );
  const submissions = traces("POST", /generate$/);
  expect(submissions).toEqual([submissions[0], submissions[0]] as string[]);
  // The picture is known there by its number already.
  expect(traces("POST", /upload$/)).toHaveLength(1);
  const all = [...new Set([...submissions, ...traces("POST", /upload$/), ...traces("GET", /result/)])];
  expect(all).toHaveLength(5);
  for (const trace of all)
    expect(trace).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  upstream.stop();
});
