import { describeProvider } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { describeHttpAdapter, KEY } from "../kit/http-contract.ts";
import { startWebUi } from "./engine.ts";
import { createProvider, submission } from "./harness.ts";

const PATIENCE_MS = 7 * 3_600_000;

describeHttpAdapter("sdapi", {
  create: (to) => createProvider({ ...to, apiKey: KEY, waitMs: PATIENCE_MS + 1 }),
  request: () => submission({ upstreamModel: "current" }),
  error: (word, detail) => ({ error: word, detail, body: "", errors: "" }),
  keyText: Buffer.from(KEY).toString("base64"),
  patienceMs: PATIENCE_MS,
});

describeProvider("sdapi", async () => {
  const ui = await startWebUi();
  const clock = fakeClock();
  ui.instead = (path, { prompt }) => {
    if (!path.endsWith("2img")) return undefined;
    if (prompt === "busy") return new Response("busy", { status: 503 });
    // It is made for longer than a submission waits.
    setImmediate(() => clock.advance(1_000));
    return undefined;
  };
  return {
    provider: createProvider({ baseUrl: ui.origin, clock, isExclusive: true }),
    request: (kind) => submission({ prompt: kind, n: 2 }),
    async advance(ms) {
      clock.advance(ms);
      const [current] = ui.queue;
      if (current === undefined || current.body.prompt === "endless") return;
      if (current.body.prompt !== "failing") ui.end();
      else ui.fail();
    },
    arrived: () => ui.bodies.length,
    stop: () => ui.stop(),
  };
});
