import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { svcJson } from "./support/command.ts";
import { inTerminal } from "./support/terminal.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

test("svc top shows a running server until q, and the terminal is as it was", async () => {
  const server = await startServer();
  const { token } = (await svcJson([
    "tokens",
    "create",
    "--name",
    "watcher",
    "--data-dir",
    server.dataDir,
  ])) as {
    token: string;
  };
  const env = { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: token };
  const terminal = inTerminal(["top"], emptyFolder("top"), env, { columns: 80, rows: 24 });
  await terminal.draws(
    (frame) => / live *$/.test(frame[0] ?? "") && frame[23]?.startsWith("q quit") === true,
  );
  expect(terminal.state()).toMatchObject({ isOtherScreen: true, isCursorHidden: true });
  terminal.press("\t");
  await terminal.draws(/^sandbox +0 +- +0 +\d+/m);
  terminal.press("q");
  expect(await terminal.exited).toBe(0);
  expect(terminal.state()).toEqual({
    ...{ isOtherScreen: false, isCursorHidden: false },
    ...{ isBracketingPastes: false, isWrapping: true },
  });
});
