import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play, watch } from "./play.ts";

describeModels({ provider: "dashscope", contracts: ["dashscope/openapi.json"] });

const REQUEST = {
  model: "wan2.7-t2v",
  kind: "video",
  mode: "text-to-video",
  prompt: "A fox",
  params: { resolution: "720p", duration: 5 },
} as const;
const TAKEN = { json: { output: { task_id: "t1", task_status: "PENDING" }, request_id: "r1" } };
const job = (output: object) => ({ json: { request_id: "r2", output: { task_id: "t1", ...output } } });

test("the pictures of a dashscope job that succeeded are there or missing one by one", async () => {
  const request = {
    ...REQUEST,
    model: "wan2.5-t2i-preview",
    kind: "image",
    mode: "text-to-image",
    n: 3,
    params: {},
  } as const;
  const results = [
    { code: "DataInspectionFailed", message: "Output data may contain inappropriate content." },
    { code: "InternalError.Timeout", message: "It took too long." },
    { message: "Nothing else is said." },
  ];
  expect(await play("dashscope", request, [TAKEN, job({ task_status: "SUCCEEDED", results })])).toMatchObject(
    {
      kind: "succeeded",
      outputs: [
        { kind: "missing", code: "CONTENT_MODERATED" },
        { kind: "missing", code: "UPSTREAM_ERROR" },
        { kind: "missing", code: "UPSTREAM_ERROR" },
      ],
    },
  );
});

test.each([
  ["DataInspectionFailed", "CONTENT_MODERATED"],
  ["InvalidParameter.Size", "UPSTREAM_REJECTED"],
  ["InternalError.Algo", "UPSTREAM_ERROR"],
])("a dashscope job that failed with %s is told apart, and costs nothing", async (code, end) => {
  const failed = job({ task_status: "FAILED", code, message: "It is so." });
  expect(await play("dashscope", REQUEST, [TAKEN, failed])).toMatchObject({
    kind: "failed",
    code: end,
    isCharged: false,
  });
});

test("a dashscope job that is not known at once is pending", async () => {
  expect(await play("dashscope", REQUEST, [TAKEN, job({ task_status: "UNKNOWN" })])).toEqual({
    kind: "pending",
  });
});

test.each([
  [401, "InvalidApiKey", "reroute", "NO_ROUTE_AVAILABLE"],
  [403, "AccessDenied.Unpurchased", "reroute", "NO_ROUTE_AVAILABLE"],
  [403, "Model.AccessDenied", "reroute", "NO_ROUTE_AVAILABLE"],
  [404, "ModelNotFound", "reroute", "NO_ROUTE_AVAILABLE"],
  [400, "Arrearage", "reroute", "NO_ROUTE_AVAILABLE"],
  [403, "AllocationQuota.FreeTierOnly", "reroute", "NO_ROUTE_AVAILABLE"],
  [400, "DataInspectionFailed", "fail", "CONTENT_MODERATED"],
  [400, "IPInfringementSuspect", "fail", "CONTENT_MODERATED"],
  [400, "InvalidParameter", "fail", "UPSTREAM_REJECTED"],
  [400, "InvalidImageResolution", "fail", "UPSTREAM_REJECTED"],
  [429, "Throttling.AllocationQuota", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [429, "LimitRequests", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [500, "InternalError.Timeout", "retry", "UPSTREAM_ERROR"],
])("dashscope's %d %s means what its documentation says", async (status, code, disposition, end) => {
  const json = { code, message: "It is so.", request_id: "r1" };
  const ending = await play("dashscope", REQUEST, [{ status, json }]);
  expect(ending).toMatchObject({ kind: "refused", error: { disposition, code: end } });
});

test("a picture of dashscope's messages counts wherever it is in its message", async () => {
  const request = {
    ...REQUEST,
    model: "wan2.7-image",
    kind: "image",
    mode: "text-to-image",
    n: 2,
    params: { resolution: "2K" },
  } as const;
  const { end } = await watch("dashscope", request, (origin) => {
    const choice = { message: { content: [{ text: "Here it is." }, { image: `${origin}/made/1` }] } };
    return [TAKEN, job({ task_status: "SUCCEEDED", choices: [choice, choice] })];
  });
  expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "remote" }, { kind: "remote" }] });
});
