import { expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import { createDeclaredProvider } from "../../../src/providers/declared/adapter.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";
import { builtInForm } from "./harness.ts";
import { describeModels } from "./models.ts";
import { exampleOf, playExample, playRefusal, submitExample, watch } from "./play.ts";

describeModels({ provider: "byteplus", contracts: ["byteplus/openapi.json"] });

test("a free quota that is used up does not come back", async () => {
  const error = { code: "QuotaExceeded", message: "The free trial quota is used up." };
  const answer = { status: 429, json: { error } };
  expect(await playRefusal("byteplus", "text to image", answer)).toMatchObject({ disposition: "reroute" });
});

test("a video tells the tokens it is priced by, and one that failed costs nothing", async () => {
  const { end } = await playExample("byteplus", "text to video");
  expect(end).toMatchObject({ kind: "succeeded", usage: { outputTokens: 108_900 } });
  for (const name of [
    "from a first to a last frame",
    "what reference images show",
    "a video that took too long",
  ])
    expect((await playExample("byteplus", name)).end).toMatchObject({ kind: "failed", isCharged: false });
});

test.each([
  ["queued", true],
  ["running", false],
  ["succeeded", false],
])("a video that is %s is deleted to cancel it: %p", async (status, isDeleted) => {
  using job = await submitExample("byteplus", "text to video", ({ method }) =>
    method === "DELETE"
      ? { body: "" }
      : { json: { id: "cgt-2026-abc", status, content: { video_url: "https://a.volces.com/v" } } },
  );
  const answer = await job.adapter.cancel?.(job.operation, new AbortController().signal);
  expect(answer).toBe(isDeleted ? undefined : "unable");
  expect(job.arrived.some(({ method }) => method === "DELETE")).toBe(isDeleted);
});

test("models have other names in China", async () => {
  const upstream = await startUpstream(() => ({ status: 400, json: {} }));
  const form = builtInForm("byteplus.yaml");
  const adapter = createDeclaredProvider({
    ...{ id: "byteplus" as ProviderId, form: loadForm(form, "built in", ""), clock: fakeClock() },
    account: {
      ...{ name: "cn", lane: "byteplus" as LaneId, region: "cn", baseUrl: upstream.origin },
      secrets: { key: createSecret("rehearsed-secret-0123456789abcdef") },
    },
  });
  const submission = requestOf(exampleOf("byteplus", "what reference images show"), "byteplus");
  await adapter.submit(submission, new AbortController().signal).catch(() => undefined);
  upstream.stop();
  const [sent] = upstream.arrived;
  expect(sent?.path).toBe("/api/v3/contents/generations/tasks");
  expect(JSON.parse(String(sent?.body))).toMatchObject({ model: "doubao-seedance-2-0-260128" });
});

// https://docs.byteplus.com/en/docs/ModelArk/1299023, 2026-11
test.each([
  [401, "AuthenticationError", "reroute", "NO_ROUTE_AVAILABLE"],
  [401, "ApiKeyExpired", "reroute", "NO_ROUTE_AVAILABLE"],
  [403, "AccessDenied", "reroute", "NO_ROUTE_AVAILABLE"],
  [404, "ModelNotOpen", "reroute", "NO_ROUTE_AVAILABLE"],
  [403, "AccountOverdueError", "reroute", "NO_ROUTE_AVAILABLE"],
  [404, "InvalidEndpointOrModel.NotFound", "reroute", "NO_ROUTE_AVAILABLE"],
  [400, "InputTextSensitiveContentDetected", "fail", "CONTENT_MODERATED"],
  [400, "InputImageSensitiveContentDetected.PrivacyInformation", "fail", "CONTENT_MODERATED"],
  [400, "OutputVideoSensitiveContentDetected.PolicyViolation", "fail", "CONTENT_MODERATED"],
  [400, "InputImageRiskDetection", "fail", "CONTENT_MODERATED"],
  [400, "InvalidParameter.size", "fail", "UPSTREAM_REJECTED"],
  [400, "MissingParameter", "fail", "UPSTREAM_REJECTED"],
  [429, "RateLimitExceeded.EndpointTPMExceeded", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [429, "ModelAccountIpmRateLimitExceeded", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [429, "QuotaExceeded", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [429, "ServerOverloaded", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [429, "SetLimitExceeded", "reroute", "NO_ROUTE_AVAILABLE"],
  [500, "InternalServiceError", "retry", "UPSTREAM_ERROR"],
] as const)("%i %s is refused for what it means", async (status, code, disposition, meaning) => {
  const answer = { status, json: { error: { code, message: "No.", param: "", type: "" } } };
  for (const name of ["text to image", "text to video"])
    expect(await playRefusal("byteplus", name, answer)).toMatchObject({ disposition, code: meaning });
});

test("an image that comes as an address is fetched there, though it was asked for inline", async () => {
  const { request } = exampleOf("byteplus", "text to image");
  const { end } = await watch("byteplus", request, (origin) => [
    { json: { data: [{ url: `${origin}/made/1`, size: "1024x1024" }] } },
  ]);
  expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "remote" }] });
});
