import { expect, test } from "bun:test";
import type { AdminCalls } from "../../../cli/client/admin.ts";
import { runJob } from "../../../cli/manage/remote-files.ts";

test("a server is asked soon how its job goes, and every half second when it takes long", async () => {
  const waits: number[] = [];
  const calls: Pick<AdminCalls, "send" | "get" | "wait"> = {
    send: async () => ({ status: "running" }),
    get: async () => (waits.length < 7 ? { status: "running" } : { status: "done", result: { files: 3 } }),
    wait: async (delayMs) => void waits.push(delayMs),
  };
  expect(await runJob(calls as AdminCalls, "/assets/verify")).toEqual({ files: 3 });
  expect(waits).toEqual([25, 50, 100, 200, 400, 500, 500]);
});
