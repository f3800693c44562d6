import type { JsonObject } from "../../../src/domain/json.ts";
import { describeProvider } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { describeHttpAdapter, KEY } from "../kit/http-contract.ts";
import { type Comfy, startComfy } from "./engine.ts";
import { createProvider, submission } from "./harness.ts";

const error = (type: string, message: string) => ({
  error: { type, message, details: "", extra_info: {} },
  node_errors: {},
});

describeHttpAdapter("comfyui on a server", {
  create: (to) => createProvider({ ...to, apiKey: KEY }),
  request: () => submission(),
  error,
  patienceMs: 3_600_000,
});

describeHttpAdapter("comfyui in the cloud", {
  create: (to) => createProvider({ ...to, apiKey: KEY, isCloud: true, restarts: "charged" }),
  request: () => submission(),
  accepted: () => ({
    json: { prompt_id: "7f3d2c1b-9a8e-4d6f-b012-3c4d5e6f7a8b", number: 0, node_errors: {} },
  }),
  error,
  keyHeader: "x-api-key",
  patienceMs: 3_600_000,
});

const TWO: JsonObject = {
  "9": {
    images: [1, 2].map((i) => ({ filename: `ComfyUI_0000${i}_.png`, subfolder: "", type: "output" })),
  },
};

/** What the prompt's text rehearses. */
function work(comfy: Comfy): void {
  const before = comfy.running[0];
  const current = before ?? comfy.begin();
  const text = JSON.stringify(current?.graph ?? {});
  if (before === undefined || text.includes('"endless"')) return;
  if (text.includes('"failing"'))
    comfy.end({ exception: { exception_type: "RuntimeError", exception_message: "It broke." } });
  else comfy.end({ outputs: TWO });
}

describeProvider("comfyui", async () => {
  const comfy = await startComfy();
  const clock = fakeClock();
  comfy.instead = async (path, request) => {
    if (path !== "POST /prompt" || !(await request.clone().text()).includes('"busy"')) return undefined;
    return new Response("busy", { status: 503 });
  };
  const start = () => createProvider({ baseUrl: comfy.origin, clock });
  return {
    provider: start(),
    request: (kind) => submission({ prompt: kind, n: 2 }),
    async advance(ms) {
      clock.advance(ms);
      work(comfy);
    },
    restart: async () => start(),
    arrived: () => comfy.prompts.length,
    stop: () => comfy.stop(),
  };
});
