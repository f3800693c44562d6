import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import { rejection } from "../../contracts/provider.ts";
import { describeModels } from "./models.ts";
import { playExample, playRefusal, submitExample } from "./play.ts";

describeModels({
  provider: "minimax",
  contracts: ["minimax/openapi.json"],
  // 768P came to H3 after the contract was written.
  isOutdated: (problem, { model, resolution }) =>
    problem.startsWith("/resolution ") && model === "MiniMax-H3" && resolution === "768P",
});

const said = (status_code: number, more: object = {}) => ({
  json: { ...more, base_resp: { status_code, status_msg: "No." } },
});

// https://platform.minimax.io/docs/api-reference/errorcode, 2026-11
test.each([
  [1000, "retry", "UPSTREAM_ERROR"],
  [1001, "retry", "UPSTREAM_ERROR"],
  [1002, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [1004, "reroute", "NO_ROUTE_AVAILABLE"],
  [1008, "reroute", "NO_ROUTE_AVAILABLE"],
  [1013, "retry", "UPSTREAM_ERROR"],
  [1026, "fail", "CONTENT_MODERATED"],
  [1027, "fail", "CONTENT_MODERATED"],
  [1039, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [2013, "fail", "UPSTREAM_REJECTED"],
  [2045, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [2049, "reroute", "NO_ROUTE_AVAILABLE"],
  [2056, "reroute", "NO_ROUTE_AVAILABLE"],
] as const)(
  "HTTP 200 with status_code %i is refused for what it means",
  async (number, disposition, code) => {
    for (const name of ["text to image", "a video that is withheld"])
      expect(await playRefusal("minimax", name, said(number, { task_id: "" }))).toMatchObject({
        disposition,
        code,
      });
  },
);

test.each([
  [401, "authorized_error", "reroute", "NO_ROUTE_AVAILABLE"],
  [402, "insufficient_balance_error", "reroute", "NO_ROUTE_AVAILABLE"],
  [429, "rate_limit_error", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
] as const)(
  "%i %s of the second API is refused for what it means",
  async (status, type, disposition, code) => {
    const answer = {
      status,
      json: { type: "error", error: { type, message: "No.", http_code: String(status) } },
    };
    expect(await playRefusal("minimax", "what reference images show", answer)).toMatchObject({
      disposition,
      code,
    });
  },
);

test("images that are withheld of a set are missing, and the others are there", async () => {
  const metadata = { success_count: "1", failed_count: "1" };
  const answer = said(0, { data: { image_base64: ["iVBORw0KGgo="] }, metadata });
  const { end } = await playExample("minimax", "text to image", [answer]);
  expect(end).toMatchObject({
    kind: "succeeded",
    outputs: [{ kind: "bytes" }, { kind: "missing", code: "CONTENT_MODERATED" }],
  });
});

test("a question that is refused says nothing of the job", async () => {
  const answers = [said(0, { task_id: "1" }), said(1002)];
  const { end } = await playExample("minimax", "a video that is withheld", answers);
  expect(end).toMatchObject({ kind: "refused", error: { disposition: "retry" } });
});

test("a video that failed costs nothing", async () => {
  for (const name of ["a video that is withheld", "a video that could not be made", "H3 withholds a video"])
    expect((await playExample("minimax", name)).end).toMatchObject({ kind: "failed", isCharged: false });
});

test("a video whose file is named a moment after its success is fetched", async () => {
  let isNamed = false;
  using job = await submitExample("minimax", "from a first to a last frame", ({ path }) => ({
    json: path.startsWith("/v1/files")
      ? { file: { download_url: "https://a.example/v.mp4" }, base_resp: { status_code: 0 } }
      : { status: "Success", ...(isNamed && { file_id: "7" }), base_resp: { status_code: 0 } },
  }));
  const poll = async () => job.adapter.poll?.(job.operation, new AbortController().signal);
  expect(await rejection(poll())).toMatchObject({ disposition: "unusable" });
  isNamed = true;
  expect(await poll()).toMatchObject({
    kind: "succeeded",
    outputs: [{ kind: "remote", ref: { url: "https://a.example/v.mp4" } }],
  });
});

test("a job of a flow that the form does not have is asked for again, because another node may have its form", async () => {
  using job = await submitExample("minimax", "from a first to a last frame", () => ({ json: {} }));
  // What images gives comes at once.
  for (const flow of ["renamed", "images"]) {
    const operation = { ...(job.operation as JsonObject), flow };
    const poll = async () => job.adapter.poll?.(operation, new AbortController().signal);
    const error = await rejection(poll());
    expect(error).toMatchObject({ disposition: "retry" });
    expect(String(error)).toContain(`has no flow "${flow}"`);
  }
});
