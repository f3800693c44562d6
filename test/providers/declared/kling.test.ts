import { expect, test } from "bun:test";
import { rehearsedProvider, requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";
import { builtInForm } from "./harness.ts";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({ provider: "kling", contracts: ["kling/openapi.json"] });

const REQUEST = {
  model: "kling-v3/std",
  kind: "video",
  mode: "text-to-video",
  prompt: "Waves",
  params: { duration: 5 },
} as const;
const THREE = { ...REQUEST, model: "kling-3.0-turbo" } as const;
const TAKEN = { json: { code: 0, data: { task_id: "811", id: "811", task_status: "submitted" } } };

test.each([
  [1004, "reroute", "NO_ROUTE_AVAILABLE"],
  [1102, "reroute", "NO_ROUTE_AVAILABLE"],
  [1201, "fail", "UPSTREAM_REJECTED"],
  [1301, "fail", "CONTENT_MODERATED"],
  [1302, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [1303, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [5000, "retry", "UPSTREAM_ERROR"],
] as const)("kling's code %d in a success is a refusal to %s", async (code, disposition, error) => {
  const answer = { status: 200, json: { code, message: "no", request_id: "r", data: null } };
  for (const request of [REQUEST, THREE])
    expect(await play("kling", request, [answer])).toMatchObject({
      kind: "refused",
      error: { disposition, code: error },
    });
});

test.each([
  ["Failure to pass the risk control system", "CONTENT_MODERATED"],
  ["content policy", "CONTENT_MODERATED"],
  ["Internal error", "UPSTREAM_ERROR"],
  [null, "UPSTREAM_ERROR"],
])("a kling task that failed for %j is told apart, in both generations of the API", async (message, code) => {
  const old = {
    json: { code: 0, data: { task_id: "811", task_status: "failed", task_status_msg: message } },
  };
  const three = { json: { code: 0, data: [{ id: "811", status: "failed", message }] } };
  expect(await play("kling", REQUEST, [TAKEN, old])).toMatchObject({ kind: "failed", code });
  expect(await play("kling", THREE, [TAKEN, three])).toMatchObject({ kind: "failed", code });
});

test("a kling task that is in no list yet is pending", async () => {
  expect(await play("kling", THREE, [TAKEN, { json: { code: 0, data: [] } }])).toEqual({ kind: "pending" });
});

test.each([
  [
    "kling-v3/std",
    `/v1/videos/text2video/`,
    { code: 0, data: { task_id: "811", task_status: "processing" } },
  ],
  ["kling-3.0-turbo", `/tasks?external_task_ids=`, { code: 0, data: [{ id: "811", status: "processing" }] }],
])("a submission of %s whose answer was lost is found by the attempt's id", async (model, place, found) => {
  const upstream = await startUpstream(() => ({ json: found }));
  try {
    const adapter = rehearsedProvider(builtInForm("kling.yaml"), upstream.origin, fakeClock());
    const example = { name: "", request: { ...REQUEST, model }, answers: [], ends: "pending" } as const;
    const lost = requestOf(example, "kling");
    const { signal } = new AbortController();
    expect(await adapter.recover?.(lost, signal)).toMatchObject({ kind: "found" });
    expect(upstream.arrived.map(({ path }) => path)).toEqual([`${place}${lost.attempt}`]);
    upstream.answer = () => ({ json: { code: place.startsWith("/v1") ? 1203 : 0, message: "", data: [] } });
    expect(await adapter.recover?.(lost, signal)).toEqual({ kind: "absent" });
    upstream.answer = () => ({ status: 429, json: { code: 1302, message: "", data: {} } });
    await expect(adapter.recover?.(lost, signal)).rejects.toMatchObject({ disposition: "retry" });
  } finally {
    upstream.stop();
  }
});
