import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { namingLocalServer } from "../../../cli/client/local-server.ts";
import { EXIT } from "../../../cli/exit-codes.ts";
import { Failure } from "../../../cli/failure.ts";
import { noteServing } from "../../../src/app/serving.ts";
import { lockDirectory } from "../../../src/runtime/directory-lock.ts";
import { emptyFolder, fakeContext } from "../support.ts";

const UNREACHABLE = new Failure(EXIT.unreachable, "server_unreachable", "Cannot reach it.", {
  hint: "Is it?",
});

test("a failure at the default address names that of the server of this folder, while it runs", async () => {
  const cwd = emptyFolder();
  const dataDir = join(cwd, "svc-data");
  mkdirSync(dataDir);
  const hint = async (env: Record<string, string> = {}, flags = {}, failure = UNREACHABLE) => {
    const context = fakeContext({ cwd, env: { HOME: cwd, ...env } });
    const told = await namingLocalServer(failure, context, flags);
    return told instanceof Failure ? told.hint : told;
  };
  noteServing(dataDir, "http://127.0.0.1:9000");
  expect(await hint()).toBe("Is it?");
  const lock = lockDirectory(dataDir);
  try {
    const there = "The server of ./svc-data is at another address: export SVC_SERVER=http://127.0.0.1:9000";
    expect(await hint()).toBe(there);
    expect(await hint({}, {}, new Failure(EXIT.auth, "invalid_api_key", "Unknown."))).toBe(there);
    expect(await hint({ SVC_SERVER: "http://127.0.0.1:1" })).toBe("Is it?");
    expect(await hint({}, { server: "127.0.0.1:1" })).toBe("Is it?");
    expect(await hint({ SVC_DATA_DIR: join(cwd, "elsewhere") })).toBe("Is it?");
    expect(await hint({}, {}, new Failure(EXIT.error, "task_failed", "It failed.", { hint: "Is it?" }))).toBe(
      "Is it?",
    );
    noteServing(dataDir, "http://127.0.0.1:8787");
    expect(await hint()).toBe("Is it?");
  } finally {
    lock?.release();
  }
});
