import { expect, test } from "bun:test";
import { startScriptedServer, success } from "../scripted-server.ts";
import { spawnSvc } from "../support.ts";

/** Refuses everything, and keeps what it was asked for. */
function startProxy() {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      asked.push(request.url);
      return new Response("no", { status: 403 });
    },
  });
  return { asked, url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}

test.each([[["models", "list"]], [["api", "GET", "/v1/models"]], [["doctor", "--server", "SERVER"]]])(
  "svc %p asks a server on this machine itself, and a proxy for others",
  async (args: string[]) => {
    using proxy = startProxy();
    using here = startScriptedServer({
      "GET /v1/models": () => success({ models: [] }),
      "GET /readyz": () => Response.json({ status: "ready" }),
      "GET /": () => Response.json({ name: "svc" }),
    });
    const to = async (server: string) => {
      const env = { SVC_SERVER: server, SVC_API_KEY: "sk-svc-test", HTTP_PROXY: proxy.url };
      const given = args.map((each) => (each === "SERVER" ? server : each));
      // The runtime reads the variable as the process starts.
      const child = spawnSvc([...given, "--json"], { env });
      return await child.stderr.text();
    };
    for (const host of ["127.0.0.1", "localhost"]) {
      const told = await to(here.url.replace("127.0.0.1", host));
      expect([told.includes("403"), proxy.asked]).toEqual([false, []]);
    }
    expect(here.seen.length).toBeGreaterThanOrEqual(2);
    await to("http://svc.invalid");
    expect(proxy.asked[0]).toStartWith("http://svc.invalid/");
  },
);
