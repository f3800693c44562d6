import { expect, test } from "bun:test";
import { createServers } from "../../src/http/server.ts";

test("a handler knows by which address it was reached, and from where", async () => {
  const seen: [boolean, string | undefined][] = [];
  const servers = createServers({
    host: "127.0.0.1",
    port: 0,
    longPort: 0,
    handle: (_, { isLong, address }) => {
      seen.push([isLong, address()]);
      return new Response("ok");
    },
  });
  await fetch(servers.url, { keepalive: false });
  await fetch(servers.longUrl ?? "", { keepalive: false });
  await servers.stop();
  expect(seen).toEqual([
    [false, "127.0.0.1"],
    [true, "127.0.0.1"],
  ]);
});

test("either address may be the only one", async () => {
  const handle = () => new Response("ok");
  const long = createServers({ host: "127.0.0.1", longPort: 0, handle });
  expect([long.url, long.port, long.longUrl]).toEqual([
    `http://127.0.0.1:${long.longPort}`,
    undefined,
    undefined,
  ]);
  expect(await (await fetch(long.url, { keepalive: false })).text()).toBe("ok");
  await long.stop();
  expect(() => createServers({ host: "127.0.0.1", handle })).toThrow("no address");
});
